"""Where an answer is wrong, if it is right elsewhere, and what those entries have in common.

A condition is named if it holds at all wrong entries and at no right one, and if as many
entries, chosen by chance, would satisfy one of the conditions in less than one case of 1,000.
Values that end at one number, as clamped ones do, are named with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from course.relations.evidence import ROUNDING, Pair
from course.relations.names import arrays

BITS = 10  # 1 of 1,000
FEW = (
    0.75  # if a larger share of the entries is wrong, those that are right say nothing
)


def where(pairs: Sequence[Pair]) -> tuple[str, str] | None:
    """Return a sentence about the wrong entries, and its kind; ``None`` if most are wrong."""
    if any(pair.got.shape != pair.want.shape for pair in pairs):
        return None
    wrong = np.concatenate([pair.wrong.ravel() for pair in pairs])
    count, of = int(wrong.sum()), len(wrong)
    if count in (0, of):
        return None
    clamped = _clamped(pairs, f"in {count} of {of} entries")
    if clamped is not None:
        return clamped, "condition"
    ways = _ways(pairs)
    for number, (text, masks, cost) in enumerate(_conditions(pairs), start=1):
        held = [
            np.broadcast_to(mask, pair.want.shape)
            for mask, pair in zip(masks, pairs, strict=True)
        ]
        if not np.array_equal(np.concatenate([mask.ravel() for mask in held]), wrong):
            continue
        if ways >= BITS + 1 + 2 * math.log2(number) + cost:
            value = "not finite" if _never_finite(pairs) else "wrong"
            return (
                f"{{keys}} {{is}} {value} exactly {text}, in {count} of {of} entries, and "
                "right elsewhere.",
                "condition",
            )
    whole = sum(not np.any(pair.wrong) for pair in pairs)
    if whole > 0:
        return f"{{keys}} {{is}} right on {whole} of {len(pairs)} inputs.", "inputs"
    if count > FEW * of:
        return None
    return f"{{keys}} {{is}} right in {of - count} of {of} entries.", "entries"


def _clamped(pairs: Sequence[Pair], entries: str) -> str | None:
    """Say that values end at a number other than 0, which at least two wrong entries are.

    ``entries`` says in how many.
    """
    got = np.concatenate([pair.got[pair.wrong] for pair in pairs])
    wanted = np.concatenate([pair.want[pair.wrong] for pair in pairs])
    right = np.concatenate([pair.want[~pair.wrong] for pair in pairs])
    end, near = got[0], ROUNDING * abs(got[0])
    if not near or not np.all(np.abs(got - end) <= near):
        return None
    if len(np.unique(np.round(wanted, 6))) < 2 or any(p.integers for p in pairs):
        return None
    for word, sign in (("smaller", 1), ("larger", -1)):
        if np.all(sign * wanted < sign * end) and np.all(sign * (right - end) >= -near):
            return (
                f"{{keys}} {{is}} {end:.5g}{_power(end)} wherever what is expected is {word}, {entries}, "
                "and right elsewhere, as if something were clamped."
            ).replace("} -", "} −")
    return None


def _power(end: float) -> str:
    """Say of which power of ten a number is the logarithm, if of one."""
    exponent = round(abs(end) / math.log(10))
    if exponent < 3 or abs(abs(end) - exponent * math.log(10)) > 1e-5 * abs(end):
        return ""
    return f" (which is {'−' if end > 0 else ''}log 1e−{exponent})"


def _ways(pairs: Sequence[Pair]) -> float:
    """Return log₂ of the number of ways to choose as many entries as are wrong.

    Whole rows, or whole inputs, that are right or wrong together count as one entry.
    """
    masks = [pair.wrong for pair in pairs]
    axis = 0
    while axis < min(mask.ndim for mask in masks):
        if all(np.array_equal(mask.any(axis), mask.all(axis)) for mask in masks):
            masks = [mask.any(axis) for mask in masks]
        else:
            axis += 1
    wrong = np.concatenate([mask.ravel() for mask in masks])
    count, of = int(wrong.sum()), len(wrong)
    ways = math.lgamma(of + 1) - math.lgamma(count + 1) - math.lgamma(of - count + 1)
    return ways / math.log(2)


def _never_finite(pairs: Sequence[Pair]) -> bool:
    return not any(np.any(np.isfinite(pair.got[pair.wrong])) for pair in pairs)


def _conditions(
    pairs: Sequence[Pair],
) -> Iterator[tuple[str, list[np.ndarray], float]]:
    """Yield conditions with their masks, and the bits of a number that was fitted."""
    wants = [pair.want for pair in pairs]
    yield from _signs("what is expected", wants)
    yield from _places(wants)
    named = _named(pairs)
    for name, values in named.items():
        yield from _signs(f"`{name}`", values)
    for i, (name, values) in enumerate(named.items()):
        for other in list(named)[i + 1 :]:
            for word, above in (("larger", np.greater), ("smaller", np.less)):
                masks = [above(a, b) for a, b in zip(values, named[other], strict=True)]
                yield f"where `{name}` is {word} than `{other}`", masks, 0.0
    everything = {"what is expected": wants} | {f"`{n}`": v for n, v in named.items()}
    if any(pair.integers for pair in pairs):
        del everything["what is expected"]
    for name, values in everything.items():
        yield from _large(pairs, name, values)


def _signs(
    name: str, values: list[np.ndarray]
) -> Iterator[tuple[str, list[np.ndarray], float]]:
    for text, mask in (
        ("negative", lambda a: a < 0),
        ("positive", lambda a: a > 0),
        ("0", lambda a: a == 0),
        ("not 0", lambda a: a != 0),
        ("larger than 1", lambda a: a > 1),
        ("1", lambda a: a == 1),
    ):
        yield f"where {name} is {text}", [mask(a) for a in values], 0.0


def _places(
    wants: list[np.ndarray],
) -> Iterator[tuple[str, list[np.ndarray], float]]:
    rank = min(want.ndim for want in wants)
    if rank == 0 or max(want.ndim for want in wants) != rank:
        return
    if rank > 1 and all(want.shape[-1] == want.shape[-2] for want in wants):
        diagonal = [np.eye(want.shape[-1], dtype=bool) for want in wants]
        yield "on the diagonal", diagonal, 0.0
        yield "off the diagonal", [~mask for mask in diagonal], 0.0
        lower = [np.tri(want.shape[-1], k=-1, dtype=bool) for want in wants]
        yield "below the diagonal", lower, 0.0
        yield "above the diagonal", [mask.T for mask in lower], 0.0
    for axis in range(rank):
        for text, place in (("first", 0), ("last", -1)):
            masks = []
            for want in wants:
                index = np.arange(want.shape[axis]) == place % max(want.shape[axis], 1)
                masks.append(np.expand_dims(index, tuple(range(1, rank - axis))))
            yield f"in the {text} place along axis {axis}", masks, 0.0
            others = [~mask for mask in masks]
            yield f"in all but the {text} place along axis {axis}", others, 0.0
        for text, best in (("largest", np.max), ("smallest", np.min)):
            if all(want.shape[axis] > 0 for want in wants):
                masks = [want == best(want, axis, keepdims=True) for want in wants]
                yield (
                    f"where what is expected is the {text} along axis {axis}",
                    masks,
                    0.0,
                )


def _named(pairs: Sequence[Pair]) -> dict[str, list[np.ndarray]]:
    """Return the inputs that are arrays and have a number for every entry."""
    cases = [pair.case for pair in pairs]
    found = {}
    for name in arrays(cases):
        values = [np.asarray(case[name], np.float64) for case in cases]
        try:
            fits = all(
                np.broadcast_shapes(a.shape, pair.want.shape) == pair.want.shape
                for a, pair in zip(values, pairs, strict=True)
            )
        except ValueError:
            fits = False
        if fits:
            found[name] = values
    return found


def _large(
    pairs: Sequence[Pair], name: str, values: list[np.ndarray]
) -> Iterator[tuple[str, list[np.ndarray], float]]:
    """Yield the condition that a magnitude exceeds a threshold that separates the entries."""
    sizes = [
        np.abs(np.broadcast_to(a, pair.want.shape))
        for a, pair in zip(values, pairs, strict=True)
    ]
    wrong = np.concatenate(
        [size[pair.wrong] for size, pair in zip(sizes, pairs, strict=True)]
    )
    right = np.concatenate(
        [size[~pair.wrong] for size, pair in zip(sizes, pairs, strict=True)]
    )
    cost = math.log2(len(wrong) + len(right))
    for text, smallest in (
        ("large", (np.min(wrong) + np.max(right)) / 2),
        ("small", (np.max(wrong) + np.min(right)) / 2),
    ):
        above = [size > smallest for size in sizes]
        masks = above if text == "large" else [~mask for mask in above]
        yield f"where {name} is {text} in magnitude", masks, cost
