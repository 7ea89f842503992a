"""A clock for a submission that stops while the submission waits for a processor.

Wall time is unfair on a busy machine: a correct answer would be stopped because of other
processes. Linux reports for each thread how long it was ready to run without a processor
(``/proc/PID/task/TID/schedstat``, if the system keeps such statistics). This time does not
count; where it is not reported, all wall time counts.

The time that counts is never less than the processor time used, so a program gains nothing by
competing with itself: to cause W seconds of waiting it must use W seconds of processor time,
and at least half of the wall time counts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PRESSURE = ("/proc/pressure/io", "/proc/pressure/memory")
BUSY = 0.1  # share of the wall time
CORES = len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Reading:
    """The time that has passed since some moment, in seconds.

    Args:
        wall: wall time.
        waited: time in which a thread was ready to run and had no processor.
        processor: processor time of all processes together.
        stalled: time in which any process on the machine waited for a disk or for memory.
    """

    wall: float
    waited: float = 0.0
    processor: float = 0.0
    stalled: float = 0.0

    def __sub__(self, other: Reading) -> Reading:
        return Reading(
            self.wall - other.wall,
            self.waited - other.waited,
            self.processor - other.processor,
            self.stalled - other.stalled,
        )

    @property
    def counted(self) -> float:
        """The time that counts: at most the wall time, at least the processor time."""
        return min(self.wall, max(self.wall - self.waited, self.processor))

    @property
    def busy(self) -> bool:
        """Was the machine too busy to tell how long the submission would take on its own?

        While its own processes wait for one another, they use every processor themselves;
        such waiting is subtracted.
        """
        others = self.waited - self.processor / CORES
        return max(others, self.stalled) > BUSY * self.wall


class Clock:
    """The sum of the times in which processes, including this one, waited for a processor.

    One thread calls ``look`` repeatedly; any thread may read.
    """

    def __init__(self) -> None:
        self._own = os.getpid()
        self._delays = dict(_delays(self._own))
        self._looked = time.monotonic()
        self._free: list[tuple[float, float]] = []  # times in which no thread waited
        self._waited = self._processor = 0.0
        self.latest = Reading(self._looked, stalled=_stalled())

    def now(self) -> Reading:
        """A reading to subtract from a later one."""
        latest = self.latest
        wall = time.monotonic()
        return Reading(wall, latest.waited, latest.processor, latest.stalled)

    def look(self, processes: Iterable[int], processor: float) -> None:
        """Update the times.

        Args:
            processes: the ids of the watched processes.
            processor: the processor time that they and their ended children have used.
        """
        delays: dict[int, int] = {}
        for process in (self._own, *processes):
            delays.update(_delays(process))
        now = time.monotonic()
        self._free.append((self._looked, now))
        # Linux reports a wait when it is over, so it may have begun before the last look.
        # Simultaneous waits of several threads count once.
        longest = 0
        for thread, delay in delays.items():
            before = self._delays.get(thread, 0)
            longest = max(longest, delay - before if delay >= before else delay)
        self._fill(now - longest / 1e9)
        self._delays, self._looked = delays, now
        self._processor = max(self._processor, processor)
        self.latest = Reading(now, self._waited, self._processor, _stalled())

    def _fill(self, since: float) -> None:
        """Count the time from ``since`` on as waiting, unless it is counted already."""
        while self._free and self._free[-1][1] > since:
            begin, end = self._free.pop()
            self._waited += end - max(begin, since)
            if begin < since:
                self._free.append((begin, since))
        if len(self._free) > 1 and self._free[-2][1] == self._free[-1][0]:
            self._free[-2:] = [(self._free[-2][0], self._free[-1][1])]


def _delays(process: int) -> Iterator[tuple[int, int]]:
    """Yield each thread of a process with the nanoseconds it has waited for a processor."""
    folder = f"/proc/{process}/task"
    try:
        threads = os.listdir(folder)
    except OSError:
        return
    for thread in threads:
        try:
            with open(f"{folder}/{thread}/schedstat", "rb") as file:
                yield int(thread), int(file.read().split()[1])
        except (OSError, IndexError, ValueError):  # ended, or nothing reported
            continue


def _stalled() -> float:
    """Seconds since boot in which any process waited for a disk or for memory."""
    found = 0.0
    for path in PRESSURE:
        try:
            some = Path(path).read_text("ascii").splitlines()[0]
            found = max(found, int(some.rpartition("total=")[2]) / 1e6)
        except (OSError, IndexError, ValueError):  # the system does not report it
            continue
    return found
