"""The data sets of the course, as named tuples of NumPy arrays.

Every function takes the number of data points and a seed; the same seed gives the same data.
scikit-learn is imported where it is needed: that takes a second, and few notebooks need it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from course import idx


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
    """Draw y = x³ + noise with standard deviation 3, x uniform on (low, high).

    By default 40 data points on (−4, 4).
    """
    rng = np.random.default_rng(seed)
    x = rng.uniform(low, high, (n or 40, 1))
    return Regression(x, x[:, 0] ** 3 + rng.normal(0, 3, len(x)))


def fan(*, n: int | None = None, seed: int, tilt: float = 0.0) -> Regression:
    """Draw y = sin 2x + noise with standard deviation 0.1 + 0.1 x², for x between 0 and 3.

    The density of x is proportional to exp(tilt · x), so that it is uniform by default. By
    default 1,000 data points.
    """
    rng = np.random.default_rng(seed)
    u = rng.uniform(0, 1, n or 1000)
    x = np.log1p(u * np.expm1(3 * tilt)) / tilt if tilt else 3 * u
    noise = rng.normal(0, 1, len(x))
    return Regression(x[:, None], np.sin(2 * x) + (0.1 + 0.1 * x**2) * noise)


def spirals(*, n: int | None = None, seed: int) -> Classification:
    """Draw three arms of a spiral, one per class, with angular noise that grows outwards.

    By default 3,000 data points.
    """
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
    """Draw two distant round blobs, one per class; by default 1,000 points in random order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n or 1000) % 2)
    centres = np.array([(-3.0, -5.0), (5.0, 5.0)])
    return Classification(centres[y] + rng.normal(0, 0.6, (len(y), 2)), y)


def three_blobs(*, n: int | None = None, seed: int) -> Classification:
    """Draw three round blobs on a diagonal: one class in each outer blob, both in the middle.

    By default 1,000 data points in random order. After scikit-learn's example of probability
    calibration.
    """
    rng = np.random.default_rng(seed)
    blob = rng.permutation(np.arange(n or 1000) % 6) // 2
    y = np.where(blob == 1, rng.integers(0, 2, len(blob)), blob // 2)
    centres = np.array([(-5.0, -5.0), (0.0, 0.0), (5.0, 5.0)])
    return Classification(centres[blob] + rng.normal(0, 1, (len(blob), 2)), y)


def blobs(*, n: int | None = None, seed: int, spread: float = 2.0) -> Classification:
    """Draw two round blobs around (−2, −2) and (2, 2) with scikit-learn; by default 400 points."""
    from sklearn.datasets import make_blobs

    x, y = make_blobs(
        n or 400, centers=[(-2, -2), (2, 2)], cluster_std=spread, random_state=seed
    )
    return Classification(x, y)


def moons(*, n: int | None = None, seed: int, noise: float = 0.25) -> Classification:
    """Draw two half-moons with scikit-learn; by default 1,000 data points."""
    from sklearn.datasets import make_moons

    return Classification(*make_moons(n or 1000, noise=noise, random_state=seed))


class Images(NamedTuple):
    """Training and test images: pixels between 0 and 1, (N, D) float32, and labels (N,).

    Images are square, with ``side`` pixels in each row.
    """

    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    side: int


def odd_images(*, n: int | None = None, seed: int) -> dict[str, np.ndarray]:
    """Make seven colour images by name, (64, 64, 3) between 0 and 1: four digits, three others.

    The digits are scikit-learn's, enlarged and tinted; a cross, a face and a texture are
    computed. ``seed`` chooses digits and texture; with ``n``, only the first ``n`` are kept.
    """
    rng = np.random.default_rng(seed)
    images = digits(seed=seed)
    row, column = np.mgrid[-1:1:64j, -1:1:64j]

    def tint(grey: np.ndarray, colour: tuple[float, float, float]) -> np.ndarray:
        return grey[..., None] * np.array(colour)

    odd = {}
    for label, colour in (
        (2, (1.0, 0.85, 0.5)),
        (3, (0.6, 0.9, 1.0)),
        (7, (0.7, 1.0, 0.7)),
        (9, (1.0, 0.75, 0.8)),
    ):
        first = images.x_test[images.y_test == label][0].reshape(8, 8)
        odd[f"a {label}"] = tint(np.kron(first, np.ones((8, 8))), colour)
    cross = (np.minimum(np.abs(row - column), np.abs(row + column)) < 0.25).astype(
        float
    )
    odd["a cross"] = tint(cross, (0.9, 0.9, 0.4))
    face = 0.75 * ((row / 0.95) ** 2 + (column / 0.75) ** 2 < 1)
    for centre in (-0.32, 0.32):
        face[(row + 0.25) ** 2 + (column - centre) ** 2 < 0.03] = 0.1
    mouth = (np.abs(np.hypot(row - 0.15, column) - 0.4) < 0.08) & (row > 0.3)
    face[mouth] = 0.15
    odd["a face"] = tint(face, (1.0, 0.8, 0.65))
    waves = sum(
        np.sin(
            rng.uniform(4, 14) * (np.cos(a) * row + np.sin(a) * column)
            + rng.uniform(0, 6)
        )
        for a in rng.uniform(0, np.pi, 6)
    )
    odd["a texture"] = tint((waves - waves.min()) / np.ptp(waves), (0.8, 0.7, 1.0))
    return dict(list(odd.items())[:n])


def digits(*, n: int | None = None, seed: int) -> Images:
    """Load the 1,797 handwritten digits that scikit-learn contains, of 8 × 8 pixels.

    500 are for testing, the rest for training.
    """
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(pixels))
    x, y = (pixels[order] / 16).astype(np.float32), labels[order].astype(np.int64)
    return Images(x[500:][:n], y[500:][:n], x[:500], y[:500], 8)


def mnist(
    *, n: int | None = None, seed: int, folder: str | Path | None = None
) -> Images:
    """Load MNIST: 60,000 training digits, shuffled, and 10,000 test digits of 28 × 28 pixels.

    The original files are read from ``folder`` (or the folder that KNOWN_UNKNOWNS_DATA
    names), or else downloaded once into a cache. Their checksums are verified in both cases.

    Raises:
        course.idx.DataUnavailable: neither is possible; the message says what to do.
    """
    x, y = idx.images("mnist", idx.FILES, folder)
    order = np.random.default_rng(seed).permutation(len(x))[:n]
    return Images(x[order], y[order], *idx.images("mnist", idx.TEST_FILES, folder), 28)


def fashion_mnist(
    *, n: int | None = None, seed: int, folder: str | Path | None = None
) -> Classification:
    """Load Fashion-MNIST's 10,000 *test* images, shuffled: OOD inputs for a digit classifier.

    Read from files or downloaded, as in ``mnist``.

    Raises:
        course.idx.DataUnavailable: neither is possible; the message says what to do.
    """
    x, y = idx.images("fashion-mnist", idx.TEST_FILES, folder)
    order = np.random.default_rng(seed).permutation(len(x))[:n]
    return Classification(x[order], y[order])
