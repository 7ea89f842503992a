"""Intervals around a mean that are scaled by standard deviations."""

from __future__ import annotations

import numpy as np

from solutions.acting_on_uncertainty.intervals import conformal_quantile


def scaled_interval(
    y: np.ndarray,
    mean: np.ndarray,
    std: np.ndarray,
    new_mean: np.ndarray,
    new_std: np.ndarray,
    alpha: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Intervals mean ± q · std, where q is the conformal quantile of |y − mean| / std.

    Args:
        y: targets of the calibration data, shape (n,).
        mean: forecasts for the calibration data, shape (n,).
        std: their standard deviations by the model, above 0, shape (n,).
        new_mean: forecasts for new data, shape (N,).
        new_std: their standard deviations by the model, shape (N,).
        alpha: miscoverage α, between 0 and 1.

    Returns:
        Lower and upper ends, shape (N,) each; −∞ and +∞ if q is infinite.

    Source: Lei et al. (2018), section 5.2.
    """
    ### BEGIN SOLUTION
    quantile = conformal_quantile(np.abs(y - mean) / std, alpha)
    return new_mean - quantile * new_std, new_mean + quantile * new_std
    ### END SOLUTION
