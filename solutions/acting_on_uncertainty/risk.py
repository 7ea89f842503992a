"""Conformal risk control: bounds the expectation of any loss that falls with a threshold."""

from __future__ import annotations

import numpy as np


def risk_threshold(
    losses: np.ndarray, thresholds: np.ndarray, alpha: float, bound: float
) -> float:
    """The smallest threshold with (Σ_i loss_i + bound) / (n + 1) ≤ α, or the last.

    Args:
        losses: shape (n, T), each row falling or constant along the thresholds.
        thresholds: rising, shape (T,).
        alpha: the expected loss that is allowed.
        bound: the largest possible loss.

    Source: Angelopoulos et al. (2022), section 2.
    """
    risk = (losses.sum(axis=0) + bound) / (len(losses) + 1)
    return float(thresholds[min(np.sum(risk > alpha), len(thresholds) - 1)])
