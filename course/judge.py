"""Compare an answer's numbers with the oracle's, and recognise known mistakes.

This module produces no messages: ``course.feedback`` writes those for students, and the
grader calls this module with numbers from another process.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from course.relations import told
from course.side_effects import watched
from course.task import Case, Close, Misconception, Task

Values = Mapping[str, Any]

SINGLE = 1e-5  # relative; about a hundred rounding errors in single precision


@dataclass(frozen=True)
class Mismatch:
    """The first place where an answer's numbers differ from the oracle's.

    ``kind`` is one of ``missing``, ``none``, ``dtype``, ``shape``, ``nan``, ``value``.
    """

    kind: str
    case: int
    key: str
    got: Any
    close: Close


class Draw:
    """Inputs of a task; the values of its oracle and its misconceptions are computed once."""

    def __init__(self, task: Task, cases: Sequence[Case]):
        self.task, self.cases = task, cases
        self._given: dict[tuple[int, int], Values] = {}

    @cached_property
    def right(self) -> list[dict[str, Close]]:
        """The oracle's values, one dictionary per case."""
        return expected(self.task, self.cases)

    def recognise(self, values: Sequence[Values]) -> Misconception | None:
        """Return the misconception that gives these same numbers, or ``None``."""

        def gives_them(number: int) -> bool:
            # One case at a time: most are ruled out by the first.
            return all(
                same([got], [self._of(number, at)], [closes])
                for at, (got, closes) in enumerate(zip(values, self.right, strict=True))
            )

        mistakes = self.task.misconceptions
        return next((m for n, m in enumerate(mistakes) if gives_them(n)), None)

    def _of(self, number: int, at: int) -> Values:
        if (number, at) not in self._given:
            answer, case = self.task.misconceptions[number].answer, self.cases[at]
            (self._given[number, at],) = answered(self.task, answer, [case])
        return self._given[number, at]


def expected(task: Task, cases: Sequence[Case]) -> list[dict[str, Close]]:
    """Compute the oracle's values, one dictionary per case."""
    return [dict(task.oracle(**case)) for case in cases]


@contextlib.contextmanager
def usual_modes() -> Iterator[None]:
    """Compute as in a new notebook, whatever has been switched on or off in this one.

    With gradients and in single precision (PyTorch), and without exceptions (NumPy).
    """
    torch = sys.modules.get("torch")
    with contextlib.ExitStack() as stack:
        stack.enter_context(np.errstate(all="warn", under="ignore"))
        if hasattr(torch, "get_rng_state"):
            stack.enter_context(torch.enable_grad())
            stack.callback(torch.set_default_dtype, torch.get_default_dtype())
            torch.set_default_dtype(torch.float32)
        yield


def answered(
    task: Task,
    answer: Any,
    cases: Sequence[Case],
    left: list[tuple[str, str]] | None = None,
) -> list[Values]:
    """Probe an answer: one dictionary of numbers per case; exceptions are passed on.

    Changed arguments and state that it leaves behind are added to ``left``.
    """
    with watched(answer, [] if left is None else left) as observed:
        return [dict(task.probe(observed, **case)) for case in cases]


def as_numbers(got: Any) -> np.ndarray | None:
    """Convert to float64; ``None`` if ``got`` is not made of real floating-point numbers.

    A list or tuple is not: the functions that follow use methods of arrays.
    """
    try:
        if isinstance(got, list | tuple):
            return None
        if hasattr(got, "detach"):  # a PyTorch tensor that still carries its graph
            got = got.detach().cpu()
        array = np.asarray(got)
        if array.dtype.kind != "f":
            return None
        return array.astype(np.float64)
    except Exception:  # the conversion of an arbitrary object may raise anything
        return None


def compare(
    values: Sequence[Values], right: Sequence[Mapping[str, Close]]
) -> Mismatch | None:
    """Find the first difference between ``values`` and ``right``; ``None`` if they agree.

    Differences of form (a missing value, a dtype, a shape) take precedence over differences
    of value.
    """
    first_value: Mismatch | None = None
    for index, closes in enumerate(right):
        got_here = values[index] if index < len(values) else {}
        for key, close in closes.items():
            got = got_here.get(key) if key in got_here else None
            if key not in got_here:
                return Mismatch("missing", index, key, None, close)
            if got is None:
                return Mismatch("none", index, key, got, close)
            numbers = as_numbers(got)
            if numbers is None:
                return Mismatch("dtype", index, key, got, close)
            if numbers.shape != close.value.shape:
                return Mismatch("shape", index, key, got, close)
            if first_value is None and not np.all(close.near(numbers)):
                kind = "value" if np.all(np.isfinite(numbers)) else "nan"
                first_value = Mismatch(kind, index, key, got, close)
    return first_value


def same(
    values: Sequence[Values],
    other: Sequence[Values],
    right: Sequence[Mapping[str, Close]],
) -> bool:
    """Are two sets of numbers equal within the oracle's tolerances, key by key, over all cases?

    Numbers also count as equal if they agree to single precision, even if the oracle's
    tolerance is smaller: the numbers of a mistake can be far larger than the right ones, and
    processors round differently.
    """
    for got_here, other_here, closes in zip(values, other, right, strict=True):
        for key, close in closes.items():
            one, two = as_numbers(got_here.get(key)), as_numbers(other_here.get(key))
            if one is None or two is None or one.shape != two.shape:
                return False
            # The tolerance of an infinite number would be infinite.
            finite = np.isfinite(one) & np.isfinite(two)
            with np.errstate(invalid="ignore"):
                equal = (
                    (finite & close.near(one, two))
                    | (finite & (np.abs(one - two) <= SINGLE * _largest(two)))
                    | (one == two)
                    | (np.isnan(one) & np.isnan(two))
                )
            if not np.all(equal):
                return False
    return True


def related(
    values: Sequence[Values],
    right: Sequence[Mapping[str, Close]],
    cases: Sequence[Case],
) -> str:
    """Say how wrong numbers are related to the right ones; empty if in no way that is known."""
    numbers = [{key: as_numbers(got) for key, got in row.items()} for row in values]
    return told(numbers, right, cases)


def _largest(numbers: np.ndarray) -> float:
    finite = numbers[np.isfinite(numbers)]
    return float(np.max(np.abs(finite), initial=0.0))
