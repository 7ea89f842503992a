"""Mistakes with σ = softplus(ρ), the standard deviation of a weight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
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
    "rho": (
        lambda rho: rho,
        "you use ρ as the standard deviation. ρ may be negative; σ = softplus(ρ) may not.",
    ),
    "twice": (lambda rho: F.softplus(F.softplus(rho)), "you apply softplus twice."),
    "sigmoid": (
        torch.sigmoid,
        "you use the sigmoid of ρ as the standard deviation; here it is softplus(ρ).",
    ),
}


def wrong_stds(
    make: Callable[[Callable], Answer],
    *names: str,
    said: Mapping[str, str] = MappingProxyType({}),
) -> list[Misconception]:
    """Return the mistakes in computing σ from ρ; ``make(std_of)`` makes an answer.

    Args:
        make: takes a function from ρ to σ.
        names: which of ``STDS``; all by default.
        said: sentences of a task's own, by name.
    """
    return [
        Misconception(make(STDS[name][0]), said.get(name, STDS[name][1]))
        for name in names or STDS
    ]
