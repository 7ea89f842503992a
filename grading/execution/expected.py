"""Draw a run's inputs and compute the right values for them, in a process of its own.

The oracles need a framework, the grader does not, and torch and JAX are never imported in one
process. Of everything computed here, only the inputs enter a sandbox.

The right values come first. Those of the known mistakes take longer, and only an answer that
is not right needs those of its task: that process computes them when they are asked for, until
the run ends.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Client, Listener
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from course.task import Case, Close, Task, find
from grading.execution import examples
from grading.execution.probe import probe_source
from grading.execution.programs import copy_new, folder_of, mark_of
from grading.execution.runner import new_folder, remove
from project.errors import CourseError
from project.files import write_whole
from project.jax_options import XLA_FLAGS, share_context
from project.practicals import Lab
from project.threads import ONE_THREAD

Values = list[dict[str, Any]]
ARRAY = 1  # the MessagePack extension code of an array
READY = "ready\n"
ASKING = 128  # processes at a time, at most, that wait for known mistakes
CACHE = "JAX_COMPILATION_CACHE_DIR"


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
    mistakes: Sequence[KnownMistake] = ()
    cases: list[dict[str, Any]] = field(default_factory=list)


class Awaited(Sequence):
    """A task's known mistakes as they are needed: the first use asks for their values.

    Args:
        keys: the file of the keys that ``draw`` wrote.
        task: the task's id.
    """

    def __init__(self, keys: Path, task: str) -> None:
        self.keys, self.task = keys, task

    @functools.cached_property
    def known(self) -> Sequence[KnownMistake]:
        """The mistakes.

        Raises:
            OSError, EOFError: the process that computes them has ended, or ends meanwhile.
        """
        if beside(self.keys).exists():
            # Those of the other tasks would take ten times as long to decode.
            found = RAW.decode(beside(self.keys).read_bytes())[self.task]
        else:
            found = asked(self.keys, self.task)
        return MISTAKES.decode(found)

    def __len__(self) -> int:
        return len(self.known)

    def __getitem__(self, index):
        return self.known[index]


def asked(keys: Path, task: str) -> bytes:
    """Ask the process that drew for the encoded known mistakes of a task, and wait for them."""
    with Client(_address(keys).read_text("utf-8")) as process:
        process.send_bytes(task.encode())
        return process.recv_bytes()


def everything(keys: Path) -> bytes:
    """Return the content of the file ``beside`` the keys, for machines that cannot ask."""
    return ENCODER.encode({task: msgspec.Raw(asked(keys, task)) for task in read(keys)})


def beside(keys: Path) -> Path:
    """Return the file of all known mistakes; where there is none, they are asked for."""
    return keys.with_suffix(".mistakes")


def failures(keys: Path) -> Path:
    """Return the file of sentences about misconceptions that raised an exception, by task."""
    return keys.with_suffix(".failed")


def read_failures(keys: Path) -> dict[str, list[str]]:
    """Read that file; where there is none, nothing has failed."""
    path = failures(keys)
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def _address(keys: Path) -> Path:
    return keys.with_suffix(".address")


class Drawing:
    """The process that draws for a lab, and then computes known mistakes when asked."""

    def __init__(self, stem: str, command: list[str], environment: dict[str, str]):
        self.stem = stem
        self.folder = new_folder()  # of its socket, whose path must be short
        self.address = str(self.folder / "mistakes")
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed by ``stop``
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(
            [*command, self.address],
            **pipes,
            stderr=self.errors,
            env=environment,
            text=True,
        )

    def begin(self, seed: int) -> None:
        """Wait until the keys are written.

        Raises:
            CourseError: they cannot be computed.
        """
        # The seed is sent through a pipe, because every process can read arguments.
        with contextlib.suppress(BrokenPipeError):
            print(seed, file=self.process.stdin, flush=True)
        if self.process.stdout.readline() != READY:
            self.finish()

    def finish(self) -> None:
        """Wait until the process has ended.

        Raises:
            CourseError: it failed.
        """
        said = self._end()
        if self.process.returncode != 0:
            raise CourseError(
                f"course.checks.{self.stem}",
                None,
                f"The expected values cannot be computed: {said}.",
                f"`course check-notebooks {self.stem}` may say why.",
            )

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self._end()

    def _end(self) -> str:
        """Wait for the end, close all pipes, and return the last line of the errors."""
        self.process.communicate()  # it ends when its standard input does
        remove(self.folder)
        if self.errors.closed:
            return ""
        with self.errors:
            self.errors.seek(0)
            return (self.errors.read().strip().splitlines() or ["nothing"])[-1]


def draw(
    lab: Lab,
    seed: int,
    target: Path,
    compiled: Path | None = None,
    shown: Path | None = None,
) -> Drawing:
    """Compute the keys of a lab's tasks, in another process, and write them to ``target``.

    That process is returned. It runs on, and computes the known mistakes of a task when it is
    asked for them.

    The programs that JAX compiles for this are added to the folder ``compiled``: submissions
    run most of them, too. They are kept in the checkout for later runs. Where there is no file
    ``shown``, the hints of the practical are written there, for ``examples``: nothing that they
    need has to be imported again.

    Raises:
        CourseError: it has no exercise, or its checks cannot be evaluated.
    """
    stem = lab.stem
    # Options as in kernels: a mistake's values may depend on how it is compiled.
    environment = os.environ | ONE_THREAD | {"XLA_FLAGS": XLA_FLAGS}
    if compiled is not None:
        environment |= {
            CACHE: str(compiled),
            "JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES": "none",
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }
    wanted = "" if shown is None or shown.exists() else str(shown)
    kept = "" if compiled is None else str(folder_of(lab.root, stem))
    command = [sys.executable, "-m", __name__, stem, str(target), wanted, kept]
    command += lab.tasks()
    drawing = Drawing(stem, command, environment)
    drawing.begin(seed)
    _address(target).write_text(drawing.address, "utf-8")
    return drawing


def read(path: Path) -> dict[str, Key]:
    """Read the keys that ``draw`` wrote, by task, in the order of the lab."""
    return {
        key.task: replace(key, mistakes=Awaited(path, key.task))
        for key in KEYS.decode(path.read_bytes())
    }


def cases_of(task: Task, seed: int) -> list[Case]:
    """Draw a task's inputs for a run."""
    return task.cases(np.random.default_rng([seed, zlib.crc32(task.id.encode())]))


def key_of(task: Task, seed: int) -> Key:
    """Compute a task's inputs and its right values."""
    cases = cases_of(task, seed)
    right = [dict(task.oracle(**case)) for case in cases]
    probe = probe_source(task, cases)
    inputs = [dict(case) for case in cases]
    return Key(task.id, task.name, task.points, probe, right, cases=inputs)


def mistakes_of(
    task: Task,
    cases: Sequence[Case],
    failed: list[str] | None = None,
    ended: threading.Event | None = None,
) -> list[KnownMistake]:
    """Compute the values of a task's misconceptions, until ``ended`` is set.

    One that raises an exception has no values; a sentence about it is added to ``failed``.
    """
    mistakes = []
    for number, misconception in enumerate(task.misconceptions, start=1):
        if ended is not None and ended.is_set():
            break
        try:
            values = [dict(task.probe(misconception.answer, **case)) for case in cases]
        except Exception as error:  # it must not keep the class from being graded
            if failed is not None:
                failed.append(
                    f"The answer of misconception {number} of {task.id} (“you get this if "
                    f"{misconception.hint}”) raised {type(error).__name__} on this run's "
                    "inputs."
                )
        else:
            mistakes.append(KnownMistake(number, misconception.hint, values))
    return mistakes


def _packed(value: Any) -> msgspec.msgpack.Ext:
    """An array, with its dtype, its shape and every digit."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    array = np.asarray(value)
    if array.dtype.hasobject:
        raise TypeError(f"{type(value).__name__} is not an array of numbers")
    content = array.dtype.str, array.shape, array.tobytes()
    return msgspec.msgpack.Ext(ARRAY, msgspec.msgpack.encode(content))


def _unpacked(code: int, data: memoryview) -> Any:
    dtype, shape, content = msgspec.msgpack.decode(data)
    return np.frombuffer(content, dtype).reshape(shape).copy()[()]


ENCODER = msgspec.msgpack.Encoder(enc_hook=_packed)
KEYS = msgspec.msgpack.Decoder(list[Key], ext_hook=_unpacked)
MISTAKES = msgspec.msgpack.Decoder(list[KnownMistake], ext_hook=_unpacked)
RAW = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])


def _answer(
    listener: Listener, known: Callable[[str], bytes], ended: threading.Event
) -> None:
    """Send the known mistakes of each task that is asked for, until standard input ends."""

    def end() -> None:
        sys.stdin.read()
        ended.set()
        with Client(listener.address) as last:
            last.send_bytes(b"")

    threading.Thread(target=end, daemon=True).start()
    while True:
        # The process that asks may be stopped at any time.
        with contextlib.suppress(EOFError, OSError), listener.accept() as other:
            task = other.recv_bytes().decode()
            if not task:
                return
            other.send_bytes(known(task))


def _main(stem: str, target: str, shown: str, kept: str, *rest: str) -> None:
    *wanted, address = rest
    seed = int(sys.stdin.readline())
    sys.stdout = sys.stderr  # nobody reads what is printed
    gc.disable()  # imports leave little garbage: looking for it takes an eighth of their time
    tasks = {id_: find(id_) for id_ in wanted}  # in the notebook's order
    gc.freeze()
    gc.enable()
    share_context()
    keys = {id_: key_of(task, seed) for id_, task in tasks.items()}
    compiled, programs = Path(os.environ.get(CACHE, "")), Path(kept)
    marks = {}
    if compiles := kept and "jax" in sys.modules:
        copy_new(programs, compiled)
        for id_, task in tasks.items():
            marks[id_] = mark_of(id_, keys[id_].cases, len(task.misconceptions))
    failed: dict[str, list[str]] = {id_: [] for id_ in tasks}
    locks, ended = {id_: threading.Lock() for id_ in tasks}, threading.Event()
    new_marks = []

    @functools.cache
    def encoded(id_: str) -> bytes:
        found = mistakes_of(tasks[id_], keys[id_].cases, failed[id_], ended)
        if compiles and not ended.is_set():
            new_marks.append(marks[id_])
        return ENCODER.encode(found)

    def known(id_: str) -> bytes:
        with locks[id_]:
            return encoded(id_)

    # Begin with the faults of a stopped run. Those that only the thread finds are not reported.
    said = read_failures(Path(target))

    def asked_for(id_: str) -> bytes:
        """Return the known mistakes of a task, and keep its faults for the report."""
        found = known(id_)
        if failed[id_] and id_ not in said:
            said[id_] = failed[id_]
            in_order = {id_: said[id_] for id_ in tasks if id_ in said}
            with contextlib.suppress(OSError):  # then they are not reported
                write_whole(failures(Path(target)), json.dumps(in_order))
        return found

    def compile_ahead() -> None:
        """Submissions run most programs that known mistakes need."""
        for id_ in tasks:
            if not (programs / marks[id_]).exists():
                known(id_)

    usual = os.umask(0o077)  # nobody else may read the expected values
    ahead = threading.Thread(target=compile_ahead)
    with Listener(address, backlog=ASKING) as listener:
        Path(target).write_bytes(ENCODER.encode(list(keys.values())))
        print(READY, end="", flush=True, file=sys.__stdout__)
        if compiles:
            ahead.start()
        if shown:
            with contextlib.suppress(Exception):  # the feedback does without
                examples.write(stem, Path(shown))
        _answer(listener, asked_for, ended)
    if compiles:
        ahead.join()
    os.umask(usual)
    if compiles:
        copy_new(compiled, programs, new_marks)


if __name__ == "__main__":
    _main(*sys.argv[1:])
