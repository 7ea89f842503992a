"""Say how an answer's numbers are related to the expected ones, without a list of mistakes.

A relation is said only if it holds for every entry of every case within tolerance, and if it
is no coincidence (``evidence``). The simplest one is said. The order in which they are tried:
factors, offsets and functions (``candidates``, with names from ``names``), orders and axes
(``arrangements``), terms made of the inputs, then differences and factors without a name. Where
the shapes differ, ``shapes`` relates the arrays; where some entries are right, ``entries`` says
which are not.

Of labels and indices, only orders and wrong entries are said: their sizes mean nothing.

NumPy alone is needed, and nothing here calls an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from course.relations import arrangements, candidates, entries, shapes
from course.relations.evidence import Candidate, Pair, first
from course.task import Case, Close
from course.wording import INFINITE, as_sentence, is_property, listed, named

GRADIENT = ("gradient", "slope")
MANY = 4  # names in one list
DETACHED = "Is something on the way left out, detached (stop_gradient, detach), or computed under no_grad?"


@dataclass(frozen=True)
class Relation:
    """A relation of one or several values to what is expected.

    ``kind`` is one of ``factor``, ``offset``, ``function``, ``input``, ``key``, ``order``,
    ``axis``, ``shape``, ``zero``, ``same``, ``condition``, ``inputs``, ``entries``, ``right``.
    """

    kind: str
    keys: tuple[str, ...]
    sentence: str


def told(
    values: Sequence[Mapping[str, Any]],
    right: Sequence[Mapping[str, Close]],
    cases: Sequence[Case],
) -> str:
    """Return what can be said about wrong values, in sentences; empty if nothing can."""
    return " ".join(relation.sentence for relation in find(values, right, cases))


def find(
    values: Sequence[Mapping[str, Any]],
    right: Sequence[Mapping[str, Close]],
    cases: Sequence[Case],
) -> list[Relation]:
    """Return the relations of the wrong values to the expected ones, at most three.

    Args:
        values: the answer's numbers as arrays of float64, one dictionary per case.
        right: the expected ones, with the same keys.
        cases: the inputs.
    """
    finite = _finite_cases(values, right)
    values, right, cases = (
        [row for row, kept in zip(rows, finite, strict=True) if kept]
        for rows in (values, right, cases)
    )
    with np.errstate(all="ignore"):  # an answer's numbers may be as large as they like
        found = _find(values, right, cases)
    return found if all(finite) else _of_finite(found)


def _finite_cases(
    values: Sequence[Mapping[str, Any]], right: Sequence[Mapping[str, Close]]
) -> list[bool]:
    """Return which cases have nothing infinite; none if an answer is infinite where it should not.

    A value that should be finite and is in a case with infinite ones must be right.
    """
    kept = []
    for got, closes in zip(values, right, strict=True):
        masks = [key for key in closes if key.startswith(INFINITE)]
        if not all(_right(got.get(key), closes[key]) for key in masks):
            return [False] * len(right)
        kept.append(not any(np.any(closes[key].value) for key in masks))
        if not kept[-1] and not all(
            _right(got.get(key), close) for key, close in closes.items()
        ):
            return [False] * len(right)
    return kept


def _right(got: Any, close: Close) -> bool:
    return (
        isinstance(got, np.ndarray)
        and got.shape == close.value.shape
        and bool(np.all(close.near(got)))
    )


def _of_finite(relations: Sequence[Relation]) -> list[Relation]:
    """Restrict relations to the inputs on which everything is finite."""
    return [
        replace(
            relation,
            sentence=relation.sentence.replace(
                "on every input", "on every input with a finite result"
            ),
        )
        for relation in relations
        if relation.kind not in ("inputs", "entries", "condition")
    ]


def _find(
    values: Sequence[Mapping[str, Any]],
    right: Sequence[Mapping[str, Close]],
    cases: Sequence[Case],
) -> list[Relation]:
    pairs = _pairs(values, right, cases)
    wrong = {key: found for key, found in pairs.items() if _is_wrong(found)}
    if not wrong or len(pairs) < len({key for row in right for key in row}):
        return []
    together = _together(list(wrong), wrong)
    relations = [together] if together else []
    if not together:
        for key, found in wrong.items():
            if is_property(key):
                continue
            relation = _of_one(key, found, right)
            if relation is not None:
                relations.append(relation)
        relations = _zeros_together(relations)[:2]
    return [*_rightness(pairs, wrong), *relations]


def _pairs(
    values: Sequence[Mapping[str, Any]],
    right: Sequence[Mapping[str, Close]],
    cases: Sequence[Case],
) -> dict[str, list[Pair]]:
    """Return the values by key; a key that is missing somewhere or is no number is left out."""
    found: dict[str, list[Pair]] = {}
    left_out = set()
    for got, closes, case in zip(values, right, cases, strict=True):
        for key, close in closes.items():
            number = got.get(key)
            if not isinstance(number, np.ndarray) or number.dtype != np.float64:
                left_out.add(key)
                continue
            tol = np.broadcast_to(
                close.atol + close.rtol * np.abs(close.value), close.value.shape
            )
            pair = Pair(number, close.value, tol, case, integers=close.integers)
            found.setdefault(key, []).append(pair)
    return {key: pairs for key, pairs in found.items() if key not in left_out}


def _is_wrong(pairs: Sequence[Pair]) -> bool:
    return any(
        pair.got.shape != pair.want.shape or np.any(pair.wrong) for pair in pairs
    )


def _together(keys: Sequence[str], wrong: Mapping[str, list[Pair]]) -> Relation | None:
    """Find one factor for all wrong values."""
    pooled = list(chain.from_iterable(wrong.values()))
    if len(keys) < 2 or any(p.got.shape != p.want.shape for p in pooled):
        return None
    if any(pair.integers for pair in pooled):
        return None
    found = first(candidates.numeric([p.case for p in pooled], linear=True), pooled)
    return None if found is None else _relation(found, keys)


def _of_one(
    key: str, pairs: list[Pair], right: Sequence[Mapping[str, Close]]
) -> Relation | None:
    if any(pair.got.size == 0 or pair.want.size == 0 for pair in pairs):
        pairs = [pair for pair in pairs if pair.got.size and pair.want.size]
    if not pairs or not _is_wrong(pairs):
        return None
    cases = [pair.case for pair in pairs]
    integers = any(pair.integers for pair in pairs)
    if any(pair.got.shape != pair.want.shape for pair in pairs):
        return None if integers else _of_shapes(key, pairs)
    constant = _constant(key, pairs)
    if constant is not None:
        return constant
    wants = [
        {name: close.value for name, close in row.items()}
        for row in right
        if key in row
    ]
    tried: Iterator[Candidate] = chain(
        candidates.numeric(cases),
        candidates.of_keys(key, wants, pairs) if len(wants) == len(pairs) else (),
        arrangements.arrangements(pairs),
        candidates.of_inputs(cases, pairs),
        candidates.of_sums(cases, pairs),
        arrangements.unnamed(pairs),
    )
    if integers:
        tried = (c for c in arrangements.arrangements(pairs) if c.rearranged)
    found = first(tried, pairs) if _finite(pairs) else None
    if found is not None:
        return _relation(found, [key])
    told = entries.where(pairs)
    if told is None:
        return None
    sentence, kind = told
    return Relation(kind, (key,), _filled(sentence, [key], True))


def _of_shapes(key: str, pairs: list[Pair]) -> Relation | None:
    if not _finite(pairs):
        return None
    if all(np.squeeze(p.got).shape == np.squeeze(p.want).shape for p in pairs) and all(
        np.all(p.near(p.got.reshape(p.want.shape))) for p in pairs
    ):
        text = f"Apart from its shape, {named(key)} is right on every input."
        return Relation("shape", (key,), text)
    found = first(shapes.from_want(pairs), pairs)
    if found is not None:
        return _relation(found, [key])
    for text, function in shapes.to_want(pairs):
        smaller = shapes.reduced(pairs, function)
        if smaller is None or not all(np.all(pair.near(pair.got)) for pair in smaller):
            continue
        same = Candidate("shape", text, lambda want, i: want)
        found = first([same], smaller)
        if found is not None:
            return _relation(found, [key])
    return None


def _constant(key: str, pairs: list[Pair]) -> Relation | None:
    """Find values that are 0 everywhere, or the same on every input."""
    wants = np.concatenate([pair.want.ravel() for pair in pairs])
    if len(np.unique(np.round(wants, 9))) < 2:
        return None
    if not any(np.any(pair.got) for pair in pairs):
        return _zero([key])
    shapes_here = {pair.want.shape for pair in pairs}
    if (
        len(shapes_here) == 1
        and len(pairs) > 1
        and _finite(pairs)
        and all(np.array_equal(pair.got, pairs[0].got) for pair in pairs)
    ):
        text = as_sentence(f"{named(key)} is the same on every input.")
        return Relation("same", (key,), text)
    return None


def _zero(keys: Sequence[str]) -> Relation:
    text = _filled("{keys} {is} 0 everywhere, on every input.", keys, True)
    if all(key.startswith(GRADIENT) for key in keys):
        text += f" {DETACHED}"
    return Relation("zero", tuple(keys), text)


def _zeros_together(relations: Sequence[Relation]) -> list[Relation]:
    zeros = [relation.keys[0] for relation in relations if relation.kind == "zero"]
    others = [relation for relation in relations if relation.kind != "zero"]
    return [*others, _zero(zeros)] if zeros else others


def _finite(pairs: Sequence[Pair]) -> bool:
    return all(np.all(np.isfinite(pair.got)) for pair in pairs)


def _rightness(
    pairs: Mapping[str, list[Pair]], wrong: Mapping[str, list[Pair]]
) -> list[Relation]:
    """Say which values are right, if there are any beside what can only be 0 or 1."""
    fine = [
        key
        for key, found in pairs.items()
        if key not in wrong and any(np.any(pair.tol > 0) for pair in found)
    ]
    if not fine:
        return []
    values = [key for key in pairs if not key.startswith(GRADIENT)]
    if values and all(key.startswith(GRADIENT) for key in wrong):
        text = "The value is right, and a gradient is not."
        if len(values) > 1:
            text = "All values are right, and a gradient is not."
        return [Relation("right", tuple(fine), text)]
    if len(fine) > MANY:
        some = ", ".join(map(named, fine[: MANY - 1]))
        text = f"{some} and {len(fine) - MANY + 1} more values are right."
    else:
        text = f"{listed(fine)} {'is' if len(fine) == 1 else 'are'} right."
    return [Relation("right", tuple(fine), as_sentence(text))]


def _relation(found: tuple[Candidate, bool], keys: Sequence[str]) -> Relation:
    candidate, exact = found
    return Relation(candidate.kind, tuple(keys), _filled(candidate.text, keys, exact))


def _filled(text: str, keys: Sequence[str], exact: bool) -> str:
    several = len(keys) > 1
    return as_sentence(
        text.format_map(
            {
                "keys": listed(keys),
                "is": "are" if several else "is",
                "has": "have" if several else "has",
                "exactly": "exactly " if exact else "about ",
            }
        )
    )
