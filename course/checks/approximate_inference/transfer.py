"""A transfer task: Laplace's covariance for K classes; the oracle is autograd."""

from __future__ import annotations

import numpy as np
import torch

from course.checks.approximate_inference.tolerances import SINGLE
from course.task import Close, Misconception, Task


def _cases(rng):
    """Draw four classes first: with 3 × 3 weights, transposing them would go unnoticed."""
    return [
        {
            "weights": rng.normal(0, 0.7, (classes, 3)),
            "x": np.column_stack([rng.normal(0, 1, (12, 2)), np.ones(12)]),
            "prior_variance": float(rng.uniform(2, 5)),
        }
        for classes in (4, 3)
    ]


def _probe(answer, weights, x, prior_variance):
    import torch

    return {
        "covariance": answer(torch.tensor(weights), torch.tensor(x), prior_variance)
    }


def _oracle(weights, x, prior_variance):
    x, shape = torch.tensor(x), weights.shape
    labels = torch.arange(len(x)) % shape[0]  # the Hessian does not depend on them

    def energy(flat):
        logits = x @ flat.reshape(shape).T
        nll = torch.nn.functional.cross_entropy(logits, labels, reduction="sum")
        return nll + (flat**2).sum() / (2 * prior_variance)

    hessian = torch.autograd.functional.hessian(energy, torch.tensor(weights.ravel()))
    return {
        "covariance": Close(
            np.linalg.inv(hessian.numpy()), rtol=1e-5, atol=1e-6, because=SINGLE
        )
    }


def _covariance(weights, x, precision, *, curvature=None, order="kilj", data=1.0):
    p = torch.softmax(x @ weights.T, dim=-1)
    blocks = (
        torch.diag_embed(p) - p[:, :, None] * p[:, None, :]
        if curvature is None
        else curvature(p)
    )
    size = weights.numel()
    hessian = torch.einsum(f"nkl,ni,nj->{order}", data * blocks, x, x).reshape(
        size, size
    )
    return torch.linalg.inv(hessian + precision * torch.eye(size, dtype=x.dtype))


SOFTMAX_LAPLACE_COVARIANCE = Task(
    name="softmax_laplace_covariance",
    points=3,
    cases=_cases,
    probe=_probe,
    oracle=_oracle,
    misconceptions=[
        Misconception(
            lambda w, x, v: _covariance(
                w, x, 1 / v, curvature=lambda p: torch.diag_embed(p * (1 - p))
            ),
            "every class is treated as a logistic regression of its own. The softmax ties the classes together: "
            "the blocks off the diagonal are −pₖpₗ xxᵀ.",
        ),
        Misconception(
            lambda w, x, v: _covariance(w, x, 1 / v, curvature=torch.diag_embed),
            "ppᵀ is forgotten: the softmax's Jacobian is diag(p) − ppᵀ.",
        ),
        Misconception(
            lambda w, x, v: _covariance(w, x, v),
            "the prior's variance is added where its precision 1/σ₀² belongs.",
        ),
        Misconception(
            lambda w, x, v: _covariance(w, x, 1 / v, data=1 / len(x)),
            "the data are averaged: sum over them.",
        ),
        Misconception(
            lambda w, x, v: _covariance(w, x, 1 / v, order="ikjl"),
            "the entries stand in the order of weights.T.flatten(): classes vary fastest. "
            "In weights.flatten() the inputs do.",
        ),
        Misconception(
            lambda w, x, v: _covariance(w, x, 1 / v, order="klij"),
            "einsum's output is in the order klij: rows must be pairs (k, i) and columns pairs (l, j), so kilj, "
            "before it is reshaped.",
        ),
        Misconception(
            lambda w, x, v: torch.linalg.inv(_covariance(w, x, 1 / v)),
            "the precision matrix is returned; the covariance is its inverse.",
        ),
    ],
    hints=[
        "For one datum the Hessian with respect to the logits is diag(p) − ppᵀ, and logit k is wₖᵀx.",
        "By the chain rule, entry ((k, i), (l, j)) is the sum over data of (diag(p) − ppᵀ)ₖₗ xᵢ xⱼ.",
        'torch.einsum("nkl,ni,nj->kilj", curvature, x, x).reshape(K·D, K·D), plus the identity over σ₀²; invert.',
    ],
)
