"""Wrong variational layers that draw weights; each overrides a method."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal, kl_divergence

from course.checks.approximate_inference.concepts import STDS_SAID
from course.checks.concepts_of_divergences import (
    WRONG_KLS_OF_LAYERS,
    gaussian_kl,
)
from course.checks.concepts_of_weights import wrong_stds
from course.task import Misconception


def draw(mu, rho, generator):
    return mu + F.softplus(rho) * torch.randn(mu.shape, generator=generator)


class VariationalLayer(nn.Module):
    """Base of the wrong layers, each of which overrides one method."""

    def __init__(self, input_size, output_size, prior_std, rho=-3.0, *, generator):
        super().__init__()
        self.prior_std = prior_std
        mu = torch.randn(output_size, input_size, generator=generator)
        self.w_mu, self.w_rho = nn.Parameter(mu), nn.Parameter(torch.full_like(mu, rho))
        self.b_mu, self.b_rho = (
            nn.Parameter(mu[:, 0].clone()),
            nn.Parameter(torch.full((output_size,), rho)),
        )

    def divergences(self, mu, rho):
        """Compute the KL divergence of each weight."""
        return kl_divergence(Normal(mu, F.softplus(rho)), Normal(0.0, self.prior_std))

    def kl(self):
        """Sum the KL divergences of all weights and biases."""
        return (
            self.divergences(self.w_mu, self.w_rho).sum()
            + self.divergences(self.b_mu, self.b_rho).sum()
        )

    def forward(self, x, *, generator):
        """Apply one draw of the weights to all data."""
        weight = draw(self.w_mu, self.w_rho, generator)
        return F.linear(x, weight, draw(self.b_mu, self.b_rho, generator))


class MeanWeights(VariationalLayer):
    def forward(self, x, *, generator):
        return F.linear(x, self.w_mu, self.b_mu)


class _MeansInEval(VariationalLayer):
    def forward(self, x, *, generator):
        if self.training:
            return super().forward(x, generator=generator)
        return F.linear(x, self.w_mu, self.b_mu)


class _Squeezed(VariationalLayer):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator).squeeze()


class _PointBias(VariationalLayer):
    def forward(self, x, *, generator):
        return F.linear(x, draw(self.w_mu, self.w_rho, generator), self.b_mu)


class _WeightsOnly(VariationalLayer):
    def kl(self):
        return self.divergences(self.w_mu, self.w_rho).sum()


class _MeanKL(VariationalLayer):
    def kl(self):
        return (
            self.divergences(self.w_mu, self.w_rho).mean()
            + self.divergences(self.b_mu, self.b_rho).mean()
        )


class _PerDatum(VariationalLayer):
    def forward(self, x, *, generator):
        rows = [
            VariationalLayer.forward(self, row[None], generator=generator) for row in x
        ]
        return torch.cat(rows)


class _Detached(VariationalLayer):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator).detach()


class _SharedNoise(VariationalLayer):
    def forward(self, x, *, generator):
        epsilon = torch.randn(self.w_mu.shape, generator=generator)
        weight = self.w_mu + F.softplus(self.w_rho) * epsilon
        return F.linear(x, weight, self.b_mu + F.softplus(self.b_rho) * epsilon[:, 0])


class _Frozen(VariationalLayer):
    def forward(self, x, *, generator):
        return super().forward(x, generator=torch.Generator().manual_seed(0))


class _DetachedKL(VariationalLayer):
    def kl(self):
        return super().kl().detach()


class _EqualMeans(VariationalLayer):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        nn.init.zeros_(self.w_mu)


def _with_kl(kl):
    """Make a layer that computes the divergences otherwise."""

    class _OtherKL(VariationalLayer):
        def kl(self):
            parts = (self.w_mu, self.w_rho), (self.b_mu, self.b_rho)
            return sum(kl(mu, rho, self.prior_std) for mu, rho in parts)

    return _OtherKL


class _BiasesOnly(VariationalLayer):
    def kl(self):
        return self.divergences(self.b_mu, self.b_rho).sum()


class _MeanOfAll(VariationalLayer):
    def kl(self):
        return super().kl() / (self.w_mu.numel() + self.b_mu.numel())


class _MeanOfParts(VariationalLayer):
    def kl(self):
        return super().kl() / 2


class _PerUnit(VariationalLayer):
    def kl(self):
        return self.divergences(self.w_mu, self.w_rho).sum(1) + self.divergences(
            self.b_mu, self.b_rho
        )


def _with_std(std_of):
    """Make a layer whose weights have another standard deviation."""

    class _OtherSpread(VariationalLayer):
        def forward(self, x, *, generator):
            noise = [
                std_of(rho) * torch.randn(rho.shape, generator=generator)
                for rho in (self.w_rho, self.b_rho)
            ]
            return F.linear(x, self.w_mu + noise[0], self.b_mu + noise[1])

    return _OtherSpread


class _PointWeights(VariationalLayer):
    def forward(self, x, *, generator):
        return F.linear(x, self.w_mu, draw(self.b_mu, self.b_rho, generator))


class _NoBias(VariationalLayer):
    def forward(self, x, *, generator):
        return F.linear(x, draw(self.w_mu, self.w_rho, generator))


class _OneNoise(VariationalLayer):
    def forward(self, x, *, generator):
        noise = torch.randn(len(self.b_mu), 1, generator=generator)
        weight = self.w_mu + F.softplus(self.w_rho) * noise
        return F.linear(x, weight, draw(self.b_mu, self.b_rho, generator))


class _Activated(VariationalLayer):
    def forward(self, x, *, generator):
        return F.relu(super().forward(x, generator=generator))


LAYERS = [
    Misconception(
        MeanWeights,
        "you compute with the means alone: nothing is sampled.",
    ),
    Misconception(
        _MeansInEval,
        "you compute with the means alone in eval(). The weights are random in eval() too: a prediction averages over draws.",
    ),
    Misconception(
        _Squeezed,
        "you squeeze the outputs: a layer with one output then lacks an axis. Their shape is `(N, output_size)`, "
        "whatever output_size is.",
    ),
    Misconception(
        _PointBias,
        "you do not sample the bias: it has a µ and a ρ like every weight.",
    ),
    Misconception(
        _WeightsOnly,
        "you leave out the KL of the biases: they have a prior as well.",
    ),
    Misconception(
        _MeanKL,
        "you average the KL over the weights instead of summing it.",
    ),
    Misconception(
        _PerDatum,
        "you draw separately for every data point, its weights or the noise of its outputs. Draw W and b once for the whole batch.",
    ),
    Misconception(
        _Detached,
        "you detach the outputs, or compute them with .data or under no_grad: no gradient reaches µ or ρ.",
    ),
    Misconception(
        _SharedNoise,
        "you use one ε for weights and biases alike. Under q they are all independent: draw afresh for each.",
    ),
    Misconception(
        _Frozen,
        "you draw the noise with the same seed in every call, or use that of the first call again. Draw it anew in every "
        "call, from the generator that is passed in.",
    ),
    Misconception(
        _DetachedKL,
        "you detach the KL (.detach(), .item() or no_grad): the prior then has no effect.",
    ),
    Misconception(
        _EqualMeans,
        "you start the means of all weights at 0. All hidden units are then alike, and only noise distinguishes them: draw the initial means at random.",
    ),
    *(Misconception(_with_kl(kl), hint) for kl, hint in WRONG_KLS_OF_LAYERS),
    Misconception(
        _with_kl(gaussian_kl(scale=lambda s: s**0.5)),
        "you use prior_std in the KL as if it were the prior's variance.",
    ),
    Misconception(
        _with_kl(gaussian_kl(scale=lambda s: 1.0)),
        "you use a prior with a standard deviation of 1: this layer's is prior_std.",
    ),
    Misconception(
        _BiasesOnly,
        "you leave out the KL of the weights, and count the biases alone.",
    ),
    Misconception(
        _MeanOfAll,
        "you divide the KL by the number of weights and biases: their divergences add up.",
    ),
    Misconception(
        _MeanOfParts,
        "you average the KL of the weights and that of the biases; add them.",
    ),
    Misconception(
        _PerUnit,
        "you return a divergence for each output: sum over all weights and biases.",
    ),
    *wrong_stds(
        _with_std,
        said=STDS_SAID
        | {
            "twice": "you apply softplus twice: reparametrised_sample takes ρ, and applies softplus itself."
        },
    ),
    Misconception(
        _PointWeights,
        "you do not sample the weights, only the bias.",
    ),
    Misconception(
        _NoBias,
        "you leave out the bias: add one draw of it to the outputs.",
    ),
    Misconception(
        _OneNoise,
        "you draw one ε for all weights of an output: then they are perfectly correlated. Each weight has its own ε.",
    ),
    Misconception(
        _Activated,
        "you apply a ReLU: the layer is linear, and the network applies the ReLU.",
    ),
]
