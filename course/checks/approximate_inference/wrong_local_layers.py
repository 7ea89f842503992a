"""Wrong variational layers that draw the noise of outputs; each overrides a method."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from course.checks.approximate_inference.concepts import STDS_SAID
from course.checks.approximate_inference.wrong_layers import (
    MeanWeights,
    VariationalLayer,
    draw,
)
from course.checks.concepts_of_weights import wrong_stds
from course.task import Misconception


class _Local(VariationalLayer):
    """Local reparametrisation; base of the wrong layers, each with one mistake."""

    std_of = staticmethod(F.softplus)

    def spread(self, x):
        stds = self.std_of(self.w_rho), self.std_of(self.b_rho)
        return F.linear(x**2, *(std**2 for std in stds)).sqrt()

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


class _LocalInEval(_Local):
    def forward(self, x, *, generator):
        if self.training:
            return super().forward(x, generator=generator)
        return F.linear(x, self.w_mu, self.b_mu)


class _LocalClamped(_Local):
    def variance(self, x):
        return F.linear(x, F.softplus(self.w_rho) ** 2, F.softplus(self.b_rho) ** 2)

    def spread(self, x):
        return self.variance(x).clamp(min=0).sqrt()


class _LocalSizes(_LocalClamped):
    def variance(self, x):
        return super().variance(x.abs())


class _LocalPlainBias(_Local):
    def spread(self, x):
        return F.linear(
            x**2, F.softplus(self.w_rho) ** 2, F.softplus(self.b_rho)
        ).sqrt()


def _with_std(std_of):
    return type("_WrongStd", (_Local,), {"std_of": staticmethod(std_of)})


class _LocalMeansSquared(_Local):
    def spread(self, x):
        return F.linear(
            x**2,
            F.softplus(self.w_rho) ** 2 + self.w_mu**2,
            F.softplus(self.b_rho) ** 2 + self.b_mu**2,
        ).sqrt()


class _LocalWithoutBiasMean(_Local):
    def forward(self, x, *, generator):
        mean = F.linear(x, self.w_mu)
        return mean + self.spread(x) * self.noise(mean.shape, generator)


class _LocalWithoutMean(_Local):
    def forward(self, x, *, generator):
        return self.spread(x) * self.noise((len(x), len(self.b_mu)), generator)


class _LocalFixedMeans(_Local):
    def forward(self, x, *, generator):
        mean = F.linear(x, self.w_mu, self.b_mu).detach()
        return mean + self.spread(x) * self.noise(mean.shape, generator)


class _LocalTwoNoises(_Local):
    """The biases' noise has a part of its own."""

    def bias(self, x, generator):
        return draw(self.b_mu.expand(len(x), -1), self.b_rho, generator)

    def forward(self, x, *, generator):
        mean = F.linear(x, self.w_mu)
        spread = F.linear(x**2, F.softplus(self.w_rho) ** 2).sqrt()
        noisy = mean + spread * self.noise(mean.shape, generator)
        return noisy + self.bias(x, generator)


class _LocalOneBias(_LocalTwoNoises):
    def bias(self, x, generator):
        return draw(self.b_mu, self.b_rho, generator)


class _LocalOneBiasSafe(_LocalOneBias):
    def forward(self, x, *, generator):
        mean = F.linear(x, self.w_mu)
        spread = (F.linear(x**2, F.softplus(self.w_rho) ** 2) + 1e-10).sqrt()
        noisy = mean + spread * self.noise(mean.shape, generator)
        return noisy + self.bias(x, generator)


class _LocalUniform(_Local):
    def noise(self, shape, generator):
        return torch.rand(shape, generator=generator)


class _LocalGlobal(_Local):
    def noise(self, shape, generator):
        return torch.randn(shape)


LOCAL_LAYERS = [
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
        "you draw the noise with the same seed in every call, or use that of the first call again. Draw it anew in every "
        "call, from the generator that is passed in.",
    ),
    Misconception(
        _LocalNormal,
        "you cut the draw off from its mean and standard deviation: by torch.no_grad() or .detach(), or by torch.normal "
        "or .sample(), which stop the gradient. Compute the outputs from them and ε, with gradients on.",
    ),
    Misconception(
        _LocalSqueezed,
        "you squeeze the outputs: a layer with one output then lacks an axis. Their shape is `(N, output_size)`, "
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
    Misconception(
        _LocalInEval,
        "you compute with the means alone in eval(). The outputs are random in eval() too: a prediction averages over "
        "draws.",
    ),
    Misconception(
        _LocalClamped,
        "you use x in place of x², and replace variances below 0: variances x²σ² add up.",
    ),
    Misconception(
        _LocalSizes,
        "you use |x| in place of x²: variances x²σ² add up.",
    ),
    Misconception(
        _LocalPlainBias,
        "you do not square the bias's standard deviation: it adds its variance, softplus(ρ)².",
    ),
    *wrong_stds(
        _with_std,
        *("exp", "half exp", "rho", "square", "twice", "sigmoid"),
        said=STDS_SAID | {"square": "you square σ twice: variances x²σ² add up."},
    ),
    Misconception(
        _LocalMeansSquared,
        "you add µ² to σ²: this is the mean square of a weight, and its variance is σ².",
    ),
    Misconception(
        _LocalWithoutBiasMean,
        "you leave the bias's mean µ_b out of the outputs' mean.",
    ),
    Misconception(
        _LocalWithoutMean,
        "you return the noise alone: add the mean xµᵀ + µ_b.",
    ),
    Misconception(
        _LocalFixedMeans,
        "you detach the means, or compute them with .data or under no_grad: no gradient reaches µ.",
    ),
    Misconception(
        _LocalTwoNoises,
        "you take the root of the weights' variance by itself. It is 0 where all inputs are 0, and the root's derivative "
        "is infinite there: add the bias's variance before you take the root.",
    ),
    *(
        Misconception(
            layer,
            "you draw the bias once for the whole batch: all data points then share its noise. Here each output of "
            "each data point has its own.",
        )
        for layer in (_LocalOneBias, _LocalOneBiasSafe)
    ),
    Misconception(
        _LocalUniform,
        "you draw a uniform ε (torch.rand); it must be normal (torch.randn).",
    ),
    Misconception(
        _LocalGlobal,
        "you do not use the generator, but PyTorch's global one: the draw cannot be repeated.",
    ),
]
