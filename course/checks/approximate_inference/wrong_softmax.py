"""Wrong covariances of Laplace's approximation for several classes."""

from __future__ import annotations

import torch

from course.task import Misconception


def _jacobians(p):
    return torch.diag_embed(p) - p[:, :, None] * p[:, None, :]


def _softmax_covariance(
    weights, x, precision, *, curvature=None, order="kilj", data=1.0, axis=-1
):
    p = torch.softmax(x @ weights.T, dim=axis)
    blocks = (curvature or _jacobians)(p)
    size = weights.numel()
    hessian = torch.einsum(f"nkl,ni,nj->{order}", data * blocks, x, x).reshape(
        size, size
    )
    return torch.linalg.inv(hessian + precision * torch.eye(size, dtype=x.dtype))


SOFTMAX_COVARIANCES = [
    Misconception(
        lambda w, x, v: _softmax_covariance(
            w, x, 1 / v, curvature=lambda p: torch.diag_embed(p * (1 - p))
        ),
        "you treat every class as a logistic regression of its own. The softmax couples the classes: the blocks "
        "off the diagonal are −pₖpₗ xxᵀ.",
    ),
    Misconception(
        lambda w, x, v: _softmax_covariance(w, x, 1 / v, curvature=torch.diag_embed),
        "you forget ppᵀ: the softmax's Jacobian is diag(p) − ppᵀ.",
    ),
    Misconception(
        lambda w, x, v: _softmax_covariance(w, x, v),
        "you add the prior's variance in place of its precision 1/σ₀².",
    ),
    Misconception(
        lambda w, x, v: _softmax_covariance(w, x, 1 / v, data=1 / len(x)),
        "you average over the data: sum over them.",
    ),
    Misconception(
        lambda w, x, v: _softmax_covariance(w, x, 1 / v, axis=0),
        "you take the softmax over the data points, dim=0. The probabilities of the classes sum to 1 for each "
        "data point: dim=-1.",
    ),
    Misconception(
        lambda w, x, v: _softmax_covariance(w, x, 1 / v, order="ikjl"),
        "you order the entries as in weights.T.flatten(), where the classes vary fastest. In weights.flatten() "
        "the inputs do.",
    ),
    Misconception(
        lambda w, x, v: _softmax_covariance(w, x, 1 / v, order="klij"),
        "you leave einsum's output in the order klij: rows must be pairs (k, i) and columns pairs (l, j), so "
        "kilj, before you reshape it.",
    ),
    Misconception(
        lambda w, x, v: torch.linalg.inv(_softmax_covariance(w, x, 1 / v)),
        "you return the precision matrix; the covariance is its inverse.",
    ),
    Misconception(
        lambda w, x, v: _softmax_covariance(
            w, x, 1 / v, curvature=lambda p: _jacobians(torch.sigmoid(x @ w.T))
        ),
        "you use the sigmoid: the probabilities of the classes come from the softmax.",
    ),
    Misconception(
        lambda w, x, v: _softmax_covariance(
            w, x, 1 / v, curvature=lambda p: _jacobians(x @ w.T)
        ),
        "you take the logits for probabilities: apply the softmax to them.",
    ),
    Misconception(
        lambda w, x, v: _softmax_covariance(
            w, x, 1 / v, curvature=lambda p: p[:, :, None] * p[:, None, :]
        ),
        "you leave out diag(p): the softmax's Jacobian is diag(p) − ppᵀ.",
    ),
    Misconception(
        lambda w, x, v: _softmax_covariance(
            w, x, 1 / v, curvature=lambda p: 2 * torch.diag_embed(p) - _jacobians(p)
        ),
        "you add ppᵀ: the softmax's Jacobian is diag(p) − ppᵀ.",
    ),
]
