"""Mistakes with Gaussian densities and with σ = softplus(ρ) that several tasks share.

Each function makes the misconceptions of one task out of a function that takes what is
mistaken.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from course.task import Misconception

Answer = Callable[..., Any]

STDS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], str]] = {
    "exp": (
        torch.exp,
        "you use σ = exp(ρ). This is a common choice elsewhere, but here σ = softplus(ρ).",
    ),
    "half exp": (
        lambda rho: torch.exp(rho / 2),
        "you use σ = exp(ρ/2), as if ρ were the logarithm of a variance. Here σ = softplus(ρ).",
    ),
    "root": (
        lambda rho: torch.sqrt(F.softplus(rho)),
        "you treat softplus(ρ) as the variance. In this practical it is the standard deviation.",
    ),
    "square": (
        lambda rho: F.softplus(rho) ** 2,
        "you use the variance σ² in place of the standard deviation σ = softplus(ρ).",
    ),
}


def wrong_stds(make: Callable[[Callable], Answer], *names: str) -> list[Misconception]:
    """Return the mistakes in computing σ from ρ; ``make(std_of)`` makes an answer.

    Args:
        make: takes a function from ρ to σ.
        names: which of ``STDS``; all by default.
    """
    rows = [STDS[name] for name in names or STDS]
    return [Misconception(make(std_of), hint) for std_of, hint in rows]


def log_normal(x, mean, std, *, half=0.5, log_std=1.0, constant=0.5, power=2):
    """Compute log N(x | mean, std²), or what comes if its terms have wrong factors."""
    std = torch.as_tensor(std)
    return (
        -half * (x - mean) ** 2 / std**power
        - log_std * torch.log(std)
        - constant * math.log(2 * math.pi)
    )


def wrong_log_normals(make: Callable[[Callable], Answer]) -> list[Misconception]:
    """Return the mistakes in writing out log N; ``make(log_density)`` makes an answer."""

    def wrong(**factors):
        return make(lambda *case: log_normal(*case, **factors))

    return [
        Misconception(wrong(constant=0), "you leave out the constant −½ log 2π."),
        Misconception(
            wrong(constant=0, log_std=0),
            "you leave out the normaliser: minus the logarithm of the standard deviation, and −½ log 2π.",
        ),
        Misconception(
            wrong(log_std=0),
            "you leave out the logarithm of the standard deviation: the density of a wide Gaussian is lower.",
        ),
        Misconception(
            wrong(log_std=2),
            "you subtract the logarithm of the variance, which is twice that of the standard deviation: a ½ is missing.",
        ),
        Misconception(
            wrong(half=1), "you leave out the ½ before the squared distance."
        ),
        Misconception(
            wrong(power=0),
            "you do not divide the squared distance by the variance.",
        ),
        Misconception(
            wrong(power=1),
            "you divide the squared distance by the standard deviation; divide it by the variance.",
        ),
        Misconception(
            make(lambda *case: log_normal(*case).exp()),
            "you return the density; the task asks for its logarithm.",
        ),
    ]
