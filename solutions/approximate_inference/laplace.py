"""Laplace's approximation: covariances and the log evidence."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from solutions.approximate_inference.objective import negative_log_joint


def hurried_laplace_covariance(
    w: Tensor, x: Tensor, y: Tensor, prior_variance: float
) -> Tensor:
    """The covariance of Laplace's approximation, with a hurried colleague's mistake.

    Args:
        w: the mode, shape (D,).
        x, y, prior_variance: as for ``negative_log_joint``.

    Returns:
        What should be the posterior's covariance, shape (D, D).
    """
    n = len(x)
    weight_decay = 1 / (n * prior_variance)

    def loss(w: Tensor) -> Tensor:
        nll = F.binary_cross_entropy_with_logits(x @ w, y)
        return nll + weight_decay / 2 * (w @ w)

    return torch.linalg.inv(torch.autograd.functional.hessian(loss, w))


def laplace_covariance(
    w: Tensor, x: Tensor, y: Tensor, prior_variance: float
) -> Tensor:
    """The covariance of Laplace's approximation: (−∇∇ log p(w | y, X))⁻¹ at the mode.

    Args:
        w: the mode, shape (D,).
        x, y, prior_variance: as for ``negative_log_joint``.

    Returns:
        The posterior's covariance Σ, shape (D, D).

    Source: MacKay (1992); Bishop (2006), section 4.4.
    """
    # Start from hurried_laplace_covariance and fix it: whose Hessian does it invert?
    ### BEGIN SOLUTION
    n = len(x)
    weight_decay = 1 / (n * prior_variance)

    def loss(w: Tensor) -> Tensor:
        nll = F.binary_cross_entropy_with_logits(x @ w, y)
        return nll + weight_decay / 2 * (w @ w)

    return torch.linalg.inv(n * torch.autograd.functional.hessian(loss, w))
    ### END SOLUTION


def laplace_log_evidence(
    w: Tensor, covariance: Tensor, x: Tensor, y: Tensor, prior_variance: float
) -> Tensor:
    """log p(y | X) ≈ log p(y, w_MAP | X) + D/2 log 2π + ½ log det Σ.

    Args:
        w: the mode, shape (D,); a hundred weights are allowed.
        covariance: Σ, shape (D, D); det Σ may be too small for a floating-point number.
        x, y, prior_variance: as for ``negative_log_joint``.

    Returns:
        A scalar, in nats.

    Source: Bishop (2006), equation 4.137.
    """
    # torch.logdet gives log det without computing the determinant.
    ### BEGIN SOLUTION
    log_joint = -negative_log_joint(w, x, y, prior_variance)
    return (
        log_joint
        + 0.5 * len(w) * math.log(2 * math.pi)
        + 0.5 * torch.logdet(covariance)
    )
    ### END SOLUTION


def softmax_laplace_covariance(
    weights: Tensor, x: Tensor, prior_variance: float
) -> Tensor:
    """Laplace's covariance for K classes: (Σₙ (diag(pₙ) − pₙpₙᵀ) ⊗ xₙxₙᵀ + I/σ₀²)⁻¹.

    Args:
        weights: the mode, one row for each class, shape (K, D); logits are
            x @ weights.T.
        x: inputs with their column of ones, shape (N, D).
        prior_variance: σ₀².

    Returns:
        The covariance of ``weights.flatten()``, shape (K·D, K·D).

    Source: Bishop (2006), equation 4.110.
    """
    # torch.einsum builds all N blocks at once:
    # entry (k, i, l, j) belongs to weights k, i and l, j.
    ### BEGIN SOLUTION
    p = torch.softmax(x @ weights.T, dim=-1)
    curvature = torch.diag_embed(p) - p[:, :, None] * p[:, None, :]
    hessian = torch.einsum("nkl,ni,nj->kilj", curvature, x, x).reshape(
        weights.numel(), weights.numel()
    )
    return torch.linalg.inv(
        hessian + torch.eye(weights.numel(), dtype=x.dtype) / prior_variance
    )
    ### END SOLUTION
