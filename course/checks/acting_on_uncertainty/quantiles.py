"""Pinball loss and CQR; oracles from scikit-learn and from conformal p-values."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import mean_pinball_loss

from course.checks.acting_on_uncertainty.intervals import TOO_FEW, closes
from course.checks.acting_on_uncertainty.ranks import (
    half_of_alpha,
    largest_if_few,
    largest_kept,
    levels,
    n_for_n_plus_one,
    numpy_quantile,
    right_rank,
    spread,
)
from course.checks.acting_on_uncertainty.tolerances import DOUBLE
from course.probing import interval
from course.task import Close, Misconception, Task


def _pinball_cases(rng):
    """Draw errors of both signs and of different sizes."""
    cases = []
    for n, level in (
        (7, rng.uniform(0.05, 0.2)),
        (4, rng.uniform(0.7, 0.95)),
        (1, rng.uniform(0.6, 0.9)),
    ):
        forecast = rng.normal(0, 2, n)
        error = spread(rng, n) * np.where(np.arange(n) % 3, -1, 2)
        case = {"y": forecast + error, "forecast": forecast, "level": float(level)}
        cases.append(case)
    return cases


def _pinball_probe(answer, y, forecast, level):
    import numpy as np

    return {"loss": answer(np.asarray(y), np.asarray(forecast), level)}


def _pinball(y, forecast, above, below, reduce=np.mean):
    error = y - forecast
    return float(reduce(np.where(error >= 0, above * error, -below * error)))


PINBALL_LOSS = Task(
    name="pinball_loss",
    points=1,
    cases=_pinball_cases,
    probe=_pinball_probe,
    oracle=lambda y, forecast, level: {
        "loss": Close(
            mean_pinball_loss(y, forecast, alpha=level), rtol=1e-9, because=DOUBLE
        )
    },
    misconceptions=[
        Misconception(
            lambda y, forecast, level: _pinball(y, forecast, 1 - level, level),
            "you swap the two slopes. For a high level, a target above the forecast must cost more than one below.",
        ),
        Misconception(
            lambda y, forecast, level: _pinball(y, forecast, level, level),
            "you give both sides the same slope. Minimising this forecasts the median, whatever the level.",
        ),
        Misconception(
            lambda y, forecast, level: _pinball(y, forecast, level, level - 1),
            "you let the loss be negative where the target is below the forecast. Both sides must cost something.",
        ),
        Misconception(
            lambda y, forecast, level: _pinball(y, forecast, level - 1, -level),
            "your loss is the smaller of level · (y − f) and (level − 1)(y − f), so it is never positive. Take the "
            "larger of the two.",
        ),
        Misconception(
            lambda y, forecast, level: _pinball(y, forecast, level, 0),
            "you count only the targets above the forecast. Those below cost (1 − level)(f − y).",
        ),
        Misconception(
            lambda y, forecast, level: _pinball(y, forecast, level, 1 - level, np.sum),
            "you return the sum over the data points. Return the mean.",
        ),
        Misconception(
            lambda y, forecast, level: 2 * _pinball(y, forecast, level, 1 - level),
            "you return twice the loss, so that it is the absolute error at level 0.5. The definition here has no factor of 2.",
        ),
    ],
    hints=[
        "There are two cases: the target is above the forecast, or below it.",
        "np.where chooses between them for each data point. Check your function at level 0.5: it is half the mean absolute error.",
    ],
)


def _cqr_cases(rng):
    """Draw intervals that are too narrow, and for the third level intervals that are too wide.

    A target is outside its interval by its score, or inside by minus its score, near an end
    that is drawn.
    """
    cases = []
    for index, ((n, alpha), new) in enumerate(
        zip(levels(rng), (4, 5, 2, 1, 3), strict=True)
    ):
        score = -spread(rng, n) if index == 2 else spread(rng, n) - 0.3
        half = np.abs(score) + rng.uniform(0.5, 1.5, n)
        middle = rng.normal(0, 3, n)
        low, high = middle - half, middle + half
        upper = rng.permutation(np.arange(n)) % 2 == 0
        new_middle, new_half = rng.normal(0, 3, new), rng.uniform(4, 6, new)
        if (
            index == 2
        ):  # q is at most −0.2, so that the ends of the first interval cross
            new_half[0] = 0.05
        cases.append(
            {
                "y": np.where(upper, high + score, low - score),
                "low": low,
                "high": high,
                "new_low": new_middle - new_half,
                "new_high": new_middle + new_half,
                "alpha": alpha,
            }
        )
    return cases


def _cqr_probe(answer, y, low, high, new_low, new_high, alpha):
    import numpy as np

    arrays = map(np.asarray, (y, low, high, new_low, new_high))
    return interval(answer(*arrays, alpha))


def _cqr_oracle(y, low, high, new_low, new_high, alpha):
    """Compute the scores from the signed distances to the ends, which are positive inside."""
    inside = np.min([y - low, high - y], axis=0)
    out = largest_kept(-inside, alpha)
    return closes(new_low - out, new_high + out)


def _cqr(quantile=right_rank, score=np.maximum, move=(-1, 1)):
    def answer(y, low, high, new_low, new_high, alpha):
        out = quantile(score(low - y, y - high), alpha)
        return new_low + move[0] * out, new_high + move[1] * out

    return answer


def _two_tails(y, low, high, new_low, new_high, alpha):
    below, above = (half_of_alpha(side, alpha) for side in (low - y, y - high))
    return new_low - below, new_high + above


def _in_order(*case):
    ends = _cqr()(*case)
    return np.minimum(*ends), np.maximum(*ends)


CQR_INTERVAL = Task(
    name="cqr_interval",
    points=2,
    cases=_cqr_cases,
    probe=_cqr_probe,
    oracle=_cqr_oracle,
    misconceptions=[
        Misconception(
            _cqr(score=lambda below, above: np.maximum(np.maximum(below, above), 0)),
            "you set q, or the scores of targets inside their intervals, to 0 where they are negative, so that "
            "intervals that are too wide never shrink. Keep the sign.",
        ),
        Misconception(
            _cqr(score=np.minimum),
            "you take the smaller of the two differences. A target is outside if either is positive, so the score "
            "is the larger one.",
        ),
        Misconception(
            _cqr(score=lambda below, above: np.abs(np.maximum(below, above))),
            "you take absolute values: a target deep inside its interval then counts as one far outside.",
        ),
        Misconception(
            _cqr(score=lambda below, above: above),
            "you look only at the upper end. A target can be below its interval as well.",
        ),
        Misconception(
            _cqr(score=lambda below, above: below),
            "you look only at the lower end. A target can be above its interval as well.",
        ),
        Misconception(
            _cqr(move=(1, -1)),
            "you move the ends inwards by q. A positive q says that the intervals are too narrow.",
        ),
        Misconception(
            _cqr(n_for_n_plus_one),
            "you use n in place of n + 1 in the rank. Call conformal_quantile.",
        ),
        Misconception(
            _cqr(half_of_alpha),
            "you use α/2. One score covers both ends, so its quantile is that of α.",
        ),
        Misconception(
            _two_tails,
            "you move each end by a quantile of its own at α/2. This is valid, and is the asymmetric version of "
            "CQR; here one score covers both ends.",
        ),
        Misconception(
            _cqr(numpy_quantile),
            "you use np.quantile. Call conformal_quantile, which counts the new score.",
        ),
        Misconception(
            _cqr(largest_if_few),
            TOO_FEW,
        ),
        Misconception(
            _cqr(score=lambda below, above: np.maximum(-below, -above)),
            "your score is the distance to the farther end: the signs are swapped, or each difference has its "
            "absolute value. A target inside its interval has a negative score.",
        ),
        Misconception(
            _cqr(lambda scores, alpha: np.abs(right_rank(scores, alpha))),
            "you use the absolute value of q. A negative q says that the intervals are too wide, and moves their "
            "ends inwards.",
        ),
        Misconception(
            _in_order,
            "you put the ends in order where they cross. Return them as they are.",
        ),
    ],
    hints=[
        "For each calibration data point: by how much is the target below the lower end, and by how much above the upper end?",
        "The larger of these two differences is the score. It is negative if the target is inside.",
        "Move both ends outwards by the conformal quantile of the scores at α.",
    ],
)
