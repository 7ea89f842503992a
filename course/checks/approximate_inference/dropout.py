"""Dropout at prediction time: moments of the logit over random masks, in closed form."""

from __future__ import annotations

import math

import numpy as np

from course.checks.approximate_inference.tolerances import FLOAT32, six_errors
from course.checks.approximate_inference.wrong_dropout import DROPOUT_NETWORKS
from course.checks.draws import DRAWS
from course.probing import gradients, seeded
from course.task import Close, Task


def _cases(rng):
    """Draw logits whose mean is more than twice the random part that the units add.

    Dropout of the whole logit then spreads it more than twice as much. Unit 0 is active, and
    unit 1, if there is one, is not: without a ReLU it would add to the logit.
    """
    cases = []
    for p, d, h in ((0.3, 2, 12), (rng.uniform(0.1, 0.2), 3, 7), (0.25, 1, 1)):
        x = rng.normal(0, 1, d)
        hidden = rng.normal(0, 1, (h, d + 1))
        hidden[:, -1] += 1.5  # the biases
        hidden[0, -1] += 0.5 + np.abs(hidden[0]) @ [*np.abs(x), 1]  # unit 0 is active
        output = rng.normal(0.5, 1, h + 1)
        hidden[1:2, -1] = -hidden[1:2, :-1] @ x - rng.uniform(0.5, 1.5)
        output[:2] = rng.choice([-1, 1], 2) * rng.uniform(0.5, 1.5, 2)
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
        yield "mean_in_training", None
        return
    yield "mean_in_training", training.detach().double().mean()
    yield "std_in_training", training.detach().double().std()
    learnt = [model.hidden.bias, model.output.weight, model.output.bias]
    to_hidden_bias, to_output_weight, to_output_bias = gradients(
        training.mean(), learnt
    )
    yield "gradient_of_hidden_bias", to_hidden_bias
    yield "gradient_of_output_weight", to_output_weight.flatten()
    yield "gradient_of_output_bias", to_output_bias
    fresh = not torch.equal(training, run(1))
    model.eval()
    evaluation = run()
    yield "mean_in_evaluation", evaluation.detach().double().mean()
    yield "std_in_evaluation", evaluation.detach().double().std()
    yield "reproducible", float(torch.equal(evaluation, run()))
    fresh &= not torch.equal(evaluation, run(1))
    yield "another_seed_another_draw", float(fresh)
    yield "all_units", model.deterministic(x[:1])
    whole, single = (
        answer(inputs, len(hidden), rate, generator=seeded(seed)) for rate in (0.0, p)
    )
    for other in (whole, single):
        other.load_state_dict(model.state_dict())
    yield "logits_where_p_is_0", whole(x[:1], generator=seeded(seed))
    yield "logits_of_three_rows_where_p_is_0", whole(x[:3], generator=seeded(seed))
    with torch.no_grad():
        single.output.weight[:, 1:] = 0.0
        of_one = single(x, generator=seeded(seed)).double()
    ends = torch.stack([of_one.min(), of_one.max()])
    yield "smallest_and_largest_logit_of_one_unit", ends
    # With 40 units and p = ½, hardly any two of the masks are alike.
    many = answer(1, 40, 0.5, generator=seeded(seed))
    with torch.no_grad():
        many.hidden.bias.fill_(1.0)
        many.hidden.weight.fill_(0.0)
        many.output.weight.copy_(torch.arange(1.0, 41.0).sqrt()[None])
        of_many = many(torch.zeros(draws, 1), generator=seeded(seed)).double()
    yield "noise_of_its_own", float(len(of_many.unique()) > 0.9 * draws)


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
        "noise_of_its_own": Close(1.0, because="each row has a mask of its own"),
        "smallest_and_largest_logit_of_one_unit": Close(
            sorted([output[-1], output[-1] + float(terms[0])]),
            rtol=1e-4,
            atol=1e-4,
            because=FLOAT32,
        ),
        "all_units": whole,
        "logits_where_p_is_0": whole,
        "logits_of_three_rows_where_p_is_0": three,
    }


DROPOUT_MLP = Task(
    name="DropoutMLP",
    points=2,
    cases=_cases,
    probe=_probe,
    oracle=_oracle,
    misconceptions=DROPOUT_NETWORKS,
    hints=[
        "nn.Dropout and F.dropout take no generator: draw the mask yourself, in the shape of the hidden units.",
        "A uniform number in [0, 1) is below p with probability p: compare one such number for each hidden unit with self.p.",
        "Multiply the hidden units by the mask, divide by 1 − p, then apply the output layer and .squeeze(-1).",
    ],
)
