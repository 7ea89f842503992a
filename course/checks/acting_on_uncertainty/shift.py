"""Weighted quantiles; the oracle inverts weighted p-values."""

from __future__ import annotations

import math

import numpy as np

from course.checks.acting_on_uncertainty.apart import HAIR
from course.checks.acting_on_uncertainty.ranks import closes_of, spread
from course.probing import finite_or_infinite
from course.task import Misconception, Task


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


def _smallest(scores, weights, new_weights, alpha):
    """Take the index 0 where no cumulative weight is large enough, as np.argmax does."""
    found = _quantiles(scores, weights, new_weights, alpha)
    return np.where(np.isinf(found), scores.min(), found)


def _inverse(scores, weights, new_weights, alpha):
    return _at(
        scores, 1 / weights, (1 - alpha) * ((1 / weights).sum() + 1 / new_weights)
    )


def _lower(scores, weights, new_weights, alpha):
    return _at(scores, weights, alpha * (weights.sum() + new_weights))


def _sum_of_new(scores, weights, new_weights, alpha):
    needed = (1 - alpha) * (weights.sum() + new_weights.sum())
    return _at(scores, weights, np.full(len(new_weights), needed))


def _normalised(scores, weights, new_weights, alpha):
    return _at(scores, weights / weights.sum(), (1 - alpha) * (1 + new_weights))


def _strict(scores, weights, new_weights, alpha):
    needed = (1 - alpha) * (weights.sum() + new_weights)
    return _at(scores, weights, needed, strict=True)


def _without_ties(scores, weights, new_weights, alpha):
    scores, first = np.unique(scores, return_index=True)
    return _quantiles(scores, weights[first], new_weights, alpha)


def _infinite(scores, weights, new_weights, alpha):
    return np.full(len(new_weights), np.inf)


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
        _smallest,
        "you return the smallest score where the calibration weights do not reach the share 1 − α: np.argmax returns 0 "
        "if nothing is True. The quantile is infinite there.",
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
    Misconception(
        _sum_of_new,
        "you add up the weights of all new data points. Each has a quantile of its own, with its own weight.",
    ),
    Misconception(
        _normalised,
        "you divide the weights of the calibration data by their sum, but not those of the new data.",
    ),
    Misconception(
        _strict,
        'you want more than the amount needed, as side="right" does in np.searchsorted. To reach it is enough: the '
        "sign is ≥.",
    ),
    Misconception(
        _without_ties,
        "you drop scores that occur more than once, and their weights with them. All weights count.",
    ),
    Misconception(
        _infinite,
        "you always return infinite numbers. A quantile is infinite only if all calibration weights together do "
        "not reach the amount needed.",
    ),
]


def _squared(scores, weights, new_weights, alpha):
    return _quantiles(scores, weights**2, new_weights**2, alpha)


def _far(cases):
    """Does each mistake differ from the right values, and any two of them from one another?"""
    # Two that agree end the comparison; quick ones come first, since most draws fail.
    slow = [_quantiles, _squared, _largest, _smallest, _without_ties]
    quick = [row.answer for row in MISTAKES if row.answer not in slow]
    values = []
    for answer in [*quick, *slow]:
        value = np.concatenate([answer(**case) for case in cases])
        value = np.nan_to_num(value, posinf=99)
        if any(np.array_equal(value, other) for other in values):
            return False
        values.append(value)
    return True


def _clear(scores, weights, new_weights, alpha):
    """Is no cumulative weight so close to the amount needed that rounding decides?"""
    below = np.cumsum(weights[np.argsort(scores)])
    needed = (1 - alpha) * (weights.sum() + new_weights)
    return np.min(np.abs(below[:, None] - needed)) > 1e-3


def _weighted_cases(rng):
    """Draw weights until all mistakes give other quantiles.

    The last new weight of the first case is so large that its quantile is infinite. Two scores
    of the second case are equal. In the last two cases, six of seven equal weights are exactly
    the amount needed for the first new data point, in binary as well; where weights are tiny,
    that is enough, and in the last case a hair less is too little.
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
            if n == 11:
                cases[-1]["scores"][:2] = cases[-1]["scores"][0]
        clear = all(_clear(**case) for case in cases)
        weight = float(rng.choice([0.5, 2.0, 4.0]))
        for less, scale in ((0.0, 2.0**-14), (16 * HAIR, 2.0**-4)):
            scores = spread(rng, 7)
            cases.append(
                {
                    "scores": scores,
                    "weights": scale * weight * (1 - less * (scores == scores.min())),
                    "new_weights": scale * np.array([weight, 2 * weight]),
                    "alpha": 0.25,
                }
            )
        if clear and _far(cases):
            return cases


def _weighted_probe(answer, scores, weights, new_weights, alpha):
    import numpy as np

    arrays = map(np.asarray, (scores, weights, new_weights))
    return finite_or_infinite("quantiles", answer(*arrays, alpha))


def _weighted_oracle(scores, weights, new_weights, alpha):
    return closes_of("quantiles", _quantiles(scores, weights, new_weights, alpha))


WEIGHTED_QUANTILE = Task(
    name="weighted_quantile",
    points=3,
    cases=_weighted_cases,
    probe=_weighted_probe,
    oracle=_weighted_oracle,
    misconceptions=MISTAKES,
    hints=[
        "Sort the scores, and put their weights into the same order (np.argsort).",
        "The cumulative sum of the sorted weights gives, for each score, the weight of all scores up to it. Which is the first that reaches the amount needed?",
        "np.searchsorted finds that index for all new data points at once; append an infinite number to the sorted scores for those where none does.",
    ],
)
