"""The ELBO of a mean-field Gaussian, and its KL divergence from the prior."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def gaussian_kl(mu: Tensor, rho: Tensor, prior_std: float) -> Tensor:
    """KL(q‖p) = Σᵢ log(σ₀/σᵢ) + (σᵢ² + µᵢ²)/(2σ₀²) − ½.

    Here q = Πᵢ N(µᵢ, σᵢ²) and p = N(0, σ₀² I).

    Args:
        mu: means µ, any shape.
        rho: ρ, the same shape; the standard deviation is σ = softplus(ρ).
        prior_std: the prior's standard deviation σ₀, not its variance.

    Returns:
        A scalar, in nats: the sum over all weights.

    Source: Kingma and Welling (2014), appendix B.
    """
    ### BEGIN SOLUTION
    std = F.softplus(rho)
    return (
        math.log(prior_std)
        - torch.log(std)
        + (std**2 + mu**2) / (2 * prior_std**2)
        - 0.5
    ).sum()
    ### END SOLUTION


def negative_elbo(logits: Tensor, y: Tensor, kl: Tensor) -> Tensor:
    """−ELBO ≈ 1/S Σₛ Σₙ −log p(yₙ | xₙ, wₛ) + KL(q‖p).

    Args:
        logits: of S draws of the weights, shape (S, N).
        y: labels, 0.0 or 1.0, shape (N,).
        kl: KL(q‖p), a scalar.

    Returns:
        A scalar, in nats: a mean over draws, a sum over data.
    """
    ### BEGIN SOLUTION
    nll = F.binary_cross_entropy_with_logits(
        logits, y.expand_as(logits), reduction="none"
    )
    return nll.sum(dim=1).mean() + kl
    ### END SOLUTION
