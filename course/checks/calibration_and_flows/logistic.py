"""The decision boundary of logistic regression."""

from __future__ import annotations

import numpy as np
import scipy.optimize

from course.checks.calibration_and_flows.tolerances import SINGLE
from course.task import Close, Misconception, Task


def _line_cases(rng):
    cases = []
    for count in (4, 3, 1):
        weight = rng.normal(0, 1, (2, 2))
        weight[0, 0] = weight[1, 0] + rng.uniform(
            0.5, 2
        )  # the line is not parallel to the x₀ axis
        cases.append(
            {
                "weight": weight,
                "bias": rng.normal(0, 2, 2),
                "x1": rng.uniform(-6, 6, count),
            }
        )
    return cases


def _line_probe(answer, weight, bias, x1):
    import torch

    return {
        "x0": answer(
            torch.as_tensor(weight.copy()),
            torch.as_tensor(bias.copy()),
            torch.as_tensor(x1.copy()),
        )
    }


def _line_oracle(weight, bias, x1):
    """Search for the root of the difference of the logits, for each x₁."""

    def gap(x0, one):
        first, second = weight @ np.array([x0, one]) + bias
        return first - second

    roots = [
        scipy.optimize.brentq(gap, -1e4, 1e4, args=(one,), xtol=1e-12) for one in x1
    ]
    return {"x0": Close(roots, rtol=1e-5, atol=1e-5, because=SINGLE)}


def _line(c, d, sign=-1):
    return lambda weight, bias, x1: sign * (c(weight)[1] * x1 + d(bias)) / c(weight)[0]


BOUNDARY_LINE = Task(
    name="boundary_line",
    points=1,
    cases=_line_cases,
    probe=_line_probe,
    oracle=_line_oracle,
    misconceptions=[
        Misconception(
            _line(lambda w: w[0] - w[1], lambda b: 0.0),
            "you leave out the bias: the line then passes through the origin, which it need not do.",
        ),
        Misconception(
            _line(lambda w: w[0] - w[1], lambda b: b.sum()),
            "you add the two biases. Their difference matters: d = bias[0] − bias[1].",
        ),
        Misconception(
            _line(lambda w: w[0], lambda b: b[0]),
            "you set the first class's logit to 0. Two classes are equally probable where their logits are equal.",
        ),
        Misconception(
            _line(lambda w: w[0] - w[1], lambda b: b[0] - b[1], sign=1),
            "you forget the minus sign: c · x = −d.",
        ),
        Misconception(
            lambda weight, bias, x1: (
                -(
                    ((weight[0] - weight[1])[0] * x1 + bias[0] - bias[1])
                    / (weight[0] - weight[1])[1]
                )
            ),
            "you solve for x₁, given x₀. The task asks for x₀, given x₁.",
        ),
    ],
    hints=[
        "Two probabilities of a softmax are equal when their logits are.",
        "With c = weight[0] − weight[1] and d = bias[0] − bias[1]: c₀x₀ + c₁x₁ + d = 0.",
    ],
)
