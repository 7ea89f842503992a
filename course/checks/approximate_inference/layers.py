"""Variational layers: moments of their outputs, and their KL; oracles in closed form."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal, kl_divergence

from course.checks.approximate_inference.tolerances import (
    DRAWS,
    FLOAT32,
    gaussian_distance,
    six_errors,
)
from course.task import Close, Misconception, Task


def layer_cases(rng):
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


def layer_probe(answer, x, w_mu, w_rho, b_mu, b_rho, prior_std, seed):
    import torch

    draws = 2000  # so many outputs with equal parameters: each is a draw of its own
    x = torch.tensor(x, dtype=torch.float32)

    def seeded(offset=0):
        return torch.Generator().manual_seed(seed + offset)

    def made(offset=0):
        return answer(3, draws, prior_std, -1.5, generator=seeded(offset))

    def gradients(value, inputs):
        if not getattr(value, "requires_grad", False):
            return [torch.zeros_like(leaf) for leaf in inputs]
        return torch.autograd.grad(
            value.sum(), inputs, retain_graph=True, materialize_grads=True
        )

    layer = made()
    start = layer.w_mu.detach().clone()
    from_generator = torch.equal(made().w_mu, start) and not torch.equal(
        made(1).w_mu, start
    )
    first_rho = torch.stack([layer.w_rho.mean(), layer.b_rho.mean()])
    with torch.no_grad():
        layer.w_mu.copy_(torch.tensor(w_mu).expand(draws, 3))
        layer.w_rho.copy_(torch.tensor(w_rho).expand(draws, 3))
        layer.b_mu.fill_(b_mu)
        layer.b_rho.fill_(b_rho)
    generator = seeded()
    y = layer(x, generator=generator)
    if y is None:
        return {"mean": None}
    second, again, other = (
        layer(x, generator=g) for g in (generator, seeded(), seeded(1))
    )
    # So large an input shows one weight's noise alone; an input of 0 the bias's.
    apart = torch.cat([1e4 * torch.eye(3), torch.zeros(1, 3)])
    noises = layer(apart, generator=seeded()).detach().double()
    off = (noises - noises.mean(1, keepdim=True)).abs().mean(1) / noises.std(1)
    q = [layer.w_mu, layer.w_rho, layer.b_mu, layer.b_rho]
    to_w_mu, _, to_b_mu, _ = gradients(y, q)
    # How the noise moves with ρ, for each unit of itself.
    noise = y - (x @ layer.w_mu.T + layer.b_mu).detach()
    here = noise.detach()
    shares = (noise * here).sum(1) / (here**2).sum(1)
    to_w_rho, to_b_rho = gradients(shares[0], q)[1], gradients(shares[2], q)[3]
    kl = layer.kl()
    y = y.detach().double()
    return {
        "mean": y.mean(1),
        "std": y.std(1),
        "mean_distance_in_stds": off,
        "correlations_of_weights_and_bias": torch.corrcoef(noises),
        "covariance": ((y[0] - y[0].mean()) * (y[1] - y[1].mean())).mean(),
        "gradient": to_w_mu.mean(0),
        "gradient_of_b_mu": to_b_mu.mean(),
        "slope_in_w_rho": to_w_rho.sum(0),
        "slope_in_b_rho": to_b_rho.sum(),
        "reproducible": float(torch.equal(y, again.detach().double())),
        "fresh": float(not torch.equal(y, second.detach().double())),
        "another_seed_another_draw": float(not torch.equal(y, other.detach().double())),
        "kl": None if kl is None else kl / draws,
        "gradients_of_the_kl": torch.cat(
            [gradient.reshape(draws, -1).mean(0) for gradient in gradients(kl, q)]
        ),
        "first_rho": first_rho,
        "first_means_come_from_the_generator": float(from_generator),
    }


def layer_oracle(shared):
    def oracle(x, w_mu, w_rho, b_mu, b_rho, prior_std, seed):
        w_std, b_std = np.logaddexp(0, w_rho), np.logaddexp(0, b_rho)
        covariance = (x * w_std**2) @ x.T + b_std**2
        variance = np.diag(covariance)
        between = covariance[0, 1] if shared else 0.0
        q = Normal(torch.tensor([*w_mu, b_mu]), torch.tensor([*w_std, b_std]))
        kl = float(kl_divergence(q, Normal(torch.zeros(()).double(), prior_std)).sum())
        distance = gaussian_distance()
        error = math.sqrt((variance[0] * variance[1] + between**2) / DRAWS)
        w_slope, b_slope = scipy.special.expit(w_rho), scipy.special.expit(b_rho)
        # One unit of noise is x σ ε / std; when weights are drawn, ε is not all of it.
        part = x[0] * w_std / math.sqrt(variance[0])
        w_error = np.abs(part) * w_slope / w_std * np.sqrt((1 + part**2) / DRAWS)
        to_mu = np.append(w_mu, b_mu) / prior_std**2
        std = np.append(w_std, b_std)
        to_rho = (std / prior_std**2 - 1 / std) * np.append(w_slope, b_slope)
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
            "mean_distance_in_stds": Close(
                np.full(4, distance.value), atol=distance.atol, because=distance.because
            ),
            "correlations_of_weights_and_bias": Close(
                np.eye(4), atol=6 / math.sqrt(DRAWS), because=six_errors("correlations")
            ),
            "gradient": Close(x.sum(0), rtol=1e-4, atol=1e-4, because=FLOAT32),
            "gradient_of_b_mu": Close(float(len(x)), rtol=1e-4, because=FLOAT32),
            "slope_in_w_rho": Close(
                part**2 * w_slope / w_std,
                atol=6 * float(w_error.max()),
                because=six_errors("products of the noise"),
            ),
            "slope_in_b_rho": Close(b_slope / b_std, rtol=1e-3, because=FLOAT32),
            "reproducible": Close(
                1.0, because="the same generator gives the same draw"
            ),
            "fresh": Close(1.0, because="the next call draws anew"),
            "another_seed_another_draw": Close(
                1.0, because="the noise comes from the generator that is passed in"
            ),
            "kl": Close(kl, rtol=1e-4, because=FLOAT32),
            "gradients_of_the_kl": Close(
                [*to_mu[:3], *to_rho[:3], to_mu[3], to_rho[3]],
                rtol=1e-4,
                atol=1e-4,
                because=FLOAT32,
            ),
            "first_rho": Close([-1.5] * 2, rtol=1e-5, because="where every ρ starts"),
            "first_means_come_from_the_generator": Close(
                1.0, because="the same generator gives the same layer"
            ),
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


class MeanWeights(VariationalLayer):
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
    id="approximate-inference/linear-variational",
    name="LinearVariational",
    points=3,
    cases=layer_cases,
    probe=layer_probe,
    oracle=layer_oracle(shared=True),
    misconceptions=[
        Misconception(
            MeanWeights,
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
        Misconception(
            _SharedNoise,
            "one ε serves weights and biases alike. Under q all are independent: draw afresh for each.",
        ),
        Misconception(
            _Frozen,
            "the noise is frozen: every call draws with the same seed, whatever generator it is given.",
        ),
        Misconception(
            _DetachedKL,
            "the KL carries no graph (.detach(), .item() or no_grad): then the prior pulls at nothing.",
        ),
        Misconception(
            _EqualMeans,
            "all means start at 0. Then all hidden units are alike, and what tells them apart is noise: "
            "draw the first means.",
        ),
    ],
    hints=[
        "You have the two parts already: reparametrised_sample and gaussian_kl.",
        "kl: weights plus biases. forward: one draw of the weights, one of the biases, then F.linear.",
        "F.linear(x, weight, bias) with weight = reparametrised_sample(self.w_mu, self.w_rho, generator=generator).",
    ],
)
