"""Split conformal prediction with a model that is trained; scikit-learn trains the oracle's."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import KNeighborsRegressor

from course.checks.acting_on_uncertainty.intervals import TOO_FEW, closes
from course.checks.acting_on_uncertainty.ranks import (
    largest_if_few,
    largest_kept,
    levels,
    n_for_n_plus_one,
    right_rank,
)
from course.probing import interval
from course.task import Misconception, Task


def _residuals(x, y, n_train, neighbours):
    """Return the residuals of the calibration data, and the model."""
    model = KNeighborsRegressor(neighbours, algorithm="brute")
    model.fit(x[:n_train], y[:n_train])
    return y[n_train:] - model.predict(x[n_train:]), model


def _splitting_cases(rng):
    """Draw data without any pattern, so that a model fits what it was trained on much better.

    The last score is not the largest: with 7 scores and α = 0.25, it is then missed. There, the
    right one is the second largest, and as the residuals of the two largest differ in sign, a
    quantile of signed residuals is another, whichever way they are subtracted.
    """
    cases = []
    for (n, alpha), n_train, neighbours, (d, new) in zip(
        levels(rng),
        (9, 6, 5, 1, 7),
        (3, 2, 1, 1, 2),
        ((2, 4), (3, 5), (1, 3), (1, 1), (2, 2)),
        strict=True,
    ):
        n_train += d > 1 and (n + n_train) % d == 0  # N is no multiple of D
        total = n + n_train
        while True:
            x = rng.normal(0, 1, (total, d))
            y = rng.permutation(np.cumsum(rng.uniform(0.5, 1.5, total)))
            residuals, _ = _residuals(x, y, n_train, neighbours)
            scores = np.abs(residuals)
            if n == 1:
                break
            first, second, third = residuals[np.argsort(-scores)[:3]]
            both_signs = first * second < 0 and abs(second) > abs(third) + 0.1
            if both_signs and scores[-1] < scores.max() - 0.1:
                break
        cases.append(
            {
                "x": x,
                "y": y,
                "new_x": rng.normal(0, 1, (new, d)),
                "alpha": alpha,
                "n_train": n_train,
                "neighbours": neighbours,
            }
        )
    return cases


def _splitting_probe(answer, x, y, new_x, alpha, n_train, neighbours):
    import numpy as np

    def fit(x, y):
        def predict(new):
            gaps = np.sum((new[:, None] - x[None]) ** 2, axis=-1)
            nearest = np.argsort(gaps, axis=1)[:, :neighbours]
            return y[nearest].mean(axis=1)

        return predict

    return interval(answer(fit, *map(np.asarray, (x, y, new_x)), alpha, n_train))


def _splitting_oracle(x, y, new_x, alpha, n_train, neighbours):
    residuals, model = _residuals(x, y, n_train, neighbours)
    size = largest_kept(np.abs(residuals), alpha)
    mean = model.predict(new_x)
    return closes(mean - size, mean + size)


def _splitting(train, calibrate, quantile=right_rank):
    """Train and calibrate on the named parts: the first data points, the others, or all."""

    def answer(fit, x, y, new_x, alpha, n_train):
        parts = {
            "first": slice(None, n_train),
            "others": slice(n_train, None),
            "all": slice(None),
        }
        trained, held_out = parts[train], parts[calibrate]
        predict = fit(x[trained], y[trained])
        size = quantile(np.abs(y[held_out] - predict(x[held_out])), alpha)
        return predict(new_x) - size, predict(new_x) + size

    return answer


def _fitted_again(fit, x, y, new_x, alpha, n_train):
    first = fit(x[:n_train], y[:n_train])
    size = right_rank(np.abs(y[n_train:] - first(x[n_train:])), alpha)
    mean = fit(x, y)(new_x)
    return mean - size, mean + size


SPLIT_CONFORMAL = Task(
    name="split_conformal",
    points=2,
    cases=_splitting_cases,
    probe=_splitting_probe,
    oracle=_splitting_oracle,
    misconceptions=[
        Misconception(
            _splitting("all", "others", n_for_n_plus_one),
            "you keep both mistakes: the model is trained on the calibration data, and the rank uses n for n + 1.",
        ),
        Misconception(
            _splitting("all", "others"),
            "you train on all data points. The calibration data must not be used for training.",
        ),
        Misconception(
            _splitting("first", "others", n_for_n_plus_one),
            "you use n in place of n + 1 in the rank. Call split_interval.",
        ),
        Misconception(
            _splitting("first", "first"),
            "you calibrate on the training data. The model fits them better than new data.",
        ),
        Misconception(
            _splitting("first", "all"),
            "you calibrate on all data points, and thus also on the training data.",
        ),
        Misconception(
            _splitting("others", "first"),
            "you swap the two parts: the first n_train data points are for training.",
        ),
        Misconception(
            _fitted_again,
            "you train on all data points again after the calibration. The scores are those of another model, so "
            "the guarantee does not hold for the new one.",
        ),
        Misconception(
            _splitting("first", "others", largest_if_few),
            TOO_FEW,
        ),
    ],
    hints=[
        "Which data points has the model seen when the colleague computes its residuals?",
        "Compare the colleague's rank with that of conformal_quantile.",
        "Fit the first n_train data points only; then call split_interval with the others.",
    ],
    made_of="The function `fit` averages the targets of the nearest training inputs.",
)
