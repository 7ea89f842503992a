"""Predictions of a network that is linear in its weights around the mode."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from solutions.approximate_inference.mode import logistic_hessian


def linearised_predictive(
    network: Callable[[Tensor], Tensor], w: Tensor, covariance: Tensor
) -> tuple[Tensor, Tensor]:
    """Mean and variance of the logits f(w_MAP) + J (w − w_MAP) for w ~ N(w_MAP, Σ).

    Args:
        network: takes weights, gives the logits of N inputs, shape (N,).
        w: the mode w_MAP, shape (D,).
        covariance: Σ, shape (D, D).

    Returns:
        Means and variances, both of shape (N,).

    Source: Immer, Korzepa and Bauer (2021).
    """
    ### BEGIN SOLUTION
    jacobian = torch.func.jacrev(network)(w)
    return network(w), ((jacobian @ covariance) * jacobian).sum(dim=1)
    ### END SOLUTION


def last_layer_laplace(
    features: Tensor, w: Tensor, prior_variance: float, new_features: Tensor
) -> tuple[Tensor, Tensor]:
    """Mean and variance of the logits if only the last layer's weights are uncertain.

    Args:
        features: φ of the training inputs, with their column of ones, shape (N, H).
        w: the mode of the last layer's weights, the bias last, shape (H,).
        prior_variance: σ₀².
        new_features: φ of the inputs to predict for, shape (M, H).

    Returns:
        Means and variances, both of shape (M,).

    Source: Daxberger et al. (2021), section 2.
    """
    # Given its features, the last layer is a logistic regression: use logistic_hessian.
    ### BEGIN SOLUTION
    covariance = torch.linalg.inv(logistic_hessian(w, features, prior_variance))
    variance = ((new_features @ covariance) * new_features).sum(dim=1)
    return new_features @ w, variance
    ### END SOLUTION
