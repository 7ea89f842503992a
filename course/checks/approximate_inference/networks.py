"""The variational MLP, with negligible noise and with noise; oracles from NumPy and PyTorch."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal, kl_divergence

from course.checks.approximate_inference.layers import VariationalLayer
from course.checks.approximate_inference.tolerances import FLOAT32
from course.checks.probing import gradients, seeded
from course.task import Close, Misconception, Task


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
    if logits is None:
        return {"logits_without_noise": None}
    means = [model.hidden.w_mu, model.hidden.b_mu, model.output.w_mu, model.output.b_mu]
    to_means = gradients(logits, means)
    model.eval()

    def moved(*rhos):
        fill(*rhos)
        noisy = model(x, generator=seeded(seed))
        return float(not torch.allclose(noisy, logits, rtol=1e-4, atol=1e-5))

    each_is_drawn = [moved(rho, quiet), moved(quiet, rho)]
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
    fill(rho, rho)
    noisy = model(x.repeat(2, 1), generator=seeded(seed))
    return {
        "logits_without_noise": logits,
        "gradients_of_the_means": torch.cat([g.flatten() for g in to_means]),
        "kl": model.kl(),
        "gradients_of_the_kl": torch.cat(
            [g.flatten() for g in gradients(model.kl(), means)]
        ),
        "each_layer_is_drawn": torch.tensor(each_is_drawn),
        "layers_have_noise_of_their_own": float(again.sum() < 3),
        "one_draw_for_all_data": float(
            torch.allclose(noisy[: len(x)], noisy[len(x) :], rtol=1e-4, atol=1e-5)
        ),
        "another_seed_another_draw": float(
            not torch.equal(model(x, generator=seeded(seed + 1)), noisy[: len(x)])
        ),
        "reproducible": float(
            torch.equal(model(x.repeat(2, 1), generator=seeded(seed)), noisy)
        ),
    }


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
        "layers_have_noise_of_their_own": Close(
            1.0, because="under q all weights are independent"
        ),
        "one_draw_for_all_data": Close(
            1.0, because="equal inputs get equal logits from one draw"
        ),
        "another_seed_another_draw": Close(1.0, because="the weights are random"),
        "reproducible": Close(1.0, because="the same generator gives the same draw"),
    }


class _Network(nn.Module):
    """Base of the wrong networks, each of which overrides one method."""

    def __init__(
        self,
        input_size,
        hidden_size,
        prior_std,
        rho=-3.0,
        *,
        layer=VariationalLayer,
        generator,
    ):
        super().__init__()
        self.hidden = layer(
            input_size, hidden_size, prior_std, rho, generator=generator
        )
        self.output = layer(hidden_size, 1, prior_std, rho, generator=generator)

    activation = staticmethod(F.relu)

    def kl(self):
        return self.hidden.kl() + self.output.kl()

    def forward(self, x, *, generator):
        hidden = self.activation(self.hidden(x, generator=generator))
        return self.output(hidden, generator=generator).squeeze(-1)


class _NoActivation(_Network):
    activation = staticmethod(lambda hidden: hidden)


class _Probabilities(_Network):
    def forward(self, x, *, generator):
        return torch.sigmoid(super().forward(x, generator=generator))


class _HiddenKL(_Network):
    def kl(self):
        return self.hidden.kl()


class _OutputKL(_Network):
    def kl(self):
        return self.output.kl()


class _MeanKL(_Network):
    def kl(self):
        return (self.hidden.kl() + self.output.kl()) / 2


class _Column(_Network):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator)[:, None]


class _DetachedUnits(_Network):
    def forward(self, x, *, generator):
        with torch.no_grad():
            hidden = F.relu(self.hidden(x, generator=generator))
        return self.output(hidden, generator=generator).squeeze(-1)


class _HiddenMeans(_Network):
    def forward(self, x, *, generator):
        hidden = F.relu(F.linear(x, self.hidden.w_mu, self.hidden.b_mu))
        return self.output(hidden, generator=generator).squeeze(-1)


class _OutputMeans(_Network):
    def forward(self, x, *, generator):
        hidden = F.relu(self.hidden(x, generator=generator))
        return F.linear(hidden, self.output.w_mu, self.output.b_mu).squeeze(-1)


class _LastReLU(_Network):
    def forward(self, x, *, generator):
        return F.relu(super().forward(x, generator=generator))


VARIATIONAL_MLP = Task(
    name="VariationalMLP",
    points=2,
    cases=_cases,
    probe=_probe,
    oracle=_oracle,
    misconceptions=[
        Misconception(
            _NoActivation,
            "you leave out the ReLU between the layers: two linear layers in a row are one linear layer.",
        ),
        Misconception(
            _Probabilities,
            "you apply a sigmoid at the end. Return logits: negative_elbo takes logits.",
        ),
        Misconception(
            _HiddenKL,
            "you count only the hidden layer's KL.",
        ),
        Misconception(
            _OutputKL,
            "you count only the output layer's KL.",
        ),
        Misconception(
            _MeanKL,
            "you average the layers' divergences; add them.",
        ),
        Misconception(
            _Column,
            "you keep the last axis, of length 1: shape (N, 1) against labels of shape (N,) broadcasts to (N, N). "
            "Squeeze it.",
        ),
        Misconception(
            _LastReLU,
            "you apply a ReLU to the logits: then no probability is below one half.",
        ),
        Misconception(
            _HiddenMeans,
            "you compute the hidden layer with the means of its weights: only the output layer's weights are drawn.",
        ),
        Misconception(
            _OutputMeans,
            "you compute the output layer with the means of its weights: only the hidden layer's weights are drawn.",
        ),
        Misconception(
            _DetachedUnits,
            "you detach the hidden units, or compute them with .data or under no_grad: no gradient reaches the "
            "hidden layer.",
        ),
    ],
    hints=[
        "Hidden layer, ReLU, output layer; the two divergences add up.",
        "Both layers take the generator: self.hidden(x, generator=generator).",
        "The output has the shape (N, 1); .squeeze(-1) makes it (N,).",
    ],
)
