"""Planar flows, and how they are kept invertible."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus


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

    Here u = 0 becomes −0.31 w / ‖w‖².
    """
    a = w @ u
    return u + (-1 + softplus(a) - a) * w / (w @ w)


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
