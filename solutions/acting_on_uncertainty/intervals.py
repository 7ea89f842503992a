"""The conformal quantile, and intervals around a mean."""

from __future__ import annotations

import math

import numpy as np


def conformal_quantile(scores: np.ndarray, alpha: float) -> float:
    """The ⌈(n + 1)(1 − α)⌉-th smallest of n scores; +∞ if this is more than n.

    Args:
        scores: scores of the calibration data, shape (n,), in any order.
        alpha: miscoverage α, between 0 and 1.

    Returns:
        One of the scores, or +∞. Rounding can raise the rank by one, which keeps the
        guarantee: 100 · (1 − 0.42) is 58.00000000000001 in floating point.

    Source: Papadopoulos et al. (2002); Lei et al. (2018), algorithm 2.
    """
    ### BEGIN SOLUTION
    n = len(scores)
    rank = math.ceil((n + 1) * (1 - alpha))
    return math.inf if rank > n else float(np.sort(scores)[rank - 1])
    ### END SOLUTION


def split_interval(
    y: np.ndarray, mean: np.ndarray, new_mean: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Intervals mean ± q, where q is the conformal quantile of |y − mean|.

    Args:
        y: targets of the calibration data, shape (n,).
        mean: forecasts for the calibration data, shape (n,).
        new_mean: forecasts for new data, shape (N,).
        alpha: miscoverage α, between 0 and 1.

    Returns:
        Lower and upper ends, shape (N,) each; −∞ and +∞ if q is infinite.

    Source: Lei et al. (2018), algorithm 2.
    """
    ### BEGIN SOLUTION
    quantile = conformal_quantile(np.abs(y - mean), alpha)
    return new_mean - quantile, new_mean + quantile
    ### END SOLUTION
