"""Read the numbers that a probe displayed, which a student's process may have forged."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

VALUES = "application/vnd.known-unknowns.values+json"
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
MAX_CASES, MAX_KEYS, MAX_NAME, MAX_AXES = 1_000, 100, 100, 16
MAX_NUMBERS = 1_000_000  # of one task; no probe displays more in one value
LEFT = {("generator", name) for name in ("torch", "numpy", "random")}
LEFT |= {("gradients", ""), ("dtype", "")}
NAME = re.compile(r"[\w .<>|\[\],-]{1,60}", re.ASCII)


@dataclass(frozen=True)
class Foreign:
    """A value that does not consist of floating-point numbers: a mismatch of ``dtype``."""

    dtype: str
    shape: tuple[int, ...] = ()


def decode_values(
    payload: Any, limit: int = MAX_NUMBERS
) -> list[dict[str, np.ndarray | Foreign | None]]:
    """Decode the values that a probe displayed, for ``course.judge.compare``.

    Args:
        payload: the data of the MIME type, parsed from JSON.
        limit: the number of numbers that it may contain in all.

    Raises:
        ValueError: it does not have the form that a probe displays, or is too large.
    """
    if not isinstance(payload, dict) or payload.keys() - {"left"} != {"task", "values"}:
        raise ValueError("the values are not in the format of a probe")
    cases = payload["values"]
    if not isinstance(payload["task"], str) or not isinstance(cases, list):
        raise ValueError("the values are not in the format of a probe")
    if len(cases) > MAX_CASES:
        raise ValueError("there are values for too many cases")
    decoded, left = [], limit
    for case in cases:
        if not isinstance(case, dict) or len(case) > MAX_KEYS:
            raise ValueError("the values of a case are not in the format of a probe")
        values = {}
        for key, value in case.items():
            if len(key) > MAX_NAME:
                raise ValueError("the name of a value is too long")
            values[key] = _value(value, left)
            left -= getattr(values[key], "size", 1)
        decoded.append(values)
    return decoded


def decode_left(payload: dict[str, Any], source: str) -> list[tuple[str, str]]:
    """Decode what the answer's calls left behind, for ``course.side_effects.sentences``.

    Args:
        payload: as for ``decode_values``.
        source: the answer; the name of an argument is kept only if it occurs there.

    Raises:
        ValueError: it does not have the form that a probe displays.
    """
    left = payload.get("left", [])
    if not isinstance(left, list) or len(left) > MAX_KEYS:
        raise ValueError("the side effects are not in the format of a probe")
    found = []
    for item in left:
        if not isinstance(item, list) or not all(
            isinstance(part, str) for part in item
        ):
            raise ValueError("a side effect is not in the format of a probe")
        kind, name = item if len(item) == 2 else ("", "")
        if kind == "changed":
            named = name.isidentifier() and len(name) <= MAX_NAME and name in source
            found.append((kind, name if named else ""))
        elif (kind, name) in LEFT:
            found.append((kind, name))
        else:
            raise ValueError("a side effect is not one of those that a probe displays")
    return list(dict.fromkeys(found))


def _value(value: Any, limit: int) -> np.ndarray | Foreign | None:
    if value is None:
        return None
    if not isinstance(value, dict) or value.keys() - {"dtype", "shape", "data"}:
        raise ValueError("a value is not in the format of a probe")
    dtype, shape = value.get("dtype"), value.get("shape")
    if not isinstance(dtype, str):
        raise ValueError("a value's dtype is not a string")
    if (
        not isinstance(shape, list)
        or len(shape) > MAX_AXES
        or not all(type(n) is int and 0 <= n < 2**53 for n in shape)
    ):
        raise ValueError("a value's shape is invalid")
    if "data" not in value:
        return Foreign(dtype if NAME.fullmatch(dtype) else "object", tuple(shape))
    data = value["data"]
    if not isinstance(data, list) or len(data) > limit:
        raise ValueError("a value is not a list of numbers, or it is too long")
    if len(data) != math.prod(shape):
        raise ValueError("a value's shape does not match its data")
    return np.array([_number(item) for item in data], dtype=np.float64).reshape(shape)


def _number(item: Any) -> float:
    if type(item) is float:
        return item
    if type(item) is str and item in NOT_FINITE:
        return NOT_FINITE[item]
    if type(item) is int and abs(item) < 2**53:
        return float(item)
    raise ValueError("a value contains something that is not a number")
