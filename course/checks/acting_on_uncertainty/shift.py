"""Weighted quantiles; the oracle inverts weighted p-values."""

from __future__ import annotations

import math

import numpy as np

from course.checks.acting_on_uncertainty.ranks import spread
from course.checks.acting_on_uncertainty.tolerances import DOUBLE, EXACT
from course.checks.probing import finite_or_infinite
from course.task import Close, Misconception, Task


def _kept(scores, weights, new_weight, alpha):
    """Return the largest score whose weighted p-value is above α; +∞ if every score is kept."""
    needed = alpha * (weights.sum() + new_weight)
    if new_weight > needed:
        return math.inf
    return max(s for s in scores if new_weight + weights[scores >= s].sum() > needed)


def _quantiles(scores, weights, new_weights, alpha):
    return np.array([_kept(scores, weights, w, alpha) for w in new_weights])


def _at(scores, weights, needed, *, strict=False):
    """Return the first score at which the cumulative weight reaches each of these amounts."""
    order = np.argsort(scores)
    below = np.cumsum(weights[order])
    side = "right" if strict else "left"
    index = np.searchsorted(below, needed, side=side)
    return np.append(scores[order], np.inf)[index]


def _without_new(scores, weights, new_weights, alpha):
    needed = (1 - alpha) * weights.sum() - 1e-9
    return _at(scores, weights, np.full(len(new_weights), needed))


def _unweighted(scores, weights, new_weights, alpha):
    needed = (1 - alpha) * (len(scores) + 1) - 1e-9
    return _at(scores, np.ones(len(scores)), np.full(len(new_weights), needed))


def _one_for_new(scores, weights, new_weights, alpha):
    needed = (1 - alpha) * (weights.sum() + 1)
    return _at(scores, weights, np.full(len(new_weights), needed))


def _unsorted(scores, weights, new_weights, alpha):
    below = np.cumsum(weights)
    index = np.searchsorted(below, (1 - alpha) * (below[-1] + new_weights))
    return np.append(np.sort(scores), np.inf)[index]


def _largest(scores, weights, new_weights, alpha):
    return np.minimum(_quantiles(scores, weights, new_weights, alpha), scores.max())


def _inverse(scores, weights, new_weights, alpha):
    return _at(
        scores, 1 / weights, (1 - alpha) * ((1 / weights).sum() + 1 / new_weights)
    )


def _lower(scores, weights, new_weights, alpha):
    return _at(scores, weights, alpha * (weights.sum() + new_weights))


MISTAKES = [
    Misconception(
        _without_new,
        "you leave out the weight of the new data point. It belongs to the total, as the 1 of n + 1 did.",
    ),
    Misconception(
        _unweighted,
        "you do not use the weights: this is the conformal quantile of exchangeable data.",
    ),
    Misconception(
        _one_for_new,
        "you give the new data point the weight 1. It has a weight of its own.",
    ),
    Misconception(
        _unsorted,
        "you sort the scores, but leave the weights in their old order.",
    ),
    Misconception(
        _largest,
        "you return the largest score where the calibration weights do not reach the share 1 − α. There the "
        "quantile is infinite.",
    ),
    Misconception(
        _inverse,
        "you divide by the weights. A score counts for more if inputs like its own are more frequent among new "
        "data.",
    ),
    Misconception(
        _lower,
        "you use α for 1 − α: your quantile is in the lower tail.",
    ),
]


def _squared(scores, weights, new_weights, alpha):
    return _quantiles(scores, weights**2, new_weights**2, alpha)


def _far(cases):
    """Does each mistake differ from the right values, and any two of them from one another?"""
    answers = [_quantiles, _squared, *(row.answer for row in MISTAKES)]
    values = [np.concatenate([answer(**case) for case in cases]) for answer in answers]
    return all(
        np.any(np.nan_to_num(one, posinf=99) != np.nan_to_num(other, posinf=99))
        for index, one in enumerate(values)
        for other in values[:index]
    )


def _clear(scores, weights, new_weights, alpha):
    """Is no cumulative weight so close to the amount needed that rounding decides?"""
    below = np.cumsum(weights[np.argsort(scores)])
    needed = (1 - alpha) * (weights.sum() + new_weights)
    return np.min(np.abs(below[:, None] - needed)) > 1e-3


def _weighted_cases(rng):
    """Draw weights until all mistakes give other quantiles.

    The last new weight of the first case is so large that its quantile is infinite.
    """
    while True:
        cases = []
        for n, new, alpha in ((19, 4, 0.2), (11, 5, 0.35), (1, 1, 0.7)):
            weights = rng.permutation(np.geomspace(0.2, 4, n)) if n > 1 else np.ones(1)
            new_weights = rng.uniform(0.5, 5, new)
            if n == 19:
                new_weights[-1] = weights.sum()
            cases.append(
                {
                    "scores": spread(rng, n),
                    "weights": weights * rng.uniform(0.8, 1.2),
                    "new_weights": new_weights,
                    "alpha": float(alpha + rng.uniform(-0.05, 0.05)),
                }
            )
        if _far(cases) and all(_clear(**case) for case in cases):
            return cases


def _weighted_probe(answer, scores, weights, new_weights, alpha):
    import numpy as np

    arrays = map(np.asarray, (scores, weights, new_weights))
    return finite_or_infinite("quantiles", answer(*arrays, alpha))


def _weighted_oracle(scores, weights, new_weights, alpha):
    quantiles = _quantiles(scores, weights, new_weights, alpha)
    infinite = np.isinf(quantiles)
    finite = np.where(infinite, 0.0, quantiles)
    return {
        "infinite": Close(infinite.astype(float), because=EXACT),
        "quantiles": Close(finite, rtol=1e-9, because=DOUBLE),
    }


WEIGHTED_QUANTILE = Task(
    name="weighted_quantile",
    points=3,
    cases=_weighted_cases,
    probe=_weighted_probe,
    oracle=_weighted_oracle,
    misconceptions=MISTAKES,
    hints=[
        "Sort the scores, and put their weights into the same order (np.argsort).",
        "The cumulative sum of the sorted weights is Σ w_i over the scores up to each one. Which is the first that reaches the amount needed?",
        "np.searchsorted finds that index for all new data points at once; append an infinite number to the sorted scores for those where none does.",
    ],
)
