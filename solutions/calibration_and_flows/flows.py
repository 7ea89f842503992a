"""Normalizing flows: affine, planar, radial, composed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus


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


def planar_flow(z: Tensor, u: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """f(z) = z + u tanh(wᵀz + b); log|det ∂f/∂z| = log|1 + uᵀw (1 − tanh²(wᵀz + b))|.

    Args:
        z: points, shape (…, D).
        u: where the points are pushed, shape (D,), with wᵀu > −1.
        w: across which planes, shape (D,).
        b: a scalar.

    Returns:
        The points f(z), shape (…, D), and one log|det| per point, shape (…).

    Source: Rezende and Mohamed (2015), equations 10 and 12.
    """
    # torch.log1p(a) is log(1 + a), exact for a small a as well.
    ### BEGIN SOLUTION
    h = torch.tanh((z * w).sum(-1) + b)
    log_det = torch.log1p((u @ w) * (1 - h**2))
    return z + u * h[..., None], log_det
    ### END SOLUTION


def invertible_u(u: Tensor, w: Tensor) -> Tensor:
    """Move u along w until wᵀu > −1, to make the planar flow invertible; u = 0 stays 0.

        û = u + (m(wᵀu) − wᵀu) w / ‖w‖²    with    m(a) = −1 + softplus(a + log(e − 1))

    Args:
        u: shape (D,), anything.
        w: shape (D,).

    Returns:
        û, shape (D,), with wᵀû = m(wᵀu).

    Source: Rezende and Mohamed (2015), appendix A.1, with m shifted so that m(0) = 0.
    """
    ### BEGIN SOLUTION
    a = w @ u
    m = -1 + softplus(a + math.log(math.expm1(1)))
    return u + (m - a) * w / (w @ w).clamp(min=torch.finfo(w.dtype).tiny)
    ### END SOLUTION


def printed_u(u: Tensor, w: Tensor) -> Tensor:
    """As ``invertible_u``, with the paper's m(a) = −1 + log(1 + eᵃ).

    Here u = 0 becomes −.31 w / ‖w‖².
    """
    a = w @ u
    return u + (-1 + softplus(a) - a) * w / (w @ w)


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


class Planar(nn.Module):
    """``planar_flow`` with its parameters.

    ``constrain`` makes an invertible u of any u.
    """

    def __init__(
        self,
        dims: int,
        *,
        generator: torch.Generator,
        constrain: Callable = invertible_u,
    ):
        super().__init__()
        self.u = nn.Parameter(0.01 * torch.randn(dims, generator=generator))
        self.w = nn.Parameter(0.01 * torch.randn(dims, generator=generator))
        self.b = nn.Parameter(torch.zeros(()))
        self.constrain = constrain

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:
        return planar_flow(z, self.constrain(self.u, self.w), self.w, self.b)
