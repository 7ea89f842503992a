"""Logistic regression: the plug-in model and its boundary."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax


def uniform_linear(
    classes: int, dims: int, *, generator: torch.Generator
) -> tuple[nn.Parameter, nn.Parameter]:
    """A weight (K, D) and a bias (K,), uniform on ±1/√D as ``nn.Linear`` has them."""
    weight = torch.rand(classes, dims, generator=generator) * 2 - 1
    bias = torch.rand(classes, generator=generator) * 2 - 1
    return nn.Parameter(weight / math.sqrt(dims)), nn.Parameter(bias / math.sqrt(dims))


class LogisticRegression(nn.Module):
    """Logistic regression as the softmax of K linear functions.

    It gives log-probabilities, shape (N, K).
    """

    def __init__(self, dims: int, classes: int, *, generator: torch.Generator):
        super().__init__()
        self.weight, self.bias = uniform_linear(classes, dims, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        return log_softmax(x @ self.weight.T + self.bias, dim=-1)


def boundary_line(weight: Tensor, bias: Tensor, x1: Tensor) -> Tensor:
    """Where two classes of a linear model are equally probable: x₀ as a function of x₁.

    The two weights of x₀ differ, so the line is not parallel to the x₀ axis.

    Args:
        weight: shape (2, 2), a row per class.
        bias: shape (2,).
        x1: second coordinates, shape (M,).

    Returns:
        First coordinates x₀ of the points of the boundary, shape (M,).
    """
    # The logits are equal there: c · x + d = 0 with the difference c of the rows.
    ### BEGIN SOLUTION
    c = weight[0] - weight[1]
    d = bias[0] - bias[1]
    return -(c[1] * x1 + d) / c[0]
    ### END SOLUTION


def boundary_plane(weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """The same boundary in D dimensions: a point on it, and the directions along it.

    Args:
        weight: shape (2, D), a row per class.
        bias: shape (2,).

    Returns:
        The point nearest to the origin, shape (D,), and an orthonormal basis of the
        null space of c = weight[0] − weight[1], shape (D − 1, D).
    """
    c, d = weight[0] - weight[1], bias[0] - bias[1]
    _, _, rows = torch.linalg.svd(c[None, :])
    return -d * c / (c @ c), rows[1:]
