"""A Bayesian linear layer that draws its weights.

A layer with 2,000 identical outputs gives 2,000 independent draws in one call.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import torch
import torch.nn.functional as F
from torch import nn

from course.checks.bayes_by_backprop.tolerances import (
    EXACT,
    SINGLE,
    SIX_ERRORS,
    softplus,
)
from course.checks.concepts_of_divergences import (
    WRONG_KLS_OF_LAYERS,
    gaussian_kl,
)
from course.checks.concepts_of_weights import wrong_stds
from course.checks.draws import DRAWS, TAILS, gaussian_distance
from course.checks.probing import drawn, gradients, has_tails, seeded
from course.task import Close, Misconception, Task


def _linear_cases(rng):
    """Draw two rows with much common noise, one with little, one at 0; in the last case, a large ρ."""
    two = np.array([[1.0, 1.5], [2.0, -1.0], [1.5, 1.0], [0.0, 0.0]])
    three = np.array([[1, 1.5, 1], [2, -1, 0.5], [0.5, 1, -2], [1.5, 1, 1], [0, 0, 0]])
    return [
        {
            "x": rows * rng.uniform(0.8, 1.2, rows.shape),
            "weight_mu": rng.normal(0, 1, rows.shape[1]),
            "weight_rho": rng.uniform(0, 0.5, rows.shape[1]) + large,
            "bias_mu": float(rng.normal(0, 1)),
            "bias_rho": float(rng.uniform(0.5, 1.5)),
            "prior_std": float(rng.uniform(1.5, 4)),
            "seed": int(rng.integers(1, 1_000_000)),
        }
        for rows, large in ((two, 0), (three, 0), (two[2:, :1], 800))
    ]


def _linear_probe(answer, x, weight_mu, weight_rho, bias_mu, bias_rho, prior_std, seed):
    import torch

    outputs, inputs = 2_000, len(weight_mu)

    def made(offset=0):
        generator = seeded(seed + offset)
        layer = answer(inputs, outputs, prior_std=prior_std, generator=generator)
        return layer.double()

    layer = made()
    start = layer.weight_mu.detach().clone()
    start_of_biases = layer.bias_mu.detach().abs().max()
    start_of_rho = torch.stack([layer.weight_rho.mean(), layer.bias_rho.mean()])
    from_generator = torch.equal(made().weight_mu, start)
    from_generator &= not torch.equal(made(1).weight_mu, start)
    with torch.no_grad():
        layer.weight_mu.copy_(torch.tensor(weight_mu).expand(outputs, inputs))
        layer.weight_rho.copy_(torch.tensor(weight_rho).expand(outputs, inputs))
        layer.bias_mu.fill_(bias_mu)
        layer.bias_rho.fill_(bias_rho)
    x = torch.tensor(x)
    y, comparisons = drawn(lambda generator: layer(x, generator=generator), seed)
    if y is None:
        return {"mean": None}
    evaluated = layer.eval()(x, generator=seeded(seed))
    q = [layer.weight_mu, layer.weight_rho, layer.bias_mu, layer.bias_rho]
    to_weight, to_weight_rho, to_bias, to_bias_rho = gradients(y, q)
    y = y.detach()
    # The last row is 0 and shows the biases; rows less it show the weights.
    bias = y[-1]
    weight = torch.linalg.solve(x[:inputs], y[:inputs] - bias).T
    off_weight, off_bias = weight - layer.weight_mu, bias - layer.bias_mu
    off = torch.cat([off_weight, off_bias[:, None]], dim=1).detach()
    distance = (off - off.mean(0)).abs().mean(0) / off.std(0)
    stds = torch.nn.functional.softplus(torch.cat([q[1], q[3][:, None]], dim=1))
    kl = layer.kl()
    kl_gradients = gradients(kl, q)
    narrow = answer(inputs, 1, prior_std=prior_std, generator=seeded(seed)).double()
    with torch.no_grad():  # next to no noise
        narrow.weight_mu.copy_(torch.tensor(weight_mu)[None])
        narrow.bias_mu.fill_(bias_mu)
        narrow.weight_rho.fill_(-40.0)
        narrow.bias_rho.fill_(-40.0)
    return {
        "mean": y.mean(1),
        "std": y.std(1),
        "mean_distance_in_stds": distance.mean(),
        "noise_has_tails": has_tails(off / stds),
        "correlation_of_the_rows": torch.corrcoef(y),
        "kl": None if kl is None else kl / outputs,
        "one_output_for_one_row": narrow(x[:1], generator=seeded(seed)),
        **comparisons,
        "the_same_draw_in_eval": float(torch.equal(y, evaluated)),
        "gradient_of_weight_mu": to_weight.mean(0),
        "gradient_of_bias_mu": to_bias.mean(0),
        # How the outputs move with ρ, for each unit of a weight's distance from µ.
        "slope_in_weight_rho": (to_weight_rho * off_weight).sum(0)
        / (off_weight**2).sum(0),
        "slope_in_bias_rho": (to_bias_rho * off_bias).sum(0) / (off_bias**2).sum(0),
        "gradients_of_the_kl": torch.cat(
            [gradient.mean(0).reshape(-1) for gradient in kl_gradients]
        ),
        "std_of_the_first_means": start.std(),
        "first_means_of_the_biases": start_of_biases,
        "first_rho": start_of_rho,
        "first_means_come_from_the_generator": float(from_generator),
    }


def _linear_oracle(x, weight_mu, weight_rho, bias_mu, bias_rho, prior_std, seed):
    inputs = len(weight_mu)
    mu, std = np.append(weight_mu, bias_mu), softplus(np.append(weight_rho, bias_rho))
    ones = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    covariance = (ones * std**2) @ ones.T
    std_y = np.sqrt(np.diag(covariance))
    kl = np.log(prior_std / std) + (std**2 + mu**2) / (2 * prior_std**2) - 0.5
    sigmoid = scipy.special.expit(np.append(weight_rho, bias_rho))
    to_mu, to_rho = mu / prior_std**2, (std / prior_std**2 - 1 / std) * sigmoid
    slope = sigmoid / std * ones.sum(0)
    exact = {"rtol": 1e-5, "atol": 1e-9, "because": EXACT}
    return {
        "mean": Close(
            ones @ mu,
            atol=6 * float(std_y.max()) / math.sqrt(DRAWS),
            because=SIX_ERRORS,
        ),
        "std": Close(std_y, rtol=6 / math.sqrt(2 * DRAWS), because=SIX_ERRORS),
        "correlation_of_the_rows": Close(
            covariance / np.outer(std_y, std_y),
            atol=6 / math.sqrt(DRAWS),
            because=SIX_ERRORS,
        ),
        "mean_distance_in_stds": gaussian_distance((inputs + 1) * DRAWS),
        "noise_has_tails": TAILS,
        "kl": Close(kl.sum(), rtol=1e-5, atol=1e-5, because=SINGLE),
        "one_output_for_one_row": Close(ones[:1] @ mu[:, None], **exact),
        "reproducible": Close(
            1.0, because="the same generator in the same state gives the same draw"
        ),
        "fresh": Close(1.0, because="every call draws the weights anew"),
        "another_seed_another_draw": Close(
            1.0, because="the noise comes from the generator that is passed in"
        ),
        "gradient_of_weight_mu": Close(x.sum(0), **exact),
        "gradient_of_bias_mu": Close(float(len(x)), **exact),
        "slope_in_weight_rho": Close(slope[:-1], **exact),
        "slope_in_bias_rho": Close(slope[-1], **exact),
        "gradients_of_the_kl": Close(
            [*to_mu[:-1], *to_rho[:-1], to_mu[-1], to_rho[-1]],
            rtol=1e-5,
            atol=1e-5,
            because=SINGLE,
        ),
        "std_of_the_first_means": Close(
            1 / math.sqrt(inputs),
            rtol=6 / math.sqrt(2 * inputs * DRAWS),
            because=SIX_ERRORS,
        ),
        "first_means_of_the_biases": Close(0.0, because="the biases' means start at 0"),
        "first_rho": Close([-5.0, -5.0], rtol=1e-5, because="where every ρ starts"),
        "the_same_draw_in_eval": Close(
            1.0, because="weights stay random in eval(): predictions average over draws"
        ),
        "first_means_come_from_the_generator": Close(
            1.0,
            because="the same seed gives the same layer, and another seed a different one",
        ),
    }


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


BAYESIAN_LINEAR = Task(
    name="BayesianLinear",
    points=4,
    cases=_linear_cases,
    probe=_linear_probe,
    oracle=_linear_oracle,
    misconceptions=[
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
    ],
    hints=[
        "`forward`: draw the weight and the bias with sample_weights; F.linear does the rest.",
        "`kl`: gaussian_kl of the weights plus gaussian_kl of the biases.",
        "Draw in `forward`, not in __init__: every call uses a new network.",
    ],
)
