"""The conformal quantile, and intervals around a mean; the oracles invert conformal p-values."""

from __future__ import annotations

import math

import numpy as np
import scipy.stats

from course.checks.acting_on_uncertainty.ranks import (
    closes_of,
    half_of_alpha,
    half_of_quantile,
    largest_if_few,
    largest_kept,
    levels,
    lower_tail,
    n_for_n_plus_one,
    numpy_quantile,
    ranked,
    right_rank,
    spread,
)
from course.probing import finite_or_infinite, interval
from course.task import Misconception, Task


def _quantile_cases(rng):
    """Draw scores at five levels, the last of which needs more; then at three others.

    The first of these has (n + 1)(1 − α) just above n − 1, so that rounding to the nearest
    integer gives n − 1 for n; its scores are negative. In the second, three of seven scores are equal, and the smallest.
    In the last, there are too few scores.
    """
    cases = [(spread(rng, n), alpha) for n, alpha in levels(rng)]
    n = int(rng.integers(12, 17))
    cases.append((-spread(rng, n), float((2 - rng.uniform(0.15, 0.3)) / (n + 1))))
    tied = np.sort(spread(rng, 5))[[0, 0, 0, 1, 2, 3, 4]]
    cases.append((rng.permutation(tied), 0.6875))
    cases.append((spread(rng, 6), float(rng.uniform(0.04, 0.07))))
    return [{"scores": scores, "alpha": alpha} for scores, alpha in cases]


def _quantile_probe(answer, scores, alpha):
    import numpy as np

    return finite_or_infinite("quantile", answer(np.asarray(scores), alpha))


def _quantile_oracle(scores, alpha):
    return closes_of("quantile", largest_kept(scores, alpha))


def _or_infinite(quantile):
    def answer(scores, alpha):
        few = (len(scores) + 1) * (1 - alpha) > len(scores)
        return math.inf if few else float(quantile(scores, alpha))

    return answer


def _rounded(rounded):
    """Return the score whose rank is rounded in this way, or +∞ if that rank is above n."""

    def answer(scores, alpha):
        rank = rounded((len(scores) + 1) * (1 - alpha))
        return math.inf if rank > len(scores) else float(ranked(scores, rank))

    return answer


def _of_rank(scores, alpha, skipped=0):
    """Return what stands at the rank, after some that are skipped; +∞ if there is nothing."""
    rank = math.ceil((len(scores) + 1) * (1 - alpha)) + skipped
    return math.inf if rank > len(scores) else float(scores[rank - 1])


def _nearest(rounded):
    """Return NumPy's nearest score at the level k/n, for a rank k rounded in this way."""

    @_or_infinite
    def answer(scores, alpha):
        level = rounded((len(scores) + 1) * (1 - alpha)) / len(scores)
        return np.quantile(scores, min(level, 1), method="nearest")

    return answer


CONFORMAL_QUANTILE = Task(
    name="conformal_quantile",
    points=2,
    cases=_quantile_cases,
    probe=_quantile_probe,
    oracle=_quantile_oracle,
    misconceptions=[
        Misconception(
            lambda scores, alpha: float(largest_if_few(scores, alpha)),
            "you return the largest score where the rank exceeds n. With so few scores, no finite threshold has "
            "the guarantee: return math.inf.",
        ),
        Misconception(
            lambda scores, alpha: float(n_for_n_plus_one(scores, alpha)),
            "you use n in place of n + 1. The new score is one of the n + 1 scores that can have any rank.",
        ),
        Misconception(
            _or_infinite(n_for_n_plus_one),
            "you use n in place of n + 1, except in the test of whether there are enough scores.",
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
            _rounded(math.floor),
            "you round the rank down, so that it never exceeds n. Round it up: the probability must be at least "
            "1 − α.",
        ),
        Misconception(
            _rounded(round),
            "you round the rank to the nearest integer. Round it up, so that the probability is at least 1 − α.",
        ),
        Misconception(
            lambda scores, alpha: _of_rank(list(scores), alpha),
            "you do not sort the scores. They come in any order.",
        ),
        Misconception(
            lambda scores, alpha: _of_rank(np.sort(scores), alpha, skipped=1),
            "you take the rank for an index. Python counts from 0: the k-th smallest score is at the index k − 1.",
        ),
        Misconception(
            _or_infinite(
                lambda scores, alpha: np.quantile(
                    scores, math.ceil((len(scores) + 1) * (1 - alpha)) / len(scores)
                )
            ),
            "you use np.quantile at the level k/n, which interpolates between two scores. Take the k-th smallest of "
            "the sorted scores.",
        ),
        Misconception(
            _nearest(math.ceil),
            'you use np.quantile with method="nearest" at the level k/n. NumPy\'s index there is (n − 1)k/n, which is '
            "below k − ½ only if k is larger than n/2. Take the k-th smallest of the sorted scores.",
        ),
        Misconception(
            _nearest(float),
            'you use np.quantile with method="nearest". Round the rank up, and take the score of this rank.',
        ),
        Misconception(
            lambda scores, alpha: right_rank(np.unique(scores), alpha),
            "you drop scores that occur more than once, as np.unique does. Each counts as often as it occurs.",
        ),
        Misconception(
            _or_infinite(
                lambda scores, alpha: ranked(
                    np.unique(scores), (len(scores) + 1) * (1 - alpha)
                )
            ),
            "you sort with np.unique, which drops scores that occur more than once. Use np.sort.",
        ),
        Misconception(
            lambda scores, alpha: math.inf,
            "you always return an infinite number. The answer is infinite only if the rank is larger than n.",
        ),
        Misconception(
            _or_infinite(
                lambda scores, alpha: (
                    math.inf
                    if (len(scores) + 1) * (1 - alpha) > len(scores) - 1
                    else right_rank(scores, alpha)
                )
            ),
            "you return an infinite number even if the rank is n. There is an n-th smallest score: the largest.",
        ),
        Misconception(
            _or_infinite(
                lambda scores, alpha: ranked(
                    scores, math.ceil((len(scores) + 1) * (1 - alpha)) + 1
                )
            ),
            "you take the score one rank too high. The k-th smallest is at index k − 1 of the sorted scores; "
            'np.quantile with method="higher" at the level k/n gives the next one if k is smaller than n.',
        ),
        Misconception(
            lambda scores, alpha: float(
                ranked(scores, math.ceil((len(scores) + 1) * (1 - alpha)) + 1)
            ),
            "you take the score after the k-th smallest, and the largest one where there are too few scores. "
            'np.quantile with method="higher" at the level k/n, capped at 1, does so. With too few scores, return math.inf.',
        ),
        Misconception(
            lambda scores, alpha: float(np.quantile(scores, 1 - alpha)),
            "you use np.quantile, which interpolates between scores and does not count the new one.",
        ),
        *(
            Misconception(
                lower, "you use α for 1 − α: your quantile is in the lower tail."
            )
            for lower in (
                lower_tail,
                _or_infinite(
                    lambda scores, alpha: ranked(scores, (len(scores) + 1) * alpha)
                ),
            )
        ),
        Misconception(
            lambda scores, alpha: _of_rank(np.sort(scores)[::-1], alpha),
            "you take the k-th largest score. The k-th smallest is asked for: it is at index k − 1 of the sorted scores.",
        ),
        Misconception(
            lambda scores, alpha: np.quantile(
                np.append(scores, math.inf), 1 - alpha, method="higher"
            ),
            'you take the rank ⌈n(1 − α)⌉ + 1, as np.quantile with method="higher" does if you append an infinite score. '
            "This is sometimes one too high: the rank is ⌈(n + 1)(1 − α)⌉.",
        ),
    ],
    hints=[
        "Sort the scores. The one you need has rank k = ⌈(n + 1)(1 − α)⌉.",
        "Python counts from 0, so the k-th smallest is at index k − 1. math.ceil rounds up.",
        "If k is larger than n, there is no such score: then the answer is infinite.",
    ],
)


def split_cases(rng):
    """Draw residuals of both signs; the largest is negative."""
    cases = []
    for (n, alpha), new in zip(levels(rng), (4, 5, 2, 1, 3), strict=True):
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

    return interval(answer(*map(np.asarray, (y, mean, new_mean)), alpha))


def closes(low, high):
    """Return the right ends of intervals."""
    return closes_of("low", low) | closes_of("high", high)


def _split_oracle(y, mean, new_mean, alpha):
    size = largest_kept(np.abs(y - mean), alpha)
    return closes(new_mean - size, new_mean + size)


def split_answer(quantile=right_rank, score=lambda y, mean: np.abs(y - mean)):
    def answer(y, mean, new_mean, alpha):
        size = quantile(score(y, mean), alpha)
        return new_mean - size, new_mean + size

    return answer


def z_of(alpha):
    """Return how many standard deviations on each side hold 1 − α of a Gaussian."""
    return scipy.stats.norm.ppf(1 - alpha / 2)


def _gaussian(z):
    def answer(y, mean, new_mean, alpha):
        size = z(alpha) * np.std(y - mean)
        return new_mean - size, new_mean + size

    return answer


TOO_FEW = (
    "you use the largest score where there are too few scores. There, conformal_quantile and the intervals are "
    "infinite."
)
LOWER_TAIL = "you use 1 − α for α. Pass α itself to conformal_quantile."

SPLIT_INTERVAL = Task(
    name="split_interval",
    points=1,
    cases=split_cases,
    probe=_split_probe,
    oracle=_split_oracle,
    misconceptions=[
        Misconception(
            split_answer(score=lambda y, mean: y - mean),
            "you keep the signs of the residuals. The score is |y − mean|.",
        ),
        Misconception(
            split_answer(score=lambda y, mean: (y - mean) ** 2),
            "you use squared residuals as scores, and do not take the root of their quantile.",
        ),
        Misconception(
            split_answer(half_of_alpha),
            "you use α/2, as for an interval with two tails. The absolute value already counts both.",
        ),
        Misconception(
            split_answer(n_for_n_plus_one),
            "you use n in place of n + 1 in the rank. Call conformal_quantile.",
        ),
        Misconception(
            split_answer(numpy_quantile),
            "you use np.quantile. Call conformal_quantile, which counts the new score.",
        ),
        Misconception(
            lambda y, mean, new_mean, alpha: split_answer()(y, mean, new_mean, alpha)[
                ::-1
            ],
            "you return the upper ends first.",
        ),
        Misconception(
            split_answer(largest_if_few),
            TOO_FEW,
        ),
        Misconception(
            split_answer(lower_tail),
            LOWER_TAIL,
        ),
        Misconception(
            split_answer(half_of_quantile),
            "you use half the quantile. It is already half the width of the intervals.",
        ),
        Misconception(
            _gaussian(z_of),
            "you use quantiles of a Gaussian with the standard deviation of the residuals. They may have any "
            "distribution: call conformal_quantile.",
        ),
        Misconception(
            _gaussian(lambda alpha: 1.645),
            "you use 1.645 standard deviations of the residuals, which would hold 90% of a Gaussian, whatever α is. "
            "Call conformal_quantile.",
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
