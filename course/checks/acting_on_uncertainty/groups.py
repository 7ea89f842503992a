"""Coverage by group; SciPy's means of labelled regions are the oracle."""

from __future__ import annotations

import numpy as np
import scipy.ndimage

from course.checks.acting_on_uncertainty.tolerances import DOUBLE
from course.task import Close, Misconception, Task


def _groups_cases(rng):
    """Draw groups of different sizes, of which the first is covered least, and one alone.

    The second group comes first, and then the first one.
    In the last case, none is covered in the last of two groups: counts of the covered data
    points by group then are one too few.
    """
    cases = []
    for sizes, hits in (
        ((11, 5, 7), (4, 3, 6)),
        ((4, 9), (1, 7)),
        ((1,), (1,)),
        ((5,), (int(rng.integers(1, 5)),)),
        ((7, 4), (5, 0)),
    ):
        sizes = (
            [size + int(rng.integers(0, 2)) for size in sizes]
            if len(sizes) > 1
            else sizes
        )
        groups = np.repeat(np.arange(len(sizes)), sizes)
        covered = np.concatenate(
            [np.arange(size) < hit for size, hit in zip(sizes, hits, strict=True)]
        )
        first = [min(sizes[0], len(groups) - 1), 0][: len(sizes)]
        order = rng.permutation(np.setdiff1d(np.arange(len(groups)), first))
        order = np.append(first, order)
        cases.append({"covered": covered[order], "groups": groups[order]})
    return cases


def _groups_probe(answer, covered, groups):
    import numpy as np

    return {"coverage": answer(np.asarray(covered), np.asarray(groups))}


def _groups_oracle(covered, groups):
    shares = scipy.ndimage.mean(covered, labels=groups, index=range(groups.max() + 1))
    return {"coverage": Close(shares, rtol=1e-9, because=DOUBLE)}


def _hits(covered, groups):
    return np.bincount(groups, weights=covered)


COVERAGE_BY_GROUP = Task(
    name="coverage_by_group",
    points=1,
    cases=_groups_cases,
    probe=_groups_probe,
    oracle=_groups_oracle,
    misconceptions=[
        Misconception(
            lambda covered, groups: _hits(covered, groups) / len(groups),
            "you divide by the number of all data points. Divide by the number in the group.",
        ),
        Misconception(
            lambda covered, groups: _hits(covered, groups) / covered.sum(),
            "you compute the share of each group among the covered data points. The coverage of a group is the "
            "share of covered ones among its data points.",
        ),
        Misconception(
            lambda covered, groups: 1 - _hits(covered, groups) / np.bincount(groups),
            "you return the miscoverage, 1 − coverage.",
        ),
        Misconception(
            lambda covered, groups: np.full(groups.max() + 1, covered.mean()),
            "you return the coverage of all data points for every group.",
        ),
        Misconception(
            lambda covered, groups: np.array(
                [covered[groups == group].mean() for group in dict.fromkeys(groups)]
            ),
            "you take the groups in the order in which they first appear. Entry g is for group g.",
        ),
        Misconception(
            lambda covered, groups: _hits(covered, groups),
            "you return how many are covered. Divide by the number of data points in the group.",
        ),
        Misconception(
            lambda covered, groups: np.bincount(groups[covered]) / np.bincount(groups),
            "you count the covered data points only up to the last group that has any. Give np.bincount the number "
            "of groups as minlength.",
        ),
    ],
    hints=[
        "Choose the data points of one group with `groups == group`; the mean of booleans is a share.",
        "np.bincount counts by group; with weights it adds up by group.",
    ],
)
