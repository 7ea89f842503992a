"""Draws from a mean-field Gaussian that gradients pass through."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Generator, Tensor


def reparametrised_sample(mu: Tensor, rho: Tensor, *, generator: Generator) -> Tensor:
    """w = µ + σ ε with σ = softplus(ρ) and ε ~ N(0, 1), one ε for each weight.

    Args:
        mu: means µ, any shape.
        rho: ρ, the same shape; the standard deviation is σ = softplus(ρ).
        generator: the source of ε.

    Returns:
        One draw of w, the same shape, differentiable with respect to µ and ρ.

    Source: Kingma and Welling (2014), section 2.4; Blundell et al. (2015), section 3.2.
    """
    # torch.randn takes a shape, a dtype and a generator.
    ### BEGIN SOLUTION
    epsilon = torch.randn(mu.shape, dtype=mu.dtype, generator=generator)
    return mu + F.softplus(rho) * epsilon
    ### END SOLUTION
