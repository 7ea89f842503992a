"""Relations between arrays of different shapes: a missing mean, a broadcast, a transposed one.

Each reduces what came to the expected shape, or the reverse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from course.relations.evidence import Candidate, Pair

EVERY = "on every input"
Reduce = Callable[[np.ndarray], np.ndarray]


def from_want(pairs: Sequence[Pair]) -> Iterator[Candidate]:
    """Yield relations that compute what came from what is expected."""
    yield Candidate(
        "shape",
        f"{{keys}} {{is}} {{exactly}}what is expected, transposed, {EVERY}.",
        lambda want, i: want.T,
    )
    yield Candidate(
        "shape",
        f"{{keys}} {{has}} {{exactly}}the expected values in another shape, {EVERY}.",
        lambda want, i: (
            want.reshape(pairs[i].got.shape) if want.size == pairs[i].got.size else want
        ),
    )
    rank = min(pair.want.ndim for pair in pairs)
    if rank > 1:
        yield Candidate(
            "shape",
            f"{{keys}} {{is}} {{exactly}}the diagonal of what is expected, {EVERY}.",
            lambda want, i: np.diagonal(want),
        )
    for axis in range(rank):
        for text, place in (("first", 0), ("last", -1)):
            yield Candidate(
                "shape",
                f"{{keys}} {{has}} {{exactly}}the {text} entry of what is expected along axis {axis} alone, {EVERY}.",
                lambda want, i, place=place, axis=axis: np.take(want, place, axis),
            )
    for axis in [None] * (rank != 1) + [*range(rank)]:
        over = "over all entries" if axis is None else f"over axis {axis}"
        for text, function in (
            ("the sum of what is expected", np.sum),
            ("the mean of what is expected", np.mean),
            ("the largest of what is expected", np.max),
        ):
            yield Candidate(
                "shape",
                f"{{keys}} {{is}} {{exactly}}{text} {over}, {EVERY}.",
                lambda want, i, f=function, axis=axis: np.asarray(f(want, axis=axis)),
            )
    yield Candidate(
        "shape",
        f"{{keys}} {{has}} {{exactly}}the expected values, repeated to another shape, {EVERY}.",
        lambda want, i: _repeated(want, pairs[i].got.shape),
    )


def _repeated(want: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    try:
        return np.broadcast_to(want, shape)
    except ValueError:
        return want


def to_want(pairs: Sequence[Pair]) -> Iterator[tuple[str, Reduce]]:
    """Yield sentences with functions that reduce what came to what is expected."""
    rank = min(pair.got.ndim for pair in pairs)
    if all(
        pair.got.ndim == 2 and pair.got.shape[0] == pair.got.shape[1] for pair in pairs
    ):
        yield (
            "The diagonal of {keys} is {exactly}what is expected, on every input: "
            "the shapes (N, 1) and (N,) give (N, N).",
            np.diagonal,
        )
    for axis in [None] * (rank != 1) + [*range(rank)]:
        over = "over all entries" if axis is None else f"over axis {axis}"
        for text, function in (("mean", np.mean), ("sum", np.sum)):
            yield (
                f"The {text} of {{keys}} {over} is {{exactly}}what is expected, {EVERY}.",
                lambda got, f=function, axis=axis: np.asarray(f(got, axis=axis)),
            )
        if axis is None:
            continue
        for text, place in (("first", 0), ("last", -1)):
            yield (
                f"The {text} entry of {{keys}} along axis {axis} is {{exactly}}what is expected, {EVERY}.",
                lambda got, place=place, axis=axis: np.take(got, place, axis),
            )


def reduced(pairs: Sequence[Pair], function: Reduce) -> list[Pair] | None:
    """Return the pairs with what came reduced; ``None`` if the shapes are not the expected."""
    found = []
    for pair in pairs:
        with np.errstate(all="ignore"):
            try:
                got = np.asarray(function(pair.got))
            except (ValueError, IndexError):
                return None
        if got.shape != pair.want.shape or not np.all(np.isfinite(got)):
            return None
        found.append(Pair(got, pair.want, pair.tol, pair.case, reduced=True))
    return found
