"""Layers and networks whose weights are distributions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from solutions.bayes_by_backprop.activations import sample_activations
from solutions.bayes_by_backprop.divergence import gaussian_kl
from solutions.bayes_by_backprop.weights import sample_weights


class BayesianLinear(nn.Module):
    """A linear layer y = Wx + b, each of whose weights and biases has a Gaussian q.

    Args:
        inputs: D, how many inputs.
        outputs: how many outputs.
        prior_std: the standard deviation of the prior N(0, σ₀²) of every weight and
            bias.
        initial_rho: where every ρ starts; −5 is a standard deviation of 0.007.
        generator: draws the initial means, N(0, 1/D) for weights; those of biases
            are 0.

    Source: Blundell et al. (2015), section 3.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        prior_std: float,
        initial_rho: float = -5.0,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.prior_std = prior_std
        self.weight_mu = nn.Parameter(
            torch.randn(outputs, inputs, generator=generator) / math.sqrt(inputs)
        )
        self.weight_rho = nn.Parameter(
            torch.full((outputs, inputs), float(initial_rho))
        )
        self.bias_mu = nn.Parameter(torch.zeros(outputs))
        self.bias_rho = nn.Parameter(torch.full((outputs,), float(initial_rho)))

    def forward(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        """Outputs, shape (N, outputs), under one fresh draw of its parameters."""
        # One draw serves all N rows of x; the next call draws anew.
        ### BEGIN SOLUTION
        weight = sample_weights(self.weight_mu, self.weight_rho, generator=generator)
        bias = sample_weights(self.bias_mu, self.bias_rho, generator=generator)
        return F.linear(x, weight, bias)
        ### END SOLUTION

    def kl(self) -> Tensor:
        """KL(q‖p) of this layer's weights and biases, a scalar in nats."""
        ### BEGIN SOLUTION
        weights = gaussian_kl(self.weight_mu, self.weight_rho, self.prior_std)
        return weights + gaussian_kl(self.bias_mu, self.bias_rho, self.prior_std)
        ### END SOLUTION


class BayesianMLP(nn.Module):
    """A multilayer perceptron of Bayesian linear layers.

    Args:
        sizes: the layers' widths, inputs and outputs included.
        prior_std: the standard deviation of every weight's and bias's prior.
        initial_rho: where every ρ starts.
        activation: the function between the layers.
        generator: draws the initial means.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        *,
        prior_std: float,
        initial_rho: float = -5.0,
        activation: Callable[[Tensor], Tensor] = torch.relu,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.activation = activation
        self.layers = nn.ModuleList(
            BayesianLinear(
                n, m, prior_std=prior_std, initial_rho=initial_rho, generator=generator
            )
            for n, m in itertools.pairwise(sizes)
        )

    def forward(
        self, x: Tensor, *, generator: torch.Generator, local: bool = False
    ) -> Tensor:
        """Outputs under one draw of the weights, or (``local``) of all activations."""
        for index, layer in enumerate(self.layers):
            x = x if index == 0 else self.activation(x)
            if local:
                q = layer.weight_mu, layer.weight_rho, layer.bias_mu, layer.bias_rho
                x = sample_activations(x, *q, generator=generator)
            else:
                x = layer(x, generator=generator)
        return x

    def kl(self) -> Tensor:
        """KL(q‖p) of all weights and biases, a scalar in nats."""
        return sum(layer.kl() for layer in self.layers)
