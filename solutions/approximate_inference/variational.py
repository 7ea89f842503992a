"""Variational inference: a mean-field Gaussian, its KL, its layers."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn


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

        The draw serves all N data.
        """
        ### BEGIN SOLUTION
        weight = reparametrised_sample(self.w_mu, self.w_rho, generator=generator)
        bias = reparametrised_sample(self.b_mu, self.b_rho, generator=generator)
        return F.linear(x, weight, bias)
        ### END SOLUTION


class LocalLinearVariational(LinearVariational):
    """The same layer, its noise drawn where it lands: on every output of every datum.

    Source: Kingma, Salimans and Welling (2015), section 2.2.
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


class VariationalMLP(nn.Module):
    """One hidden layer of ReLUs between two variational layers; gives logits.

    Args:
        input_size: the number of inputs.
        hidden_size: the number H of hidden units.
        prior_std: the standard deviation σ₀ of the prior of every weight and bias.
        rho: where every ρ starts.
        layer: the class of both layers.
        generator: draws the first means.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        prior_std: float,
        rho: float = -3.0,
        *,
        layer: type[LinearVariational] = LinearVariational,
        generator: Generator,
    ) -> None:
        super().__init__()
        self.hidden = layer(
            input_size, hidden_size, prior_std, rho, generator=generator
        )
        self.output = layer(hidden_size, 1, prior_std, rho, generator=generator)

    def kl(self) -> Tensor:
        """KL(q‖p) of all weights and biases, a scalar in nats."""
        ### BEGIN SOLUTION
        return self.hidden.kl() + self.output.kl()
        ### END SOLUTION

    def forward(self, x: Tensor, *, generator: Generator) -> Tensor:
        """Logits, (N, input_size) → (N,), with one fresh draw of all weights."""
        ### BEGIN SOLUTION
        hidden = F.relu(self.hidden(x, generator=generator))
        return self.output(hidden, generator=generator).squeeze(-1)
        ### END SOLUTION
