"""The conformal quantile, and intervals around a mean; the oracles invert conformal p-values."""

from __future__ import annotations

import math

import numpy as np

from course.checks.acting_on_uncertainty.ranks import (
    half_of_alpha,
    largest_kept,
    levels,
    n_for_n_plus_one,
    ranked,
    right_rank,
    spread,
)
from course.checks.acting_on_uncertainty.tolerances import DOUBLE, EXACT
from course.checks.probing import finite_or_infinite
from course.task import Close, Misconception, Task


def _quantile_cases(rng):
    """Draw scores at four levels; then too few scores for the level."""
    cases = [(spread(rng, n), alpha) for n, alpha in levels(rng)]
    cases.append((spread(rng, 6), float(rng.uniform(0.05, 0.12))))
    return [{"scores": scores, "alpha": alpha} for scores, alpha in cases]


def _quantile_probe(answer, scores, alpha):
    import numpy as np

    return finite_or_infinite("quantile", answer(np.asarray(scores), alpha))


def _quantile_oracle(scores, alpha):
    quantile = largest_kept(scores, alpha)
    infinite = math.isinf(quantile)
    return {
        "infinite": Close(float(infinite), because=EXACT),
        "quantile": Close(0.0 if infinite else quantile, rtol=1e-9, because=DOUBLE),
    }


def _or_infinite(quantile):
    def answer(scores, alpha):
        few = (len(scores) + 1) * (1 - alpha) > len(scores)
        return math.inf if few else float(quantile(scores, alpha))

    return answer


CONFORMAL_QUANTILE = Task(
    name="conformal_quantile",
    points=2,
    cases=_quantile_cases,
    probe=_quantile_probe,
    oracle=_quantile_oracle,
    misconceptions=[
        Misconception(
            lambda scores, alpha: float(right_rank(scores, alpha)),
            "you return the largest score where the rank exceeds n. With so few scores, no finite threshold has "
            "the guarantee: return math.inf.",
        ),
        Misconception(
            lambda scores, alpha: float(n_for_n_plus_one(scores, alpha)),
            "you use n in place of n + 1. The new score is one of the n + 1 scores that can have any rank.",
        ),
        Misconception(
            _or_infinite(n_for_n_plus_one),
            "you use n in place of n + 1, but for the test of whether there are enough scores.",
        ),
        Misconception(
            _or_infinite(
                lambda scores, alpha: ranked(
                    scores, math.floor((len(scores) + 1) * (1 - alpha))
                )
            ),
            "you round the rank down. Round it up, so that the probability is at least 1 − α.",
        ),
        Misconception(
            _or_infinite(
                lambda scores, alpha: ranked(
                    scores, math.ceil((len(scores) + 1) * (1 - alpha)) + 1
                )
            ),
            "you take the score one rank too high: the k-th smallest is at index k − 1 of the sorted scores.",
        ),
        Misconception(
            lambda scores, alpha: float(np.quantile(scores, 1 - alpha)),
            "you use np.quantile, which interpolates between scores and does not count the new one.",
        ),
        Misconception(
            _or_infinite(
                lambda scores, alpha: ranked(scores, (len(scores) + 1) * alpha)
            ),
            "you use α for 1 − α: your quantile is in the lower tail.",
        ),
    ],
    hints=[
        "Sort the scores. The one you need has rank k = ⌈(n + 1)(1 − α)⌉.",
        "Python counts from 0, so the k-th smallest is at index k − 1. math.ceil rounds up.",
        "If k is larger than n, there is no such score: then the answer is infinite.",
    ],
)


def _split_cases(rng):
    """Draw residuals of both signs; the largest is negative."""
    cases = []
    for (n, alpha), new in zip(levels(rng), (4, 5, 2, 1), strict=True):
        size = spread(rng, n)
        mean = rng.normal(0, 3, n)
        sign = np.where(
            size == size.max(), -1, rng.permutation(np.arange(n) % 2) * 2 - 1
        )
        cases.append(
            {
                "y": mean + sign * size,
                "mean": mean,
                "new_mean": rng.normal(0, 3, new),
                "alpha": alpha,
            }
        )
    return cases


def _split_probe(answer, y, mean, new_mean, alpha):
    import numpy as np

    result = answer(np.asarray(y), np.asarray(mean), np.asarray(new_mean), alpha)
    low, high = (None, None) if result is None else result
    return {"low": low, "high": high}


def closes(low, high):
    """Return the right ends of intervals."""
    close = {"rtol": 1e-9, "atol": 1e-9, "because": DOUBLE}
    return {"low": Close(low, **close), "high": Close(high, **close)}


def _split_oracle(y, mean, new_mean, alpha):
    size = largest_kept(np.abs(y - mean), alpha)
    return closes(new_mean - size, new_mean + size)


def _split(quantile=right_rank, score=lambda y, mean: np.abs(y - mean)):
    def answer(y, mean, new_mean, alpha):
        size = quantile(score(y, mean), alpha)
        return new_mean - size, new_mean + size

    return answer


SPLIT_INTERVAL = Task(
    name="split_interval",
    points=1,
    cases=_split_cases,
    probe=_split_probe,
    oracle=_split_oracle,
    misconceptions=[
        Misconception(
            _split(score=lambda y, mean: y - mean),
            "you keep the signs of the residuals. The score is |y − mean|.",
        ),
        Misconception(
            _split(score=lambda y, mean: (y - mean) ** 2),
            "you use squared residuals as scores, and do not take the root of their quantile.",
        ),
        Misconception(
            _split(half_of_alpha),
            "you use α/2, as for an interval with two tails. The absolute value already counts both.",
        ),
        Misconception(
            _split(n_for_n_plus_one),
            "you use n in place of n + 1 in the rank. Call conformal_quantile.",
        ),
        Misconception(
            _split(lambda scores, alpha: np.quantile(scores, 1 - alpha)),
            "you use np.quantile. Call conformal_quantile, which counts the new score.",
        ),
        Misconception(
            lambda y, mean, new_mean, alpha: _split()(y, mean, new_mean, alpha)[::-1],
            "you return the upper ends first.",
        ),
        Misconception(
            lambda y, mean, new_mean, alpha: tuple(
                np.quantile(y - mean, level) + new_mean
                for level in (alpha / 2, 1 - alpha / 2)
            ),
            "you add quantiles of the signed residuals, without counting the new one.",
        ),
    ],
    hints=[
        "A score says how far a target is from its forecast, whichever side it is on.",
        "conformal_quantile gives one number for all new data points: half the width of their intervals.",
    ],
)


def _scaled_cases(rng):
    """Draw the cases of ``split_interval``, with residuals multiplied by standard deviations."""
    cases = []
    for case in _split_cases(rng):
        n, new = len(case["y"]), len(case["new_mean"])
        std = (
            rng.permutation(np.geomspace(0.4, 2.5, n))
            if n > 1
            else rng.uniform(2, 3, 1)
        )
        residual = (case["y"] - case["mean"]) * std
        cases.append(
            case
            | {
                "y": case["mean"] + residual,
                "std": std,
                "new_std": rng.uniform(0.4, 2.5, new),
            }
        )
    return cases


def _scaled_probe(answer, y, mean, std, new_mean, new_std, alpha):
    import numpy as np

    arrays = map(np.asarray, (y, mean, std, new_mean, new_std))
    result = answer(*arrays, alpha)
    low, high = (None, None) if result is None else result
    return {"low": low, "high": high}


def _scaled_oracle(y, mean, std, new_mean, new_std, alpha):
    size = largest_kept(np.abs((y - mean) / std), alpha)
    return closes(new_mean - size * new_std, new_mean + size * new_std)


def _scaled(
    quantile=right_rank,
    score=lambda error, std: np.abs(error) / std,
    scale=lambda new_std: new_std,
):
    def answer(y, mean, std, new_mean, new_std, alpha):
        size = quantile(score(y - mean, std), alpha) * scale(new_std)
        return new_mean - size, new_mean + size

    return answer


SCALED_INTERVAL = Task(
    name="scaled_interval",
    points=2,
    cases=_scaled_cases,
    probe=_scaled_probe,
    oracle=_scaled_oracle,
    misconceptions=[
        Misconception(
            _scaled(scale=np.ones_like),
            "you do not multiply the quantile by the new standard deviations. The scores have no unit; the "
            "intervals need the unit of y.",
        ),
        Misconception(
            _scaled(score=lambda error, std: np.abs(error)),
            "you do not divide the residuals by their standard deviations.",
        ),
        Misconception(
            _scaled(score=lambda error, std: np.abs(error) * std),
            "you multiply the residuals by the standard deviations. Divide by them.",
        ),
        Misconception(
            _scaled(score=lambda error, std: np.abs(error) / std**2),
            "you divide by the variances. Divide by the standard deviations.",
        ),
        Misconception(
            _scaled(score=lambda error, std: error / std),
            "you keep the signs of the residuals. The score is |y − mean| / std.",
        ),
        Misconception(
            _scaled(n_for_n_plus_one),
            "you use n in place of n + 1 in the rank. Call conformal_quantile.",
        ),
        Misconception(
            _scaled(lambda scores, alpha: np.quantile(scores, 1 - alpha)),
            "you use np.quantile. Call conformal_quantile, which counts the new score.",
        ),
        Misconception(
            lambda y, mean, std, new_mean, new_std, alpha: _split()(
                y, mean, new_mean, alpha
            ),
            "you do not use the standard deviations at all.",
        ),
    ],
    hints=[
        "The score says how many standard deviations a target is from its forecast.",
        "The quantile q is such a number of standard deviations; a new interval reaches q of its own on each side.",
    ],
)
