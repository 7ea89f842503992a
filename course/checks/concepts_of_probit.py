"""Mistakes with √(1 + πv/8), by which a logit of variance v is divided."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from course.task import Misconception


def root(variance):
    """Return √(1 + πv/8) of variances v, whatever the library of the array."""
    return (1 + math.pi * variance / 8) ** 0.5


ROOTS: dict[str, tuple[Callable, str]] = {
    "π²": (
        lambda v: (1 + math.pi**2 * v / 8) ** 0.5,
        "you square π: π/8 comes from matching the sigmoid's slope at 0 with that of a probit.",
    ),
    "8/π": (
        lambda v: (1 + 8 * v / math.pi) ** 0.5,
        "you invert the factor π/8, and write 8/π.",
    ),
    "v²": (lambda v: root(v**2), "you square the variance v once more."),
    "no π": (lambda v: (1 + v / 8) ** 0.5, "you leave out π: the factor is π/8."),
    "no 8": (
        lambda v: (1 + math.pi * v) ** 0.5,
        "you leave out the 8: the factor is π/8.",
    ),
    "brackets": (
        lambda v: ((1 + math.pi * v) / 8) ** 0.5,
        "you divide the 1 by 8 as well: the root is √(1 + πv/8).",
    ),
    "no 1": (
        lambda v: (math.pi * v / 8) ** 0.5,
        "you leave out the 1: with a variance of 0 the root must be 1.",
    ),
}


def wrong_roots(make: Callable[[Callable], Callable[..., Any]]) -> list[Misconception]:
    """Return the mistakes in the root; ``make(root_of)`` makes an answer."""
    return [Misconception(make(root_of), hint) for root_of, hint in ROOTS.values()]
