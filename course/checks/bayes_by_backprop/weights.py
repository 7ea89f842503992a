"""Draws of a weight from its distribution, and the gradients of µ and ρ through them."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import torch
import torch.nn.functional as F

from course.checks.bayes_by_backprop.tolerances import EXACT, SIX_ERRORS, softplus
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
    gradients_of,
    has_tails,
    leaves,
    own_noise,
)
from course.task import Close, Misconception, Task


def _reparametrise_cases(rng):
    names = ("mu", "rho", "epsilon")
    ordinary = [
        {name: rng.normal(0, 1, shape) for name in names} for shape in ((2, 2), (1,))
    ]
    # At 4 or 5, softplus is near ρ, but not yet equal to it.
    extreme = {
        "mu": rng.normal(0, 1, 3),
        "rho": np.array([-60.0, rng.uniform(4, 5), 800.0]),
        "epsilon": rng.uniform(0.5, 2, 3),
    }
    return [*ordinary, extreme]


def _reparametrise_probe(answer, mu, rho, epsilon):
    import torch

    mu, rho = leaves(mu, rho)
    w = answer(mu, rho, torch.tensor(epsilon))
    return {"w": w, **gradients_of(w, mu=mu, rho=rho)}


def _reparametrise_oracle(mu, rho, epsilon):
    slope = epsilon / (1 + np.exp(-rho))
    close = {"rtol": 1e-6, "atol": 1e-40, "because": EXACT}
    return {
        "w": Close(mu + softplus(rho) * epsilon, rtol=1e-6, atol=1e-6, because=EXACT),
        "gradient_of_mu": Close(np.ones_like(mu), **close),
        "gradient_of_rho": Close(slope, **close),
    }


REPARAMETRISE = Task(
    name="reparametrise",
    points=1,
    cases=_reparametrise_cases,
    probe=_reparametrise_probe,
    oracle=_reparametrise_oracle,
    misconceptions=[
        *wrong_stds(lambda std_of: lambda mu, rho, epsilon: mu + std_of(rho) * epsilon),
        Misconception(
            lambda mu, rho, epsilon: mu + F.softplus(rho),
            "you leave out the noise ε: this is the point one standard deviation above the mean.",
        ),
        Misconception(
            lambda mu, rho, epsilon: F.softplus(rho) * epsilon + 0 * mu,
            "you leave out the mean µ.",
        ),
        Misconception(
            lambda mu, rho, epsilon: mu + torch.log(1 + torch.exp(rho)) * epsilon,
            "you write out log(1 + exp(ρ)): exp overflows for a large ρ and, without log1p, σ is 0 for a very negative "
            "one. F.softplus avoids both.",
        ),
    ],
    hints=[
        "First compute the standard deviation: σ = softplus(ρ).",
        "The weight is the mean plus the standard deviation times the noise.",
        "Check: µ = 1, σ = 2 and ε = −½ give 0.",
    ],
)


def _sample_cases(rng):
    """Draw cases; in the last, σ is tiny or large, which log(1 + exp ρ) cannot give."""
    cases = [
        {
            "mu": rng.normal(0, 2, shape),
            "rho": rng.uniform(-2, 2, shape),
            "seed": int(rng.integers(1, 1_000_000)),
        }
        for shape in ((3,), (2, 2), (1,))
    ]
    rho, seed = rng.permutation([-40.0, 800.0]), int(rng.integers(1, 1_000_000))
    return [*cases, {"mu": np.zeros(2), "rho": rho, "seed": seed}]


def _sample_probe(answer, mu, rho, seed):
    import numpy as np
    import torch

    shape = (2_000, *mu.shape)
    mu, rho = leaves(np.broadcast_to(mu, shape), np.broadcast_to(rho, shape))
    w, comparisons = drawn(lambda generator: answer(mu, rho, generator=generator), seed)
    if w is None:
        yield "noise_of_its_own", 1.0
        yield "mean", None
        return
    to_mu, to_rho = gradients(w, [mu, rho])
    std = torch.nn.functional.softplus(rho.detach())
    # How w moves with ρ, for each unit of its distance from µ.
    w, distance = w.detach(), (w - mu).detach()
    slope = (to_rho * distance).sum(0) / (distance**2).sum(0)
    yield "mean", w.mean(0)
    yield "std", w.std(0)
    yield "gradient_of_mu", to_mu.mean(0)
    yield "slope_in_rho", slope
    off = (w - w.mean(0)).abs().mean(0) / w.std(0)
    yield "mean_distance_in_stds", off.mean()
    first, last = w.flatten(1)[:, 0], w.flatten(1)[:, -1]
    yield "correlation", torch.corrcoef(torch.stack([first, last]))[0, 1]
    yield "noise_of_its_own", own_noise(distance / std)
    yield "noise_has_tails", has_tails(distance / std)
    yield from comparisons
    two = leaves(np.zeros(2), np.ones(2))
    yield (
        "correlation_of_two_weights_alone",
        correlation_of_two(lambda generator: answer(*two, generator=generator), seed),
    )


def _sample_oracle(mu, rho, seed):
    std = softplus(rho)
    return {
        "noise_of_its_own": Close(1.0, because="every weight has its own ε"),
        "mean": Close(
            mu, atol=6 * float(std.max()) / math.sqrt(DRAWS), because=SIX_ERRORS
        ),
        "std": Close(std, rtol=6 / math.sqrt(2 * DRAWS), because=SIX_ERRORS),
        "mean_distance_in_stds": gaussian_distance(DRAWS * mu.size),
        "noise_has_tails": TAILS,
        "correlation_of_two_weights_alone": APART,
        "correlation": Close(
            float(mu.size == 1), atol=6 / math.sqrt(DRAWS), because=SIX_ERRORS
        ),
        "reproducible": Close(
            1.0, because="the same generator in the same state gives the same draw"
        ),
        "fresh": Close(1.0, because="the next call draws anew"),
        "another_seed_another_draw": Close(
            1.0, because="the noise comes from the generator that is passed in"
        ),
        "gradient_of_mu": Close(
            np.ones_like(mu), rtol=1e-6, because="dw/dµ is 1, whatever ε was"
        ),
        "slope_in_rho": Close(
            scipy.special.expit(rho) / std,
            rtol=1e-6,
            because="dw/dρ is ε · sigmoid(ρ), and ε is (w − µ)/σ",
        ),
    }


def _randn(mu, generator):
    return torch.randn(mu.shape, generator=generator, dtype=mu.dtype)


def _centred(mu, rho, *, generator):
    noise = _randn(mu, generator)
    return mu + F.softplus(rho) * (noise - noise.mean())


SAMPLE_WEIGHTS = Task(
    name="sample_weights",
    points=1,
    cases=_sample_cases,
    probe=_sample_probe,
    oracle=_sample_oracle,
    misconceptions=[
        Misconception(
            lambda mu, rho, *, generator: mu + F.softplus(rho) * torch.randn_like(mu),
            "you use the global random state instead of the generator: the draw cannot be repeated.",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu
                + F.softplus(rho)
                * torch.randn(mu.shape, generator=torch.Generator().manual_seed(0)).to(
                    mu
                )
            ),
            "you draw the noise with the same seed in every call, so the next step gets the same ε again.",
        ),
        *(
            Misconception(
                lambda mu, rho, *, generator, shape_of=shape_of: (
                    mu
                    + F.softplus(rho)
                    * torch.randn(shape_of(mu), generator=generator, dtype=mu.dtype)
                ),
                f"you use one ε for all weights{along}. Under q they are independent.",
            )
            for shape_of, along in (
                (lambda mu: (*mu.shape[:-1], 1), " along the last axis"),
                (
                    lambda mu: mu.shape[-1:],
                    " that are in the same place along the last axis",
                ),
                (lambda mu: (), ""),
            )
        ),
        Misconception(_centred, CENTRED),
        *wrong_stds(
            lambda std_of: (
                lambda mu, rho, *, generator: mu + std_of(rho) * _randn(mu, generator)
            )
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu
                + F.softplus(rho)
                * torch.rand(mu.shape, generator=generator, dtype=mu.dtype)
            ),
            "you draw uniform noise on [0, 1] (torch.rand); it must be standard normal (torch.randn).",
        ),
        Misconception(
            lambda mu, rho, *, generator: (
                mu + F.softplus(rho).detach() * _randn(mu, generator)
            ),
            "you cut ρ out of the graph with .detach() or .data: no gradient reaches it.",
        ),
        Misconception(
            lambda mu, rho, *, generator: torch.normal(
                mu, F.softplus(rho), generator=generator
            ).detach(),
            "you cut the draw off from µ and ρ: by torch.no_grad() or .detach(), or by torch.normal or Normal.sample(), "
            "which stop the gradient. Compute w from µ, σ and ε, with gradients on.",
        ),
    ],
    hints=[
        "Draw ε with torch.randn; pass it the shape and dtype of `mu`, and the generator.",
        "Then you have everything that `reparametrise` asks for.",
    ],
)
