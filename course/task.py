"""The definition of a task: its inputs, its oracle with tolerances, and its misconceptions.

A practical's tasks are in ``course.checks.<stem>`` as ``TASKS``, a dictionary by id.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

Case = Mapping[str, Any]


@dataclass(frozen=True)
class Close:
    """A right value and its tolerance: ``|got - value| <= atol + rtol * |value|``.

    ``because`` gives the reason for the tolerance, such as the precision of the arithmetic or
    six standard errors. ``integers`` says that the value consists of labels or indices, of which
    differences and factors say nothing.
    """

    value: Any
    rtol: float = field(default=0.0, kw_only=True)
    atol: Any = field(default=0.0, kw_only=True)
    because: str = field(kw_only=True)
    integers: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        value = np.asarray(self.value, dtype=np.float64)
        if not np.all(np.isfinite(value)):
            raise ValueError(f"an oracle's value must be finite, not {value}")
        object.__setattr__(self, "value", value)

    def near(self, got: np.ndarray, value: np.ndarray | None = None) -> np.ndarray:
        """Compare elementwise: is ``got`` within tolerance of ``value`` (default: the right one)?"""
        value = self.value if value is None else value
        with np.errstate(invalid="ignore", over="ignore"):
            return np.abs(got - value) <= self.atol + self.rtol * np.abs(value)


@dataclass(frozen=True)
class Misconception:
    """A wrong answer that students give in practice, and the sentence that names it."""

    answer: Callable[..., Any]
    hint: str


@dataclass(frozen=True)
class Task:
    """A task, with everything needed to judge an answer to it.

    Args:
        name: the name of the answer's function or class in the notebook.
        points: how many points it is worth.
        cases: draws inputs, a list of dictionaries of arrays and plain numbers.
        probe: calls the answer on one case and returns numbers by name, or yields pairs of
            a name and a number. Its source is copied into graded notebooks, with that of
            ``course.probing``, so it may use what is defined there, and all its imports
            must be inside it.
        oracle: the right numbers for one case, under the same names.
        misconceptions: known wrong answers.
        hints: at most three, each saying more than the one before.
        id: ``<stem>/<name>``, with hyphens in both parts; ``tasks`` sets it.
        proof: for symbolic answers, called once the numbers agree; returns what is
            wrong, or None.
        made_of: a sentence for students that says how the probe makes the answer's
            arguments from the inputs, where their names do not say it.
    """

    name: str
    points: int
    cases: Callable[[np.random.Generator], list[Case]]
    probe: Callable[..., Mapping[str, Any] | Iterable[tuple[str, Any]]]
    oracle: Callable[..., Mapping[str, Close]]
    misconceptions: Sequence[Misconception] = ()
    hints: Sequence[str] = ()
    proof: Callable[[Any], str | None] | None = None
    made_of: str = ""
    id: str = ""

    def __post_init__(self) -> None:
        if len(self.hints) > 3:
            raise ValueError(f"{self.name}: {len(self.hints)} hints; at most 3")
        if self.points < 1:
            raise ValueError(f"{self.name}: a task is worth at least one point")


NO_TASK = " Questions that you answer in words have neither a check nor hints."


class UnknownTask(KeyError):
    """No task, or no quiz, has this id."""

    def __str__(self) -> str:
        return self.args[0]

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def task_id(stem: str, name: str) -> str:
    """Return a task's id; CamelCase names are hyphenated as well.

    ``deep_ensembles``, ``gaussian_nll`` → ``deep-ensembles/gaussian-nll``.
    """
    kebab = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name)
    return f"{stem.replace('_', '-')}/{kebab.replace('_', '-').lower()}"


def stem_of(name: str) -> str:
    """Return the practical's stem in a task's id, or in a name with hyphens.

    ``deep-ensembles/gaussian-nll`` or ``deep-ensembles`` → ``deep_ensembles``.
    """
    return name.partition("/")[0].replace("-", "_")


def tasks(package: str, *listed: Task) -> dict[str, Task]:
    """Return the tasks of a practical by id, in this order.

    Args:
        package: the practical's package of checks; its last part is the stem.
        listed: the tasks, without ids.
    """
    stem = package.rpartition(".")[2]
    named = (replace(task, id=task_id(stem, task.name)) for task in listed)
    return {task.id: task for task in named}


@cache
def stems() -> tuple[str, ...]:
    """List the stems of the practicals that have checks."""
    package = importlib.import_module("course.checks")
    found = pkgutil.iter_modules(package.__path__)
    return tuple(sorted(module.name for module in found if module.ispkg))


def tasks_of(stem: str) -> dict[str, Task]:
    """Return the tasks of one practical, by id, in order."""
    return importlib.import_module(f"course.checks.{stem}").TASKS


def find(task_id: str) -> Task:
    """Return the task with this id.

    Raises:
        UnknownTask: there is none; the message names the closest ids.
    """
    stem = stem_of(task_id)
    tasks = tasks_of(stem) if stem in stems() else {}
    if task_id not in tasks:
        known = list(tasks) or every_id(tasks_of)
        near = closest(task_id, known) or NO_TASK
        raise UnknownTask(f"There is no task {task_id!r}.{near}")
    return tasks[task_id]


def every_id(of: Callable[[str], Iterable[str]]) -> list[str]:
    """List the ids that ``of`` gives for each practical whose framework is installed."""
    found = []
    for stem in stems():
        with contextlib.suppress(ModuleNotFoundError):
            found += of(stem)
    return found


def closest(wanted: str, known: Iterable[str]) -> str:
    """Return a sentence that names the known ids closest to an unknown one, if any is close."""
    known = list(known)
    # All ids of a practical begin alike, so what comes after the slash is compared.
    names = [id_.rpartition("/")[2] for id_ in known]
    close = difflib.get_close_matches(wanted.rpartition("/")[2], names, n=2)
    near = [id_ for id_, name in zip(known, names, strict=True) if name in close]
    return f" Did you mean {' or '.join(near)}?" if near else ""
