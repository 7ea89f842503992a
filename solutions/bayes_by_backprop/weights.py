"""Draws of weights from their Gaussians."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def reparametrise(mu: Tensor, rho: Tensor, epsilon: Tensor) -> Tensor:
    """w = µ + σε with σ = softplus(ρ): a weight as a function of parameters and noise.

    Args:
        mu: means µ, any shape.
        rho: parameters ρ of the standard deviations, of the same shape.
        epsilon: standard normal noise ε, of the same shape.

    Returns:
        Weights w, of the same shape.

    Source: Blundell et al. (2015), section 3.2, steps 1 and 2.
    """
    # F.softplus stays finite where log(1 + exp(ρ)) overflows,
    # and positive where it rounds to 0.
    ### BEGIN SOLUTION
    return mu + F.softplus(rho) * epsilon
    ### END SOLUTION


def sample_weights(mu: Tensor, rho: Tensor, *, generator: torch.Generator) -> Tensor:
    """One draw from q(w) = N(w | µ, softplus(ρ)²), independent for every weight.

    Args:
        mu: means µ, any shape.
        rho: parameters ρ, of the same shape.
        generator: the source of randomness.

    Returns:
        Weights w, of the same shape; gradients reach µ and ρ through them.

    Source: Blundell et al. (2015), section 3.2, steps 1 and 2.
    """
    # torch.randn takes a shape, a generator and a dtype.
    ### BEGIN SOLUTION
    epsilon = torch.randn(
        mu.shape, generator=generator, dtype=mu.dtype, device=mu.device
    )
    return reparametrise(mu, rho, epsilon)
    ### END SOLUTION
