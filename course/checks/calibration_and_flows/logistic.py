"""The decision boundary of logistic regression."""

from __future__ import annotations

import numpy as np
import scipy.optimize
import torch

from course.checks.calibration_and_flows.tolerances import SINGLE
from course.task import Close, Misconception, Task


def _line_cases(rng):
    """Draw cases; in the last, the line is nearly parallel to the x₀ axis.

    Its numbers are exact in single precision: what is added to the divisor shows.
    """
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
    weight = rng.integers(-64, 65, (2, 2)) / 64
    weight[0, 0] = weight[1, 0] + 1 / 64
    bias = rng.integers(-64, 65) / 64 + np.array([0.0, rng.integers(64, 129) / 64])
    x1 = rng.integers(-64, 65, 2) / 16
    return [*cases, {"weight": weight, "bias": bias, "x1": x1}]


def _line_probe(answer, weight, bias, x1):
    import torch

    x0, at_0, at_1 = (
        answer(
            torch.as_tensor(weight.copy()),
            torch.as_tensor(bias.copy()),
            torch.as_tensor(at.copy()),
        )
        for at in (x1, 0 * x1, 0 * x1 + 1)
    )
    slope = at_0
    if getattr(at_0, "shape", None) == getattr(at_1, "shape", ()):
        slope = at_1 - at_0
    return {"x0": x0, "x0_where_x1_is_0": at_0, "slope_of_the_line": slope}


def _line_oracle(weight, bias, x1):
    """Search for the root of the difference of the logits, for each x₁."""

    def gap(x0, one):
        first, second = weight @ np.array([x0, one]) + bias
        return first - second

    roots = [
        scipy.optimize.brentq(gap, -1e4, 1e4, args=(one,), xtol=1e-12) for one in x1
    ]
    close = {"rtol": 1e-5, "atol": 1e-5, "because": SINGLE}
    ones = np.ones(len(x1))
    at_0 = scipy.optimize.brentq(gap, -1e4, 1e4, args=(0.0,), xtol=1e-12)
    slope = scipy.optimize.brentq(gap, -1e4, 1e4, args=(1.0,), xtol=1e-12) - at_0
    return {
        "x0": Close(roots, **close),
        "x0_where_x1_is_0": Close(at_0 * ones, **close),
        "slope_of_the_line": Close(
            slope * ones, rtol=1e-5, atol=1e-5 * (1 + abs(at_0)), because=SINGLE
        ),
    }


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
            "you add the two biases. Their difference matters: `d = bias[0] - bias[1]`.",
        ),
        Misconception(
            _line(lambda w: w[0], lambda b: b[0]),
            "you set the first class's logit to 0. Two classes are equally probable where their logits are equal.",
        ),
        Misconception(
            _line(lambda w: w[1], lambda b: b[1]),
            "you set the second class's logit to 0. Two classes are equally probable where their logits are equal.",
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
        Misconception(
            _line(lambda w: w[:, 0] - w[:, 1], lambda b: b[0] - b[1]),
            "you subtract the columns of the weight; each class has a row.",
        ),
        Misconception(
            _line(lambda w: w[0] - w[1], lambda b: b[1] - b[0]),
            "you flip the sign of d: if c is weight[0] − weight[1], then d is bias[0] − bias[1], and c · x = −d.",
        ),
        Misconception(
            _line(lambda w: w[0] + w[1], lambda b: b[0] + b[1]),
            "you add the two logits. Two classes are equally probable where their logits are equal.",
        ),
        Misconception(
            lambda weight, bias, x1: (
                -(weight[0] - weight[1])[1] / (weight[0] - weight[1])[0] * x1
                - (bias[0] - bias[1])
            ),
            "you do not divide the bias by c₀: both c₁x₁ and d are divided.",
        ),
        Misconception(
            lambda weight, bias, x1: (
                -(weight[0] - weight[1])[1] * x1 - bias[0] + bias[1]
            ),
            "you do not divide by c₀.",
        ),
        Misconception(
            lambda weight, bias, x1: (
                -((weight[0] - weight[1])[1] * x1 + bias[0] - bias[1])
                * (weight[0] - weight[1])[0]
            ),
            "you multiply by c₀; divide by it.",
        ),
        Misconception(
            lambda weight, bias, x1: torch.stack(
                [
                    -((weight[0] - weight[1])[1] * x1 + bias[0] - bias[1])
                    / (weight[0] - weight[1])[0],
                    x1,
                ],
                1,
            ),
            "you return both coordinates; the task asks for the first ones.",
        ),
    ],
    hints=[
        "Two probabilities of a softmax are equal when their logits are.",
        "Let c be the difference of the two rows of weight, and d that of the biases: c₀x₀ + c₁x₁ + d = 0.",
    ],
)
