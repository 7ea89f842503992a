"""Normalizing flows: affine, radial, composed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn


def affine_flow(z: Tensor, shift: Tensor, log_scale: Tensor) -> tuple[Tensor, Tensor]:
    """f(z) = shift + exp(log_scale) ⊙ z, and log|det ∂f/∂z|.

    Args:
        z: points, shape (…, D).
        shift: shape (D,).
        log_scale: logarithms of the scales, shape (D,).

    Returns:
        The points f(z), shape (…, D), and one log|det| per point, shape (…).
    """
    ### BEGIN SOLUTION
    log_det = log_scale.sum(-1).expand(z.shape[:-1])
    return shift + log_scale.exp() * z, log_det
    ### END SOLUTION


def radial_flow(
    z: Tensor, centre: Tensor, alpha: Tensor, beta: Tensor
) -> tuple[Tensor, Tensor]:
    """f(z) = z + β h (z − γ) with h = 1/(α + r) and r = ‖z − γ‖, and log|det ∂f/∂z|.

    Args:
        z: points, shape (…, D), any D.
        centre: the centre γ, shape (D,).
        alpha: a scalar α > 0.
        beta: a scalar β > −α; negative values pull towards the centre.

    Returns:
        The points f(z), shape (…, D), and one log|det| per point, shape (…).

    Source: Rezende and Mohamed (2015), equation 14.
    """
    # Across the radius the map stretches D − 1 times by one factor,
    # along it by another.
    ### BEGIN SOLUTION
    offset = z - centre
    r = torch.linalg.vector_norm(offset, dim=-1)
    h = 1 / (alpha + r)
    across = torch.log1p(beta * h)
    along = torch.log1p(beta * alpha * h**2)  # 1 + βh + βh′r with h′ = −h²
    return z + beta * h[..., None] * offset, (z.shape[-1] - 1) * across + along
    ### END SOLUTION


def compose(
    layers: Sequence[Callable[[Tensor], tuple[Tensor, Tensor]]], z: Tensor
) -> tuple[Tensor, Tensor]:
    """Send z through one flow after the other.

    Args:
        layers: L flows; each gives ``(f(z), log|det|)`` for points z. There may be
            none.
        z: points z₀, shape (…, D).

    Returns:
        The points z_L, shape (…, D), and log|det ∂z_L/∂z₀|, shape (…).

    Source: Rezende and Mohamed (2015), equations 6 and 7.
    """
    ### BEGIN SOLUTION
    total = z.new_zeros(z.shape[:-1])
    for layer in layers:
        z, log_det = layer(z)
        total = total + log_det
    return z, total
    ### END SOLUTION


class Affine(nn.Module):
    """``affine_flow`` with its parameters, the identity at first.

    It is fixed there unless ``learnable``.
    """

    def __init__(self, dims: int, *, learnable: bool = True):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(dims), requires_grad=learnable)
        self.log_scale = nn.Parameter(torch.zeros(dims), requires_grad=learnable)

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:
        return affine_flow(z, self.shift, self.log_scale)
