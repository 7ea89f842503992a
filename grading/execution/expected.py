"""Draw a run's inputs and compute the right values for them, in a process of its own.

The oracles need a framework, the grader does not, and torch and JAX are never imported in one
process. Of everything computed here, only the inputs enter a sandbox.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from course.task import Case, Close, Task, tasks_of
from grading.execution.probe import probe_source
from project.errors import CourseError

Values = list[dict[str, Any]]


@dataclass(frozen=True)
class Mistake:
    """A known misconception, with its values on this run's inputs.

    ``number`` counts the task's misconceptions from 1, including those without values.
    """

    number: int
    hint: str
    values: Values


@dataclass(frozen=True)
class Key:
    """A task in this run: the source of its probe, with the inputs, and the right values."""

    task: str
    name: str
    points: int
    probe: str
    right: list[dict[str, Close]]
    mistakes: list[Mistake]


def draw(stem: str, seed: int, target: Path) -> None:
    """Compute the keys of a practical, in another process, and write them to ``target``.

    Raises:
        CourseError: the checks of the practical cannot be evaluated.
    """
    # The seed is sent through a pipe, because every process can read arguments.
    done = subprocess.run(
        [sys.executable, "-m", __name__, stem, str(target)],
        input=str(seed),
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()[-1:] or ["nothing"]
        raise CourseError(
            f"course.checks.{stem}",
            None,
            f"The expected values cannot be computed: {said[0]}.",
            f"`course check-notebooks {stem}` may say why.",
        )


def read(path: Path) -> dict[str, Key]:
    """Read the keys that ``draw`` wrote, by task, in the order of the practical."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return {
        item["task"]: Key(
            task=item["task"],
            name=item["name"],
            points=item["points"],
            probe=item["probe"],
            right=[
                {
                    key: Close(
                        decode(close["value"]),
                        rtol=close["rtol"],
                        atol=decode(close["atol"]),
                        because=close["because"],
                    )
                    for key, close in closes.items()
                }
                for closes in item["right"]
            ],
            mistakes=[
                Mistake(
                    mistake["number"],
                    mistake["hint"],
                    [_decode_all(values) for values in mistake["values"]],
                )
                for mistake in item["mistakes"]
            ],
        )
        for item in data
    }


def key_of(task: Task, seed: int) -> Key:
    """Compute a task's inputs, its right values and those of its misconceptions."""
    cases = task.cases(np.random.default_rng([seed, zlib.crc32(task.id.encode())]))
    right = [dict(task.oracle(**case)) for case in cases]
    mistakes = []
    for number, misconception in enumerate(task.misconceptions, start=1):
        values = _given(task, misconception.answer, cases)
        if values is not None:
            mistakes.append(Mistake(number, misconception.hint, values))
    probe = probe_source(task, cases)
    return Key(task.id, task.name, task.points, probe, right, mistakes)


def encode(value: Any) -> Any:
    """An array or a plain value as JSON; floats keep every digit."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    if isinstance(value, float) and not isinstance(value, np.generic):
        return _number(value)
    array = np.asarray(value)
    flat = array.ravel().tolist()
    return {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "data": [_number(item) for item in flat],
    }


def decode(value: Any) -> Any:
    """The inverse of ``encode``."""
    if isinstance(value, dict):
        data = [_back(item) for item in value["data"]]
        return np.array(data, dtype=value["dtype"]).reshape(value["shape"])[()]
    return _back(value)


def _given(task: Task, answer: Any, cases: Sequence[Case]) -> Values | None:
    try:
        return [dict(task.probe(answer, **case)) for case in cases]
    except Exception:  # a mistake may fail on some input; then it has no values
        return None


def _number(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    return value


def _back(value: Any) -> Any:
    return float(value["float"]) if isinstance(value, dict) else value


def _decode_all(case: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _back(value)
        if isinstance(value, dict) and set(value) == {"float"}
        else decode(value)
        for name, value in case.items()
    }


def _as_json(key: Key) -> dict[str, Any]:
    return {
        "task": key.task,
        "name": key.name,
        "points": key.points,
        "probe": key.probe,
        "right": [
            {
                name: {
                    "value": encode(close.value),
                    "rtol": float(close.rtol),
                    "atol": encode(np.asarray(close.atol, dtype=float)),
                    "because": close.because,
                }
                for name, close in closes.items()
            }
            for closes in key.right
        ],
        "mistakes": [
            {
                "number": mistake.number,
                "hint": mistake.hint,
                "values": [
                    {n: encode(v) for n, v in values.items()}
                    for values in mistake.values
                ],
            }
            for mistake in key.mistakes
        ],
    }


def _main(stem: str, target: str) -> None:
    seed = int(sys.stdin.read())
    keys = [_as_json(key_of(task, seed)) for task in tasks_of(stem).values()]
    Path(target).write_text(json.dumps(keys), encoding="utf-8")


if __name__ == "__main__":
    _main(*sys.argv[1:])
