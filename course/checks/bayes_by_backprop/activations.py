"""Draws of a Bayesian linear layer's outputs instead of its weights; closed-form oracles."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import torch
import torch.nn.functional as F

from course.checks.bayes_by_backprop.tolerances import EXACT, SIX_ERRORS, softplus
from course.checks.concepts_of_weights import wrong_stds
from course.checks.draws import APART, DRAWS, TAILS, gaussian_distance
from course.probing import (
    correlation_of_two,
    drawn,
    gradients,
    has_tails,
    leaves,
    own_noise,
)
from course.task import Close, Misconception, Task


def _activations_cases(rng):
    """Draw inputs so small that the bias's noise matters, and so large that x and x² differ.

    In the last two cases, the noise is tiny, and large.
    """
    return [
        {
            "x": rng.uniform(low, high, d),
            "weight_mu": rng.normal(0, 1, (outputs, d)),
            "weight_rho": rng.uniform(0.5, 2, (outputs, d)) + shift,
            "bias_mu": rng.normal(0, 1, outputs),
            "bias_rho": rng.uniform(0.2, 0.6, outputs) + shift,
            "seed": int(rng.integers(1, 1_000_000)),
        }
        for low, high, d, outputs, shift in (
            (0.1, 0.25, 3, 2, 0),
            (2.5, 2.8, 2, 4, 0),
            (0.1, 0.25, 1, 1, -12),
            (0.1, 0.25, 2, 1, 800),
        )
    ]


def _activations_probe(answer, x, weight_mu, weight_rho, bias_mu, bias_rho, seed):
    import numpy as np
    import torch

    # 2,000 equal inputs: as many independent draws
    rows, *q = leaves(np.tile(x, (2_000, 1)), weight_mu, weight_rho, bias_mu, bias_rho)
    y, comparisons = drawn(
        lambda generator: answer(rows, *q, generator=generator), seed
    )
    if y is None:
        yield "noise_of_its_own", 1.0
        yield "mean", None
        return
    yield "mean", y.mean(0)
    yield "std", y.std(0)
    to_weight_mu, to_bias_mu = gradients(y.sum() / 2_000, [q[0], q[2]])
    yield "gradient_of_weight_mu", to_weight_mu
    yield "gradient_of_bias_mu", to_bias_mu
    # How the noise moves with its parameters, for each unit of itself.
    noise = y - (rows @ q[0].T + q[2])
    here = noise.detach()
    shares = (noise * here).sum(0) / (here**2).sum(0)
    to_weight_rho, to_bias_rho = gradients(shares.sum(), [q[1], q[3]])
    to_rows = gradients(shares[0], [rows])[0]
    if not y.requires_grad:  # then this is the gradient of the mean above
        to_weight_rho, to_bias_rho, to_rows = (
            torch.zeros_like(value) for value in (q[1], q[3], rows)
        )
    yield "slope_in_weight_rho", to_weight_rho
    yield "slope_in_bias_rho", to_bias_rho
    yield "slope_in_x", to_rows.sum(0)
    of_weight, of_bias = (torch.nn.functional.softplus(q[i]).detach() for i in (1, 3))
    std = torch.sqrt(rows.detach() ** 2 @ of_weight.T**2 + of_bias**2)
    y = y.detach()
    off = (y - y.mean(0)).abs().mean(0) / y.std(0)
    yield "mean_distance_in_stds", off.mean()
    yield "correlation", torch.corrcoef(y.T[[0, -1]])[0, 1]
    yield "noise_of_its_own", own_noise(here / std)
    yield "noise_has_tails", has_tails(here / std)
    yield from comparisons
    small = leaves(*(np.ones(shape) for shape in ((2, 1), (1, 1), (1, 1), 1, 1)))
    yield (
        "correlation_of_two_rows_alone",
        correlation_of_two(lambda generator: answer(*small, generator=generator), seed),
    )


def _activations_oracle(x, weight_mu, weight_rho, bias_mu, bias_rho, seed):
    weight_std, bias_std = softplus(weight_rho), softplus(bias_rho)
    variance = weight_std**2 @ x**2 + bias_std**2
    slope = weight_std * scipy.special.expit(weight_rho) * x**2 / variance[:, None]
    close = {"rtol": 1e-5, "atol": 1e-9, "because": EXACT}
    return {
        "noise_of_its_own": Close(1.0, because="every row and output has its own ε"),
        "mean": Close(
            weight_mu @ x + bias_mu,
            atol=6 * math.sqrt(variance.max() / DRAWS),
            because=SIX_ERRORS,
        ),
        "std": Close(
            np.sqrt(variance), rtol=6 / math.sqrt(2 * DRAWS), because=SIX_ERRORS
        ),
        "mean_distance_in_stds": gaussian_distance(len(bias_mu) * DRAWS),
        "noise_has_tails": TAILS,
        "correlation_of_two_rows_alone": APART,
        "correlation": Close(
            float(len(bias_mu) == 1), atol=6 / math.sqrt(DRAWS), because=SIX_ERRORS
        ),
        "reproducible": Close(
            1.0, because="the same generator in the same state gives the same draw"
        ),
        "fresh": Close(1.0, because="the next call draws anew"),
        "another_seed_another_draw": Close(
            1.0, because="the noise comes from the generator that is passed in"
        ),
        "gradient_of_weight_mu": Close(np.stack([x] * len(bias_mu)), **close),
        "gradient_of_bias_mu": Close(np.ones(len(bias_mu)), **close),
        "slope_in_weight_rho": Close(slope, **close),
        "slope_in_bias_rho": Close(
            bias_std * scipy.special.expit(bias_rho) / variance, **close
        ),
        "slope_in_x": Close(weight_std[0] ** 2 * x / variance[0], **close),
    }


def _activations(
    std_of, *, shape_of=lambda mean: mean.shape, noise_of=lambda g: g, rho_of=F.softplus
):
    def answer(x, weight_mu, weight_rho, bias_mu, bias_rho, *, generator):
        mean = F.linear(x, weight_mu, bias_mu)
        std = std_of(x, rho_of(weight_rho), rho_of(bias_rho))
        return mean + std * torch.randn(
            shape_of(mean), generator=noise_of(generator), dtype=mean.dtype
        )

    return answer


def _right_std(x, weight_std, bias_std):
    return torch.sqrt(F.linear(x**2, weight_std**2, bias_std**2))


def _of_weights(x, weight_mu, weight_rho, bias_mu, bias_rho, *, generator):
    weight, bias = (
        mu
        + F.softplus(rho) * torch.randn(mu.shape, generator=generator, dtype=mu.dtype)
        for mu, rho in ((weight_mu, weight_rho), (bias_mu, bias_rho))
    )
    return F.linear(x, weight, bias)


SAMPLE_ACTIVATIONS = Task(
    name="sample_activations",
    points=3,
    cases=_activations_cases,
    probe=_activations_probe,
    oracle=_activations_oracle,
    misconceptions=[
        Misconception(
            _activations(
                lambda x, weight_std, bias_std: F.linear(x, weight_std, bias_std)
            ),
            "you add standard deviations. Add the variances of the independent terms, and take the root at the end.",
        ),
        Misconception(
            _activations(
                lambda x, weight_std, bias_std: torch.sqrt(
                    F.linear(x, weight_std**2, bias_std**2)
                )
            ),
            "you do not square the inputs: the variance of w·x is σ²x².",
        ),
        Misconception(
            _activations(
                lambda x, weight_std, bias_std: torch.sqrt(
                    F.linear(x**2, weight_std**2)
                )
            ),
            "you leave out the variance of the biases.",
        ),
        Misconception(
            _activations(
                lambda x, weight_std, bias_std: F.linear(
                    x**2, weight_std**2, bias_std**2
                )
            ),
            "you multiply the noise by the variance; take its square root.",
        ),
        Misconception(
            _activations(_right_std, shape_of=lambda mean: mean.shape[-1:]),
            "you use the same noise for all rows. Here every row has its own: that is what lowers the gradient's "
            "variance.",
        ),
        Misconception(
            _activations(_right_std, shape_of=lambda mean: (*mean.shape[:-1], 1)),
            "you use the same noise for all outputs of a row. Every output has its own.",
        ),
        Misconception(
            _activations(_right_std, shape_of=lambda mean: ()),
            "you use one ε for all rows and outputs. Each has its own.",
        ),
        Misconception(
            _of_weights,
            "you draw the weights, so that all rows share their noise. Draw the outputs from their own Gaussian, "
            "each with noise of its own.",
        ),
        Misconception(
            _activations(
                lambda x, weight_std, bias_std: torch.sqrt(
                    F.linear(x**2, weight_std**2, bias_std)
                )
            ),
            "you do not square the σ of the biases.",
        ),
        Misconception(
            _activations(
                lambda x, weight_std, bias_std: torch.sqrt(
                    F.linear(x**2, weight_std, bias_std**2)
                )
            ),
            "you do not square the σ of the weights.",
        ),
        Misconception(
            lambda x, weight_mu, *case, generator: (
                _activations(_right_std)(x, weight_mu, *case, generator=generator)
                - F.linear(x, weight_mu, case[1])
            ),
            "you leave out the mean of the outputs: this is their noise alone.",
        ),
        Misconception(
            lambda x, weight_mu, *case, generator: (
                _activations(_right_std)(x, weight_mu, *case, generator=generator)
                - case[1]
            ),
            "you leave out the means of the biases.",
        ),
        *wrong_stds(lambda std_of: _activations(_right_std, rho_of=std_of)),
        Misconception(
            _activations(_right_std, noise_of=lambda generator: None),
            "you use the global random state instead of the generator: the draw cannot be repeated.",
        ),
        Misconception(
            _activations(
                _right_std, noise_of=lambda generator: torch.Generator().manual_seed(0)
            ),
            "you draw the noise with the same seed in every call, or use that of the first call again. Draw it anew in every "
            "call, from the generator that is passed in.",
        ),
        Misconception(
            _activations(lambda *q: _right_std(*q).detach()),
            "you cut ρ out of the graph with .detach(), .data or Normal.sample(): no gradient reaches it.",
        ),
    ],
    hints=[
        "The mean of the outputs is a linear layer with the means as its parameters; F.linear computes it.",
        "The variance is F.linear of the squared inputs, the squared σ of the weights and the squared σ of the biases.",
        "Then shift and scale noise of the outputs' shape: the scale is a standard deviation, not a variance.",
    ],
)
