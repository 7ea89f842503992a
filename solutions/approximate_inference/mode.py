"""The posterior's mode, and the curvature there."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def hessian_by_backward(function: Callable[[Tensor], Tensor], w: Tensor) -> Tensor:
    """The Hessian of a scalar function, row by row, by differentiating its gradient.

    Args:
        function: takes w, gives a scalar.
        w: where, shape (D,).

    Returns:
        The Hessian, shape (D, D), detached.
    """
    w = w.detach().requires_grad_()
    # torch.autograd.grad with create_graph=True gives a gradient that can be
    # differentiated again.
    ### BEGIN SOLUTION
    (gradient,) = torch.autograd.grad(function(w), w, create_graph=True)
    rows = [
        torch.autograd.grad(component, w, retain_graph=True)[0]
        for component in gradient
    ]
    return torch.stack(rows)
    ### END SOLUTION


def logistic_hessian(w: Tensor, x: Tensor, prior_variance: float) -> Tensor:
    """Hessian of ``negative_log_joint`` in closed form: Xᵀ diag(p(1 − p)) X + I/σ₀².

    Args:
        w: weights, shape (D,).
        x: inputs with their column of ones, shape (N, D).
        prior_variance: σ₀².

    Returns:
        Shape (D, D). It does not depend on the labels.

    Source: Bishop (2006), equations 4.97 and 4.143.
    """
    ### BEGIN SOLUTION
    p = torch.sigmoid(x @ w)
    return (x.T * (p * (1 - p))) @ x + torch.eye(len(w), dtype=x.dtype) / prior_variance
    ### END SOLUTION


def find_mode(x: Tensor, y: Tensor, prior_variance: float, steps: int = 30) -> Tensor:
    """The posterior's mode w_MAP, by Newton's method from w = 0: w ← w − H⁻¹g.

    It takes exactly ``steps`` full steps, each with the gradient g and the Hessian H at
    the weights of the step before.

    Args:
        x, y, prior_variance: as for ``negative_log_joint``.
        steps: how many steps; each doubles the number of right digits, once near.

    Returns:
        Weights after these steps, shape (D,); after 30 steps, the gradient of
        ``negative_log_joint`` vanishes there.

    Source: Bishop (2006), section 4.3.3.
    """
    w = torch.zeros(x.shape[1], dtype=x.dtype)
    for _ in range(steps):
        # The gradient is Xᵀ(p − y) + w/σ₀². torch.linalg.solve(H, g) is H⁻¹g.
        ### BEGIN SOLUTION
        gradient = x.T @ (torch.sigmoid(x @ w) - y) + w / prior_variance
        w = w - torch.linalg.solve(logistic_hessian(w, x, prior_variance), gradient)
        ### END SOLUTION
    return w
