"""Wrong layers that draw their weights."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from course.checks.concepts_of_divergences import WRONG_KLS_OF_LAYERS, gaussian_kl
from course.checks.concepts_of_weights import wrong_stds
from course.task import Misconception


class _Layer(nn.Module):
    """Base of the wrong layers: right itself, with one method for each possible mistake."""

    std_of = staticmethod(F.softplus)

    def __init__(self, inputs, outputs, *, prior_std, initial_rho=-5.0, generator):
        super().__init__()
        self.prior_std = prior_std
        self.weight_mu = nn.Parameter(
            torch.randn(outputs, inputs, generator=generator) / math.sqrt(inputs)
        )
        self.weight_rho = nn.Parameter(torch.full((outputs, inputs), initial_rho))
        self.bias_mu = nn.Parameter(torch.zeros(outputs))
        self.bias_rho = nn.Parameter(torch.full((outputs,), initial_rho))

    def noise(self, like, generator):
        return torch.randn(like.shape, generator=generator, dtype=like.dtype)

    def forward(self, x, *, generator):
        weight = self.weight_mu + self.std_of(self.weight_rho) * self.noise(
            self.weight_mu, generator
        )
        return F.linear(x, weight, self.bias(generator))

    def bias(self, generator):
        return self.bias_mu + self.std_of(self.bias_rho) * self.noise(
            self.bias_mu, generator
        )

    def kl_of(self, mu, rho):
        return gaussian_kl(std_of=self.std_of)(mu, rho, self.prior_std)

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


class _FixedSpread(_Layer):
    def forward(self, x, *, generator):
        with torch.no_grad():
            weight_std = F.softplus(self.weight_rho)
            bias_std = F.softplus(self.bias_rho)
        weight = self.weight_mu + weight_std * self.noise(self.weight_mu, generator)
        bias = self.bias_mu + bias_std * self.noise(self.bias_mu, generator)
        return F.linear(x, weight, bias)


class _DetachedKL(_Layer):
    def kl(self):
        return super().kl().detach()


class _EqualMeans(_Layer):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        nn.init.zeros_(self.weight_mu)


class _NoBiasKL(_Layer):
    def kl(self):
        return self.kl_of(self.weight_mu, self.weight_rho)


class _NoWeightKL(_Layer):
    def kl(self):
        return self.kl_of(self.bias_mu, self.bias_rho)


class _NoBias(_Layer):
    def bias(self, generator):
        return 0 * (self.bias_mu + self.bias_rho)


class _PlainWeights(_Layer):
    def noise(self, like, generator):
        noise = super().noise(like, generator)
        return 0 * noise if like.ndim > 1 else noise


class _SharedByOutputs(_Layer):
    def noise(self, like, generator):
        shape = (1, *like.shape[1:])
        return torch.randn(shape, generator=generator, dtype=like.dtype).expand_as(like)


class _Rectified(_Layer):
    def forward(self, x, *, generator):
        return torch.relu(super().forward(x, generator=generator))


def _with_kl(kl):
    """Make a layer that computes the KL otherwise."""
    return type(
        "_WrongKL", (_Layer,), {"kl_of": lambda self, *q: kl(*q, self.prior_std)}
    )


class _NegativeKL(_Layer):
    def kl(self):
        return -super().kl()


def _with_std(std_of):
    return type("_WrongStd", (_Layer,), {"std_of": staticmethod(std_of)})


class _MeanKL(_Layer):
    def kl(self):
        weights = self.kl_of(self.weight_mu, self.weight_rho) / self.weight_mu.numel()
        return weights + self.kl_of(self.bias_mu, self.bias_rho) / self.bias_mu.numel()


BAYESIAN_LAYERS = [
    Misconception(
        _RowsApart,
        "you draw separate weights for every row of x. One draw gives one network, which is used for all rows.",
    ),
    Misconception(_PlainBias, "you do not draw the biases: they have their own σ."),
    Misconception(
        _MeanOnly,
        "you do not draw the weights at all, but use only their means.",
    ),
    Misconception(
        _Frozen,
        "you use the same ε in every call. Draw from the generator that is passed in.",
    ),
    Misconception(
        _SharedNoise,
        "you use the same ε for weights and biases. Under q they are all independent: draw a new ε for each.",
    ),
    Misconception(
        _NoBiasKL, "you leave the biases out of the KL: they have a prior too."
    ),
    Misconception(_NoWeightKL, "you leave the weights out of the KL."),
    Misconception(_NoBias, "you leave the biases out of the outputs."),
    Misconception(
        _PlainWeights,
        "you draw the biases alone, and use the means of the weights.",
    ),
    Misconception(
        _SharedByOutputs,
        "you use the same ε for all outputs. Under q all weights and biases are independent.",
    ),
    Misconception(
        _Rectified,
        "you apply an activation function to the outputs. The layer is linear; the network puts activation "
        "functions between its layers.",
    ),
    Misconception(
        _with_kl(gaussian_kl(scale=lambda s: 1.0)),
        "you compute the KL from the prior N(0, 1), whatever prior_std is.",
    ),
    Misconception(
        _with_kl(gaussian_kl(scale=math.sqrt)),
        "you treat the prior's standard deviation as its variance.",
    ),
    Misconception(_NegativeKL, "you flip the sign of the KL."),
    *wrong_stds(_with_std),
    Misconception(_MeanKL, "you average the KL over the weights; it is a sum."),
    Misconception(
        _FixedSpread,
        "you cut ρ out of the graph with .detach(), .data or Normal.sample(): no gradient reaches it.",
    ),
    Misconception(
        _DetachedKL,
        "you detach the KL (.detach(), .item() or no_grad): the prior then has no effect.",
    ),
    Misconception(
        _EqualMeans,
        "you start all weights' means at 0. Then all hidden units are alike, and only their noise differs: "
        "draw the initial means at random.",
    ),
    *(Misconception(_with_kl(kl), hint) for kl, hint in WRONG_KLS_OF_LAYERS),
]
