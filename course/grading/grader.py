"""Grades one submission, in as many passes as it needs.

In the first pass all answers are judged together, each in the company of the student's
other answers. A task that a wrong, dead or hanging one has spoilt is judged again, with the
reference in the place of the tasks that are not judged in that pass; only verdicts leave it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil
from nbformat import NotebookNode

from course.errors import CourseError
from course.grading.answers import Answer, Answers
from course.grading.assemble import assemble
from course.grading.attempt import NOTEBOOK, Found, Given
from course.grading.expected import Key
from course.grading.flags import flag
from course.grading.provisioner import NAME
from course.grading.record import Flag, Verdict
from course.grading.sandbox import Limits, Sandbox
from course.grading.sources import uses
from course.grading.verdicts import UNWRITTEN

PREFIX = "ku-"
SHORT = Path("/tmp")  # the name of a socket has room for 107 characters
SLACK = 15.0  # seconds for nbval itself

_running: set[subprocess.Popen] = set()
_lock = threading.Lock()
_ending = threading.Event()

STOOD_IN = "It was judged with reference solutions in the place of other tasks."


@dataclass(frozen=True)
class Practical:
    """What is the same for every submission of one practical.

    Args:
        stem: such as ``deep_ensembles``.
        released: the notebook as it was handed out.
        reference: the source of each task's reference solution, by task.
        given: the source of what is given, by name.
        expected: the file of the expected values.
        keys: its content, by task.
    """

    stem: str
    released: NotebookNode
    reference: Mapping[str, str]
    given: Mapping[str, str]
    expected: Path
    keys: Mapping[str, Key]


@dataclass(frozen=True)
class Workshop:
    """Where and how passes run.

    Args:
        library: the folder that ``sandbox.stage_library`` filled.
        limits: what a pass may use.
        walled: use bubblewrap.
        hidden: folders that no submission may see.
    """

    library: Path
    limits: Limits
    walled: bool = True
    hidden: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Graded:
    """What grading found: a verdict for each task, flags, and why nothing could be judged."""

    verdicts: tuple[Verdict, ...]
    flags: tuple[Flag, ...] = ()
    problem: str = ""


def grade(answers: Answers, practical: Practical, workshop: Workshop) -> Graded:
    """Judge every task of a submission."""
    verdicts, flags, problem = _Passes(answers, practical, workshop).run()
    return Graded(
        tuple(verdicts[task] for task in practical.keys), tuple(flags), problem
    )


def canary(practical: Practical, workshop: Workshop) -> None:
    """Send the reference the way that submissions go.

    Raises:
        CourseError: it does not get full marks, so nothing can be graded.
    """
    answers = Answers(
        {task: Answer(task, source) for task, source in practical.reference.items()}, {}
    )
    graded = grade(answers, practical, workshop)
    failed = [verdict for verdict in graded.verdicts if verdict.status != "right"]
    if failed or graded.problem:
        said = graded.problem or f"{failed[0].task}: {failed[0].reason}"
        raise CourseError(
            f"solutions.{practical.stem}",
            None,
            f"The reference solution does not get full marks here ({said})",
            "Nothing was graded. Run `course check-notebooks`, and see that the "
            "environment holds the versions of constraints.txt.",
        )


class _Passes:
    """The passes over one submission."""

    def __init__(self, answers: Answers, practical: Practical, workshop: Workshop):
        self.answers, self.practical, self.workshop = answers, practical, workshop
        self.until = time.monotonic() + workshop.limits.submission
        self.verdicts = {
            task: Verdict(task, key.points) for task, key in practical.keys.items()
        }
        self.flags: list[Flag] = []
        self.left_out: set[str] = set()
        self.number = 0

    def run(self) -> tuple[dict[str, Verdict], list[Flag], str]:
        todo = self._written()
        failures = 0
        while todo and time.monotonic() < self.until:
            found = self._one(todo)
            self.number += 1
            if not found.started or (found.stopped and not self._culprit(found)):
                failures += 1
                if failures > 1:
                    return self.verdicts, self.flags, self._broken(found)
                continue
            self._take(found, todo)
            todo = self._again(todo)
        for task in todo:
            self._settle(
                task, "not-reached", "The time for the whole notebook was used up."
            )
        return self.verdicts, self.flags, ""

    def _written(self) -> list[str]:
        """The tasks whose answers can run; the others are wrong as they stand."""
        todo = []
        for task in self.verdicts:
            answer = self.answers.tasks.get(task)
            if answer is None:
                self._settle(task, "wrong", "Its cell is missing.")
            elif answer.untouched:
                self._settle(task, "wrong", UNWRITTEN)
            elif answer.problem:
                self._settle(task, "wrong", answer.problem)
            else:
                todo.append(task)
        return todo

    def _as_written(self) -> dict[str, str]:
        """In the first pass no reference stands in: what is not judged is what was handed in."""
        return {
            task: answer.source
            for task, answer in self.answers.tasks.items()
            if not answer.problem
        }

    def _one(self, todo: list[str]) -> Found:
        notebook = assemble(
            self.practical.released,
            self.answers,
            judged=set(todo),
            reference=self.practical.reference if self.number else self._as_written(),
            probes={task: self.practical.keys[task].probe for task in todo},
            left_out=self.left_out,
        )
        left = max(1.0, self.until - time.monotonic())
        return run_pass(
            notebook,
            self.number + 1,
            todo,
            self.practical.expected,
            self.workshop,
            left,
        )

    def _culprit(self, found: Found) -> bool:
        """Deal with the cell in which the kernel ended; False if it is one of ours."""
        task = found.stopped.removesuffix("--probe").replace("--", "/", 1)
        if task in found.verdicts:
            return True
        if found.stopped in {added.id for added in self.answers.added}:
            self.left_out.add(found.stopped)
            self.flags.append(
                flag("added-stopped", found.stopped, detail=found.because)
            )
            return True
        return False

    def _take(self, found: Found, todo: list[str]) -> None:
        for task in todo:
            verdict = found.verdicts[task]
            if self.number > 1 and verdict.status == "right":
                verdict = dataclasses.replace(verdict, reason=STOOD_IN)
            self.verdicts[task] = verdict
        self.flags += [item for item in found.flags if item not in self.flags]

    def _again(self, todo: list[str]) -> list[str]:
        """The tasks for the next pass: those not reached, else those that others spoilt."""
        left = [t for t in todo if self.verdicts[t].status == "not-reached"]
        if left:
            return left
        spoilt = [
            t for t in todo if self.verdicts[t].status == "wrong" and self._leans(t)
        ]
        chosen: list[str] = []
        for task in spoilt:
            if not self._needs(task) & set(chosen):
                chosen.append(task)
        return chosen

    def _leans(self, task: str) -> bool:
        """Was it judged beside a wrong answer that it uses?"""
        now = self.verdicts[task].attempt
        return any(
            self.verdicts[other].status != "right"
            and (now == 1 or self.verdicts[other].attempt == now)
            for other in self._needs(task)
        )

    def _needs(self, task: str) -> set[str]:
        """The tasks whose names an answer uses, directly, or through others and given code."""
        by_name = {key.name: id_ for id_, key in self.practical.keys.items()}
        sources = dict(self.practical.given) | {
            key.name: answer.source
            for id_, key in self.practical.keys.items()
            if (answer := self.answers.tasks.get(id_))
        }
        found: set[str] = set()
        waiting = [self.practical.keys[task].name]
        while waiting:
            source = sources.get(waiting.pop(), "")
            new = uses(source, by_name.keys() | sources.keys()) - found
            found |= new
            waiting += new
        return {by_name[name] for name in found & by_name.keys()} - {task}

    def _settle(self, task: str, status: str, reason: str) -> None:
        self.verdicts[task] = dataclasses.replace(
            self.verdicts[task], status=status, reason=reason
        )

    def _broken(self, found: Found) -> str:
        for task, verdict in self.verdicts.items():
            if verdict.status == "not-reached":
                self._settle(task, "not-graded", "The notebook could not be run.")
        return f"The notebook could not be run: {found.because or 'no kernel started'}."


def run_pass(
    notebook: NotebookNode,
    number: int,
    judged: Iterable[str],
    expected: Path,
    workshop: Workshop,
    seconds: float,
) -> Found:
    """Run one assembled notebook with nbval, in a process of its own; what it found."""
    prefix = f"{PREFIX}{os.getpid()}-"
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=SHORT))
    box = Path(tempfile.mkdtemp(prefix=prefix, dir=SHORT))
    try:
        sandbox = Sandbox(
            box, workshop.library, workshop.limits, workshop.walled, workshop.hidden
        )
        Given(number, expected, tuple(judged), sandbox).save(folder)
        nbformat.write(notebook, folder / NOTEBOOK)
        _nbval(folder, seconds)
        return Found.load(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(box, ignore_errors=True)


def sweep() -> None:
    """Remove what the passes of killed runs have left."""
    for path in SHORT.glob(f"{PREFIX}*-*"):
        number = path.name.removeprefix(PREFIX).partition("-")[0]
        mine = (
            path.is_dir()
            and not path.is_symlink()
            and path.stat().st_uid == os.getuid()
        )
        if mine and number.isdigit() and not psutil.pid_exists(int(number)):
            shutil.rmtree(path, ignore_errors=True)


def allow_passes() -> None:
    """Let passes start again in this process after ``end_passes``."""
    _ending.clear()


def end_passes() -> None:
    """End every pass that runs in this process, and start no more."""
    _ending.set()
    with _lock:
        for process in _running:
            _kill(process)


def _nbval(folder: Path, seconds: float) -> None:
    command = [
        *(sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=line"),
        *(
            "-p",
            "nbval.plugin",
            "-p",
            "course.grading.plugin",
            "-p",
            "no:cacheprovider",
        ),
        *("-c", os.devnull, "--rootdir", str(folder), "--pass", str(folder)),
        *("--nbval-current-env", str(folder / NOTEBOOK)),
    ]
    environment = os.environ | {
        "JUPYTER_DEFAULT_PROVISIONER_NAME": NAME,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "KNOWN_UNKNOWNS_GRADER": str(os.getpid()),
    }
    environment.pop("PYTEST_ADDOPTS", None)
    with open(folder / "log", "wb") as log:
        with _lock:
            if _ending.is_set():
                raise InterruptedError("the run is ending")
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            _running.add(process)
        try:
            process.wait(seconds + SLACK)
        except subprocess.TimeoutExpired:
            pass
        finally:
            _kill(process)
            process.wait()
            with _lock:
                _running.discard(process)
    if _ending.is_set():
        raise InterruptedError("the run is ending")


def _kill(process: subprocess.Popen) -> None:
    """End a pass; its kernel dies with it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
