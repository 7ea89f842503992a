"""Draw a run's inputs and compute the right values for them, in a process of its own.

The oracles need a framework, the grader does not, and torch and JAX are never imported in one
process. Of everything computed here, only the inputs enter a sandbox.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from course.task import Case, Close, Task, tasks_of
from grading.execution import examples
from grading.execution.probe import probe_source
from project.errors import CourseError
from project.practicals import Lab

Values = list[dict[str, Any]]
ARRAY = 1  # the MessagePack extension code of an array


@dataclass(frozen=True)
class KnownMistake:
    """A known misconception, with its values on this run's inputs.

    ``number`` counts the task's misconceptions from 1, including those without values.
    """

    number: int
    hint: str
    values: Values


@dataclass(frozen=True)
class Key:
    """A task in this run: the source of its probe, the inputs, and the right values."""

    task: str
    name: str
    points: int
    probe: str
    right: list[dict[str, Close]]
    mistakes: list[KnownMistake]
    cases: list[dict[str, Any]] = field(default_factory=list)


def draw(
    lab: Lab,
    seed: int,
    target: Path,
    compiled: Path | None = None,
    shown: Path | None = None,
) -> None:
    """Compute the keys of a lab's tasks, in another process, and write them to ``target``.

    The programs that JAX compiles for this are added to the folder ``compiled``: submissions
    run most of them, too. Where there is no file ``shown``, the public examples of the practical
    are written there: nothing that they need has to be imported again.

    Raises:
        CourseError: it has no exercise, or its checks cannot be evaluated.
    """
    stem = lab.stem
    # The arrays are small: threads would wait for each other, ten times as long if others work.
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    if compiled is not None:
        environment |= {
            "JAX_COMPILATION_CACHE_DIR": str(compiled),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }
        environment.pop("XLA_FLAGS", None)  # programs are kept by their options
    wanted = "" if shown is None or shown.exists() else str(shown)
    # The seed is sent through a pipe, because every process can read arguments.
    done = subprocess.run(
        [sys.executable, "-m", __name__, stem, str(target), wanted, *lab.tasks()],
        input=str(seed),
        env=environment,
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
    """Read the keys that ``draw`` wrote, by task, in the order of the lab."""
    return {key.task: key for key in DECODER.decode(path.read_bytes())}


def key_of(task: Task, seed: int) -> Key:
    """Compute a task's inputs, its right values and those of its misconceptions."""
    cases = task.cases(np.random.default_rng([seed, zlib.crc32(task.id.encode())]))
    right = [dict(task.oracle(**case)) for case in cases]
    mistakes = []
    for number, misconception in enumerate(task.misconceptions, start=1):
        values = _given(task, misconception.answer, cases)
        if values is not None:
            mistakes.append(KnownMistake(number, misconception.hint, values))
    probe = probe_source(task, cases)
    inputs = [dict(case) for case in cases]
    return Key(task.id, task.name, task.points, probe, right, mistakes, inputs)


def _given(task: Task, answer: Any, cases: Sequence[Case]) -> Values | None:
    try:
        return [dict(task.probe(answer, **case)) for case in cases]
    except Exception:  # a mistake may fail on some input; then it has no values
        return None


def _packed(value: Any) -> msgspec.msgpack.Ext:
    """An array, with its dtype and every digit."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(value), allow_pickle=False)
    return msgspec.msgpack.Ext(ARRAY, buffer.getvalue())


def _unpacked(code: int, data: memoryview) -> Any:
    return np.load(io.BytesIO(data), allow_pickle=False)[()]


ENCODER = msgspec.msgpack.Encoder(enc_hook=_packed)
DECODER = msgspec.msgpack.Decoder(list[Key], ext_hook=_unpacked)


def _main(stem: str, target: str, shown: str, *tasks: str) -> None:
    seed = int(sys.stdin.read())
    keys = [key_of(task, seed) for id_, task in tasks_of(stem).items() if id_ in tasks]
    Path(target).write_bytes(ENCODER.encode(keys))
    if shown:
        with contextlib.suppress(Exception):  # the feedback does without
            examples.write(stem, Path(shown))


if __name__ == "__main__":
    _main(*sys.argv[1:])
