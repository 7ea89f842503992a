"""Draws of a layer's outputs instead of its weights."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def sample_activations(
    x: Tensor,
    weight_mu: Tensor,
    weight_rho: Tensor,
    bias_mu: Tensor,
    bias_rho: Tensor,
    *,
    generator: torch.Generator,
) -> Tensor:
    """Draw a layer's outputs instead of its weights: the local reparametrisation trick.

    A sum of independent Gaussians is a Gaussian: output j of row x has the mean
    Σᵢ µⱼᵢxᵢ + µⱼ and the variance Σᵢ σⱼᵢ²xᵢ² + σⱼ². Every row and output has noise of
    its own.

    Args:
        x: inputs, shape (N, D).
        weight_mu: means of the weights, shape (outputs, D).
        weight_rho: their parameters ρ, of the same shape.
        bias_mu: means of the biases, shape (outputs,).
        bias_rho: their parameters ρ, of the same shape.
        generator: the source of randomness.

    Returns:
        One draw of the outputs, shape (N, outputs).

    Source: Kingma, Salimans and Welling (2015), equation 6.
    """
    # F.linear(x, W, b) is x @ W.T + b, for variances as well as for means.
    ### BEGIN SOLUTION
    mean = F.linear(x, weight_mu, bias_mu)
    variance = F.linear(x**2, F.softplus(weight_rho) ** 2, F.softplus(bias_rho) ** 2)
    epsilon = torch.randn(
        mean.shape, generator=generator, dtype=mean.dtype, device=mean.device
    )
    return mean + torch.sqrt(variance) * epsilon
    ### END SOLUTION
