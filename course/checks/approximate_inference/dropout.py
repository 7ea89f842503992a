"""Dropout at prediction time: moments of the logit over random masks, in closed form."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from course.checks.approximate_inference.tolerances import FLOAT32, six_errors
from course.checks.draws import DRAWS
from course.checks.probing import gradients, seeded
from course.task import Close, Misconception, Task


def _cases(rng):
    """Draw logits whose mean is more than twice the random part that the units add.

    Dropout of the whole logit then spreads it more than twice as much.
    """
    cases = []
    for p, d, h in ((0.3, 2, 12), (rng.uniform(0.1, 0.2), 3, 7), (0.25, 1, 1)):
        x = rng.normal(0, 1, d)
        hidden = rng.normal(0, 1, (h, d + 1))
        hidden[:, -1] += 1.5  # the biases
        hidden[0, -1] += 0.5 + np.abs(hidden[0]) @ [*np.abs(x), 1]  # unit 0 is active
        output = rng.normal(0.5, 1, h + 1)
        output[0] = rng.choice([-1, 1]) * rng.uniform(0.5, 1.5)
        terms = output[:-1] * _units(x, hidden)
        output[-1] = rng.uniform(2, 3) * np.linalg.norm(terms) - terms.sum()
        cases.append(
            {
                "x": x,
                "hidden": hidden,
                "output": output,
                "p": float(p),
                "seed": int(rng.integers(1 << 30)),
            }
        )
    return cases


def _units(x, hidden):
    return np.maximum(hidden[:, :-1] @ x + hidden[:, -1], 0)


def _probe(answer, x, hidden, output, p, seed):
    import torch

    draws = 2000  # so many copies of one input: each has a mask of its own
    inputs = len(x)
    x = torch.tensor(x, dtype=torch.float32).repeat(draws, 1)
    model = answer(inputs, len(hidden), p, generator=seeded(seed))
    with torch.no_grad():
        model.hidden.weight.copy_(torch.tensor(hidden[:, :-1]))
        model.hidden.bias.copy_(torch.tensor(hidden[:, -1]))
        model.output.weight.copy_(torch.tensor(output[None, :-1]))
        model.output.bias.copy_(torch.tensor(output[-1:]))

    def run(offset=0):
        return model(x, generator=seeded(seed + offset))

    model.train()
    training = run()
    if training is None:
        return {"mean_in_training": None}
    model.eval()
    evaluation = run()
    learnt = [model.hidden.bias, model.output.weight, model.output.bias]
    to_hidden_bias, to_output_weight, to_output_bias = gradients(
        training.mean(), learnt
    )
    whole = answer(inputs, len(hidden), 0.0, generator=seeded(seed))
    whole.load_state_dict(model.state_dict())
    return {
        "mean_in_training": training.detach().double().mean(),
        "std_in_training": training.detach().double().std(),
        "mean_in_evaluation": evaluation.detach().double().mean(),
        "std_in_evaluation": evaluation.detach().double().std(),
        "reproducible": float(torch.equal(evaluation, run())),
        "another_seed_another_draw": float(not torch.equal(evaluation, run(1))),
        "gradient_of_hidden_bias": to_hidden_bias,
        "gradient_of_output_weight": to_output_weight.flatten(),
        "gradient_of_output_bias": to_output_bias,
        "all_units": model.deterministic(x[:1]),
        "logits_where_p_is_0": whole(x[:1], generator=seeded(seed)),
        "logits_of_three_rows_where_p_is_0": whole(x[:3], generator=seeded(seed)),
    }


def _oracle(x, hidden, output, p, seed):
    terms = output[:-1] * _units(x, hidden) / (1 - p)
    mean = float(terms.sum() * (1 - p) + output[-1])
    variance = float((terms**2).sum() * p * (1 - p))
    fourth = (
        float((terms**4).sum() * p * (1 - p) * (1 - 6 * p * (1 - p))) + 3 * variance**2
    )
    std = math.sqrt(variance)
    std_error = math.sqrt((fourth - variance**2) / DRAWS) / (2 * std)
    units = _units(x, hidden)
    one_error = math.sqrt(p / (1 - p) / DRAWS)  # standard error of a mask's mean, 1
    to_bias = output[:-1] * (units > 0)
    right_mean = Close(mean, atol=6 * std / math.sqrt(DRAWS), because=six_errors())
    right_std = Close(std, atol=6 * std_error, because=six_errors("standard deviation"))
    whole, three = (
        Close(np.full(rows, mean), rtol=1e-4, atol=1e-4, because=FLOAT32)
        for rows in (1, 3)
    )
    return {
        "mean_in_training": right_mean,
        "std_in_training": right_std,
        "mean_in_evaluation": right_mean,
        "std_in_evaluation": right_std,
        "reproducible": Close(1.0, because="the same generator gives the same masks"),
        "another_seed_another_draw": Close(
            1.0, because="the masks come from the generator that is passed in"
        ),
        "gradient_of_hidden_bias": Close(
            to_bias,
            atol=6 * one_error * float(np.abs(to_bias).max()),
            because=six_errors("gradient"),
        ),
        "gradient_of_output_weight": Close(
            units,
            atol=6 * one_error * float(units.max()),
            because=six_errors("gradient"),
        ),
        "gradient_of_output_bias": Close([1.0], rtol=1e-4, because=FLOAT32),
        "all_units": whole,
        "logits_where_p_is_0": whole,
        "logits_of_three_rows_where_p_is_0": three,
    }


class _Network(nn.Module):
    """Base of the wrong networks, each of which overrides the mask."""

    def __init__(self, input_size, hidden_size, p=0.5, *, generator):
        super().__init__()
        self.hidden, self.output, self.p = (
            nn.Linear(input_size, hidden_size),
            nn.Linear(hidden_size, 1),
            p,
        )

    def deterministic(self, x):
        return self.output(F.relu(self.hidden(x))).squeeze(-1)

    def mask(self, shape, generator):
        return (torch.rand(shape, generator=generator) >= self.p) / (1 - self.p)

    def forward(self, x, *, generator):
        hidden = F.relu(self.hidden(x))
        return self.output(hidden * self.mask(hidden.shape, generator)).squeeze(-1)


class _OffInEvaluation(_Network):
    def forward(self, x, *, generator):
        return (
            super().forward(x, generator=generator)
            if self.training
            else self.deterministic(x)
        )


class _NotRescaled(_Network):
    def mask(self, shape, generator):
        return (torch.rand(shape, generator=generator) >= self.p).float()


class _KeepsP(_Network):
    def mask(self, shape, generator):
        return (torch.rand(shape, generator=generator) < self.p) / self.p


class _Inverted(_Network):
    def mask(self, shape, generator):
        return (torch.rand(shape, generator=generator) < self.p) / (1 - self.p)


class _OverP(_Network):
    def mask(self, shape, generator):
        return (torch.rand(shape, generator=generator) >= self.p) / self.p


class _Normal(_Network):
    def mask(self, shape, generator):
        return (torch.randn(shape, generator=generator) >= self.p) / (1 - self.p)


class _Probabilities(_Network):
    def forward(self, x, *, generator):
        return torch.sigmoid(super().forward(x, generator=generator))


class _DividedLast(_Network):
    def forward(self, x, *, generator):
        hidden = F.relu(self.hidden(x))
        keep = torch.rand(hidden.shape, generator=generator) >= self.p
        return self.output(hidden * keep).squeeze(-1) / (1 - self.p)


class _OneMask(_Network):
    def mask(self, shape, generator):
        return super().mask((1, shape[1]), generator)


class _Unscaled(_Network):
    def mask(self, shape, generator):
        return (torch.rand(shape, generator=generator) >= self.p) * (1 - self.p)


class _WrongPlace(_Network):
    def forward(self, x, *, generator):
        return self.deterministic(x) * self.mask((len(x),), generator)


class _Forgetful(_Network):
    def mask(self, shape, generator):
        return F.dropout(torch.ones(shape), self.p)


class _Frozen(_Network):
    def mask(self, shape, generator):
        return super().mask(shape, torch.Generator().manual_seed(0))


class _NoGradient(_Network):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator).detach()


class _Column(_Network):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator)[:, None]


class _Never(_Network):
    def forward(self, x, *, generator):
        return self.deterministic(x)


DROPOUT_MLP = Task(
    name="DropoutMLP",
    points=2,
    cases=_cases,
    probe=_probe,
    oracle=_oracle,
    misconceptions=[
        Misconception(
            _OffInEvaluation,
            "you switch dropout off in eval(), as nn.Dropout does: all draws are then equal, and nothing is sampled.",
        ),
        Misconception(
            _NotRescaled,
            "you do not divide the units you keep by 1 − p: the logit shrinks on average.",
        ),
        Misconception(
            _KeepsP,
            "you keep a unit with probability p; p is the probability of dropping it.",
        ),
        Misconception(
            _Inverted,
            "you invert the mask: drop a unit where torch.rand gives less than p, and keep it elsewhere.",
        ),
        Misconception(
            _OverP,
            "you divide the units you keep by p. You keep them with probability 1 − p: divide by that.",
        ),
        Misconception(
            _Normal,
            "you draw the mask with torch.randn; compare p with uniform numbers, from torch.rand.",
        ),
        Misconception(
            _Probabilities,
            "you apply a sigmoid at the end. Return logits: negative_elbo takes logits.",
        ),
        Misconception(
            _DividedLast,
            "you divide by 1 − p after the output layer, which also divides the bias, to which no mask applies.",
        ),
        Misconception(
            _OneMask,
            "you use one mask for all data points. In training each needs its own, or the gradient is as noisy as that of a single data point.",
        ),
        Misconception(
            _Unscaled,
            "you multiply the units you keep by 1 − p; divide by it.",
        ),
        Misconception(
            _WrongPlace,
            "you drop whole logits: the mask belongs on the hidden units.",
        ),
        Misconception(
            _Forgetful,
            "you do not use the generator (F.dropout uses the global one): the masks cannot be repeated.",
        ),
        Misconception(
            _Frozen,
            "you draw the masks with the same seed in every call, whatever generator is passed in.",
        ),
        Misconception(
            _NoGradient,
            "you detach the logits, or compute them under no_grad: no gradient comes back, and training needs one.",
        ),
        Misconception(
            _Column,
            "you keep the last axis, of length 1: shape (N, 1) against labels of shape (N,) broadcasts to (N, N). "
            "Squeeze it.",
        ),
        Misconception(
            _Never,
            "you never drop a unit.",
        ),
    ],
    hints=[
        "nn.Dropout and F.dropout take no generator: draw the mask yourself, in the shape of the hidden units.",
        "A uniform number in [0, 1) is below p with probability p: compare one such number for each hidden unit with self.p.",
        "Multiply the hidden units by the mask, divide by 1 − p, then apply the output layer and .squeeze(-1).",
    ],
)
