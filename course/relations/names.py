"""Names of the numbers by which answers are off: constants, sizes and inputs of the cases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from course.task import Case

LOG2PI = math.log(2 * math.pi)
# What stands before "what is expected", and the factor.
FACTORS = (
    ("the negative of", -1.0),
    ("twice", 2.0),
    ("half of", 0.5),
    ("1/log 2 times", 1 / math.log(2)),
    ("log 2 times", math.log(2)),
    ("three times", 3.0),
    ("a third of", 1 / 3),
    ("four times", 4.0),
    ("a quarter of", 0.25),
    ("−2 times", -2.0),
    ("−½ times", -0.5),
    ("√2 times", math.sqrt(2)),
    ("1/√2 times", math.sqrt(0.5)),
    ("π times", math.pi),
    ("1/π times", 1 / math.pi),
    ("2π times", 2 * math.pi),
    ("1/(2π) times", 0.5 / math.pi),
    ("√(2π) times", math.sqrt(2 * math.pi)),
    ("1/√(2π) times", 1 / math.sqrt(2 * math.pi)),
    ("√π times", math.sqrt(math.pi)),
    ("1/√π times", 1 / math.sqrt(math.pi)),
    ("√(2/π) times", math.sqrt(2 / math.pi)),
    ("√(π/2) times", math.sqrt(math.pi / 2)),
    ("π/8 times", math.pi / 8),
    ("8/π times", 8 / math.pi),
    ("√(π/8) times", math.sqrt(math.pi / 8)),
    ("√(8/π) times", math.sqrt(8 / math.pi)),
    ("1/log 10 times", 1 / math.log(10)),
    ("log 10 times", math.log(10)),
    ("100 times", 100.0),
    ("1/100 of", 0.01),
)
NOTES = {
    "1/log 2 times": ", the factor from nats to bits",
    "log 2 times": ", the factor from bits to nats",
}
OFFSETS = (
    ("1", 1.0),
    ("½", 0.5),
    ("2", 2.0),
    ("½ log 2π", LOG2PI / 2),
    ("log 2π", LOG2PI),
    ("log 2", math.log(2)),
    ("½ log 2", math.log(2) / 2),
    ("log π", math.log(math.pi)),
    ("½ log π", math.log(math.pi) / 2),
    ("½ log 2πe", (LOG2PI + 1) / 2),
    ("π", math.pi),
    ("¼", 0.25),
)


@dataclass(frozen=True)
class Number:
    """A number of each case with its name.

    ``meaning`` says what ``name`` stands for; it is empty if the name says so itself.
    """

    name: str
    values: np.ndarray
    meaning: str = ""

    @property
    def where(self) -> str:
        """The end of a sentence that uses the name."""
        return f", where {self.meaning}" if self.meaning else ""


def sizes(cases: Sequence[Case]) -> list[Number]:
    """Return the lengths of the inputs' axes, one for all that are equal in every case."""
    found: dict[tuple[int, ...], list[str]] = {}
    for name in arrays(cases):
        shapes = [np.shape(case[name]) for case in cases]
        ranks = {len(shape) for shape in shapes}
        axes = range(min(ranks)) if len(ranks) == 1 else (-1,) * (min(ranks) > 0)
        for axis in axes:
            values = tuple(shape[axis] for shape in shapes)
            if max(values) > 1 and min(values) > 0:
                words = f"the length of axis {axis} of `{name}`".replace("-", "−")
                found.setdefault(values, []).append(words)
        values = tuple(math.prod(shape) for shape in shapes)
        if max(ranks) > 1 and min(values) > 0 and max(values) > 1:
            found.setdefault(values, []).append(f"the number of entries of `{name}`")
    return [
        Number("n", np.array(values, float), f"n is {' and '.join(words[:2])}")
        for values, words in found.items()
    ]


def scalars(cases: Sequence[Case]) -> list[Number]:
    """Return the inputs that are single numbers, other than seeds."""
    names = [
        name
        for name in _common(cases)
        if name != "seed"
        and all(
            not isinstance(case[name], str) and np.ndim(case[name]) == 0
            for case in cases
        )
    ]
    return [
        Number(f"`{name}`", np.array([float(case[name]) for case in cases]))
        for name in names
    ]


def arrays(cases: Sequence[Case]) -> list[str]:
    """Return the names of the inputs that are arrays."""
    return [
        name
        for name in _common(cases)
        if all(
            not isinstance(case[name], str) and np.ndim(case[name]) > 0
            for case in cases
        )
    ]


def factors(cases: Sequence[Case]) -> Iterator[tuple[str, str, np.ndarray]]:
    """Yield multipliers, one number per case, with their words and the meaning of names.

    The words precede "what is expected". No two are equal in every case.
    """
    seen = {(1.0,) * len(cases)}
    for words, where, values in _factors(cases):
        key = tuple(float(f"{value:.6g}") for value in values)
        if key not in seen and np.all(np.isfinite(values)) and np.all(values != 0):
            seen.add(key)
            yield words, where, values


def offsets(cases: Sequence[Case]) -> Iterator[tuple[str, str, np.ndarray]]:
    """Yield terms, one number per case, with their names and the meaning of those.

    No two are equal, or the negative of each other, in every case.
    """
    seen = {(0.0,) * len(cases)}
    for name, where, values in _offsets(cases):
        key = tuple(float(f"{value:.6g}") for value in values)
        if key not in seen and np.all(np.isfinite(values)):
            seen |= {key, tuple(-value for value in key)}
            yield name, where, values


def _common(cases: Sequence[Case]) -> list[str]:
    return [name for name in cases[0] if all(name in case for case in cases)]


def _factors(cases: Sequence[Case]) -> Iterator[tuple[str, str, np.ndarray]]:
    ones = np.ones(len(cases))
    for words, value in FACTORS:
        yield words, NOTES.get(words, ""), value * ones
    of_sizes, of_inputs = sizes(cases), scalars(cases)
    with np.errstate(all="ignore"):
        for forms in (_simple, _compound):
            for number in of_sizes + of_inputs:
                for name, values in forms(number.name, number.values):
                    yield f"{name} times", number.where, values
        for i, size in enumerate(of_sizes):
            for other in of_sizes[i + 1 :]:
                n, m = size.values, other.values
                where = f"{size.where} and m{other.meaning.removeprefix('n')}"
                for name, values in (
                    ("n · m", n * m),
                    ("1/(n · m)", 1 / (n * m)),
                    ("n/m", n / m),
                    ("m/n", m / n),
                ):
                    yield f"{name} times", where, values
            for number in of_inputs:
                n, s, v = size.values, number.name, number.values
                for name, values in (
                    (f"n · {s}", n * v),
                    (f"{s}/n", v / n),
                    (f"n/{s}", n / v),
                    (f"1/(n · {s})", 1 / (n * v)),
                ):
                    yield f"{name} times", size.where, values


def _simple(n: str, v: np.ndarray) -> list[tuple[str, np.ndarray]]:
    return [
        (n, v),
        (f"1/{n}", 1 / v),
        (f"√{n}", np.sqrt(v)),
        (f"1/√{n}", 1 / np.sqrt(v)),
        (f"−{n}", -v),
        (f"−1/{n}", -1 / v),
        (f"{n}²", v**2),
        (f"1/{n}²", 1 / v**2),
    ]


def _compound(n: str, v: np.ndarray) -> list[tuple[str, np.ndarray]]:
    return [
        (f"2 · {n}", 2 * v),
        (f"1/(2 · {n})", 0.5 / v),
        (f"½ · {n}", v / 2),
        (f"2/{n}", 2 / v),
        (f"2 · {n}²", 2 * v**2),
        (f"1/(2 · {n}²)", 0.5 / v**2),
        (f"({n} − 1)/{n}", (v - 1) / v),
        (f"{n}/({n} − 1)", v / (v - 1)),
        (f"({n} − 1)", v - 1),
        (f"1/({n} − 1)", 1 / (v - 1)),
        (f"(1 − {n})", 1 - v),
        (f"1/(1 − {n})", 1 / (1 - v)),
        (f"√(({n} − 1)/{n})", np.sqrt((v - 1) / v)),
        (f"√({n}/({n} − 1))", np.sqrt(v / (v - 1))),
    ]


def _offsets(
    cases: Sequence[Case],
) -> Iterator[tuple[str, str, np.ndarray]]:
    ones = np.ones(len(cases))
    for name, value in OFFSETS:
        yield name, "", value * ones
    of_sizes, of_inputs = sizes(cases), scalars(cases)
    with np.errstate(all="ignore"):
        for number in of_sizes:
            n = number.values
            for name, values in (
                ("log n", np.log(n)),
                ("½ log n", np.log(n) / 2),
                ("n/2 · log 2π", n / 2 * LOG2PI),
                ("n · log 2π", n * LOG2PI),
                ("n", n),
                ("n/2", n / 2),
                ("1/n", 1 / n),
                ("n · log 2", n * math.log(2)),
                ("log(n − 1)", np.log(n - 1)),
            ):
                yield name, number.where, values
        for number in of_inputs:
            s, v = number.name, number.values
            for name, values in (
                (s, v),
                (f"log {s}", np.log(v)),
                (f"½ log {s}", np.log(v) / 2),
                (f"2 log {s}", 2 * np.log(v)),
                (f"log(2π · {s})", LOG2PI + np.log(v)),
                (f"½ log(2π · {s})", (LOG2PI + np.log(v)) / 2),
                (f"½ log(2π · {s}²)", LOG2PI / 2 + np.log(v)),
                (f"{s}²", v**2),
                (f"½ {s}", v / 2),
                (f"½ {s}²", v**2 / 2),
                (f"2 {s}", 2 * v),
                (f"1/{s}", 1 / v),
                (f"1/{s}²", 1 / v**2),
            ):
                yield name, "", values
        for size in of_sizes:
            for number in of_inputs:
                n, s, v = size.values, number.name, number.values
                for name, values in (
                    (f"n · log {s}", n * np.log(v)),
                    (f"n/2 · log {s}", n / 2 * np.log(v)),
                    (f"n/2 · log(2π · {s})", n / 2 * (LOG2PI + np.log(v))),
                    (f"n/2 · log(2π · {s}²)", n * (LOG2PI / 2 + np.log(v))),
                    (f"n · {s}", n * v),
                    (f"{s}/n", v / n),
                ):
                    yield name, size.where, values
