"""The variational MLP, where its noise is negligible and where it is not; oracles from NumPy and torch.distributions."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Normal, kl_divergence

from course.checks.approximate_inference.layers import VariationalLayer
from course.checks.approximate_inference.tolerances import FLOAT32
from course.task import Close, Misconception, Task


def _cases(rng):
    """Both ReLUs that one might forget, or add, are felt: unit 0 is off for datum 0, and a logit is negative."""
    cases = []
    for _ in range(2):
        x = rng.normal(0, 1, (4, 2))
        hidden, output = rng.normal(0, 1, (5, 3)), rng.normal(0, 1, (1, 6))
        # The last column holds the biases.
        hidden[0, -1] = -hidden[0, :-1] @ x[0] - rng.uniform(0.5, 1.5)
        output[0, 0] = rng.choice([-1, 1]) * rng.uniform(0.5, 1.5)
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
    import torch

    def generator(offset=0):
        return torch.Generator().manual_seed(seed + offset)

    x = torch.tensor(x, dtype=torch.float32)
    model = answer(2, 5, prior_std, generator=generator())

    def fill(rho):
        with torch.no_grad():
            for layer, weights in ((model.hidden, hidden), (model.output, output)):
                layer.w_mu.copy_(torch.tensor(weights[:, :-1]))
                layer.b_mu.copy_(torch.tensor(weights[:, -1]))
                layer.w_rho.fill_(rho)
                layer.b_rho.fill_(rho)

    def gradients(value, inputs):
        if not getattr(value, "requires_grad", False):
            return [torch.zeros_like(leaf) for leaf in inputs]
        return torch.autograd.grad(value.sum(), inputs, materialize_grads=True)

    fill(-40.0)  # next to no noise
    logits = model(x, generator=generator())
    if logits is None:
        return {"logits_without_noise": None}
    means = [model.hidden.w_mu, model.hidden.b_mu, model.output.w_mu, model.output.b_mu]
    to_means = gradients(logits, means)
    fill(rho)
    noisy = model(x.repeat(2, 1), generator=generator())
    return {
        "logits_without_noise": logits,
        "gradients_of_the_means": torch.cat([g.flatten() for g in to_means]),
        "kl": model.kl(),
        "gradients_of_the_kl": torch.cat(
            [g.flatten() for g in gradients(model.kl(), means)]
        ),
        "one_draw_for_all_data": float(
            torch.allclose(noisy[: len(x)], noisy[len(x) :], rtol=1e-4, atol=1e-5)
        ),
        "another_seed_another_draw": float(
            not torch.equal(model(x, generator=generator(1)), noisy[: len(x)])
        ),
        "reproducible": float(
            torch.equal(model(x.repeat(2, 1), generator=generator()), noisy)
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
        "one_draw_for_all_data": Close(
            1.0, because="equal inputs get equal logits from one draw"
        ),
        "another_seed_another_draw": Close(1.0, because="the weights are random"),
        "reproducible": Close(1.0, because="the same generator gives the same draw"),
    }


class _Network(nn.Module):
    """A network to build wrong ones from: each overrides one thing."""

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


class _LastReLU(_Network):
    def forward(self, x, *, generator):
        return F.relu(super().forward(x, generator=generator))


VARIATIONAL_MLP = Task(
    id="approximate-inference/variational-mlp",
    name="VariationalMLP",
    points=2,
    cases=_cases,
    probe=_probe,
    oracle=_oracle,
    misconceptions=[
        Misconception(
            _NoActivation,
            "there is no ReLU between the layers: two linear layers in a row are one linear layer.",
        ),
        Misconception(
            _Probabilities,
            "a sigmoid is applied at the end. Return logits: negative_elbo takes logits.",
        ),
        Misconception(
            _HiddenKL,
            "only the hidden layer's KL is counted.",
        ),
        Misconception(
            _OutputKL,
            "only the output layer's KL is counted.",
        ),
        Misconception(
            _MeanKL,
            "the layers' divergences are averaged: they add up.",
        ),
        Misconception(
            _Column,
            "the last axis, of length 1, is still there: shape (N, 1) against labels of shape (N,) broadcasts to "
            "(N, N). Squeeze it.",
        ),
        Misconception(
            _LastReLU,
            "the logits pass through a ReLU: then no probability is below one half.",
        ),
        Misconception(
            _DetachedUnits,
            "no gradient reaches the hidden layer: something on the way is detached, or uses .data or no_grad.",
        ),
    ],
    hints=[
        "Hidden layer, ReLU, output layer; the two divergences add up.",
        "Both layers take the generator: self.hidden(x, generator=generator).",
        "The output has the shape (N, 1); .squeeze(-1) makes it (N,).",
    ],
)
