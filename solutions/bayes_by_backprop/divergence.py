"""The KL divergence from a prior, in closed form and by sampling."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from solutions.bayes_by_backprop.densities import log_posterior
from solutions.bayes_by_backprop.weights import sample_weights


def gaussian_kl(mu: Tensor, rho: Tensor, prior_std: float) -> Tensor:
    """KL(N(µ, σ²) ‖ N(0, σ₀²)), summed over all weights.

    log(σ₀/σ) + (σ² + µ²)/(2σ₀²) − ½ for every weight.

    Args:
        mu: means µ, any shape.
        rho: parameters ρ, of the same shape.
        prior_std: the prior's standard deviation σ₀ > 0.

    Returns:
        A scalar, in nats, at least 0.

    Source: Kingma and Welling (2014), appendix B, with a prior N(0, σ₀²).
    """
    # A sum: the KL of independent weights adds up, whatever their number.
    ### BEGIN SOLUTION
    std = F.softplus(rho)
    return (
        math.log(prior_std)
        - torch.log(std)
        + (std**2 + mu**2) / (2 * prior_std**2)
        - 0.5
    ).sum()
    ### END SOLUTION


def sampled_kl(
    mu: Tensor,
    rho: Tensor,
    log_prior: Callable[[Tensor], Tensor],
    *,
    draws: int,
    generator: torch.Generator,
) -> Tensor:
    """An unbiased estimate of KL(q‖p), summed over all weights, for any prior p.

    The mean over draws w of q of Σ log q(w) − Σ log p(w).

    Args:
        mu: means µ, any shape.
        rho: parameters ρ, of the same shape.
        log_prior: the prior's log density, elementwise, for weights of any shape.
        draws: S, how many draws to average.
        generator: the source of randomness.

    Returns:
        A scalar, in nats. An estimate may be negative; what it estimates is not.

    Source: Blundell et al. (2015), equation 2.
    """
    # mu.expand(draws, *mu.shape) has one copy of µ per draw: no loop is needed.
    ### BEGIN SOLUTION
    w = sample_weights(
        mu.expand(draws, *mu.shape), rho.expand(draws, *rho.shape), generator=generator
    )
    return (log_posterior(w, mu, rho) - log_prior(w)).sum() / draws
    ### END SOLUTION
