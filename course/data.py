"""The data sets of the course, as named tuples of NumPy arrays.

Every function takes the number of data and a seed; the same seed gives the same data.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Regression(NamedTuple):
    """Inputs ``x``, shape (N, 1), and targets ``y``, shape (N,)."""

    x: np.ndarray
    y: np.ndarray


class Classification(NamedTuple):
    """Inputs ``x``, shape (N, D), and labels ``y``, integers, shape (N,)."""

    x: np.ndarray
    y: np.ndarray


def cubic(*, n: int | None = None, seed: int, low: float = -4.0, high: float = 4.0) -> Regression:
    """y = x³ + noise with standard deviation 3; by default 40 data with x uniform on (−4, 4)."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(low, high, (n or 40, 1))
    return Regression(x, x[:, 0] ** 3 + rng.normal(0, 3, len(x)))


def spirals(*, n: int | None = None, seed: int) -> Classification:
    """Three arms of a spiral, one per class, with angles blurred more and more outwards; by default 3,000 data."""
    rng = np.random.default_rng(seed)
    per_class = (n or 3000) // 3
    xs, ys = [], []
    for label in range(3):
        radius = np.linspace(0, 1, per_class)
        angle = np.linspace(8 * label, 8 * (label + 1), per_class)
        angle = angle + rng.normal(0, 0.3, per_class) * (radius + 1)
        xs.append(np.column_stack([radius * np.sin(angle), radius * np.cos(angle)]))
        ys.append(np.full(per_class, label))
    return Classification(np.concatenate(xs), np.concatenate(ys))
