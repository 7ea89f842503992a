"""Bayesian optimisation: where to measure a function next."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm


def expected_improvement(mean: np.ndarray, std: np.ndarray, best: float) -> np.ndarray:
    """E[max(f − best, 0)] for a Gaussian forecast of f, to be maximised.

    Args:
        mean: of f at each candidate, shape (N,).
        std: of f at each candidate, shape (N,). Where it is 0, f is known to be
            the mean.
        best: the largest value that has been measured.

    Returns:
        Never negative, shape (N,).

    Source: Jones, Schonlau and Welch (1998), there for a minimum.
    """
    ### BEGIN SOLUTION
    gain = mean - best
    known = std == 0
    z = gain / np.where(known, 1, std)
    return np.where(known, np.maximum(gain, 0), gain * norm.cdf(z) + std * norm.pdf(z))
    ### END SOLUTION
