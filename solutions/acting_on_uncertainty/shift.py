"""Conformal prediction where the inputs of new data have another distribution."""

from __future__ import annotations

import numpy as np


def weighted_quantile(
    scores: np.ndarray, weights: np.ndarray, new_weights: np.ndarray, alpha: float
) -> np.ndarray:
    """For each new data point, the quantile at 1 − α of weighted calibration scores.

    Calibration scores s_i have probabilities proportional to w_i, and +∞ has one
    proportional to the weight w of the new data point. The quantile is the smallest
    score s with

        Σ_{s_i ≤ s} w_i ≥ (1 − α) (Σ_i w_i + w).

    Args:
        scores: scores of the calibration data, shape (n,), in any order.
        weights: their weights w_i > 0, shape (n,).
        new_weights: weights of new data points, shape (N,).
        alpha: miscoverage α, between 0 and 1.

    Returns:
        Quantiles, shape (N,); +∞ where no calibration score is large enough.

    Source: Tibshirani et al. (2019), section 2, corollary 1.
    """
    ### BEGIN SOLUTION
    order = np.argsort(scores)
    below = np.cumsum(weights[order])
    needed = (1 - alpha) * (below[-1] + new_weights)
    return np.append(scores[order], np.inf)[np.searchsorted(below, needed)]
    ### END SOLUTION
