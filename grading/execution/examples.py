"""Public examples and hints for the feedback: an input that the notebook's own check uses.

Students can see these inputs, and the values expected on them, by running the check. Those
of the run stay hidden. The oracles need a framework, so they are called in the process that
draws a run's inputs, or in one of their own, once for each state of the checks.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec
import numpy as np

import course
from course.differences import inputs, row
from course.feedback import SEEDS
from course.task import Task, tasks_of
from course.wording import INFINITE, is_property
from project.closure import closure, digest_of
from project.files import write_whole
from project.practicals import Lab

LONGEST = 1_500  # characters of an input or a value that a page shows
SECONDS = 300


@dataclass(frozen=True)
class Example:
    """An input of a task's own check, the expected values, and the task's hints."""

    inputs: str
    expected: str
    hints: tuple[str, ...]


def examples(labs: Iterable[Lab], cache: Path) -> dict[str, Example]:
    """Return an example for each task of some labs; none where it cannot be computed.

    Args:
        labs: of one course.
        cache: a folder in which they are kept; it is created if it does not exist.
    """
    found = {}
    for stem, path in sorted({(lab.stem, kept_in(cache, lab)) for lab in labs}):
        found |= _read(path) or _computed(stem, path)
    return found


def kept_in(cache: Path, lab: Lab) -> Path:
    """Return the file for the examples of a lab's practical, in this state of its checks."""
    package = Path(course.__file__).parents[1]
    code = closure(package, "", Path(course.__file__), __name__, lab.checks)
    return cache / f"{digest_of(package, code)[:40]}.json"


def write(stem: str, path: Path) -> None:
    """Compute the examples of a practical, in this process, and keep them."""
    found = {id_: asdict(example_of(task)) for id_, task in tasks_of(stem).items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(found))


def example_of(task: Task) -> Example:
    """Return the smallest input that a task's check draws, with the expected values."""
    cases = task.cases(np.random.default_rng(SEEDS[0]))
    case = min(cases, key=lambda one: sum(np.size(value) for value in one.values()))
    rows = [
        _row(name, close.value)
        for name, close in task.oracle(**case).items()
        if not name.startswith(INFINITE) and not is_property(name)
    ]
    shown = inputs(task, None, case)
    return Example(_cut(shown), _cut("\n".join(rows)), tuple(task.hints))


def _read(path: Path) -> dict[str, Example]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Example])
    except (FileNotFoundError, ValueError):
        return {}


def _computed(stem: str, path: Path) -> dict[str, Example]:
    """Compute the examples of a practical in a process of its own."""
    command = [sys.executable, "-m", __name__, stem, str(path)]
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(command, capture_output=True, timeout=SECONDS)
    return _read(path)  # the feedback does without if there are none


def _row(name: str, value: np.ndarray) -> str:
    return row(name, value) if value.shape else f"    {name} = {float(value):.6g}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()} …"


if __name__ == "__main__":
    write(sys.argv[1], Path(sys.argv[2]))
