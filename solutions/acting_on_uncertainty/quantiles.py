"""Quantile regression, and conformalised quantile regression (CQR)."""

from __future__ import annotations

import numpy as np

from solutions.acting_on_uncertainty.intervals import conformal_quantile


def pinball_loss(y: np.ndarray, forecast: np.ndarray, level: float) -> float:
    """The mean of level · (y − f) where y ≥ f, and of (1 − level) · (f − y) elsewhere.

    In expectation, the quantile of y at this level minimises it.

    Args:
        y: targets, shape (N,).
        forecast: forecasts f of the quantile, shape (N,).
        level: the level of the quantile, between 0 and 1.

    Returns:
        A number that is never negative, in the unit of y.

    Source: Koenker and Bassett (1978); Romano, Patterson and Candès (2019), section 2.
    """
    ### BEGIN SOLUTION
    error = y - forecast
    return float(np.mean(np.where(error >= 0, level * error, (level - 1) * error)))
    ### END SOLUTION


def cqr_interval(
    y: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    new_low: np.ndarray,
    new_high: np.ndarray,
    alpha: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Forecast quantiles, moved outwards by q; inwards if q is negative.

    q is the conformal quantile of max(low − y, y − high): how far the target is
    outside its interval, and minus its distance to the nearer end if it is inside.

    Args:
        y: targets of the calibration data, shape (n,).
        low: forecasts of the lower quantile for the calibration data, shape (n,).
        high: forecasts of the upper quantile for the calibration data, shape (n,).
        new_low: forecasts of the lower quantile for new data, shape (N,).
        new_high: forecasts of the upper quantile for new data, shape (N,).
        alpha: miscoverage α, between 0 and 1.

    Returns:
        Lower and upper ends, shape (N,) each; −∞ and +∞ if q is infinite. If q is
        negative, the ends of a narrow interval can cross; they are returned as they
        are.

    Source: Romano, Patterson and Candès (2019), algorithm 1.
    """
    ### BEGIN SOLUTION
    quantile = conformal_quantile(np.maximum(low - y, y - high), alpha)
    return new_low - quantile, new_high + quantile
    ### END SOLUTION
