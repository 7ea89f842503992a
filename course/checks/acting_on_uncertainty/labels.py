"""Scores of labels; the oracle follows the definition label by label."""

from __future__ import annotations

import numpy as np

from course.checks.acting_on_uncertainty.tolerances import DOUBLE
from course.task import Close, Misconception, Task


def _aps_cases(rng):
    """Draw probabilities of which no two in a row are close together.

    The order of the first row, from the most probable label on, is 1, 2, …, K − 1, 0: for
    three labels or more it is not its own inverse, so sorting and undoing it differ.
    """
    cases = []
    for n, k in ((5, 4), (3, 5), (1, 3), (2, 2)):
        parts = np.arange(1, k + 1) + rng.uniform(0, 0.4, (n, k))
        probs = parts / parts.sum(axis=1, keepdims=True)  # rising
        first = np.append(0, np.arange(k - 1, 0, -1))  # the smallest, then falling
        others = [rng.permutation(k) for _ in range(n - 1)]
        probs = np.stack(
            [row[order] for row, order in zip(probs, [first, *others], strict=True)]
        )
        cases.append({"probs": probs, "u": rng.uniform(0.1, 0.9, n)})
    return cases


def _aps_probe(answer, probs, u):
    import numpy as np

    return {"scores": answer(np.asarray(probs), np.asarray(u))}


def _aps_oracle(probs, u):
    scores = [
        [row[row > p].sum() + share * p for p in row]
        for row, share in zip(probs, u, strict=True)
    ]
    return {"scores": Close(scores, rtol=1e-9, atol=1e-9, because=DOUBLE)}


def _above(probs):
    return (probs[:, None, :] * (probs[:, None, :] > probs[:, :, None])).sum(-1)


def _sorted(probs, u):
    ranked = -np.sort(-probs, axis=1)
    return np.cumsum(ranked, axis=1) - (1 - u[:, None]) * ranked


def _indexed(probs, u):
    order = np.argsort(-probs, axis=1)
    return np.take_along_axis(_sorted(probs, u), order, axis=1)


APS_SCORES = Task(
    name="aps_scores",
    points=3,
    cases=_aps_cases,
    probe=_aps_probe,
    oracle=_aps_oracle,
    misconceptions=[
        Misconception(
            lambda probs, u: _above(probs) + probs,
            "you count the label's own probability in full. Count the part u of it.",
        ),
        Misconception(
            lambda probs, u: _above(probs) + probs + u[:, None] * probs,
            "you count the label's own probability twice: in the cumulative sum, and as the part u. Take it out of "
            "the sum.",
        ),
        Misconception(
            lambda probs, u: 1 - probs,
            "you return 1 − p. The score of APS is the probability of all labels above this one, plus u times its own.",
        ),
        Misconception(
            lambda probs, u: _above(probs),
            "you leave out the label's own probability. Add the part u of it.",
        ),
        Misconception(
            lambda probs, u: _above(probs) + (1 - u[:, None]) * probs,
            "you use 1 − u for u.",
        ),
        Misconception(
            lambda probs, u: u[:, None] * (_above(probs) + probs),
            "you multiply the whole sum by u. Only the label's own probability is multiplied.",
        ),
        Misconception(
            _sorted,
            "you return the scores from the most to the least probable label. Put them back in the order of the "
            "columns.",
        ),
        Misconception(
            _indexed,
            "you index the sorted scores with the order of the sort, which does not undo it. Undo it with "
            "np.put_along_axis, or with the argsort of the order.",
        ),
        Misconception(
            lambda probs, u: 1 - _above(probs) - probs + u[:, None] * probs,
            "you add up the probabilities of the less probable labels. Start from the most probable one.",
        ),
        Misconception(
            lambda probs, u: np.cumsum(probs, axis=1) - (1 - u[:, None]) * probs,
            "you add up the probabilities in the order of the columns. Sort each row first, the largest first.",
        ),
    ],
    hints=[
        "Sort each row, the most probable label first. np.argsort of the negative probabilities gives the order; "
        "np.take_along_axis applies it.",
        "A cumulative sum includes the label itself. Take its own probability out again, and add the part u.",
        "np.put_along_axis(scores, order, sorted_scores, axis=1) puts sorted scores back into their columns.",
    ],
)
