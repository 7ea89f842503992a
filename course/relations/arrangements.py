"""Relations within arrays of the right shape: orders, axes, differences without a name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from course.relations.evidence import Candidate, Pair, orders

EVERY = "on every input"
UNNAMED = 11  # the rank of an offset and of a factor without a name


def arrangements(pairs: Sequence[Pair]) -> Iterator[Candidate]:
    """Yield relations between the entries of arrays of the right shape."""
    ranks = {pair.want.ndim for pair in pairs}
    if 0 in ranks:
        return
    named = range(ranks.pop()) if len(ranks) == 1 else (0, -1)
    for axis in named:
        along = f"axis {axis}".replace("-", "−")

        def same(function):
            return lambda want, i, axis=axis: function(want, axis)

        for text, function in (
            ("in reverse order along", lambda w, axis: np.flip(w, axis)),
            ("sorted along", lambda w, axis: np.sort(w, axis)),
            ("moved by one place along", lambda w, axis: np.roll(w, 1, axis)),
            ("moved back by one place along", lambda w, axis: np.roll(w, -1, axis)),
        ):
            yield Candidate(
                "order",
                f"{{keys}} {{is}} {{exactly}}what is expected, {text} {along}, {EVERY}.",
                same(function),
                rearranged=True,
            )
        for text, function in (
            ("the cumulative sum of what is expected along", _cumulated),
            ("the cumulative sum, from the end, of what is expected along", _from_end),
            ("the first entry of what is expected, repeated along", _first),
            ("the last entry of what is expected, repeated along", _last),
            ("the mean of what is expected, repeated along", _mean),
            ("the sum of what is expected, repeated along", _sum),
            ("what is expected less its mean along", lambda w, k: w - _mean(w, k)),
            ("what is expected divided by its sum along", lambda w, k: w / _sum(w, k)),
        ):
            yield Candidate(
                "axis",
                f"{{keys}} {{is}} {{exactly}}{text} {along}, {EVERY}.",
                same(function),
            )
    if all(p.want.ndim > 1 and p.want.shape[-1] == p.want.shape[-2] for p in pairs):
        for sign, text in ((1, ""), (-1, "the negative of ")):
            yield Candidate(
                "order",
                f"{{keys}} {{is}} {{exactly}}{text}what is expected, transposed, {EVERY}.",
                lambda want, i, sign=sign: sign * np.swapaxes(want, -1, -2),
                rearranged=True,
            )
    for axis in named:
        moved = _permutation(pairs, axis)
        if moved is not None:
            along = f"axis {axis}".replace("-", "−")
            lengths = [np.arange(pair.want.shape[axis]) for pair in pairs]
            yield Candidate(
                "order",
                f"{{keys}} {{is}} {{exactly}}what is expected in another order along {along}, {EVERY}.",
                lambda want, i, axis=axis, moved=moved: np.take(want, moved[i], axis),
                cost=sum(map(orders, lengths)),
                rearranged=True,
            )


def unnamed(pairs: Sequence[Pair]) -> Iterator[Candidate]:
    """Yield differences and factors that are the same everywhere, or within a case or a row."""
    differences = [pair.got - pair.want for pair in pairs]
    with np.errstate(all="ignore"):
        ratios = [
            np.where(np.abs(pair.want) > pair.tol, pair.got / pair.want, np.nan)
            for pair in pairs
        ]
    if any(np.all(np.isnan(ratio)) for ratio in ratios):
        ratios = None
    constant = _middle(np.concatenate([d.ravel() for d in differences]))
    yield Candidate(
        "offset",
        f"The difference between {{keys}} and what is expected is {{exactly}}the same number everywhere, {EVERY}.",
        lambda want, i: want + constant,
        fitted=1,
        rank=UNNAMED,
    )
    if ratios is not None:
        ratio = np.nanmedian(np.concatenate([r.ravel() for r in ratios]))
        yield Candidate(
            "factor",
            f"{{keys}} {{is}} {{exactly}}what is expected times one number, the same {EVERY}.",
            lambda want, i: want * ratio,
            fitted=1,
            rank=UNNAMED,
        )
    if all(pair.want.size > 1 for pair in pairs):
        middles = [_middle(d) for d in differences]
        yield Candidate(
            "offset",
            "Within each input, the difference between {keys} and what is expected is {exactly}the same number.",
            lambda want, i: want + middles[i],
            fitted=len(pairs),
        )
        if ratios is not None:
            each = [np.nanmedian(ratio) for ratio in ratios]
            yield Candidate(
                "factor",
                "Within each input, {keys} {is} {exactly}what is expected times one number.",
                lambda want, i: want * each[i],
                fitted=len(pairs),
            )
    ranks = {pair.want.ndim for pair in pairs}
    if len(ranks) > 1 or max(ranks) < 2:
        return
    for axis in range(max(ranks)):
        if any(pair.want.shape[axis] < 2 for pair in pairs):
            continue
        rows = sum(pair.want.size // pair.want.shape[axis] for pair in pairs)
        moved = [
            (d.max(axis, keepdims=True) + d.min(axis, keepdims=True)) / 2
            for d in differences
        ]
        yield Candidate(
            "offset",
            f"Along axis {axis}, the difference between {{keys}} and what is expected is {{exactly}}constant, {EVERY}.",
            lambda want, i, moved=moved: want + moved[i],
            fitted=rows,
        )
        if ratios is None or any(np.any(np.all(np.isnan(r), axis)) for r in ratios):
            continue
        scaled = [np.nanmedian(ratio, axis, keepdims=True) for ratio in ratios]
        yield Candidate(
            "factor",
            f"Along axis {axis}, the ratio of {{keys}} to what is expected is {{exactly}}constant, {EVERY}.",
            lambda want, i, scaled=scaled: want * scaled[i],
            fitted=rows,
        )


def _permutation(pairs: Sequence[Pair], axis: int) -> list[np.ndarray] | None:
    """Find the order along an axis in which each slice is the nearest of what is expected."""
    orders = []
    for pair in pairs:
        got, want = (np.moveaxis(a, axis, 0) for a in (pair.got, pair.want))
        if got.shape != want.shape or len(want) > 200:
            return None
        gaps = np.abs(got[:, None] - want[None]).reshape(len(want), len(want), -1)
        order = gaps.sum(-1).argmin(1)
        if len(set(order.tolist())) != len(order):
            return None
        orders.append(order)
    return orders


def _middle(values: np.ndarray) -> float:
    return float((np.max(values) + np.min(values)) / 2)


def _cumulated(want: np.ndarray, axis: int) -> np.ndarray:
    return np.cumsum(want, axis)


def _from_end(want: np.ndarray, axis: int) -> np.ndarray:
    return np.flip(np.cumsum(np.flip(want, axis), axis), axis)


def _mean(want: np.ndarray, axis: int) -> np.ndarray:
    return np.broadcast_to(want.mean(axis, keepdims=True), want.shape)


def _sum(want: np.ndarray, axis: int) -> np.ndarray:
    return np.broadcast_to(want.sum(axis, keepdims=True), want.shape)


def _first(want: np.ndarray, axis: int) -> np.ndarray:
    return np.broadcast_to(np.take(want, [0], axis), want.shape)


def _last(want: np.ndarray, axis: int) -> np.ndarray:
    return np.broadcast_to(np.take(want, [-1], axis), want.shape)
