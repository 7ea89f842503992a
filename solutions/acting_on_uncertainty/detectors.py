"""Scores of how far inputs are from the training data, in a space of features."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist


def mahalanobis_scores(
    features: np.ndarray, labels: np.ndarray, new: np.ndarray
) -> np.ndarray:
    """The squared Mahalanobis distance from new features to the nearest class mean.

    All classes share one covariance, which has an inverse: that of the features around
    the means of their classes, divided by N.

    Args:
        features: of the training data, shape (N, D).
        labels: integers from 0 to K − 1, shape (N,). Each class has at least one
            data point.
        new: features of new data, shape (M, D).

    Returns:
        Shape (M,), large for inputs that are far from every class.

    Source: Lee et al. (2018).
    """
    ### BEGIN SOLUTION
    means = np.stack(
        [features[labels == k].mean(axis=0) for k in range(labels.max() + 1)]
    )
    around = features - means[labels]
    covariance = around.T @ around / len(features)
    differences = new[:, None] - means
    whitened = np.linalg.solve(covariance, differences[..., None])[..., 0]
    return np.sum(differences * whitened, axis=-1).min(axis=1)
    ### END SOLUTION


def neighbour_scores(features: np.ndarray, new: np.ndarray, k: int) -> np.ndarray:
    """The distance to the k-th nearest training data point, of features with unit norm.

    Args:
        features: of the training data, shape (N, D).
        new: features of new data, shape (M, D).
        k: from 1 to N.

    Source: Sun et al. (2022).
    """

    def unit(z: np.ndarray) -> np.ndarray:
        return z / np.linalg.norm(z, axis=1, keepdims=True)

    return np.sort(cdist(unit(new), unit(features)), axis=1)[:, k - 1]
