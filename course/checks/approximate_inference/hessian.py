"""A Hessian by differentiating twice, of a function whose second derivatives are known."""

from __future__ import annotations

import numpy as np
import scipy.special
import torch

from course.checks.approximate_inference.tolerances import FLOAT64
from course.task import Close, Misconception, Task


def _hessian_cases(rng):
    return [
        {
            "w": rng.normal(0, 1, 3),
            "a": rng.normal(0, 1, (4, 3)),
            "b": rng.uniform(0.5, 2, 3),
        }
        for _ in range(2)
    ]


def _hessian_probe(answer, w, a, b):
    import torch

    a, b = torch.tensor(a), torch.tensor(b)

    def function(w):
        return (
            torch.nn.functional.softplus(a @ w).sum()
            + (b * w**2).sum() / 2
            + (w**4).sum() / 12
        )

    return {"hessian": answer(function, torch.tensor(w))}


def _hessian_oracle(w, a, b):
    s = scipy.special.expit(a @ w)
    hessian = (a.T * (s * (1 - s))) @ a + np.diag(b + w**2)
    return {"hessian": Close(hessian, rtol=1e-9, atol=1e-9, because=FLOAT64)}


def _gradient(function, w):
    w = w.detach().requires_grad_()
    return torch.autograd.grad(function(w), w)[0]


def _accumulated(function, w):
    return torch.cumsum(torch.autograd.functional.hessian(function, w), dim=0)


HESSIAN_BY_BACKWARD = Task(
    id="approximate-inference/hessian-by-backward",
    name="hessian_by_backward",
    points=2,
    cases=_hessian_cases,
    probe=_hessian_probe,
    oracle=_hessian_oracle,
    misconceptions=[
        Misconception(
            lambda function, w: torch.outer(
                _gradient(function, w), _gradient(function, w)
            ),
            "the gradient is multiplied with itself. That is not a second derivative.",
        ),
        Misconception(
            lambda function, w: torch.diag(
                torch.diag(torch.autograd.functional.hessian(function, w))
            ),
            "only the diagonal is filled: every component of the gradient depends on all the weights.",
        ),
        Misconception(
            _accumulated,
            "each row holds the rows before it as well: .backward() adds to .grad. Use torch.autograd.grad.",
        ),
        Misconception(
            lambda function, w: torch.linalg.inv(
                torch.autograd.functional.hessian(function, w)
            ),
            "the inverse is returned already: the Hessian itself is asked for.",
        ),
        Misconception(
            lambda function, w: torch.autograd.functional.hessian(function, w).sum(0),
            "the whole gradient is differentiated at once, which adds up the rows: take one component at a time.",
        ),
    ],
    hints=[
        "Row i of the Hessian is the gradient of component i of the gradient.",
        "gradient = torch.autograd.grad(function(w), w, create_graph=True)[0]; then loop over its components.",
        "torch.autograd.grad(component, w, retain_graph=True)[0] is one row; torch.stack puts them together.",
    ],
)
