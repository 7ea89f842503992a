"""The variational MLP, with negligible noise and with noise; oracles from NumPy and PyTorch."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch.distributions import Normal, kl_divergence

from course.checks.approximate_inference.tolerances import FLOAT32
from course.checks.approximate_inference.wrong_networks import NETWORKS
from course.probing import gradients, seeded
from course.task import Close, Task


def _cases(rng):
    """Draw cases in which a missing or an extra ReLU changes the logits.

    Unit 0 is inactive for data point 0, unless it is the only one; the last unit is active for
    all data points, so that its noise moves the logits; and one logit is negative.
    """
    cases = []
    for n, d, h in ((4, 3, 5), (5, 2, 3), (1, 1, 1)):
        x = rng.normal(0, 1, (n, d))
        hidden, output = rng.normal(0, 1, (h, d + 1)), rng.normal(0, 1, (1, h + 1))
        # The last column has the biases.
        hidden[0, -1] = -hidden[0, :-1] @ x[0] - rng.uniform(0.5, 1.5)
        hidden[-1, -1] = rng.uniform(0.5, 1.5) - (x @ hidden[-1, :-1]).min()
        output[0, [0, -2]] = rng.choice([-1, 1], 2) * rng.uniform(0.5, 1.5, 2)
        sums = _units(x, hidden) @ output[0, :-1]
        output[0, -1] = -sums.min() - rng.uniform(0.5, 1.5)
        cases.append(
            {
                "x": x,
                "hidden": hidden,
                "output": output,
                "rho": float(rng.uniform(-2, 1)),
                "prior_std": float(rng.uniform(1.5, 4)),
                "seed": int(rng.integers(1 << 30)),
            }
        )
    return cases


def _units(x, hidden):
    return np.maximum(x @ hidden[:, :-1].T + hidden[:, -1], 0)


def _probe(answer, x, hidden, output, rho, prior_std, seed):
    import numpy as np
    import torch

    x = torch.tensor(x, dtype=torch.float32)
    units, inputs = len(hidden), x.shape[1]
    model = answer(inputs, units, prior_std, generator=seeded(seed))

    def fill(rho_of_hidden, rho_of_output, hidden=hidden, output=output):
        with torch.no_grad():
            for layer, weights, rho in (
                (model.hidden, hidden, rho_of_hidden),
                (model.output, output, rho_of_output),
            ):
                layer.w_mu.copy_(torch.tensor(weights[:, :-1]))
                layer.b_mu.copy_(torch.tensor(weights[:, -1]))
                layer.w_rho.fill_(rho)
                layer.b_rho.fill_(rho)

    quiet = -40.0  # next to no noise
    fill(quiet, quiet)
    logits = model(x, generator=seeded(seed))
    yield "logits_without_noise", logits
    if logits is None:
        return
    means = [model.hidden.w_mu, model.hidden.b_mu, model.output.w_mu, model.output.b_mu]
    to_means = torch.cat([g.flatten() for g in gradients(logits, means)])
    yield "gradients_of_the_means", to_means
    model.eval()
    fill(rho, rho)
    yield "kl", model.kl()
    to_means = torch.cat([g.flatten() for g in gradients(model.kl(), means)])
    yield "gradients_of_the_kl", to_means

    def moved(*rhos):
        fill(*rhos)
        # Noise may move a single logit by very little, but not by nothing.
        return float(not torch.equal(model(x, generator=seeded(seed)), logits))

    yield "each_layer_is_drawn", torch.tensor([moved(rho, quiet), moved(quiet, rho)])
    # One layer's noise by itself: biases of 20 keep the ReLU open, a weight of 1 picks a unit.
    open_units, one_of = 0 * hidden, np.eye(units + 1)
    open_units[:, -1] = 20.0
    points = torch.cat([torch.zeros(1, inputs), torch.eye(inputs)])
    of_hidden, of_output = [], []
    for unit in range(units + 1):
        fill(rho, quiet, open_units, one_of[unit : unit + 1])
        of_hidden.append(model(points, generator=seeded(seed)).detach().flatten())
        one_open = 0 * hidden
        one_open[:, -1] = one_of[unit, :-1]
        fill(quiet, rho, one_open, 0 * output)
        of_output.append(model(points[:1], generator=seeded(seed)).detach().flatten())
    of_hidden, of_output = torch.stack(of_hidden[:-1]) - 20.0, torch.cat(of_output)
    of_hidden[:, 1:] -= of_hidden[:, :1].clone()
    of_output[:-1] -= of_output[-1].clone()
    again = (of_output[:, None] - of_hidden.flatten()).abs().min(1).values < 1e-4
    yield "layers_have_noise_of_their_own", float(again.sum() < 3)
    fill(rho, rho)
    twice = x.repeat(2, 1)
    noisy = model(twice, generator=seeded(seed))
    for_all = torch.allclose(noisy[: len(x)], noisy[len(x) :], rtol=1e-4, atol=1e-5)
    yield "one_draw_for_all_data", float(for_all)
    fresh = []
    for training in (True, False):
        model.train(training)
        draws = [model(x, generator=seeded(seed + offset)) for offset in (0, 1)]
        fresh.append(not torch.equal(*draws))
    yield "another_seed_another_draw", float(all(fresh))
    again = model(twice, generator=seeded(seed))
    yield "reproducible", float(torch.equal(again, noisy))
    # Row i of an identity picks unit i, and so one weight of the output layer.
    many = 500
    wide = answer(many, many, prior_std, generator=seeded(seed))
    with torch.no_grad():
        for layer, weights, level in (
            (wide.hidden, torch.eye(many), quiet),
            (wide.output, torch.zeros(1, many), rho),
        ):
            layer.w_mu.copy_(weights)
            layer.b_mu.fill_(0.0)
            layer.w_rho.fill_(level)
            layer.b_rho.fill_(level)
        picked = wide(torch.eye(many), generator=seeded(seed)).double()
    yield "std_of_output_weights", picked.std()


def _oracle(x, hidden, output, rho, prior_std, seed):
    units = _units(x, hidden)
    means = torch.tensor(np.concatenate([hidden.ravel(), output.ravel()]))
    q = Normal(means, float(np.logaddexp(0, rho)))
    kl = float(kl_divergence(q, Normal(torch.zeros(()).double(), prior_std)).sum())
    reached = (units > 0) * output[0, :-1]  # d logit / d unit
    to_means = [reached.T @ x, reached.sum(0), units.sum(0), float(len(x))]
    parts = [hidden[:, :-1], hidden[:, -1], output]
    return {
        "logits_without_noise": Close(
            units @ output[0, :-1] + output[0, -1],
            rtol=1e-4,
            atol=1e-5,
            because=FLOAT32,
        ),
        "gradients_of_the_means": Close(
            np.concatenate([np.ravel(part) for part in to_means]),
            rtol=1e-4,
            atol=1e-4,
            because=FLOAT32,
        ),
        "kl": Close(kl, rtol=1e-4, because=FLOAT32),
        "gradients_of_the_kl": Close(
            np.concatenate([np.ravel(part) for part in parts]) / prior_std**2,
            rtol=1e-4,
            atol=1e-5,
            because=FLOAT32,
        ),
        "each_layer_is_drawn": Close(
            [1.0, 1.0], because="hidden and output, in eval() as well"
        ),
        "std_of_output_weights": Close(
            float(np.logaddexp(0, rho)),
            rtol=6 / math.sqrt(2 * 500),
            because="six standard errors of the standard deviation of 500 weights",
        ),
        "layers_have_noise_of_their_own": Close(
            1.0, because="under q all weights are independent"
        ),
        "one_draw_for_all_data": Close(
            1.0, because="equal inputs get equal logits from one draw"
        ),
        "another_seed_another_draw": Close(1.0, because="the weights are random"),
        "reproducible": Close(1.0, because="the same generator gives the same draw"),
    }


VARIATIONAL_MLP = Task(
    name="VariationalMLP",
    points=2,
    cases=_cases,
    probe=_probe,
    oracle=_oracle,
    misconceptions=NETWORKS,
    hints=[
        "Hidden layer, ReLU, output layer; the two divergences add up.",
        "Both layers take the generator: self.hidden(x, generator=generator).",
        "The output has the shape (N, 1); .squeeze(-1) makes it (N,).",
    ],
)
