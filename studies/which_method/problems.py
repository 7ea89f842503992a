"""Four problems. A seed determines a problem's data, its split and its OOD inputs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_diabetes, load_digits

from course import data

MAP_X, MAP_Y, MAP_SIDE = (-4.0, 5.0), (-4.25, 4.75), 46


class Problem(NamedTuple):
    """Inputs (N, D) and targets (N,) for training, validation and testing.

    ``out`` has OOD inputs, or is ``None``. ``outputs`` is the number of a network's outputs: K
    for K classes, or two for the mean and the spread of a regression. A regression's targets
    are standardised; ``unit`` is their original standard deviation. Inputs may be standardised
    as well: ``mean`` and ``std`` undo that.
    """

    x: np.ndarray
    y: np.ndarray
    x_val: np.ndarray
    y_val: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    out: np.ndarray | None
    outputs: int
    mean: np.ndarray
    std: np.ndarray
    unit: float | None = None

    @property
    def regression(self) -> bool:
        """Whether this is a regression."""
        return self.unit is not None


def ring(
    n: int, *, centre: tuple[float, float], low: float, high: float, seed: int
) -> np.ndarray:
    """Draw points of the plane, uniform in angle and in radius, (n, 2)."""
    rng = np.random.default_rng([seed, 1])
    angle, radius = rng.uniform(0, 2 * np.pi, n), rng.uniform(low, high, n)
    return np.array(centre) + radius[:, None] * np.c_[np.cos(angle), np.sin(angle)]


def moons(seed: int) -> Problem:
    """Draw two half-moons with noise 0.25, and OOD inputs on a ring of radius 3 to 4."""
    drawn = data.moons(n=1300, seed=seed)
    out = ring(500, centre=(0.5, 0.25), low=3.0, high=4.0, seed=seed)
    return split(*drawn, out, 2, train=200, validation=100)


def blobs(seed: int) -> Problem:
    """Draw two overlapping round blobs, and OOD inputs on a ring around them."""
    drawn = data.blobs(n=1300, seed=seed)
    out = ring(500, centre=(0.0, 0.0), low=10.0, high=12.0, seed=seed)
    return split(*drawn, out, 2, train=200, validation=100)


def digits(seed: int) -> Problem:
    """Load the digits 0 to 7; all 8s and 9s are out of distribution."""
    pixels, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(pixels))
    x, y = (pixels[order] / 16), labels[order]
    known = y < 8
    drawn = x[known], y[known], x[~known], 8
    return split(*drawn, train=635, validation=300, standardise=False)


def diabetes(seed: int) -> Problem:
    """Load the data of 442 patients: disease progression after a year, ten measurements."""
    x, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(x))
    problem = split(x[order], y[order], None, 2, train=242, validation=100)
    mean, unit = problem.y.mean(), problem.y.std()
    scaled = ((y - mean) / unit for y in (problem.y, problem.y_val, problem.y_test))
    y, y_val, y_test = scaled
    return problem._replace(y=y, y_val=y_val, y_test=y_test, unit=float(unit))


def map_grid(problem: Problem) -> np.ndarray:
    """Make a grid around the moons, standardised as the problem is: (SIDE², 2), row by row."""
    across = np.linspace(*MAP_X, MAP_SIDE), np.linspace(*MAP_Y, MAP_SIDE)
    points = np.stack(np.meshgrid(*across), -1).reshape(-1, 2)
    return (points - problem.mean) / problem.std


PROBLEMS = {
    "moons": moons,
    "blobs": blobs,
    "digits": digits,
    "diabetes": diabetes,
}


def split(
    x: np.ndarray,
    y: np.ndarray,
    out: np.ndarray | None,
    outputs: int,
    *,
    train: int,
    validation: int,
    standardise: bool = True,
) -> Problem:
    """Split the rows into training, validation and test data, in this order.

    If ``standardise``, scale all inputs by the mean and deviation of the training rows.
    """
    mean, std = np.zeros(x.shape[1]), np.ones(x.shape[1])
    if standardise:
        mean, std = x[:train].mean(0), x[:train].std(0)
        x = (x - mean) / std
        out = None if out is None else (out - mean) / std
    end = train + validation
    parts = (part for rows in (x, y) for part in np.split(rows, [train, end]))
    x, x_val, x_test, y, y_val, y_test = parts
    return Problem(x, y, x_val, y_val, x_test, y_test, out, outputs, mean, std)
