"""Inputs that tell all mistakes of a task apart: they are drawn until they do."""

from __future__ import annotations

import itertools

import numpy as np

DISTANCE = 1e-3  # by which answers differ, relative to the largest number
# A difference that double precision keeps exactly, and single precision, a tolerance or rounding
# to a few digits loses: it tells apart what is larger and what is equal.
HAIR = 2.0**-30


def drawn_apart(rng, draw, answers):
    """Draw cases until no two answers agree on all of them.

    Args:
        rng: the random generator.
        draw: draws cases from it, a list of dictionaries whose values are in the order of the
            arguments.
        answers: the right answer, and all mistakes.
    """
    while True:
        cases = draw(rng)
        with np.errstate(all="ignore"):
            given = [
                [_parts(answer(*case.values())) for case in cases] for answer in answers
            ]
        if not any(
            _agree(one, other) for one, other in itertools.combinations(given, 2)
        ):
            return cases


def _parts(value):
    parts = value if isinstance(value, tuple) else (value,)
    return [np.asarray(part, float) for part in parts]


def _agree(one, other):
    pairs = [
        pair
        for mine, theirs in zip(one, other, strict=True)
        for pair in zip(mine, theirs, strict=True)
    ]
    return all(a.shape == b.shape and _near(a, b) for a, b in pairs)


def _near(a, b):
    size = DISTANCE * np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
    size = max(size, 1e-9)  # where the right value is 0, rounding is no difference
    with np.errstate(invalid="ignore"):  # infinity less infinity
        near = np.abs(a - b) <= size
    return bool((near | (a == b) | ((a != a) & (b != b))).all())


def binary_probs(rng, n, k):
    """Draw multiples of 1/256 that add up to 1, no two in a row equal.

    Sums of their products with small integers are exact, in whatever order they are computed.
    """
    rows = []
    while len(rows) < n:
        ends = np.sort(rng.choice(np.arange(1, 256), k - 1, replace=False))
        row = np.diff(ends, prepend=0, append=256)
        if len(set(row.tolist())) == k:
            rows.append(row / 256)
    return np.array(rows)
