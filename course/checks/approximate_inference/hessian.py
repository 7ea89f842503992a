"""A Hessian by differentiating twice; the functions have known second derivatives."""

from __future__ import annotations

import numpy as np
import scipy.special
import torch

from course.checks.approximate_inference.tolerances import SINGLE
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

    hessian = answer(function, torch.tensor(w))
    return {
        "hessian": hessian,
        "detached": float(not getattr(hessian, "requires_grad", False)),
    }


def _hessian_oracle(w, a, b):
    s = scipy.special.expit(a @ w)
    hessian = (a.T * (s * (1 - s))) @ a + np.diag(b + w**2)
    return {
        "hessian": Close(hessian, rtol=1e-5, atol=1e-6, because=SINGLE),
        "detached": Close(1.0, because="the result carries no graph any more"),
    }


def _gradient(function, w):
    w = w.detach().requires_grad_()
    return torch.autograd.grad(function(w), w)[0]


def _accumulated(function, w):
    return torch.cumsum(torch.autograd.functional.hessian(function, w), dim=0)


def _sum_of_rows(function, w):
    return torch.autograd.functional.hessian(function, w).sum(0)


HESSIAN_BY_BACKWARD = Task(
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
            _sum_of_rows,
            "the whole gradient is differentiated at once, which adds up the rows: take one component at a time.",
        ),
        Misconception(
            lambda function, w: torch.diag(_sum_of_rows(function, w)),
            "the whole gradient is differentiated at once, which adds up the rows, and the sums stand on a "
            "diagonal: take one component at a time; each gives a row.",
        ),
        Misconception(
            lambda function, w: _sum_of_rows(function, w).expand(len(w), -1),
            "all rows are the same tensor: .backward() adds to .grad, and a list of .grad holds one tensor many "
            "times. Use torch.autograd.grad, which returns a new one.",
        ),
        Misconception(
            lambda function, w: torch.autograd.functional.hessian(function, w).diag(),
            "only the diagonal is returned: every component of the gradient depends on all the weights.",
        ),
        Misconception(
            lambda function, w: _gradient(function, w),
            "the gradient is returned: differentiate each of its components once more.",
        ),
        Misconception(
            lambda function, w: torch.autograd.functional.hessian(
                function, w.requires_grad_(), create_graph=True
            ),
            "the numbers are right, but they still carry a graph: create_graph=True is for the first derivative "
            "alone. End with .detach().",
        ),
    ],
    hints=[
        "Row i of the Hessian is the gradient of component i of the gradient.",
        "gradient = torch.autograd.grad(function(w), w, create_graph=True)[0]; then loop over its components.",
        "torch.autograd.grad(component, w, retain_graph=True)[0] is one row; torch.stack puts them together.",
    ],
)
