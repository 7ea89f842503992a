"""A short sketch of wrong numbers, by which equal mistakes of a class are recognised.

All students of a run get the same inputs, so equal mistakes give equal numbers up to rounding.
Rounded numbers or a hash of them would separate some of these, so the sketch keeps a few sums of
the numbers with random signs, which are compared with a tolerance. It is computed from the
numbers that the grader judges, and no student sees it.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from course.judge import as_numbers
from course.task import Close

SUMS = 4  # of the numbers of each name
EQUAL = 1e-3  # largest difference between the sums of equal mistakes


def sketch(
    values: Sequence[Mapping[str, Any]],
    right: Sequence[Mapping[str, Close]],
    inputs: str,
) -> str:
    """Summarise wrong numbers as text; empty if some are missing or are no numbers.

    Args:
        values: the numbers by case and name.
        right: the right ones, in units of which the numbers are summed.
        inputs: identifies the inputs; numbers are comparable only on the same ones.

    Returns:
        A text that identifies the inputs and the form (shapes, infinite numbers), and the sums.
    """
    parts: dict[str, list[np.ndarray]] = {}
    form = [inputs]
    for got_here, closes in zip(values, right, strict=True):
        for name, close in closes.items():
            numbers = as_numbers(got_here.get(name))
            if numbers is None:
                return ""
            odd = np.where(np.isfinite(numbers), 0.0, numbers)
            form += [name, str(numbers.shape), zlib.crc32(odd.tobytes())]
            finite = np.where(np.isfinite(numbers), numbers, 0.0).ravel()
            parts.setdefault(name, []).append(np.arcsinh(finite / _unit(close)))
    sums: list[float] = []
    for number, found in enumerate(parts.values()):
        flat = np.concatenate(found)
        signs = np.random.default_rng([number, flat.size]).choice(
            [-1.0, 1.0], (SUMS, flat.size)
        )
        sums += list(signs @ flat / np.sqrt(max(flat.size, 1)))
    text = zlib.crc32(repr(form).encode())
    return " ".join([f"{text:08x}", *(f"{one:.5f}" for one in sums)])


def groups(sketches: Sequence[str]) -> list[list[int]]:
    """Group equal sketches: the indices of each group, the largest group first.

    A sketch that is close to one of a group belongs to the group; empty ones belong to none.
    """
    by_form: dict[str, list[int]] = {}
    for index, text in enumerate(sketches):
        if text:
            by_form.setdefault(text.partition(" ")[0], []).append(index)
    found = []
    for same in by_form.values():
        sums = np.array([[float(x) for x in sketches[k].split()[1:]] for k in same])
        left = list(range(len(same)))
        while left:
            group, waiting = [], [left.pop(0)]
            while waiting:
                group.append(waiting.pop())
                rest = np.abs(sums[left] - sums[group[-1]]).max(axis=1, initial=0.0)
                near = [
                    k for k, apart in zip(left, rest, strict=True) if apart <= EQUAL
                ]
                waiting += near
                left = [k for k in left if k not in near]
            found.append(sorted(same[k] for k in group))
    return sorted(found, key=lambda group: (-len(group), group))


def _unit(close: Close) -> float:
    """The size of the right numbers, or more if their tolerance is large."""
    size = float(np.max(np.abs(close.value), initial=0.0))
    allowed = close.atol + close.rtol * np.abs(close.value)
    tolerance = float(np.max(allowed, initial=0.0))
    return max(size, tolerance / EQUAL) or 1.0
