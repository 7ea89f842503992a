"""Variational layers, which draw their weights or their outputs."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from solutions.approximate_inference.elbo import gaussian_kl
from solutions.approximate_inference.reparametrisation import reparametrised_sample


class LinearVariational(nn.Module):
    """y = Wx + b, every weight and every bias with a Gaussian of its own.

    Args:
        input_size: the number of inputs.
        output_size: the number of outputs.
        prior_std: the standard deviation σ₀ of the prior of weights and biases.
        rho: where every ρ starts; the standard deviations are softplus(ρ).
        generator: draws the first means.
    """

    def __init__(
        self,
        input_size: int,
        output_size: int,
        prior_std: float,
        rho: float = -3.0,
        *,
        generator: Generator,
    ) -> None:
        super().__init__()
        self.prior_std = prior_std
        mu = torch.randn(output_size, input_size, generator=generator) / math.sqrt(
            input_size
        )
        self.w_mu, self.w_rho = nn.Parameter(mu), nn.Parameter(torch.full_like(mu, rho))
        self.b_mu = nn.Parameter(torch.zeros(output_size))
        self.b_rho = nn.Parameter(torch.full((output_size,), rho))

    def kl(self) -> Tensor:
        """KL(q‖p) of weights and biases together, a scalar in nats."""
        ### BEGIN SOLUTION
        weights = gaussian_kl(self.w_mu, self.w_rho, self.prior_std)
        return weights + gaussian_kl(self.b_mu, self.b_rho, self.prior_std)
        ### END SOLUTION

    def forward(self, x: Tensor, *, generator: Generator) -> Tensor:
        """Outputs, (N, input_size) → (N, output_size), with one fresh draw of W and b.

        The draw serves all N data points.
        """
        ### BEGIN SOLUTION
        weight = reparametrised_sample(self.w_mu, self.w_rho, generator=generator)
        bias = reparametrised_sample(self.b_mu, self.b_rho, generator=generator)
        return F.linear(x, weight, bias)
        ### END SOLUTION


class LocalLinearVariational(LinearVariational):
    """The same layer, its noise drawn where it lands: on every output of each row.

    Source: Kingma, Salimans and Welling (2015), section 2.3.
    """

    def forward(self, x: Tensor, *, generator: Generator) -> Tensor:
        """Gaussian outputs, with mean xµᵀ + µ_b and variance x²(σ²)ᵀ + σ_b².

        Their shape is (N, output_size).
        """
        ### BEGIN SOLUTION
        mean = F.linear(x, self.w_mu, self.b_mu)
        variance = F.linear(
            x**2, F.softplus(self.w_rho) ** 2, F.softplus(self.b_rho) ** 2
        )
        epsilon = torch.randn(mean.shape, dtype=mean.dtype, generator=generator)
        return mean + torch.sqrt(variance) * epsilon
        ### END SOLUTION
