"""How a wrong value is shown: a sentence, the input, what came and what is expected."""

from __future__ import annotations

import inspect
import math
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from course.judge import Mismatch, Values, as_numbers
from course.task import Case, Close, Task
from course.wording import (
    DERIVATIVES,
    INFINITE,
    PROPERTIES,
    as_sentence,
    lacks,
    named,
    not_finite,
    nothing_returned,
    subject,
    wrapped,
)

HUGE = (
    "    (So large a number comes from dividing by nearly 0, or from inverting a matrix that hardly has "
    "an inverse: is a term missing?)"
)
NUMBER = re.compile(r"[^\s\[\]]+(?=[\s\]]|$)")
SHOWN = 24  # how many entries of an array are printed at most


def headline(task: Task, mismatch: Mismatch, values: Values) -> str:
    """Say in a sentence how a value differs from the expected one.

    Args:
        task: the task.
        mismatch: the value.
        values: all that the answer gives on the same input.
    """
    close, got, value = mismatch.close, mismatch.got, subject(mismatch.key)
    number = "integer" if close.integers else "floating-point number"
    shape = _shape(close.value.shape, number)
    if mismatch.kind in ("missing", "none"):
        what = named(mismatch.key)
        question = " Is a `return` missing?" * nothing_returned(values)
        return f"`{task.name}` returns no {what}: it is None.{question}"
    if mismatch.kind == "dtype":
        kind = getattr(got, "dtype", None)
        what = f"is {a(type(got).__name__)}"
        if kind is not None:
            what = f"has the dtype {kind}"
        if "bfloat16" in str(kind):
            number = "number in single precision"
            shape = _shape(close.value.shape, number)
        if close.value.shape:
            shape += f" of {number}s"
        advice = ""
        if isinstance(got, str):  # of a dictionary, the names were unpacked
            advice = f" If `{task.name}` returns a dictionary, return a tuple instead."
        return f"{value} {what}; {shape} is expected.{advice}"
    if mismatch.kind == "shape":
        here = _shape(np.shape(got), number)
        return f"{value} is {here}; {shape} is expected."
    if mismatch.kind == "nan":
        return not_finite(mismatch.key)
    lacking = lacks(mismatch.key, as_numbers(got), close.value)
    if lacking is not None:
        return as_sentence(lacking)
    return f"{value} is not right."


@dataclass(frozen=True)
class Comparison:
    """An input, what the answer makes of it, and what is expected.

    Args:
        inputs: the input's values, one below the other.
        name: the answer's name.
        given: the answer's value.
        right: the expected value.
        remarks: comments on the numbers.
        verb: what the answer did; a check derives gradients, and the values of a class.
    """

    inputs: str
    name: str
    given: str
    right: str
    remarks: tuple[str, ...] = ()
    verb: str = "returned"

    def __str__(self) -> str:
        parts = [
            f"on the input\n{self.inputs}",
            f"`{self.name}` {self.verb}\n{self.given}",
            f"expected\n{self.right}",
            *self.remarks,
        ]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        """Both values side by side, with their first difference marked."""
        given, right = _marked(self.given, self.right)
        columns = "".join(
            f"<div>{title}{block(value)}</div>"
            for title, value in (
                (f"<code>{escape(self.name)}</code> {self.verb}", given),
                ("expected", right),
            )
        )
        return (
            f"<div>on the input{block(escape(self.inputs))}</div>"
            f'<div style="display: flex; flex-wrap: wrap; column-gap: 2em">{columns}</div>'
            + "".join(f"<p>{escape(remark.strip())}</p>" for remark in self.remarks)
        )


def example(
    task: Task,
    answer: Any,
    mismatch: Mismatch,
    case: Case,
    values: Values,
    right: Mapping[str, Close],
    *,
    known: bool = False,
) -> Comparison | str:
    """Show the input and, where there are numbers to compare, both values.

    Args:
        task: the task.
        answer: the student's answer.
        mismatch: what is shown.
        case: the input.
        values: the answer's numbers on this input.
        right: the expected ones.
        known: whether the mistake is known; then no cause is guessed.
    """
    shown = inputs(task, answer, case)
    if mismatch.kind not in ("nan", "value") or mismatch.key in PROPERTIES:
        return f"on the input\n{shown}"
    name = mismatch.key.removeprefix(INFINITE)
    close, numbers = right[name], as_numbers(values[name])
    infinite = as_numbers(values.get(INFINITE + name, 0.0))
    other = np.zeros(())
    if INFINITE + name in right:
        other = right[INFINITE + name].value
    given, expected = _told_apart(
        name,
        numbers,
        close,
        with_infinite(numbers, infinite),
        with_infinite(close.value, other),
    )
    remarks = [] if name != mismatch.key else _remarks(numbers, close, known)
    derived = name.startswith(tuple(DERIVATIVES)) or task.name[:1].isupper()
    verb = "gave" if derived else "returned"
    return Comparison(shown, task.name, given, expected, tuple(remarks), verb)


def with_infinite(numbers: np.ndarray, infinite: np.ndarray) -> np.ndarray:
    """Put ±∞ where ``infinite`` is ±1."""
    return np.where(np.abs(infinite) == 1, np.copysign(np.inf, infinite), numbers)


def block(markup: str) -> str:
    """Return markup whose lines and columns are kept.

    Some front ends set the text of such blocks in a proportional font, unless told otherwise.
    """
    return f'<pre style="font-family: monospace">{markup}</pre>'


def _marked(one: str, other: str) -> tuple[str, str]:
    """Return two values as HTML, with the first number that differs marked in both."""
    words = [list(NUMBER.finditer(text)) for text in (one, other)]
    pairs = zip(*words, strict=False)
    first = next((pair for pair in pairs if pair[0][0] != pair[1][0]), None)
    if first is None or len(words[0]) != len(words[1]):
        return escape(one), escape(other)
    texts = []
    for text, found in zip((one, other), first, strict=True):
        begin, end = found.span()
        before, after = escape(text[:begin]), escape(text[end:])
        texts.append(f"{before}<mark>{escape(found[0])}</mark>{after}")
    return texts[0], texts[1]


def _told_apart(
    key: str, got: np.ndarray, close: Close, given: np.ndarray, right: np.ndarray
) -> tuple[str, str]:
    """Format the answer's value and the right one, with enough digits to tell them apart.

    If an array is too long to print whole and its printed part looks equal, its worst entry is
    formatted instead. ``given`` and ``right`` are what is printed of both, with infinite numbers.
    """
    if close.integers:
        given, right = _whole(given), _whole(right)
    name = named(key).removeprefix("the ").replace("`", "")
    pairs = [(name, given, right)]
    if got.size > SHOWN:
        gap = np.where(np.isfinite(got), np.abs(got - close.value), np.inf)
        near = close.near(got) & (np.isinf(given) == np.isinf(right))
        worst = np.unravel_index(np.where(near, -1, gap).argmax(), got.shape)
        name = f"{name}[{', '.join(map(str, worst))}]"
        pairs.append((name, given[worst], right[worst]))
    for digits in (5, 9, 13, 17):
        for name, one, other in pairs:
            rows = row(name, one, digits), row(name, other, digits)
            if rows[0].split() != rows[1].split():
                return rows
    return rows


def _whole(numbers: np.ndarray) -> np.ndarray:
    """Return integers as such, so that they are printed without a point."""
    if np.all(np.isfinite(numbers)) and np.all(numbers == np.round(numbers)):
        return numbers.astype(np.int64)
    return numbers


def _remarks(got: np.ndarray, close: Close, known: bool) -> list[str]:
    """Explain the tolerance if the values nearly agree, or comment on numbers far too large.

    Where the mistake is ``known``, no other cause is guessed.
    """
    gap, size = np.abs(got - close.value), np.max(np.abs(close.value), initial=0.0)
    near = 10 * (close.atol + close.rtol * np.abs(close.value))
    exact = not close.rtol and not np.any(close.atol)
    if np.all(gap <= np.maximum(near, 1e-3 * size)) or exact:
        return [f"    ({_tolerance(close.rtol, close.atol)}: {close.because})"]
    if (
        not known
        and size
        and np.all(np.isfinite(got))
        and 1e10 * size < np.max(np.abs(got), initial=0.0)
    ):
        return [HUGE]
    return []


def _tolerance(rtol: float, atol: float | np.ndarray) -> str:
    parts = [f"{rtol:.2g} of the value"] * (rtol > 0)
    least, most = f"{np.min(atol):.2g}", f"{np.max(atol):.2g}"
    if np.any(atol):
        parts.append(most if least == most else f"{least} to {most}, by entry")
    return "to within " + " plus ".join(parts) if parts else "exactly"


def inputs(task: Task, answer: Any, case: Case) -> str:
    """Format a case, and say how the answer's arguments are made of it if that is not plain."""
    rows = [_apart(name, value) for name, value in case.items()]
    made = task.made_of or _not_passed(task, answer, case)
    if made:
        rows.append(textwrap.indent(wrapped(f"({made})", width=84), "    "))
    return "\n".join(rows)


def _not_passed(task: Task, answer: Any, case: Case) -> str:
    """Name the inputs that no parameter of the answer is named after; empty if there are none."""
    functions = [answer]
    if isinstance(answer, type):
        functions += [value for value in vars(answer).values() if callable(value)]
    named: set[str] = set()
    try:
        for function in functions:
            parameters = inspect.signature(function).parameters.values()
            if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
                return ""
            named |= {parameter.name for parameter in parameters}
    except (TypeError, ValueError):  # built-in functions may have no signature
        return ""
    others = [name for name in case if name not in named]
    if not others:
        return ""
    listed = " or ".join([", ".join(others[:-1])] * (len(others) > 1) + others[-1:])
    return (
        f"The check makes the arguments of `{task.name}` from these; "
        f"yours has no argument called {listed}."
    )


def _apart(name: str, value: Any) -> str:
    """Format an input with enough digits to tell its entries apart."""
    array = np.asarray(value)
    for digits in (5, 9, 13, 17):
        text = row(name, value, digits)
        if array.dtype.kind != "f" or array.size > SHOWN:
            break
        if len({*NUMBER.findall(text.partition("=")[2])}) >= len(np.unique(array)):
            break
    return text


def row(name: str, value: Any, digits: int = 5) -> str:
    """Format a named value with at least so many significant digits of every entry."""
    if isinstance(value, str):
        text = repr(value)
    else:
        if hasattr(value, "detach"):
            value = value.detach().cpu()
        array = np.asarray(value)
        text = _printed(array, digits)
        if array.dtype.kind == "f" and "e" not in text:  # fixed-point notation
            text = _printed(array, _decimals(array, digits))
        if array.size > SHOWN:
            text += f"  (shape {array.shape})"
    return textwrap.indent(text, " " * (len(name) + 7)).replace(
        " " * (len(name) + 7), f"    {name} = ", 1
    )


def _printed(array: np.ndarray, decimals: int) -> str:
    return np.array2string(
        array, precision=decimals, threshold=SHOWN, edgeitems=2, suppress_small=False
    )


def _decimals(array: np.ndarray, digits: int) -> int:
    """Count the decimals that the smallest entry needs; below 1e-4, NumPy prints exponents."""
    sizes = np.abs(array)
    least = np.min(sizes, where=sizes >= 1e-4, initial=1.0)
    return max(digits, digits - 1 - math.floor(math.log10(least)))


def _shape(shape: tuple[int, ...], number: str) -> str:
    return f"an array of shape {tuple(shape)}" if shape else f"a single {number}"


def a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
