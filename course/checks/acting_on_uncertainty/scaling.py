"""Intervals that are scaled by standard deviations; the oracle inverts conformal p-values."""

from __future__ import annotations

import numpy as np

from course.checks.acting_on_uncertainty.intervals import (
    LOWER_TAIL,
    TOO_FEW,
    closes,
    split_answer,
    split_cases,
    z_of,
)
from course.checks.acting_on_uncertainty.ranks import (
    half_of_alpha,
    half_of_quantile,
    largest_if_few,
    largest_kept,
    lower_tail,
    n_for_n_plus_one,
    numpy_quantile,
    right_rank,
)
from course.probing import interval
from course.task import Misconception, Task


def _scaled_cases(rng):
    """Draw the cases of ``split_interval``, with residuals multiplied by standard deviations.

    In the second, the score that counts is that of the smallest standard deviation.
    """
    cases = []
    for index, case in enumerate(split_cases(rng)):
        n, new = len(case["y"]), len(case["new_mean"])
        std = (
            rng.permutation(np.geomspace(0.4, 2.5, n))
            if n > 1
            else rng.uniform(2, 3, 1)
        )
        if index == 1:
            scores = np.abs(case["y"] - case["mean"])
            counts = np.abs(scores - largest_kept(scores, case["alpha"])).argmin()
            std[[counts, std.argmin()]] = std[[std.argmin(), counts]]
        # In the first case a Gaussian's quantile is the larger one, in the others mostly not.
        residual = (case["y"] - case["mean"]) * std * (0.1 if index == 0 else 1)
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
    return interval(answer(*arrays, alpha))


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


def _of_model(z):
    def answer(y, mean, std, new_mean, new_std, alpha):
        return new_mean - z(alpha) * new_std, new_mean + z(alpha) * new_std

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
            _scaled(
                score=lambda error, std: np.abs(error) / std**2,
                scale=lambda new_std: new_std**2,
            ),
            "you use variances, in the scores and in the intervals. Use the standard deviations.",
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
            _scaled(numpy_quantile),
            "you use np.quantile. Call conformal_quantile, which counts the new score.",
        ),
        Misconception(
            lambda y, mean, std, new_mean, new_std, alpha: split_answer()(
                y, mean, new_mean, alpha
            ),
            "you do not use the standard deviations at all.",
        ),
        Misconception(
            _scaled(half_of_alpha),
            "you use α/2, as for an interval with two tails. The absolute value already counts both.",
        ),
        Misconception(
            _scaled(lower_tail),
            LOWER_TAIL,
        ),
        Misconception(
            _scaled(half_of_quantile),
            "you use half the quantile. It is already how far an interval reaches on each side.",
        ),
        Misconception(
            _scaled(largest_if_few),
            TOO_FEW,
        ),
        Misconception(
            _scaled(scale=np.mean),
            "you multiply the quantile by the mean of the new standard deviations. Each interval has one of its own.",
        ),
        Misconception(
            lambda y, mean, std, new_mean, new_std, alpha: _scaled()(
                y, mean, std, new_mean, std.mean() + 0 * new_std, alpha
            ),
            "you multiply the quantile by the mean standard deviation of the calibration data. Each interval has a "
            "standard deviation of its own, in new_std.",
        ),
        Misconception(
            _of_model(z_of),
            "you use quantiles of a Gaussian. The model may be wrong about the noise: call conformal_quantile.",
        ),
        Misconception(
            _of_model(lambda alpha: 1.645),
            "you use 1.645 standard deviations, which would hold 90% of a Gaussian, whatever α is. Call "
            "conformal_quantile.",
        ),
    ],
    hints=[
        "The score says how many standard deviations a target is from its forecast.",
        "The quantile q is such a number of standard deviations; a new interval reaches q of its own on each side.",
    ],
)
