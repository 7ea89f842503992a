"""Variational layers: output moments, gradients and KL; oracles in closed form."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import torch
from torch.distributions import Normal, kl_divergence

from course.checks.approximate_inference.tolerances import FLOAT32, six_errors
from course.checks.draws import APART, DRAWS, TAILS, gaussian_distance
from course.probing import (
    correlation_of_two,
    drawn,
    gradients,
    has_tails,
    seeded,
)
from course.task import Close


def layer_cases(rng):
    """Draw two opposite data points, others, and one at 0, whose output is the bias alone.

    Squares of the inputs of the first two are far from their absolute values. The outputs of the first two are negatively correlated if they share the weights. Their
    inputs do not add up to 0, so that w_mu has a gradient. In the last case, ρ is so large that
    its exponential overflows.
    """
    cases = []
    for n, d in ((4, 3), (3, 2), (5, 1)):
        x = rng.choice([-1, 1], d) * rng.uniform(1.5, 2.2, d)
        apart = rng.choice([-1, 1], d) * rng.uniform(0.05, 0.2, d)
        others = rng.uniform(0.7, 1.5, (n - 3, d))
        cases.append(
            {
                "x": np.stack([x, -x + apart, *others, np.zeros(d)]),
                "w_mu": rng.normal(0, 1, d),
                "w_rho": rng.uniform(-0.5, 1.5, d) + (95 if d == 1 else 0),
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
    inputs = len(w_mu)
    x = torch.tensor(x, dtype=torch.float32)

    def made(offset=0):
        return answer(inputs, draws, prior_std, -1.5, generator=seeded(seed + offset))

    layer = made()
    start = layer.w_mu.detach().clone()
    yield "first_rho", torch.stack([layer.w_rho.mean(), layer.b_rho.mean()])
    with torch.no_grad():
        layer.w_mu.copy_(torch.tensor(w_mu).expand(draws, inputs))
        layer.w_rho.copy_(torch.tensor(w_rho).expand(draws, inputs))
        layer.b_mu.fill_(b_mu)
        layer.b_rho.fill_(b_rho)
    y, comparisons = drawn(lambda generator: layer(x, generator=generator), seed)
    if y is None:
        yield "mean", None
        return
    exact = y.detach().double()
    yield "mean", exact.mean(1)
    yield "std", exact.std(1)
    covariance = ((exact[0] - exact[0].mean()) * (exact[1] - exact[1].mean())).mean()
    yield "covariance", covariance
    kl, q = layer.kl(), [layer.w_mu, layer.w_rho, layer.b_mu, layer.b_rho]
    yield "kl", None if kl is None else kl / draws
    to_q = [gradient.reshape(draws, -1).mean(0) for gradient in gradients(kl, q)]
    yield "gradients_of_the_kl", torch.cat(to_q)
    to_w_mu, _, to_b_mu, _ = gradients(y, q)
    yield "gradient", to_w_mu.mean(0)
    yield "gradient_of_b_mu", to_b_mu.mean()
    # How the noise moves with ρ, for each unit of itself.
    noise = y - (x @ layer.w_mu.T + layer.b_mu).detach()
    here = noise.detach()
    shares = (noise * here).sum(1) / (here**2).sum(1)
    yield "slope_in_w_rho", gradients(shares[0], q)[1].sum(0)
    yield "slope_in_b_rho", gradients(shares[-1], q)[3].sum()
    # So large an input shows one weight's noise alone; an input of 0 the bias's.
    apart = torch.cat([1e4 * torch.eye(inputs), torch.zeros(1, inputs)])
    noises = layer(apart, generator=seeded(seed)).detach().double()
    off = (noises - noises.mean(1, keepdim=True)).abs().mean(1) / noises.std(1)
    yield "mean_distance_in_stds", off
    yield "correlations_of_weights_and_bias", torch.corrcoef(noises)
    centres = torch.nn.functional.linear(apart, layer.w_mu, layer.b_mu)
    stds = [torch.nn.functional.softplus(rho) for rho in (layer.w_rho, layer.b_rho)]
    stds = torch.nn.functional.linear(apart**2, stds[0] ** 2, stds[1] ** 2).sqrt()
    yield "noise_has_tails", has_tails((noises - centres) / stds)
    biases = layer(torch.zeros(2, inputs), generator=seeded(seed)).detach().double()
    yield "correlation_of_two_inputs_of_0", torch.corrcoef(biases)[0, 1]
    yield from comparisons
    layer.eval()
    evaluated = layer(x, generator=seeded(seed)).detach().double()
    yield "the_same_draw_in_eval", float(torch.equal(exact, evaluated))
    narrow = answer(inputs, 1, prior_std, generator=seeded(seed))  # next to no noise
    with torch.no_grad():
        narrow.w_mu.copy_(torch.tensor(w_mu)[None])
        narrow.b_mu.fill_(b_mu)
        narrow.w_rho.fill_(-40.0)
        narrow.b_rho.fill_(-40.0)
    yield "one_output_for_one_row", narrow(x[:1], generator=seeded(seed))
    from_generator = torch.equal(made().w_mu, start)
    from_generator &= not torch.equal(made(1).w_mu, start)
    yield "first_means_come_from_the_generator", float(from_generator)
    small, one = answer(1, 2, prior_std, generator=seeded(seed)), torch.ones(1, 1)
    yield (
        "correlation_of_two_outputs_of_a_layer_with_one_input",
        correlation_of_two(lambda generator: small(one, generator=generator), seed),
    )


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
        # A weight's share of the unit noise is x σ ε / std; drawn weights add other shares.
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
                because=six_errors("covariance of the first two data points"),
            ),
            "correlation_of_two_inputs_of_0": Close(
                float(shared),
                atol=6 / math.sqrt(DRAWS),
                because=six_errors("correlation"),
            ),
            "mean_distance_in_stds": Close(
                np.full(len(x[0]) + 1, distance.value),
                atol=distance.atol,
                because=distance.because,
            ),
            "noise_has_tails": TAILS,
            "correlation_of_two_outputs_of_a_layer_with_one_input": APART,
            "correlations_of_weights_and_bias": Close(
                np.eye(len(x[0]) + 1),
                atol=6 / math.sqrt(DRAWS),
                because=six_errors("correlations"),
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
            "the_same_draw_in_eval": Close(
                1.0,
                because="weights stay random in eval(): predictions average over draws",
            ),
            "kl": Close(kl, rtol=1e-4, because=FLOAT32),
            "gradients_of_the_kl": Close(
                [*to_mu[:-1], *to_rho[:-1], to_mu[-1], to_rho[-1]],
                rtol=1e-4,
                atol=1e-4,
                because=FLOAT32,
            ),
            "first_rho": Close([-1.5] * 2, rtol=1e-5, because="where every ρ starts"),
            "first_means_come_from_the_generator": Close(
                1.0, because="the same generator gives the same layer"
            ),
            "one_output_for_one_row": Close(
                (x @ w_mu + b_mu)[:1, None], rtol=1e-4, atol=1e-5, because=FLOAT32
            ),
        }

    return oracle
