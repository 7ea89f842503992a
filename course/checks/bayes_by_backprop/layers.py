"""A Bayesian linear layer that draws its weights.

A layer with 2,000 identical outputs gives 2,000 independent draws in one call.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.special

from course.checks.bayes_by_backprop.tolerances import (
    EXACT,
    SINGLE,
    SIX_ERRORS,
    softplus,
)
from course.checks.bayes_by_backprop.wrong_layers import BAYESIAN_LAYERS
from course.checks.draws import APART, DRAWS, TAILS, gaussian_distance
from course.probing import (
    correlation_of_two,
    drawn,
    gradients,
    has_tails,
    seeded,
)
from course.task import Close, Task


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
    with torch.no_grad():
        layer.weight_mu.copy_(torch.tensor(weight_mu).expand(outputs, inputs))
        layer.weight_rho.copy_(torch.tensor(weight_rho).expand(outputs, inputs))
        layer.bias_mu.fill_(bias_mu)
        layer.bias_rho.fill_(bias_rho)
    x = torch.tensor(x)
    y, comparisons = drawn(lambda generator: layer(x, generator=generator), seed)
    if y is None:
        yield "mean", None
        return
    yield "mean", y.mean(1)
    yield "std", y.std(1)
    q = [layer.weight_mu, layer.weight_rho, layer.bias_mu, layer.bias_rho]
    evaluated = layer.eval()(x, generator=seeded(seed))
    yield "the_same_draw_in_eval", float(torch.equal(y, evaluated))
    kl = layer.kl()
    yield "kl", None if kl is None else kl / outputs
    yield (
        "gradients_of_the_kl",
        torch.cat([gradient.mean(0).reshape(-1) for gradient in gradients(kl, q)]),
    )
    yield "std_of_the_first_means", start.std()
    yield "first_means_of_the_biases", start_of_biases
    yield "first_rho", start_of_rho
    to_weight, to_weight_rho, to_bias, to_bias_rho = gradients(y, q)
    y = y.detach()
    yield "correlation_of_the_rows", torch.corrcoef(y)
    # The last row is 0 and shows the biases; rows less it show the weights.
    bias = y[-1]
    weight = torch.linalg.solve(x[:inputs], y[:inputs] - bias).T
    off_weight, off_bias = weight - layer.weight_mu, bias - layer.bias_mu
    off = torch.cat([off_weight, off_bias[:, None]], dim=1).detach()
    distance = (off - off.mean(0)).abs().mean(0) / off.std(0)
    yield "mean_distance_in_stds", distance.mean()
    yield "gradient_of_weight_mu", to_weight.mean(0)
    yield "gradient_of_bias_mu", to_bias.mean(0)
    # How the outputs move with ρ, for each unit of a weight's distance from µ.
    slope = (to_weight_rho * off_weight).sum(0) / (off_weight**2).sum(0)
    yield "slope_in_weight_rho", slope
    yield "slope_in_bias_rho", (to_bias_rho * off_bias).sum(0) / (off_bias**2).sum(0)
    narrow = answer(inputs, 1, prior_std=prior_std, generator=seeded(seed)).double()
    with torch.no_grad():  # next to no noise
        narrow.weight_mu.copy_(torch.tensor(weight_mu)[None])
        narrow.bias_mu.fill_(bias_mu)
        narrow.weight_rho.fill_(-40.0)
        narrow.bias_rho.fill_(-40.0)
    yield "one_output_for_one_row", narrow(x[:1], generator=seeded(seed))
    layer.train()
    yield from comparisons
    from_generator = torch.equal(made().weight_mu, start)
    from_generator &= not torch.equal(made(1).weight_mu, start)
    yield "first_means_come_from_the_generator", float(from_generator)
    stds = torch.nn.functional.softplus(torch.cat([q[1], q[3][:, None]], dim=1))
    yield "noise_has_tails", has_tails(off / stds)
    small = answer(1, 2, prior_std=prior_std, generator=seeded(seed)).double()
    one = torch.ones(1, 1).double()
    yield (
        "correlation_of_two_outputs_of_a_layer_with_one_input",
        correlation_of_two(lambda generator: small(one, generator=generator), seed),
    )


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
        "correlation_of_two_outputs_of_a_layer_with_one_input": APART,
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


BAYESIAN_LINEAR = Task(
    name="BayesianLinear",
    points=4,
    cases=_linear_cases,
    probe=_linear_probe,
    oracle=_linear_oracle,
    misconceptions=BAYESIAN_LAYERS,
    hints=[
        "`forward`: draw the weight and the bias with sample_weights; F.linear does the rest.",
        "`kl`: gaussian_kl of the weights plus gaussian_kl of the biases.",
        "Draw in `forward`, not in __init__: every call uses a new network.",
    ],
)
