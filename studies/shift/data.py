"""Five classifications and three regressions, and shifts of their test inputs."""

from __future__ import annotations

import math
import zlib
from typing import NamedTuple

import numpy as np
import scipy.ndimage
from sklearn import datasets

from course import idx
from studies.uci.data import rows
from studies.which_method.problems import Problem, split

SEVERITIES = (1, 2, 3, 4, 5)
# Of images, the networks see the means of blocks with this many pixels a side.
IMAGES = {"digits": 1, "MNIST": 4, "Fashion-MNIST": 4}
# What one step of severity adds.
ANGLE = 9.0  # degrees
PIXEL_NOISE = 0.1  # standard deviation, where pixels are between 0 and 1
HIDDEN_SIDE = 1 / 8  # of an image's side
NOISE = 0.15  # standard deviation, for standardised inputs
MISSING = 0.1  # probability that a feature is replaced with its mean
TILT = (
    0.25  # for covariate shift: rows are drawn in proportion to exp(tilt · projection)
)


class Source(NamedTuple):
    """The numbers of rows for training, validation and testing; classes, if any."""

    train: int
    validation: int
    test: int
    classes: int | None = None


SETS = {
    "digits": Source(600, 300, 300, 10),
    "MNIST": Source(1000, 500, 500, 10),
    "Fashion-MNIST": Source(1000, 500, 500, 10),
    "breast cancer": Source(300, 100, 169, 2),
    "wine": Source(80, 49, 49, 3),
    "diabetes": Source(242, 100, 100),
    "concrete": Source(500, 230, 200),
    "Friedman": Source(300, 200, 200),
}
RESAMPLED = tuple(name for name in SETS if name != "Friedman")  # whose rows seeds share


def random(name: str, seed: int, *numbers: int) -> np.random.Generator:
    """Return a generator that depends on the set, the seed and further numbers."""
    return np.random.default_rng([zlib.crc32(name.encode()), seed, *numbers])


def load(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Load inputs (N, D) and targets (N,), in their original units and order.

    Only the rows of ``Friedman`` depend on the seed: it is synthetic. Those of MNIST and
    Fashion-MNIST are their 10,000 test images.

    Raises:
        course.idx.DataUnavailable: the files of a set are neither here nor online.
    """
    if name.lower() in idx.PUBLISHED:
        return idx.images(name.lower(), idx.TEST_FILES, None)
    if name == "concrete":
        table = rows(name)
        return table[:, :-1], table[:, -1]
    if name == "Friedman":
        n = sum(SETS[name][:3])
        return datasets.make_friedman1(n, noise=1.0, random_state=seed)
    x, y = getattr(datasets, f"load_{name.replace(' ', '_')}")(return_X_y=True)
    return (x / 16 if name in IMAGES else x), y


def problem_of(name: str, seed: int) -> Problem:
    """Draw a split of a set: inputs standardised, but for images; so are targets.

    Images are whole; ``seen`` reduces them.

    Raises:
        KeyError: there is no such set.
        course.idx.DataUnavailable: its files are neither here nor online.
    """
    source = SETS[name]
    x, y = load(name, seed)
    order = random(name, seed).permutation(len(x))[: sum(source[:3])]
    problem = split(
        *(x[order], y[order], None, source.classes or 2),
        train=source.train,
        validation=source.validation,
        standardise=name not in IMAGES,
    )
    if source.classes:
        return problem
    mean, unit = problem.y.mean(), problem.y.std()
    y, y_val, y_test = (
        (part - mean) / unit for part in (problem.y, problem.y_val, problem.y_test)
    )
    return problem._replace(y=y, y_val=y_val, y_test=y_test, unit=float(unit))


def images_of(x: np.ndarray) -> np.ndarray:
    """Reshape pixels (N, S²) to images (N, S, S)."""
    side = math.isqrt(x.shape[1])
    return x.reshape(-1, side, side)


def averaged(name: str, x: np.ndarray) -> np.ndarray:
    """Average the pixels of each block of an image; return the inputs of a table as they are."""
    if name not in IMAGES:
        return x
    images, block = images_of(x), IMAGES[name]
    side = images.shape[1] // block
    blocks = images.reshape(-1, side, block, side, block)
    return blocks.mean((2, 4)).reshape(len(x), -1)


def seen(name: str, problem: Problem) -> Problem:
    """Return a split with the inputs that the networks see."""
    parts = {
        part: averaged(name, getattr(problem, part))
        for part in ("x", "x_val", "x_test")
    }
    return problem._replace(**parts)


# --- Shifts: (problem, severity, generator) → inputs and the rows whose targets they have


def rotated(problem: Problem, severity: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Rotate images anticlockwise, with linear interpolation."""
    images = images_of(problem.x_test)
    turned = scipy.ndimage.rotate(
        images, ANGLE * severity, axes=(2, 1), reshape=False, order=1
    )
    return turned.reshape(len(images), -1), np.arange(len(images))


def noisy_pixels(problem: Problem, severity: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Add Gaussian noise to pixels, which are then limited to the range from 0 to 1."""
    noise = PIXEL_NOISE * severity * rng.normal(size=problem.x_test.shape)
    return np.clip(problem.x_test + noise, 0, 1), np.arange(len(noise))


def occluded(problem: Problem, severity: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Set a square to 0, at a random place in each image; its sides grow with severity."""
    images = images_of(problem.x_test).copy()
    side = images.shape[1]
    hidden = round(HIDDEN_SIDE * severity * side)
    corners = rng.integers(0, side - hidden + 1, (len(images), 2))
    for image, (top, left) in zip(images, corners, strict=True):
        image[top : top + hidden, left : left + hidden] = 0
    return images.reshape(len(images), -1), np.arange(len(images))


def noisy(problem: Problem, severity: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Add Gaussian noise to standardised inputs."""
    noise = NOISE * severity * rng.normal(size=problem.x_test.shape)
    return problem.x_test + noise, np.arange(len(noise))


def missing(problem: Problem, severity: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Replace random features of each row with their means in the training data."""
    lost = rng.random(problem.x_test.shape) < MISSING * severity
    return np.where(lost, 0.0, problem.x_test), np.arange(len(lost))


def covariate(problem: Problem, severity: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Draw test rows with replacement, in proportion to exp(tilt · projection).

    The projection is that onto the first principal component of the training inputs, with
    standard deviation 1: p(x) changes along a known direction, p(y | x) does not.
    """
    direction = np.linalg.svd(problem.x, full_matrices=False)[2][0]
    direction *= np.sign(direction[np.abs(direction).argmax()])
    scale = (problem.x @ direction).std()
    logits = TILT * severity * (problem.x_test @ direction) / scale
    weights = np.exp(logits - logits.max())
    drawn = rng.choice(len(weights), len(weights), p=weights / weights.sum())
    return problem.x_test[drawn], drawn


OF_IMAGES = {"rotation": rotated, "noise": noisy_pixels, "occlusion": occluded}
OF_TABLES = {"covariate shift": covariate, "noise": noisy, "missing": missing}


class Shifted(NamedTuple):
    """Test inputs (N, D) and targets (N,) at a severity; severity 0 is unshifted."""

    shift: str
    severity: int
    x: np.ndarray
    y: np.ndarray


def shifted(name: str, seed: int, problem: Problem) -> list[Shifted]:
    """Return the test data as they are, and with each shift at each severity.

    Whole images are shifted; what is returned is what the networks see of them.
    """
    found = [Shifted("", 0, averaged(name, problem.x_test), problem.y_test)]
    shifts = OF_IMAGES if name in IMAGES else OF_TABLES
    for number, (title, shift) in enumerate(shifts.items()):
        for severity in SEVERITIES:
            rng = random(name, seed, 1 + number, severity)
            x, own = shift(problem, severity, rng)
            x = averaged(name, x)
            found.append(Shifted(title, severity, x, problem.y_test[own]))
    return found
