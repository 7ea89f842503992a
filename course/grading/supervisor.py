"""Watches a kernel's processes from outside: limits of the shell do not bind root."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from course.grading.sandbox import Limits

PAUSE = 0.05


class Supervisor(threading.Thread):
    """Counts memory, processes, threads and files, and kills what uses too much.

    Args:
        pid: the process at the top; all that it starts count with it.
        folder: the folder outside that it can write to.
        limits: what it may use.
        kill: ends all of them at once.
    """

    def __init__(
        self, pid: int, folder: Path, limits: Limits, kill: Callable[[], None]
    ) -> None:
        super().__init__(name="supervisor", daemon=True)
        self.top, self.folder, self.limits, self.kill = pid, folder, limits, kill
        self.exceeded: str | None = None
        self.peak = 0
        self._over = threading.Event()

    def run(self) -> None:
        """Look every twentieth of a second until there is nothing to look at."""
        try:
            top = psutil.Process(self.top)
        except psutil.NoSuchProcess:
            return
        while not self._over.is_set():
            try:
                self.exceeded = self._too_much([top, *top.children(recursive=True)])
            except psutil.NoSuchProcess:
                return
            if self.exceeded is not None:
                self.kill()
                return
            time.sleep(PAUSE)

    def close(self) -> None:
        """Stop looking."""
        self._over.set()

    def _too_much(self, processes: list[psutil.Process]) -> str | None:
        limits = self.limits
        if len(processes) > limits.processes:
            return f"more than {limits.processes} processes"
        memory, threads = 0, 0
        for process in processes:
            try:
                with process.oneshot():
                    memory += process.memory_info().rss
                    threads += process.num_threads()
            except psutil.Error:
                continue
        self.peak = max(self.peak, memory)
        if memory > limits.memory:
            return f"more than {limits.memory // 1024**2} MiB of memory"
        if threads > limits.threads:
            return f"more than {limits.threads} threads"
        if _bytes_in(self.folder) > limits.disk:
            return f"more than {limits.disk // 1024**2} MiB of files"
        return None


def _bytes_in(folder: Path) -> int:
    """What a flat folder holds; a kernel makes five sockets there and nothing else."""
    total = 0
    for count, entry in enumerate(folder.glob("**/*")):
        if count > 1000:
            return 1 << 62
        try:
            total += entry.lstat().st_size
        except OSError:
            continue
    return total
