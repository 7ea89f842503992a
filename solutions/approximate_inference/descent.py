"""Gradient descent to the posterior's mode."""

from __future__ import annotations

import torch
from torch import Tensor

from solutions.approximate_inference.objective import negative_log_joint


def gradient_descent(
    w: Tensor, x: Tensor, y: Tensor, prior_variance: float, *, steps: int, rate: float
) -> Tensor:
    """Gradient descent on ``negative_log_joint`` over the number N of data points.

    Args:
        w: where it starts, shape (D,).
        x, y, prior_variance: as for ``negative_log_joint``.
        steps: number of steps.
        rate: learning rate.

    Returns:
        The start and the weights after every step, shape (steps + 1, D), detached.
    """
    path = [w]
    for _ in range(steps):
        ### BEGIN SOLUTION
        w = w.detach().requires_grad_()
        loss = negative_log_joint(w, x, y, prior_variance) / len(x)
        (gradient,) = torch.autograd.grad(loss, w)
        w = (w - rate * gradient).detach()
        ### END SOLUTION
        path.append(w)
    return torch.stack(path)
