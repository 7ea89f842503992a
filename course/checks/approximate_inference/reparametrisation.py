"""A draw from a mean-field Gaussian, and the gradients of µ and ρ through it."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F

from course.checks.approximate_inference.concepts import STDS_SAID
from course.checks.approximate_inference.tolerances import six_errors
from course.checks.concepts_of_weights import wrong_stds
from course.checks.draws import (
    APART,
    CENTRED,
    DRAWS,
    TAILS,
    gaussian_distance,
)
from course.probing import (
    correlation_of_two,
    drawn,
    gradients,
    has_tails,
    leaves,
)
from course.task import Close, Misconception, Task


def _sample_cases(rng):
    return [
        {
            "mu": rng.normal(0, 1, (2, 2)),
            "rho": rng.uniform(-1, 1, (2, 2)),
            "seed": int(rng.integers(1 << 30)),
        },
        {
            "mu": np.zeros(2),
            "rho": np.full(2, 95.0),
            "seed": int(rng.integers(1 << 30)),
        },
        {
            "mu": np.zeros(1),
            "rho": np.full(1, -18.0),
            "seed": int(rng.integers(1 << 30)),
        },
    ]


def _sample_probe(answer, mu, rho, seed):
    import numpy as np
    import torch

    shape = (2000, *mu.shape)
    mu, rho = leaves(*(np.broadcast_to(np.float32(q), shape) for q in (mu, rho)))
    w, comparisons = drawn(lambda generator: answer(mu, rho, generator=generator), seed)
    if w is None:
        yield "mean", None
        return
    if w.shape != mu.shape:
        yield "mean", w[0]
        return
    to_mu, to_rho = gradients(w, [mu, rho])
    # How w moves with ρ, for each unit of its distance from µ.
    w, distance = w.detach(), (w - mu).detach().double()
    slope = (to_rho * distance).sum(0) / (distance**2).sum(0)
    yield "mean", w.double().mean(0)
    yield "std", w.double().std(0)
    yield "gradient_mu", to_mu.mean(0)
    yield "gradient_rho", slope
    off = (distance - distance.mean(0)).abs().mean(0) / distance.std(0)
    yield "mean_distance_in_stds", off.mean()
    std = torch.nn.functional.softplus(rho.detach().double())
    yield "noise_has_tails", has_tails(distance / std)
    among = torch.corrcoef(distance.flatten(1).T).reshape(-1, mu[0].numel())
    among = (among - torch.eye(len(among))).flatten()
    yield "correlation", among[among.abs().argmax()]
    yield from comparisons
    two = leaves(np.zeros(2, np.float32), np.ones(2, np.float32))
    yield (
        "correlation_of_two_weights_alone",
        correlation_of_two(lambda generator: answer(*two, generator=generator), seed),
    )


def _sample_oracle(mu, rho, seed):
    std = np.logaddexp(0, rho)
    slope = 1 / (1 + np.exp(-rho)) / std
    return {
        "mean": Close(
            mu, atol=6 * float(std.max()) / math.sqrt(DRAWS), because=six_errors()
        ),
        "std": Close(
            std, rtol=6 / math.sqrt(2 * DRAWS), because=six_errors("standard deviation")
        ),
        "mean_distance_in_stds": gaussian_distance(DRAWS * mu.size),
        "noise_has_tails": TAILS,
        "gradient_mu": Close(
            np.ones_like(mu), rtol=1e-5, because="dw/dµ is 1, whatever ε was"
        ),
        "gradient_rho": Close(
            slope,
            rtol=1e-3,
            because="dw/dρ is ε times the sigmoid of ρ, in single precision",
        ),
        "correlation": Close(
            0.0,
            atol=6 / math.sqrt(DRAWS),
            because=six_errors("correlation"),
        ),
        "correlation_of_two_weights_alone": APART,
        "reproducible": Close(1.0, because="the same generator gives the same draw"),
        "fresh": Close(1.0, because="the next call draws anew"),
        "another_seed_another_draw": Close(
            1.0, because="the noise comes from the generator that is passed in"
        ),
    }


def _noise(like, generator):
    return torch.randn(like.shape, generator=generator)


def _centred(like, generator):
    noise = _noise(like, generator)
    return noise - noise.mean()


REPARAMETRISED_SAMPLE = Task(
    name="reparametrised_sample",
    points=2,
    cases=_sample_cases,
    probe=_sample_probe,
    oracle=_sample_oracle,
    misconceptions=[
        *wrong_stds(
            lambda std_of: (
                lambda mu, rho, *, generator: mu + std_of(rho) * _noise(mu, generator)
            ),
            said=STDS_SAID,
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu + torch.log(1 + torch.exp(rho)) * _noise(mu, generator)
            ),
            "you write softplus as log(1 + exp(ρ)): in single precision that is inf for ρ ≥ 89, and 0 for ρ < −17. "
            "F.softplus avoids both.",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu + torch.log1p(torch.exp(rho)) * _noise(mu, generator)
            ),
            "you write softplus as log1p(exp(ρ)): in single precision that is inf for ρ ≥ 89. Use F.softplus.",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu + F.softplus(rho) * torch.randn((), generator=generator)
            ),
            "you draw one ε for all weights: then they are perfectly correlated. Each weight has its own ε.",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu + F.softplus(rho) * _noise(mu[..., :1], generator)
            ),
            "you draw one ε for the weights of a row: then they are perfectly correlated. Each weight has its own ε.",
        ),
        Misconception(
            lambda mu, rho, *, generator: mu + F.softplus(rho) * torch.randn_like(mu),
            "you do not use the generator (torch.randn_like uses the global one): the draw cannot be repeated.",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu + F.softplus(rho) * _noise(mu, torch.Generator().manual_seed(0))
            ),
            "you draw the noise with the same seed in every call, or use that of the first call again. Draw it anew in every "
            "call, from the generator that is passed in.",
        ),
        Misconception(
            lambda mu, rho, *, generator: torch.normal(
                mu.detach(), F.softplus(rho).detach(), generator=generator
            ),
            "you cut the draw off from µ and ρ: by torch.no_grad() or .detach(), or by torch.normal or .sample(), which stop "
            "the gradient. Compute w from µ, σ and ε, with gradients on.",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu + F.softplus(rho).detach() * _noise(mu, generator)
            ),
            "you detach σ, or compute it with .data or under no_grad: no gradient reaches ρ, and training cannot "
            "change the width.",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu.detach() + F.softplus(rho) * _noise(mu, generator)
            ),
            "you detach µ, or use it as .data or under no_grad: no gradient reaches it.",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu + F.softplus(rho) * torch.rand(mu.shape, generator=generator)
            ),
            "you draw a uniform ε (torch.rand); it must be normal (torch.randn).",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu
                + F.softplus(rho) * (2 * torch.rand(mu.shape, generator=generator) - 1)
            ),
            "you draw a uniform ε (torch.rand); it must be normal (torch.randn).",
        ),
        Misconception(
            lambda mu, rho, *, generator: mu + 0 * rho,
            "you return µ: nothing is drawn.",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                0 * mu + F.softplus(rho) * _noise(mu, generator)
            ),
            "you leave out µ: the draws then have mean 0.",
        ),
        Misconception(
            lambda mu, rho, *, generator: mu + 0 * rho + _noise(mu, generator),
            "you do not scale ε: multiply it by the standard deviation softplus(ρ).",
        ),
        Misconception(
            lambda mu, rho, *, generator: mu * F.softplus(rho) * _noise(mu, generator),
            "you multiply µ by the noise: add the noise to it.",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu + F.softplus(rho) * _centred(mu, generator)
            ),
            CENTRED,
        ),
    ],
    hints=[
        "Draw ε first, from a distribution that has no parameters; then shift and scale it.",
        "The standard deviation is F.softplus(rho), and ε has the shape of `mu`.",
        "torch.randn takes a shape, a dtype and a generator; take the first two from `mu`.",
    ],
)
