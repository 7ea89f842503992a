"""The variational layer that draws noise on its outputs (local reparametrisation)."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from course.checks.approximate_inference.layers import MeanWeights, VariationalLayer
from course.checks.approximate_inference.moments import (
    layer_cases,
    layer_oracle,
    layer_probe,
)
from course.task import Misconception, Task


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
            "weights are sampled, as in LinearVariational: all data then share their noise. Here each output "
            "of each datum has noise of its own.",
        ),
        Misconception(
            _LocalNoRoot,
            "ε is multiplied by the variance; it must be the standard deviation.",
        ),
        Misconception(
            _LocalUnsquared,
            "standard deviations are added up, |x|σ. Of independent terms the variances x²σ² add up.",
        ),
        Misconception(
            _LocalPlainInputs,
            "x stands where x² belongs: an input below 0 then gives a variance below 0, whose root is nan.",
        ),
        Misconception(
            _LocalPlainStds,
            "σ is not squared: softplus(ρ) is the standard deviation, and variances x²σ² add up.",
        ),
        Misconception(
            _LocalNoBias,
            "the bias's variance is left out of the sum.",
        ),
        Misconception(
            _LocalSharedData,
            "all data share one ε: draw it in the shape of the outputs.",
        ),
        Misconception(
            _LocalSharedOutputs,
            "all outputs of a datum share one ε: draw it in the shape of the outputs.",
        ),
        Misconception(
            _LocalFrozen,
            "the noise is frozen: every call draws with the same seed, whatever generator it is given.",
        ),
        Misconception(
            _LocalNormal,
            "the draw carries no gradient: torch.normal and .sample() stop it. Draw ε, then compute the outputs from "
            "mean, standard deviation and ε.",
        ),
        Misconception(
            _LocalSqueezed,
            "the outputs are squeezed: a layer with one output then has lost an axis. They have the shape "
            "(N, output_size), whatever output_size is.",
        ),
        Misconception(
            _LocalFixedSpread,
            "no gradient reaches ρ: something on the way to the noise is detached, or uses .data or no_grad.",
        ),
        Misconception(
            MeanWeights,
            "the layer computes with the means alone: nothing is sampled.",
        ),
    ],
    hints=[
        "An output is a sum of independent Gaussians, so it is Gaussian. What are its mean and its variance?",
        "Both are linear layers: the mean of x, with µ; the variance of x², with the squares of softplus(ρ).",
        "mean + torch.sqrt(variance) * ε, where ε = torch.randn(mean.shape, ...) has the shape of the outputs.",
    ],
)
