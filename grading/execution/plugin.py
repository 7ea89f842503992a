"""Let nbval run one pass over a submission, and compare the numbers outside its kernel.

A pytest plugin: ``pytest -p nbval.plugin -p grading.execution.plugin --pass FOLDER``. Items are
named by cell id; a notebook's instructions to nbval (tags, ``# NBVAL_SKIP``) are ignored. What
is known is written at once, so that it survives if the session is killed.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import re
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
from nbval.plugin import IPyNbCell, IPyNbFile, NbCellError

from grading.execution.expected import read
from grading.execution.passes import NOTEBOOK, PassInput, PassResult
from grading.execution.values import VALUES
from grading.execution.verdicts import judge, raised, wrong
from grading.flags import flag
from grading.record import STOPPED, Verdict
from grading.sandbox.kernel import OutOfTime, Stopped, TooSlow, WatchedKernel

MEMORY = 1024**3  # bytes that nbval may use
SLOW = 5.0  # seconds for one of the student's own cells


class NotRun(Exception):
    """The kernel had ended before this cell."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--pass", dest="pass_folder", help="the folder of the pass")


def pytest_configure(config: pytest.Config) -> None:
    """End this pass, and so its kernel, if the grader is killed."""
    if config.option.pass_folder:
        threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    """Exit if the grader has ended, or if a kernel has filled this process's memory.

    A kernel's output is counted when a message has arrived, which a message may never do.
    """
    own, grader = psutil.Process(), multiprocessing.parent_process()
    while grader.is_alive() and own.memory_info().rss < MEMORY:
        time.sleep(0.1)
    os._exit(3)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End this process: the result is written, and nobody reads a summary."""
    if session.config.option.pass_folder:
        os._exit(0)


def pytest_collect_file(file_path: Path, parent: pytest.Collector):
    if parent.config.option.pass_folder and file_path.name == NOTEBOOK:
        return PassNotebook.from_parent(parent, path=file_path)
    return None


class PassNotebook(IPyNbFile):
    """The notebook of a pass, with its kernel and its result."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.folder = Path(self.config.option.pass_folder)
        self.input = PassInput.load(self.folder)
        keys = read(self.input.expected)
        self.keys = {task: keys[task] for task in self.input.judged}
        self.result = PassResult(
            {
                task: Verdict(task, key.points, attempt=self.input.number)
                for task, key in self.keys.items()
            }
        )
        self.raised: dict[str, str] = {}
        self.sources: dict[str, str] = {}

    def collect(self):
        """Yield an item for each code cell, named by its id."""
        notebook = nbformat.read(self.path, as_version=4)
        for number, cell in enumerate(notebook.cells):
            if cell.metadata.course.get("role") == "task":
                self.sources[cell.metadata.course["task"]] = cell.source
            yield PassCell.from_parent(
                self,
                name=cell.id,
                cell_num=number,
                cell=cell,
                options=defaultdict(bool),
            )

    def setup(self) -> None:
        """Start the kernel in its sandbox, not in this folder, which leads to the values."""
        self.save()
        try:
            self.kernel = WatchedKernel(self.input.sandbox, self.input.seconds)
        except TooSlow as slow:
            self.result.unsure, self.result.excused = slow.unsure, slow.excused
            self.save()
            raise
        self.result.started = True
        self.save()

    def teardown(self) -> None:
        """Stop the kernel and write the result."""
        self.result.finished = True
        if self.kernel is not None:
            self.kernel.stop()
        self.save()

    def save(self) -> None:
        """Write the result so far."""
        if self.kernel is not None:
            self.result.excused = self.kernel.excused
        self.result.save(self.folder)


class PassCell(IPyNbCell):
    """A cell; the numbers of a probe are judged."""

    parent: PassNotebook

    def setup(self) -> None:
        """Do nothing: nbval's own setup expects failures after a time-out."""

    def runtest(self) -> None:
        """Run the cell as nbval does, and record the result."""
        notebook, result = self.parent, self.parent.result
        role, task = (
            self.cell.metadata.course.get("role"),
            self.cell.metadata.course.get("task"),
        )
        if result.stopped:
            raise NotRun(f"not run: {result.because}")
        began = time.monotonic()
        error: NbCellError | None = None
        result.send(self.name, notebook.folder)
        limits = notebook.input.sandbox.limits
        # Given cells contain the imports, which may take long on a busy machine.
        notebook.kernel.allow(limits.start if role == "given" else limits.task)
        try:
            super().runtest()
        except NbCellError as caught:
            error = caught
        except OutOfTime as stop:  # its task is not reached rather than wrong
            self._stop("", str(stop), began)
            raise
        except Stopped as stop:
            result.unsure = isinstance(stop, TooSlow) and stop.unsure
            self._stop(task, str(stop), began)
            raise
        except Exception:  # nbval failed on a message of the kernel
            self._stop(task, "its output cannot be read", began)
            raise
        if role == "added" and notebook.kernel.elapsed.counted > SLOW:
            result.slow.append(self.name)
            notebook.save()
        shown = sum(VALUES in output.get("data", {}) for output in self.test_outputs)
        if shown > (role == "probe"):
            result.flags.append(flag("forged-values", self.name))
            notebook.save()
        if role == "probe":
            verdict = _timed(self._judged(task), began)
            result.decide(verdict, notebook.kernel.excused, notebook.folder)
            if verdict.status != "right":
                raise NotRight(verdict)
        elif error is not None:
            kind, said, line = _where(self.test_outputs)
            lines = self.cell.source.count("\n") + 1
            # The kernel can report any line.
            honest = line and line <= lines
            reason = raised(
                "Its cell",
                kind,
                line if honest else None,
                said=said,
                source=self.cell.source,
            )
            if notebook.input.number > 1:  # details could reveal the reference
                reason = "Its cell raised an exception."
            if role == "task" and task in notebook.keys:
                notebook.raised[task] = reason
            elif role == "added" and not any(
                f.code == "added-raised" for f in result.flags
            ):
                # Once and without the type: the types of many cells could spell out a text.
                result.flags.append(flag("added-raised", self.name))
                notebook.save()
            raise error

    def repr_failure(self, excinfo) -> str:
        """Return one line; nbval would print the probe and its hidden inputs."""
        return f"{self.name}: {excinfo.type.__name__}: {str(excinfo.value)[:200]}"

    def _judged(self, task: str) -> Verdict:
        notebook = self.parent
        key, number = notebook.keys[task], notebook.input.number
        source = notebook.sources.get(task, "")
        verdict = judge(key, self.test_outputs or [], pass_number=number, source=source)
        if verdict.status == "right" and notebook.kernel.reply != "ok":
            # The probe displayed values and ended in an exception that was not published.
            return wrong(key, "Calling it raised an exception.", pass_number=number)
        if verdict.status != "right" and task in notebook.raised and not verdict.hint:
            # The answer's cell failed before it defined the answer: report that instead.
            return wrong(key, notebook.raised[task], pass_number=number)
        return verdict

    def _stop(self, task: str, because: str, began: float) -> None:
        """Stop the kernel; the task of this cell, if any, is wrong."""
        notebook, result = self.parent, self.parent.result
        result.stopped, result.because = self.name, because
        notebook.kernel.stop()
        if task in notebook.keys:
            reason, number = (
                f"{STOPPED}: {because}.",
                notebook.input.number,
            )
            verdict = wrong(notebook.keys[task], reason, pass_number=number)
            result.verdicts[task] = _timed(verdict, began)
        notebook.save()


class NotRight(Exception):
    """An answer's numbers are not the expected ones."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.reason)


def _timed(verdict: Verdict, began: float) -> Verdict:
    return dataclasses.replace(verdict, seconds=round(time.monotonic() - began, 3))


def _where(outputs: list[dict[str, Any]] | None) -> tuple[str, str, int | None]:
    """The last exception in a cell's outputs: its type, its message, and the line of the cell."""
    errors = [output for output in outputs or [] if output["output_type"] == "error"]
    if not errors:
        return "Exception", "", None
    plain = re.sub(
        r"\x1b\[[0-9;]*m", "", "\n".join(map(str, errors[-1]["traceback"]))[:20_000]
    )
    line = re.search(r"Cell In\[\d+\], line (\d{1,5})\b", plain)
    kind, said = str(errors[-1]["ename"]), str(errors[-1]["evalue"])
    return kind, said, int(line.group(1)) if line else None
