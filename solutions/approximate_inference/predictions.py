"""Predictions: the predictive integral by sampling and by the probit approximation."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def sampled_predictive(x: Tensor, weights: Tensor, chunk: int = 512) -> Tensor:
    """p(y = 1 | x) ≈ 1/S Σₛ sigmoid(xᵀwₛ), from samples of the posterior.

    Args:
        x: inputs with their column of ones, shape (N, D).
        weights: samples wₛ, shape (S, D).
        chunk: how many inputs at a time: (chunk, S) logits fit into the processor's
            cache.

    Returns:
        Probabilities, shape (N,).
    """
    probs = []
    for rows in x.split(chunk):
        # rows has the shape (at most chunk, D): append their predictive probabilities.
        ### BEGIN SOLUTION
        probs.append(torch.sigmoid(rows @ weights.T).mean(dim=1))
        ### END SOLUTION
    return torch.cat(probs)


def probit_predictive(x: Tensor, mean: Tensor, covariance: Tensor) -> Tensor:
    """p(y = 1 | x) ≈ sigmoid(m / √(1 + πv/8)) with m = xᵀµ and v = xᵀΣx.

    Args:
        x: inputs with their column of ones, shape (N, D).
        mean: µ, shape (D,).
        covariance: Σ, shape (D, D).

    Returns:
        Probabilities, shape (N,).

    Source: MacKay (1992); Bishop (2006), equations 4.153 to 4.155.
    """
    ### BEGIN SOLUTION
    logit_mean = x @ mean
    logit_variance = ((x @ covariance) * x).sum(dim=1)
    return torch.sigmoid(logit_mean / torch.sqrt(1 + math.pi * logit_variance / 8))
    ### END SOLUTION
