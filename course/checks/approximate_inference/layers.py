"""The variational layers, which draw weights or the noise of outputs, and wrong ones."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal, kl_divergence

from course.checks.approximate_inference.moments import (
    layer_cases,
    layer_oracle,
    layer_probe,
)
from course.task import Misconception, Task


def _draw(mu, rho, generator):
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
        weight = _draw(self.w_mu, self.w_rho, generator)
        return F.linear(x, weight, _draw(self.b_mu, self.b_rho, generator))


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
        return F.linear(x, _draw(self.w_mu, self.w_rho, generator), self.b_mu)


class _WeightsOnly(VariationalLayer):
    def kl(self):
        return self.divergences(self.w_mu, self.w_rho).sum()


class _MeanKL(VariationalLayer):
    def kl(self):
        return (
            self.divergences(self.w_mu, self.w_rho).mean()
            + self.divergences(self.b_mu, self.b_rho).mean()
        )


class _VarianceRho(VariationalLayer):
    def forward(self, x, *, generator):
        weight = (
            self.w_mu
            + torch.randn(self.w_mu.shape, generator=generator)
            * F.softplus(self.w_rho).sqrt()
        )
        bias = (
            self.b_mu
            + torch.randn(self.b_mu.shape, generator=generator)
            * F.softplus(self.b_rho).sqrt()
        )
        return F.linear(x, weight, bias)


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


LINEAR_VARIATIONAL = Task(
    name="LinearVariational",
    points=3,
    cases=layer_cases,
    probe=layer_probe,
    oracle=layer_oracle(shared=True),
    misconceptions=[
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
            "you squeeze the outputs: a layer with one output then lacks an axis. Their shape is (N, output_size), "
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
            _VarianceRho,
            "you take softplus(ρ) for the variance. In this course it is the standard deviation.",
        ),
        Misconception(
            _PerDatum,
            "you draw separate weights for every data point. Draw W and b once for the whole batch.",
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
            "you draw the noise with the same seed in every call, whatever generator is passed in.",
        ),
        Misconception(
            _DetachedKL,
            "you detach the KL (.detach(), .item() or no_grad): the prior then has no effect.",
        ),
        Misconception(
            _EqualMeans,
            "you start the means of all weights at 0. All hidden units are then alike, and only noise distinguishes them: draw the initial means at random.",
        ),
    ],
    hints=[
        "You have the two parts already: reparametrised_sample and gaussian_kl.",
        "kl: weights plus biases. forward: one draw of the weights, one of the biases, then F.linear.",
        "The weight is reparametrised_sample of its own µ and ρ, and so is the bias; both draws take the generator.",
    ],
)


class _Local(VariationalLayer):
    """Local reparametrisation; base of the wrong layers, each with one mistake."""

    def spread(self, x):
        return (
            F.linear(x**2, F.softplus(self.w_rho) ** 2, F.softplus(self.b_rho) ** 2)
        ).sqrt()

    def noise(self, shape, generator):
        return torch.randn(shape, generator=generator)

    def forward(self, x, *, generator):
        mean = F.linear(x, self.w_mu, self.b_mu)
        return mean + self.spread(x) * self.noise(mean.shape, generator)


class _LocalNoRoot(_Local):
    def spread(self, x):
        return super().spread(x) ** 2


class _LocalUnsquared(_Local):
    def spread(self, x):
        return F.linear(x.abs(), F.softplus(self.w_rho), F.softplus(self.b_rho))


class _LocalPlainInputs(_Local):
    def spread(self, x):
        return F.linear(
            x, F.softplus(self.w_rho) ** 2, F.softplus(self.b_rho) ** 2
        ).sqrt()


class _LocalPlainStds(_Local):
    def spread(self, x):
        return F.linear(x**2, F.softplus(self.w_rho), F.softplus(self.b_rho)).sqrt()


class _LocalNoBias(_Local):
    def spread(self, x):
        return F.linear(x**2, F.softplus(self.w_rho) ** 2).sqrt()


class _LocalSharedData(_Local):
    def noise(self, shape, generator):
        return torch.randn((1, shape[1]), generator=generator)


class _LocalSharedOutputs(_Local):
    def noise(self, shape, generator):
        return torch.randn((shape[0], 1), generator=generator)


class _LocalFrozen(_Local):
    def noise(self, shape, generator):
        return torch.randn(shape, generator=torch.Generator().manual_seed(0))


class _LocalNormal(_Local):
    def forward(self, x, *, generator):
        mean = F.linear(x, self.w_mu, self.b_mu)
        return torch.normal(mean, self.spread(x), generator=generator)


class _LocalSqueezed(_Local):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator).squeeze()


class _LocalFixedSpread(_Local):
    def spread(self, x):
        return super().spread(x).detach()


LOCAL_LINEAR_VARIATIONAL = Task(
    name="LocalLinearVariational",
    points=2,
    cases=layer_cases,
    probe=layer_probe,
    oracle=layer_oracle(shared=False),
    misconceptions=[
        Misconception(
            VariationalLayer,
            "you sample weights, as in LinearVariational: all data points then share their noise. Here each output "
            "of each data point has its own.",
        ),
        Misconception(
            _LocalNoRoot,
            "you multiply ε by the variance; it must be the standard deviation.",
        ),
        Misconception(
            _LocalUnsquared,
            "you add up standard deviations, |x|σ. For independent terms, the variances x²σ² add up.",
        ),
        Misconception(
            _LocalPlainInputs,
            "you use x in place of x²: an input below 0 can then give a variance below 0, whose square root is nan.",
        ),
        Misconception(
            _LocalPlainStds,
            "you do not square σ: softplus(ρ) is the standard deviation, and variances x²σ² add up.",
        ),
        Misconception(
            _LocalNoBias,
            "you leave the bias's variance out of the sum.",
        ),
        Misconception(
            _LocalSharedData,
            "you give all data points the same ε: draw it in the shape of the outputs.",
        ),
        Misconception(
            _LocalSharedOutputs,
            "you give all outputs of a data point the same ε: draw it in the shape of the outputs.",
        ),
        Misconception(
            _LocalFrozen,
            "you draw the noise with the same seed in every call, whatever generator is passed in.",
        ),
        Misconception(
            _LocalNormal,
            "you draw with torch.normal or .sample(), which stop the gradient. Draw ε, then compute the outputs from "
            "mean, standard deviation and ε.",
        ),
        Misconception(
            _LocalSqueezed,
            "you squeeze the outputs: a layer with one output then lacks an axis. Their shape is (N, output_size), "
            "whatever output_size is.",
        ),
        Misconception(
            _LocalFixedSpread,
            "you detach the standard deviation, or compute it with .data or under no_grad: no gradient reaches ρ.",
        ),
        Misconception(
            MeanWeights,
            "you compute with the means alone: nothing is sampled.",
        ),
    ],
    hints=[
        "An output is a sum of independent Gaussians, so it is Gaussian. What are its mean and its variance?",
        "Linear layers compute both: the mean from x and µ, the variance from x² and the squares of softplus(ρ).",
        "Draw as reparametrised_sample does, with the outputs' mean and standard deviation: one ε for every output of every row.",
    ],
)
