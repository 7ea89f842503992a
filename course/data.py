"""The data sets of the course, as named tuples of NumPy arrays.

Every function takes the number of data and a seed; the same seed gives the same data.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.datasets import make_blobs, make_moons


class Regression(NamedTuple):
    """Inputs ``x``, shape (N, 1), and targets ``y``, shape (N,)."""

    x: np.ndarray
    y: np.ndarray


class Classification(NamedTuple):
    """Inputs ``x``, shape (N, D), and labels ``y``, integers, shape (N,)."""

    x: np.ndarray
    y: np.ndarray


def cubic(
    *, n: int | None = None, seed: int, low: float = -4.0, high: float = 4.0
) -> Regression:
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


def two_blobs(*, n: int | None = None, seed: int) -> Classification:
    """Two classes, one round blob each, far apart; by default 1,000 data in random order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n or 1000) % 2)
    centres = np.array([(-3.0, -5.0), (5.0, 5.0)])
    return Classification(centres[y] + rng.normal(0, 0.6, (len(y), 2)), y)


def three_blobs(*, n: int | None = None, seed: int) -> Classification:
    """Three round blobs on a diagonal; the outer ones are one class each, the middle one is half and half.

    By default 1,000 data in random order. After scikit-learn's example of probability calibration.
    """
    rng = np.random.default_rng(seed)
    blob = rng.permutation(np.arange(n or 1000) % 6) // 2
    y = np.where(blob == 1, rng.integers(0, 2, len(blob)), blob // 2)
    centres = np.array([(-5.0, -5.0), (0.0, 0.0), (5.0, 5.0)])
    return Classification(centres[blob] + rng.normal(0, 1, (len(blob), 2)), y)


def blobs(*, n: int | None = None, seed: int, spread: float = 2.0) -> Classification:
    """Two round clouds around (−2, −2) and (2, 2), as scikit-learn draws them; by default 400 data."""
    x, y = make_blobs(
        n or 400, centers=[(-2, -2), (2, 2)], cluster_std=spread, random_state=seed
    )
    return Classification(x, y)


def moons(*, n: int | None = None, seed: int, noise: float = 0.25) -> Classification:
    """Two half-moons, as scikit-learn draws them; by default 1,000 data."""
    return Classification(*make_moons(n or 1000, noise=noise, random_state=seed))
