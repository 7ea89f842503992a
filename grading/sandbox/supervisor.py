"""Watch a kernel's processes from outside, because the shell's limits do not bind root."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from grading.sandbox.bubblewrap import Limits
from grading.sandbox.clock import Clock

PAUSE = 0.05
SOCKETS = 20  # a kernel has five
TEMPORARY = ("/tmp", "/dev/shm")


class Supervisor(threading.Thread):
    """Measure a kernel's memory, processes, threads, sockets and files; kill it above a limit.

    Args:
        pid: the top process; its descendants are measured with it.
        folder: the only folder outside the sandbox that it can write to.
        limits: the resource limits.
        kill: kills all of them at once.
        clock: updated with their times at every look.
        shims: the top process and its children are the grader's own; their memory is not
            counted, because a fork's would count all that the zygote has imported again.
    """

    def __init__(
        self,
        pid: int,
        folder: Path,
        limits: Limits,
        kill: Callable[[], None],
        clock: Clock,
        *,
        shims: bool = False,
    ) -> None:
        super().__init__(name="supervisor", daemon=True)
        self.top, self.folder, self.limits, self.kill = pid, folder, limits, kill
        self.shims, self.clock = shims, clock
        self.device = folder.stat().st_dev
        self.exceeded: str | None = None
        self.peak = 0
        self._written: dict[int, int] = {}
        self._over = threading.Event()

    def run(self) -> None:
        """Look every ``PAUSE`` seconds until the kernel ends, exceeds a limit, or is closed."""
        try:
            top = psutil.Process(self.top)
            while self.exceeded is None and not self._over.is_set():
                time.sleep(PAUSE)
                self.exceeded = self._too_much([top, *top.children(recursive=True)])
        except psutil.NoSuchProcess:
            return
        except Exception:  # a kernel that cannot be watched must not run
            self.exceeded = "more than can be measured"
        if self.exceeded is not None:
            self.kill()

    def close(self) -> None:
        """Stop watching."""
        self._over.set()

    def _too_much(self, processes: list[psutil.Process]) -> str | None:
        limits = self.limits
        if len(processes) > limits.processes:
            return f"more than {limits.processes} processes"
        memory, threads, sockets, unnamed, files, processor = 0, 0, 0, 0, 0, 0.0
        for process in processes:
            try:
                with process.oneshot():
                    if not self._is_ours(process):
                        memory += process.memory_info().rss + _swapped(process.pid)
                    threads += process.num_threads()
                    processor += sum(process.cpu_times()[:4])  # with ended children
                    held = _held(process.pid, self.device)
                    sockets, unnamed = sockets + held[0], unnamed + held[1]
                    files = max(files, _temporary(process.pid))
                    # Bytes written to disk, also to unlinked files; all else is in memory.
                    written = process.io_counters().write_bytes
                    self._written[process.pid] = written
            except psutil.Error:
                continue
        self.clock.look([process.pid for process in processes], processor)
        self.peak = max(self.peak, memory)
        if memory > limits.memory:
            return f"more than {limits.memory // 1024**2} MiB of memory"
        if threads > limits.threads:
            return f"more than {limits.threads} threads"
        if sockets > limits.sockets:
            return f"more than {limits.sockets} sockets"
        if sum(self._written.values()) > limits.disk or unnamed > limits.disk:
            return f"more than {limits.disk // 1024**2} MiB of files"
        if files > limits.files:
            return f"more than {limits.files:,} files"
        if _strays(self.folder):
            return "the folder for its sockets to store files"
        return None

    def _is_ours(self, process: psutil.Process) -> bool:
        return self.shims and self.top in (process.pid, process.ppid())


def _swapped(process: int) -> int:
    """The bytes of a process's memory that are swapped out."""
    with contextlib.suppress(OSError), open(f"/proc/{process}/status") as status:
        for line in status:
            if line.startswith("VmSwap:"):
                return int(line.split()[1]) * 1024
    return 0


def _held(process: int, device: int) -> tuple[int, int]:
    """The number of a process's open sockets, and the bytes of its open unnamed files on a device.

    A file with a name is either in the folder, where all names are seen, or nothing that the
    process could write, like a library of 400 MB that it opens for a moment to load it.
    """
    sockets = size = 0
    with contextlib.suppress(OSError), os.scandir(f"/proc/{process}/fd") as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                found = entry.stat()
                sockets += stat.S_ISSOCK(found.st_mode)
                is_file = stat.S_ISREG(found.st_mode) and found.st_nlink == 0
                if is_file and found.st_dev == device:
                    size += found.st_blocks * 512
    return sockets, size


def _temporary(process: int) -> int:
    """The number of files in the temporary folders that a process sees.

    bubblewrap cannot limit it. Outside a sandbox it is 0.
    """
    count = 0
    for folder in TEMPORARY:
        with contextlib.suppress(OSError):
            seen = f"/proc/{process}/root{folder}"
            if os.stat(seen).st_dev != os.stat(folder).st_dev:
                found = os.statvfs(seen)
                count += found.f_files - found.f_ffree
    return count


def _strays(folder: Path) -> bool:
    """Does a folder hold anything but a few sockets?"""
    with os.scandir(folder) as entries:
        for count, entry in enumerate(entries):
            try:
                mode = entry.stat(follow_symlinks=False).st_mode
            except FileNotFoundError:
                continue
            if count > SOCKETS or not stat.S_ISSOCK(mode):
                return True
    return False
