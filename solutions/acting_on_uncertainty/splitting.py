"""Split conformal prediction from the training of the model to the interval."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from solutions.acting_on_uncertainty.intervals import split_interval


def hurried_split_conformal(
    fit: Callable,
    x: np.ndarray,
    y: np.ndarray,
    new_x: np.ndarray,
    alpha: float,
    n_train: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Split conformal intervals, with two mistakes that a hurried colleague made."""
    predict = fit(x, y)
    scores = np.abs(y[n_train:] - predict(x[n_train:]))
    rank = math.ceil(len(scores) * (1 - alpha))
    quantile = np.sort(scores)[rank - 1]
    return predict(new_x) - quantile, predict(new_x) + quantile


def split_conformal(
    fit: Callable,
    x: np.ndarray,
    y: np.ndarray,
    new_x: np.ndarray,
    alpha: float,
    n_train: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Train on the first ``n_train`` data points, calibrate on the others.

    Args:
        fit: trains a model: ``fit(x, y)`` returns a function that maps inputs to
            forecasts.
        x: inputs, shape (N, D), in random order.
        y: targets, shape (N,).
        new_x: inputs of new data, shape (N', D).
        alpha: miscoverage α, between 0 and 1.
        n_train: how many data points are for training, fewer than N.

    Returns:
        Lower and upper ends, shape (N',) each; −∞ and +∞ if there are too few
        calibration data for α, as in ``conformal_quantile``.

    Source: Lei et al. (2018), algorithm 2.
    """
    # Start from hurried_split_conformal and correct it.
    ### BEGIN SOLUTION
    predict = fit(x[:n_train], y[:n_train])
    held_out = predict(x[n_train:])
    return split_interval(y[n_train:], held_out, predict(new_x), alpha)
    ### END SOLUTION
