"""How much evidence there is that a relation between two sets of numbers is no coincidence.

The relations are tried in a fixed order, the simplest first. Suppose that a wrong entry is
spread evenly over an interval of at least the typical error around the right value. Then it
satisfies a relation by chance with a probability of at most 2 · tolerance / typical error, and
minus the logarithm of this is its evidence in bits. Entries that are right already, or that
repeat another entry, are no evidence; nor are as many entries as a relation has numbers that
were fitted. The k-th relation is accepted from 20 + 1 + 2 log₂ k bits on. The chances of all
relations then sum to less than 2⁻²⁰, one in a million (the sum of 1/(2k²) is 0.82).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from course.task import Case

BITS = 20
ROUNDING = 1e-6  # relative, of an answer that computes in single precision
COARSE = 1e-3  # from this relative tolerance on, nothing is said to be exact

Predict = Callable[[np.ndarray, int], np.ndarray]


@dataclass(frozen=True)
class Pair:
    """One value of one case: what came, what is expected, and its tolerance.

    ``integers`` says that it consists of labels or indices.
    """

    got: np.ndarray
    want: np.ndarray
    tol: np.ndarray
    case: Case
    reduced: bool = False  # what came had another shape
    integers: bool = False

    @cached_property
    def wrong(self) -> np.ndarray:
        """Where it is not within tolerance; not-a-number is wrong.

        If the shape is another one, all entries are wrong.
        """
        if self.reduced or self.got.shape != self.want.shape:
            return np.ones(self.got.shape, bool)
        return ~self.near(self.got)

    def near(self, got: np.ndarray) -> np.ndarray:
        """Where values are within tolerance of the expected ones."""
        with np.errstate(invalid="ignore"):
            return np.abs(got - self.want) <= self.tol


@dataclass(frozen=True)
class Candidate:
    """A relation that may hold.

    Args:
        kind: such as ``factor``.
        text: a sentence with ``{keys}``, ``{is}`` and ``{exactly}``.
        predict: computes what would come from what is expected, for the i-th pair.
        fitted: how many numbers of it were fitted to the answer's.
        cost: the bits of a choice that was fitted, such as that of an order.
        rearranged: whether the predicted values are the expected ones in another order.
        rank: how simple it is, from 1, if that is not its place in the order of trial: of two
            relations that hold, the one that has a name is said.
    """

    kind: str
    text: str
    predict: Predict
    fitted: int = 0
    cost: float = 0.0
    rearranged: bool = False
    rank: int = 0


def first(
    candidates: Iterable[Candidate], pairs: Sequence[Pair]
) -> tuple[Candidate, bool] | None:
    """Return the first relation with enough evidence, and whether it is exact.

    It is exact if those entries that are known to three digits are evidence enough.
    """
    size = _typical(pairs)
    if size is None:
        return None
    for number, candidate in enumerate(candidates, start=1):
        found = _entries(pairs, candidate, size)
        if found is None:
            continue
        needed = BITS + 1 + 2 * math.log2(candidate.rank or number)
        if evidence(found, candidate, pairs) >= needed:
            precise = found[found[:, 2] <= COARSE]
            return candidate, evidence(precise, candidate, pairs) >= needed
    return None


def evidence(
    entries: np.ndarray, candidate: Candidate, pairs: Sequence[Pair] = ()
) -> float:
    """Add up the bits of distinct wrong entries, less those that the fit has used up."""
    _, distinct = np.unique(np.round(entries[:, :2], 6), axis=0, return_index=True)
    chances = np.clip(2 * entries[distinct, 2], 2.0**-BITS, 1)
    bits = np.sort(-np.log2(chances))[::-1]
    total = float(bits[candidate.fitted :].sum())
    if candidate.rearranged and any(_repeats(pair.want) for pair in pairs):
        # There are only so many orders of these values.
        total = min(total, sum(orders(pair.want) for pair in pairs))
    return total - candidate.cost


def _typical(pairs: Sequence[Pair]) -> float | None:
    """Return the typical error; where shapes differ, the spread of the right values."""
    if any(not np.all(np.isfinite(pair.got)) for pair in pairs):
        return None
    if all(p.got.shape == p.want.shape and not p.reduced for p in pairs):
        wrong = [(pair.got - pair.want)[pair.wrong] for pair in pairs]
    else:
        wrong = [pair.want.ravel() for pair in pairs]
        mean = np.mean(np.concatenate(wrong))
        if sum(map(len, wrong)) > 1:
            wrong = [values - mean for values in wrong]
    flat = np.concatenate(wrong)
    size = float(np.sqrt(np.mean(flat**2))) if len(flat) else 0.0
    return size if 0 < size < math.inf else None


def _entries(
    pairs: Sequence[Pair], candidate: Candidate, size: float
) -> np.ndarray | None:
    """Return what came, its prediction and its tolerance, relative to the typical error.

    There is a row for every wrong entry. ``None`` if the relation does not hold.
    """
    rows = []
    with np.errstate(all="ignore"):
        for index, pair in enumerate(pairs):
            value = candidate.predict(pair.want, index)
            if np.shape(value) != pair.got.shape or not np.all(np.isfinite(value)):
                return None
            tol = ROUNDING * np.abs(value)
            for at in (pair.want - pair.tol, pair.want + pair.tol):
                moved = np.abs(candidate.predict(at, index) - value)
                tol = np.fmax(tol, np.where(np.isfinite(moved), moved, 0))
            tol = tol + ROUNDING * np.abs(value)
            if not np.all(np.abs(pair.got - value) <= tol):
                return None
            keep = pair.wrong
            # Where an input's errors are smaller than typical, its tolerances weigh more.
            own = _typical([pair])
            weight = 1.0 if own is None else max(1.0, size / own)
            rows.append(
                np.stack([pair.got[keep], value[keep], weight * tol[keep]], axis=1)
            )
    return np.concatenate(rows) / size


def orders(values: np.ndarray) -> float:
    """Return log₂ of the number of different orders of these values."""
    counts = np.unique(np.round(values, 9), return_counts=True)[1]
    ways = math.lgamma(values.size + 1) - sum(math.lgamma(n + 1) for n in counts)
    return ways / math.log(2)


def _repeats(values: np.ndarray) -> bool:
    return 2 * len(np.unique(np.round(values, 9))) <= values.size
