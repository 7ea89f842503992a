"""Logistic regression: its posterior, the mode and the curvature there."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor


def with_bias(x: Tensor) -> Tensor:
    """Append a column of ones: (N, D − 1) → (N, D).

    The last weight is then the bias.
    """
    return torch.cat([x, torch.ones_like(x[:, :1])], dim=1)


def negative_log_joint(
    w: Tensor, x: Tensor, y: Tensor, prior_variance: float
) -> Tensor:
    """−log p(y, w | X) = Σₙ −log p(yₙ | xₙ, w) − log N(w | 0, σ₀² I).

    As a function of w it is the negative log posterior, up to the constant
    log p(y | X).

    Args:
        w: weights, shape (D,).
        x: inputs with their column of ones, shape (N, D).
        y: labels, 0.0 or 1.0, shape (N,).
        prior_variance: σ₀², the same for every weight.

    Returns:
        A scalar, in nats, every constant included.

    Source: Bishop, Pattern Recognition and Machine Learning (2006), equation 4.142.
    """
    # Logits of a thousand are allowed:
    # F.binary_cross_entropy_with_logits copes, log(sigmoid) does not.
    ### BEGIN SOLUTION
    nll = F.binary_cross_entropy_with_logits(x @ w, y, reduction="sum")
    normaliser = 0.5 * len(w) * math.log(2 * math.pi * prior_variance)
    return nll + w @ w / (2 * prior_variance) + normaliser
    ### END SOLUTION


def prior_variance_of(weight_decay: float, n: int) -> float:
    """The prior variance σ₀² that a penalty λ‖w‖² stands for.

    The penalty is added to the *mean* loss of n data.

    Args:
        weight_decay: λ.
        n: the number of data.

    Returns:
        σ₀².
    """
    # Multiply the objective by n: then its terms are those of the negative log joint.
    ### BEGIN SOLUTION
    return 1 / (2 * n * weight_decay)
    ### END SOLUTION


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

    Args:
        x, y, prior_variance: as for ``negative_log_joint``.
        steps: how many steps; each doubles the number of right digits, once near.

    Returns:
        Weights, shape (D,), where the gradient of ``negative_log_joint`` vanishes.

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
