"""Coverage: its law over calibration sets, its value by group, and a guarantee by group."""

from __future__ import annotations

import math

import numpy as np
import scipy.stats

from solutions.acting_on_uncertainty.intervals import conformal_quantile


def coverage_law(n: int, alpha: float) -> scipy.stats.rv_continuous:
    """The law of the coverage over calibration sets: Beta(k, n + 1 − k).

    Here k = ⌈(n + 1)(1 − α)⌉. The law is exact for continuous scores.
    For k = n + 1 the intervals are infinite, and there is no such law.

    Source: Vovk (2012); Angelopoulos and Bates (2021), section 3.2.
    """
    rank = math.ceil((n + 1) * (1 - alpha))
    return scipy.stats.beta(rank, n + 1 - rank)


def coverage_by_group(covered: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The share of covered data points in each group.

    Args:
        covered: whether the interval or set contains the truth, booleans, shape (N,).
        groups: the group of each data point, integers from 0 to G − 1, shape (N,).
            Each group has at least one data point.

    Returns:
        Shares between 0 and 1, shape (G,).
    """
    ### BEGIN SOLUTION
    return np.bincount(groups, weights=covered) / np.bincount(groups)
    ### END SOLUTION


def group_quantiles(scores: np.ndarray, groups: np.ndarray, alpha: float) -> np.ndarray:
    """The conformal quantile of each group's own scores, shape (G,).

    Source: Vovk (2012); Angelopoulos and Bates (2021), section 4.1.
    """
    return np.array(
        [
            conformal_quantile(scores[groups == group], alpha)
            for group in range(groups.max() + 1)
        ]
    )
