"""Public examples and hints for the feedback: inputs that the notebook's own check uses.

Students can see these inputs, and the values expected on them, by running the check. Those
of the run stay hidden. An example is computed for each mistake that a class made, once for each
state of the checks, in a process of its own: oracles and misconceptions need a framework.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import course
from course.differences import Comparison, example, headline, inputs, row, with_infinite
from course.feedback import SEEDS, effort
from course.judge import Draw, Mismatch, answered, compare, usual_modes
from course.task import Case, Close, Misconception, Task, stem_of, tasks_of
from course.wording import INFINITE, PROPERTIES, is_property, wrapped
from grading.record import Result
from project.closure import closure, digest_of
from project.files import write_whole
from project.practicals import Lab

LONGEST = 1_500  # characters of an input or a value that a page shows
SECONDS = 300


@dataclass(frozen=True)
class Shown:
    """An input of a task's own check, and the values expected on it.

    ``mistaken`` are those that a mistake gives, or the empty string.
    """

    inputs: str
    expected: str
    mistaken: str = ""


@dataclass(frozen=True)
class Example:
    """A task's hints, and inputs that show the mistakes of a class.

    ``shown`` has an input for each misconception, by its sentence, and one for the wrong
    answers that no misconception gives, by the empty string.
    """

    hints: tuple[str, ...] = ()
    shown: Mapping[str, Shown] = field(default_factory=dict)

    def of(self, hint: str) -> Shown | None:
        """Return the input for a misconception; for none in particular, any."""
        return self.shown.get(
            hint, None if hint else next(iter(self.shown.values()), None)
        )


def examples(
    labs: Iterable[Lab], cache: Path, mistakes: Iterable[tuple[str, str]] = ()
) -> dict[str, Example]:
    """Return the examples of the tasks of some labs; none where they cannot be computed.

    Args:
        labs: of one course.
        cache: a folder in which they are kept; it is created if it does not exist.
        mistakes: as ``mistakes_in`` returns them.
    """
    found, mistakes = {}, sorted(set(mistakes))
    for stem, path in sorted({(lab.stem, kept_in(cache, lab)) for lab in labs}):
        kept = _read(path)
        missing = [
            (task, hint)
            for task, hint in mistakes
            if stem_of(task) == stem
            and not (kept and (task not in kept or hint in kept[task].shown))
        ]
        found |= _computed(stem, path, missing) if missing or not kept else kept
    return found


def mistakes_in(results: Iterable[Result]) -> set[tuple[str, str]]:
    """What a class did wrong: tasks, each with the sentence of a misconception, or an empty one."""
    return {
        (verdict.task, verdict.hint)
        for result in results
        for verdict in result.verdicts
        if verdict.status == "wrong"
    }


def kept_in(cache: Path, lab: Lab) -> Path:
    """Return the file for the examples of a lab's practical, in this state of its checks."""
    package = Path(course.__file__).parents[1]
    code = closure(package, "", Path(course.__file__), __name__, lab.checks)
    return cache / f"{digest_of(package, code)[:40]}.json"


def write(stem: str, path: Path, mistakes: Iterable[tuple[str, str]] = ()) -> None:
    """Add what ``mistakes`` need to the examples of a practical, in this process, and keep them."""
    tasks = tasks_of(stem)
    found = _read(path) or {id_: Example(tuple(tasks[id_].hints)) for id_ in tasks}
    path.parent.mkdir(parents=True, exist_ok=True)
    _keep(path, found)
    for id_, pairs in groupby(sorted(mistakes), lambda pair: pair[0]):
        if id_ in tasks:
            new = shown(tasks[id_], [hint for _, hint in pairs])
            found[id_] = replace(found[id_], shown={**found[id_].shown, **new})
            _keep(path, found)  # the time may not suffice for all tasks


def shown(task: Task, hints: Iterable[str]) -> dict[str, Shown]:
    """Return an input of a task's check for each misconception, by its sentence.

    It is the simplest on which the misconception differs from what is expected. For the empty
    string, it is the one on which most misconceptions do.
    """
    with usual_modes():
        cases = sorted(task.cases(np.random.default_rng(SEEDS[0])), key=effort)
        draw = Draw(task, cases)
        known = {mistake.hint: mistake for mistake in task.misconceptions}
        return {
            hint: (hint in known and _of_mistake(draw, known[hint])) or _telling(draw)
            for hint in hints
        }


def _of_mistake(draw: Draw, mistake: Misconception) -> Shown | None:
    """Return the simplest input that shows a mistake, by its values rather than a property."""
    first = None
    for case, right in zip(draw.cases, draw.right, strict=True):
        values = _given(draw.task, mistake, case)
        closes = {key: right[key] for key in right if key not in PROPERTIES}
        if values is None:
            continue
        if mismatch := compare([values], [closes]):
            return _compared(draw.task, case, right, values, mismatch)
        if first is None and (mismatch := compare([values], [right])):
            first = _compared(draw.task, case, right, values, mismatch)
    return first


def _compared(
    task: Task,
    case: Case,
    right: Mapping[str, Close],
    values: Mapping[str, Any],
    mismatch: Mismatch,
) -> Shown:
    both = example(task, None, mismatch, case, values, right, known=True)
    if isinstance(both, Comparison):
        return Shown(_cut(both.inputs), _cut(both.right), _cut(both.given))
    return replace(
        _plain(task, case, right), mistaken=wrapped(headline(task, mismatch, values))
    )


def _telling(draw: Draw) -> Shown:
    """Return the input on which most misconceptions differ; the simplest one of these."""
    best, fewest = 0, len(draw.task.misconceptions) + 1
    extreme, _ = effort(draw.cases[0])
    for at, case in enumerate(draw.cases):
        if effort(case)[0] > extreme or fewest == 0:
            break
        alike = 0
        for mistake in draw.task.misconceptions:
            values = _given(draw.task, mistake, case)
            alike += values is None or compare([values], [draw.right[at]]) is None
            if alike >= fewest:
                break
        else:
            best, fewest = at, alike
    return _plain(draw.task, draw.cases[best], draw.right[best])


def _given(task: Task, mistake: Misconception, case: Case) -> Mapping[str, Any] | None:
    """Return the values of a misconception; None if it raises an exception."""
    with contextlib.suppress(Exception):
        return answered(task, mistake.answer, [case])[0]
    return None


def _plain(task: Task, case: Case, right: Mapping[str, Close]) -> Shown:
    return Shown(_cut(inputs(task, None, case)), _cut("\n".join(_rows(right))))


def _rows(right: Mapping[str, Close]) -> Iterator[str]:
    for name, close in right.items():
        if is_property(name):
            continue
        value = close.value
        if INFINITE + name in right:
            value = with_infinite(value, right[INFINITE + name].value)
        yield row(name, value) if value.shape else f"    {name} = {float(value):.6g}"


def _read(path: Path) -> dict[str, Example]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Example])
    except (FileNotFoundError, ValueError):
        return {}


def _keep(path: Path, found: Mapping[str, Example]) -> None:
    write_whole(path, json.dumps({id_: asdict(one) for id_, one in found.items()}))


def _computed(
    stem: str, path: Path, mistakes: list[tuple[str, str]]
) -> dict[str, Example]:
    """Compute examples of a practical in a process of its own."""
    command = [sys.executable, "-m", __name__, stem, str(path)]
    given = json.dumps(mistakes)
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(
            command, input=given, text=True, capture_output=True, timeout=SECONDS
        )
    return _read(path)  # the feedback does without if there are none


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()} …"


if __name__ == "__main__":
    write(sys.argv[1], Path(sys.argv[2]), map(tuple, json.load(sys.stdin)))
