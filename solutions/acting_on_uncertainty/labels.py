"""Scores of labels; a prediction set holds the labels whose score is at most a quantile."""

from __future__ import annotations

import numpy as np


def least_ambiguous_scores(probs: np.ndarray) -> np.ndarray:
    """1 − p for each label, (N, K) → (N, K).

    Source: Sadinle, Lei and Wasserman (2019).
    """
    return 1 - probs


def aps_scores(probs: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The score of a label: the probability of all labels above it, and u · its own.

    Args:
        probs: probabilities of the labels, shape (N, K), no two of a row equal.
        u: numbers between 0 and 1, one for each data point, shape (N,).

    Returns:
        Scores between 0 and 1, shape (N, K), in the order of the columns of ``probs``.

    Source: Romano, Sesia and Candès (2020), section 2; Angelopoulos et al. (2021),
    section 2.
    """
    ### BEGIN SOLUTION
    order = np.argsort(-probs, axis=1)
    ranked = np.take_along_axis(probs, order, axis=1)
    above = np.cumsum(ranked, axis=1) - ranked
    scores = np.empty_like(ranked)
    np.put_along_axis(scores, order, above + u[:, None] * ranked, axis=1)
    return scores
    ### END SOLUTION


def raps_scores(
    probs: np.ndarray, u: np.ndarray, *, penalty: float, free: int
) -> np.ndarray:
    """APS scores, with a penalty for each rank beyond the first ``free``, (N, K).

    Source: Angelopoulos et al. (2021), section 2.
    """
    rank = np.argsort(np.argsort(-probs, axis=1), axis=1) + 1
    return aps_scores(probs, u) + penalty * np.maximum(rank - free, 0)
