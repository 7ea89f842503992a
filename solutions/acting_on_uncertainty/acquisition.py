"""Active learning: which data points to label next."""

from __future__ import annotations

import numpy as np
from scipy.special import entr


def bald_scores(probs: np.ndarray) -> np.ndarray:
    """The mutual information of a label and the member that forecasts it, in nats.

    Args:
        probs: probabilities of each of M members (or draws), shape (M, N, K). Some may
            be 0.

    Returns:
        The entropy of the mean forecast, minus the mean entropy of the forecasts,
        shape (N,).

    Source: Houlsby et al. (2011).
    """
    ### BEGIN SOLUTION
    total = entr(probs.mean(axis=0)).sum(axis=-1)
    data = entr(probs).sum(axis=-1).mean(axis=0)
    return total - data
    ### END SOLUTION


def diverse_batch(
    scores: np.ndarray,
    features: np.ndarray,
    labelled: np.ndarray,
    radius: float,
    size: int,
) -> np.ndarray:
    """A greedy batch without near-duplicates: high scores, no two closer than a radius.

    Candidates are taken in the order of their scores. One that is closer than the
    radius to a data point that is labelled, or that the batch already contains, is
    skipped.

    Args:
        scores: one for each candidate, no two equal, shape (N,).
        features: of the candidates, shape (N, D).
        labelled: features of the data points that already have labels, shape (L, D);
            L may be 0.
        radius: the least Euclidean distance.
        size: the most data points that the batch may have.

    Returns:
        Indices of candidates in the order of their scores, highest first; at most
        ``size``.
    """
    ### BEGIN SOLUTION
    taken = list(labelled)
    batch = []
    for index in np.argsort(-scores):
        if len(batch) == size:
            break
        distances = [np.linalg.norm(features[index] - other) for other in taken]
        if min(distances, default=np.inf) >= radius:
            batch.append(index)
            taken.append(features[index])
    return np.array(batch, dtype=int)
    ### END SOLUTION
