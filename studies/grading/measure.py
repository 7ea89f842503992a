"""Run time and peak memory of commands and of all processes that they start."""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psutil

EVERY = 0.1  # seconds between two measurements of the memory
MIB = 2**20
Command = Sequence[str | Path]


class Failed(Exception):
    """A command failed, or its scores are wrong; the message has the end of its output."""


@dataclass
class Measured:
    """The measured time in seconds, and peak memory in MiB.

    ``tree`` is the largest sum of the resident memory of all processes at one moment,
    ``grader`` the largest sum over the commands themselves, without their child processes.
    Memory that processes share is counted once for each of them.
    """

    seconds: float = 0.0
    tree: float = 0.0
    grader: float = 0.0


@dataclass
class _Watch:
    """Record the peak of the resident memory until ``done`` is set."""

    measured: Measured
    roots: set[int] = field(default_factory=set)
    done: threading.Event = field(default_factory=threading.Event)

    def look(self) -> None:
        """Measure the memory of ``roots`` and of their descendants until ``done`` is set."""
        while not self.done.wait(EVERY):
            own = [self._resident(pid) for pid in list(self.roots)]
            below = sum(self._below(pid) for pid in list(self.roots))
            self.measured.grader = max(self.measured.grader, sum(own) / MIB)
            self.measured.tree = max(self.measured.tree, (sum(own) + below) / MIB)

    def _below(self, pid: int) -> int:
        with contextlib.suppress(psutil.Error):
            children = psutil.Process(pid).children(recursive=True)
            return sum(self._resident(child.pid) for child in children)
        return 0

    def _resident(self, pid: int) -> int:
        with contextlib.suppress(psutil.Error):
            return psutil.Process(pid).memory_info().rss
        return 0


def measure(
    lanes: Sequence[Sequence[Command]], folder: Path, environment: Mapping[str, str]
) -> Measured:
    """Run lanes in parallel, and the commands of each lane one after another.

    Args:
        lanes: the commands.
        folder: the folder that they run in.
        environment: their environment variables.

    Raises:
        Failed: a command did not exit with status 0.
    """
    measured = Measured()
    watch = _Watch(measured)
    watcher = threading.Thread(target=watch.look, daemon=True)
    watcher.start()
    began = time.perf_counter()
    try:
        with ThreadPoolExecutor(len(lanes)) as pool:
            for lane in [
                pool.submit(_lane, x, folder, environment, watch) for x in lanes
            ]:
                lane.result()
    finally:
        measured.seconds = time.perf_counter() - began
        watch.done.set()
        watcher.join()
    return measured


def run(command: Command, folder: Path, environment: Mapping[str, str]) -> None:
    """Run one command without measuring it.

    Raises:
        Failed: it did not exit with status 0.
    """
    _lane([command], folder, environment, _Watch(Measured()))


def _lane(
    commands: Sequence[Command],
    folder: Path,
    environment: Mapping[str, str],
    watch: _Watch,
) -> None:
    for command in commands:
        # Log to a file: a pipe that nobody reads would fill up and block the command.
        with open(
            folder / f"log-{threading.get_ident()}", "w+", encoding="utf-8"
        ) as log:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            watch.roots.add(process.pid)
            code = process.wait()
            watch.roots.discard(process.pid)
            if code:
                log.seek(0)
                tail = " / ".join(log.read().strip().splitlines()[-3:])
                raise Failed(f"{Path(command[0]).name} ended with {code}: {tail}")
