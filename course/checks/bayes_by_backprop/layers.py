"""A Bayesian linear layer, by drawing its weights and by drawing its activations.

A layer with 2,000 equal outputs gives 2,000 independent draws in one call.
"""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from course.checks.bayes_by_backprop.tolerances import (
    DRAWS,
    EXACT,
    SIX_ERRORS,
    softplus,
)
from course.task import Close, Misconception, Task


def _linear_cases(rng):
    return [
        {
            "x": np.array([[1.0, 1.5], [2.0, -1.0], [1.5, 1.0]])
            * rng.uniform(0.8, 1.2, (3, 2)),
            "weight_mu": rng.normal(0, 1, 2),
            "weight_rho": rng.uniform(-0.5, 1, 2),
            "bias_mu": float(rng.normal(0, 1)),
            "bias_rho": float(rng.uniform(0.5, 1.5)),
            "prior_std": float(rng.uniform(1.5, 4)),
            "seed": int(rng.integers(1, 1_000_000)),
        }
        for _ in range(2)
    ]


def _linear_probe(answer, x, weight_mu, weight_rho, bias_mu, bias_rho, prior_std, seed):
    import torch

    outputs = 2_000
    layer = answer(
        2, outputs, prior_std=prior_std, generator=torch.Generator().manual_seed(seed)
    ).double()
    with torch.no_grad():
        layer.weight_mu.copy_(torch.tensor(weight_mu).expand(outputs, 2))
        layer.weight_rho.copy_(torch.tensor(weight_rho).expand(outputs, 2))
        layer.bias_mu.fill_(bias_mu)
        layer.bias_rho.fill_(bias_rho)
    generator = torch.Generator().manual_seed(seed)
    x = torch.tensor(x)
    y, second = layer(x, generator=generator), layer(x, generator=generator)
    again = layer(x, generator=torch.Generator().manual_seed(seed))
    y.sum().backward()
    return {
        "mean": y.mean(1),
        "covariance_of_the_rows": torch.cov(y),
        "kl": layer.kl() / outputs,
        "reproducible": float(torch.equal(y, again)),
        "fresh": float(not torch.equal(y, second)),
        "every_rho_has_a_gradient": float(
            layer.weight_rho.grad is not None and layer.bias_rho.grad is not None
        ),
    }


def _linear_oracle(x, weight_mu, weight_rho, bias_mu, bias_rho, prior_std, seed):
    mu, std = np.append(weight_mu, bias_mu), softplus(np.append(weight_rho, bias_rho))
    ones = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    covariance = (ones * std**2) @ ones.T
    variance = np.diag(covariance)
    spread = float(np.sqrt(np.outer(variance, variance) + covariance**2).max())
    kl = np.log(prior_std / std) + (std**2 + mu**2) / (2 * prior_std**2) - 0.5
    return {
        "mean": Close(
            ones @ mu, atol=6 * math.sqrt(variance.max() / DRAWS), because=SIX_ERRORS
        ),
        "covariance_of_the_rows": Close(
            covariance, atol=6 * spread / math.sqrt(DRAWS), because=SIX_ERRORS
        ),
        "kl": Close(kl.sum(), rtol=1e-6, because=EXACT),
        "reproducible": Close(
            1.0, because="the same generator in the same state gives the same draw"
        ),
        "fresh": Close(1.0, because="every call draws the weights anew"),
        "every_rho_has_a_gradient": Close(1.0, because="ρ learns through the draw"),
    }


class _Layer(nn.Module):
    """The base of the wrong layers: right in itself, with one method for each thing to get wrong."""

    def __init__(self, inputs, outputs, *, prior_std, initial_rho=-5.0, generator):
        super().__init__()
        self.prior_std = prior_std
        self.weight_mu = nn.Parameter(torch.zeros(outputs, inputs))
        self.weight_rho = nn.Parameter(torch.full((outputs, inputs), initial_rho))
        self.bias_mu = nn.Parameter(torch.zeros(outputs))
        self.bias_rho = nn.Parameter(torch.full((outputs,), initial_rho))

    def noise(self, like, generator):
        return torch.randn(like.shape, generator=generator, dtype=like.dtype)

    def forward(self, x, *, generator):
        weight = self.weight_mu + F.softplus(self.weight_rho) * self.noise(
            self.weight_mu, generator
        )
        return F.linear(x, weight, self.bias(generator))

    def bias(self, generator):
        return self.bias_mu + F.softplus(self.bias_rho) * self.noise(
            self.bias_mu, generator
        )

    def kl_of(self, mu, rho):
        std = F.softplus(rho)
        return (
            torch.log(self.prior_std / std)
            + (std**2 + mu**2) / (2 * self.prior_std**2)
            - 0.5
        ).sum()

    def kl(self):
        return self.kl_of(self.weight_mu, self.weight_rho) + self.kl_of(
            self.bias_mu, self.bias_rho
        )


class _RowsApart(_Layer):
    def forward(self, x, *, generator):
        rows = [
            super(_RowsApart, self).forward(row[None], generator=generator) for row in x
        ]
        return torch.cat(rows)


class _PlainBias(_Layer):
    def bias(self, generator):
        return self.bias_mu + 0 * self.bias_rho


class _MeanOnly(_Layer):
    def noise(self, like, generator):
        return torch.zeros_like(like)


class _Frozen(_Layer):
    def noise(self, like, generator):
        return torch.randn(
            like.shape, generator=torch.Generator().manual_seed(0), dtype=like.dtype
        )


class _SharedNoise(_Layer):
    def forward(self, x, *, generator):
        epsilon = self.noise(self.weight_mu, generator)
        weight = self.weight_mu + F.softplus(self.weight_rho) * epsilon
        bias = self.bias_mu + F.softplus(self.bias_rho) * epsilon[:, 0]
        return F.linear(x, weight, bias)


class _NoBiasKL(_Layer):
    def kl(self):
        return self.kl_of(self.weight_mu, self.weight_rho)


class _MeanKL(_Layer):
    def kl(self):
        weights = self.kl_of(self.weight_mu, self.weight_rho) / self.weight_mu.numel()
        return weights + self.kl_of(self.bias_mu, self.bias_rho) / self.bias_mu.numel()


BAYESIAN_LINEAR = Task(
    id="bayes-by-backprop/bayesian-linear",
    name="BayesianLinear",
    points=4,
    cases=_linear_cases,
    probe=_linear_probe,
    oracle=_linear_oracle,
    misconceptions=[
        Misconception(
            _RowsApart,
            "every row of x gets weights of its own. One draw is one network, for all rows.",
        ),
        Misconception(
            _PlainBias, "the biases are not drawn: they have a σ of their own."
        ),
        Misconception(
            _MeanOnly,
            "the weights are not drawn at all: this is the network of the means.",
        ),
        Misconception(
            _Frozen,
            "the noise is frozen: every call uses the same ε. Draw from the generator that is passed in.",
        ),
        Misconception(
            _SharedNoise,
            "one ε serves weights and biases alike. Under q all are independent: draw afresh for each.",
        ),
        Misconception(
            _NoBiasKL, "the KL leaves out the biases: they have a prior too."
        ),
        Misconception(_MeanKL, "the KL is averaged over the weights; it is a sum."),
    ],
    hints=[
        "forward: draw the weight and the bias with sample_weights, then F.linear(x, weight, bias).",
        "kl: gaussian_kl of the weights plus gaussian_kl of the biases.",
        "Draw in forward, not in __init__: every call is another network.",
    ],
)


def _activations_cases(rng):
    return [
        {
            "x": rng.uniform(low, low + 0.3, 3),
            "weight_mu": rng.normal(0, 1, (2, 3)),
            "weight_rho": rng.uniform(0.5, 2, (2, 3)),
            "bias_mu": rng.normal(0, 1, 2),
            "bias_rho": rng.uniform(0.2, 0.6, 2),
            "seed": int(rng.integers(1, 1_000_000)),
        }
        for low in (0.2, 2.5)
    ]


def _activations_probe(answer, x, weight_mu, weight_rho, bias_mu, bias_rho, seed):
    import torch

    q = [torch.tensor(value) for value in (weight_mu, weight_rho, bias_mu, bias_rho)]
    rows = torch.tensor(x).expand(
        2_000, len(x)
    )  # 2,000 equal inputs: as many independent draws

    def draw():
        return answer(rows, *q, generator=torch.Generator().manual_seed(seed))

    y = draw()
    return {
        "mean": y.mean(0),
        "covariance": torch.cov(y.T),
        "reproducible": float(torch.equal(y, draw())),
    }


def _activations_oracle(x, weight_mu, weight_rho, bias_mu, bias_rho, seed):
    variance = softplus(weight_rho) ** 2 @ x**2 + softplus(bias_rho) ** 2
    return {
        "mean": Close(
            weight_mu @ x + bias_mu,
            atol=6 * math.sqrt(variance.max() / DRAWS),
            because=SIX_ERRORS,
        ),
        "covariance": Close(
            np.diag(variance),
            atol=6 * float(variance.max()) * math.sqrt(2 / DRAWS),
            because=SIX_ERRORS,
        ),
        "reproducible": Close(
            1.0, because="the same generator in the same state gives the same draw"
        ),
    }


def _activations(std_of, *, per_row=True, own_noise=True):
    def answer(x, weight_mu, weight_rho, bias_mu, bias_rho, *, generator):
        mean = F.linear(x, weight_mu, bias_mu)
        std = std_of(x, F.softplus(weight_rho), F.softplus(bias_rho))
        shape = mean.shape if per_row else mean.shape[-1:]
        return mean + std * torch.randn(
            shape, generator=generator if own_noise else None, dtype=mean.dtype
        )

    return answer


def _right_std(x, weight_std, bias_std):
    return torch.sqrt(F.linear(x**2, weight_std**2, bias_std**2))


SAMPLE_ACTIVATIONS = Task(
    id="bayes-by-backprop/sample-activations",
    name="sample_activations",
    points=3,
    cases=_activations_cases,
    probe=_activations_probe,
    oracle=_activations_oracle,
    misconceptions=[
        Misconception(
            _activations(
                lambda x, weight_std, bias_std: F.linear(x, weight_std, bias_std)
            ),
            "standard deviations are added. Variances of independent terms add; take the root at the end.",
        ),
        Misconception(
            _activations(
                lambda x, weight_std, bias_std: torch.sqrt(
                    F.linear(x, weight_std**2, bias_std**2)
                )
            ),
            "the inputs are not squared: the variance of w·x is σ²x².",
        ),
        Misconception(
            _activations(
                lambda x, weight_std, bias_std: torch.sqrt(
                    F.linear(x**2, weight_std**2)
                )
            ),
            "the variance of the biases is left out.",
        ),
        Misconception(
            _activations(
                lambda x, weight_std, bias_std: F.linear(
                    x**2, weight_std**2, bias_std**2
                )
            ),
            "the noise is multiplied with the variance; take its square root.",
        ),
        Misconception(
            _activations(_right_std, per_row=False),
            "all rows share their noise. Here every row has its own: that is what lowers the gradient's variance.",
        ),
        Misconception(
            _activations(_right_std, own_noise=False),
            "the global random state is used instead of the generator: the draw cannot be repeated.",
        ),
    ],
    hints=[
        "The mean: F.linear(x, weight_mu, bias_mu).",
        "The variance: F.linear of the squared inputs, the squared σ of the weights and the squared σ of the biases.",
        "mean + sqrt(variance) · ε, with an ε of the shape of mean.",
    ],
)
