"""Variational layers: moments of their outputs, and their KL; oracles in closed form."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal, kl_divergence

from course.checks.approximate_inference.tolerances import DRAWS, FLOAT32, six_errors
from course.task import Close, Misconception, Task


def _cases(rng):
    """Two data on opposite sides, whose outputs go apart when weights are shared, and one at 0: the bias alone.

    Their inputs do not add up to 0, so that w_mu has a gradient.
    """
    cases = []
    for _ in range(2):
        x = rng.choice([-1, 1], 3) * rng.uniform(0.7, 1.5, 3)
        apart = rng.choice([-1, 1], 3) * rng.uniform(0.05, 0.2, 3)
        cases.append(
            {
                "x": np.stack([x, -x + apart, np.zeros(3)]),
                "w_mu": rng.normal(0, 1, 3),
                "w_rho": rng.uniform(-0.5, 1.5, 3),
                "b_mu": float(rng.normal()),
                "b_rho": float(rng.uniform(-2.5, -1.5)),
                "prior_std": float(rng.uniform(1.5, 4)),
                "seed": int(rng.integers(1 << 30)),
            }
        )
    return cases


def _probe(answer, x, w_mu, w_rho, b_mu, b_rho, prior_std, seed):
    import torch

    draws = 2000  # so many outputs with equal parameters: each is a draw of its own
    x = torch.tensor(x, dtype=torch.float32)
    layer = answer(3, draws, prior_std, generator=torch.Generator().manual_seed(seed))
    with torch.no_grad():
        layer.w_mu.copy_(torch.tensor(w_mu).expand(draws, 3))
        layer.w_rho.copy_(torch.tensor(w_rho).expand(draws, 3))
        layer.b_mu.fill_(b_mu)
        layer.b_rho.fill_(b_rho)
    y = layer(x, generator=torch.Generator().manual_seed(seed))
    if y is None:
        return {"mean": None}
    again = layer(x, generator=torch.Generator().manual_seed(seed))
    gradient = torch.zeros(3)
    if y.requires_grad:
        grads = torch.autograd.grad(y.sum(), layer.w_mu, allow_unused=True)[0]
        gradient = gradient if grads is None else grads.mean(0)
    y = y.detach().double()
    return {
        "mean": y.mean(1),
        "std": y.std(1),
        "covariance": ((y[0] - y[0].mean()) * (y[1] - y[1].mean())).mean(),
        "gradient": gradient,
        "reproducible": float(torch.equal(y, again.detach().double())),
        "kl": layer.kl() / draws,
    }


def _oracle(shared):
    def oracle(x, w_mu, w_rho, b_mu, b_rho, prior_std, seed):
        w_std, b_std = np.logaddexp(0, w_rho), np.logaddexp(0, b_rho)
        covariance = (x * w_std**2) @ x.T + b_std**2
        variance = np.diag(covariance)
        between = covariance[0, 1] if shared else 0.0
        q = Normal(torch.tensor([*w_mu, b_mu]), torch.tensor([*w_std, b_std]))
        kl = float(kl_divergence(q, Normal(torch.zeros(()).double(), prior_std)).sum())
        error = math.sqrt((variance[0] * variance[1] + between**2) / DRAWS)
        return {
            "mean": Close(
                x @ w_mu + b_mu,
                atol=6 * math.sqrt(variance.max() / DRAWS),
                because=six_errors(),
            ),
            "std": Close(
                np.sqrt(variance),
                rtol=6 / math.sqrt(2 * DRAWS),
                because=six_errors("standard deviation"),
            ),
            "covariance": Close(
                between,
                atol=6 * error,
                because=six_errors("covariance of the first two data"),
            ),
            "gradient": Close(x.sum(0), rtol=1e-4, atol=1e-4, because=FLOAT32),
            "reproducible": Close(
                1.0, because="the same generator gives the same draw"
            ),
            "kl": Close(kl, rtol=1e-4, because=FLOAT32),
        }

    return oracle


def _draw(mu, rho, generator):
    return mu + F.softplus(rho) * torch.randn(mu.shape, generator=generator)


class VariationalLayer(nn.Module):
    """A layer to build wrong ones from: each overrides one thing."""

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
        """KL of each weight."""
        return kl_divergence(Normal(mu, F.softplus(rho)), Normal(0.0, self.prior_std))

    def kl(self):
        """KL of all weights and biases."""
        return (
            self.divergences(self.w_mu, self.w_rho).sum()
            + self.divergences(self.b_mu, self.b_rho).sum()
        )

    def forward(self, x, *, generator):
        """One draw of the weights for all data."""
        weight = _draw(self.w_mu, self.w_rho, generator)
        return F.linear(x, weight, _draw(self.b_mu, self.b_rho, generator))


class _MeanWeights(VariationalLayer):
    def forward(self, x, *, generator):
        return F.linear(x, self.w_mu, self.b_mu)


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


LINEAR_VARIATIONAL = Task(
    id="approximate-inference/linear-variational",
    name="LinearVariational",
    points=3,
    cases=_cases,
    probe=_probe,
    oracle=_oracle(shared=True),
    misconceptions=[
        Misconception(
            _MeanWeights,
            "the layer computes with the means alone: nothing is sampled.",
        ),
        Misconception(
            _PointBias,
            "the bias is not sampled: it has a µ and a ρ like every weight.",
        ),
        Misconception(
            _WeightsOnly,
            "the KL of the biases is left out: they have a prior as well.",
        ),
        Misconception(
            _MeanKL,
            "the KL is averaged over the weights instead of summed.",
        ),
        Misconception(
            _VarianceRho,
            "softplus(ρ) is taken for the variance. In this course it is the standard deviation.",
        ),
        Misconception(
            _PerDatum,
            "every datum gets weights of its own. One draw of W and b holds for the whole batch.",
        ),
        Misconception(
            _Detached,
            "no gradient reaches w_mu: something on the way is detached, or uses .data or no_grad.",
        ),
    ],
    hints=[
        "You have the two parts already: reparametrised_sample and gaussian_kl.",
        "kl: weights plus biases. forward: one draw of the weights, one of the biases, then F.linear.",
        "F.linear(x, weight, bias) with weight = reparametrised_sample(self.w_mu, self.w_rho, generator=generator).",
    ],
)


class _Local(VariationalLayer):
    """The local trick, with one mistake."""

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


class _LocalNoBias(_Local):
    def spread(self, x):
        return F.linear(x**2, F.softplus(self.w_rho) ** 2).sqrt()


class _LocalSharedData(_Local):
    def noise(self, shape, generator):
        return torch.randn((1, shape[1]), generator=generator)


class _LocalSharedOutputs(_Local):
    def noise(self, shape, generator):
        return torch.randn((shape[0], 1), generator=generator)


LOCAL_LINEAR_VARIATIONAL = Task(
    id="approximate-inference/local-linear-variational",
    name="LocalLinearVariational",
    points=2,
    cases=_cases,
    probe=_probe,
    oracle=_oracle(shared=False),
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
            _MeanWeights,
            "the layer computes with the means alone: nothing is sampled.",
        ),
    ],
    hints=[
        "An output is a sum of independent Gaussians, so it is Gaussian. What are its mean and its variance?",
        "Both are linear layers: the mean of x, with µ; the variance of x², with the squares of softplus(ρ).",
        "mean + torch.sqrt(variance) * ε, where ε = torch.randn(mean.shape, ...) has the shape of the outputs.",
    ],
)
