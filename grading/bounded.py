"""Call functions on submitted data in processes with limits of time and memory.

A parser, a renderer or a reader can take minutes or gigabytes for a few kilobytes of hostile
input. Such a call runs in a worker process with limits of processor time and of memory; if it
exceeds one, only this call fails, not the run.
"""

from __future__ import annotations

import atexit
import math
import multiprocessing
import os
import resource
import threading
import time
from collections.abc import Callable
from concurrent.futures import TimeoutError as TimedOut
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

import psutil
from pebble import ProcessExpired, ProcessPool

T = TypeVar("T")

SECONDS = 20.0  # processor time of one call
PATIENCE = 15  # wall time, in multiples of that: the machine may be busy
MEMORY = 1024**3  # bytes that one worker may take besides what it has imported
CALLS = 500  # of one worker, so that memory that parsers keep does not pile up

_lock = threading.Lock()
_pool: ProcessPool | None = None
_held = 0  # address space, in bytes, of a worker when it started


class TooCostly(Exception):
    """A call exceeded its limit of processor time or memory, or ended its worker."""


def bounded(
    function: Callable[..., T],
    *arguments: Any,
    seconds: float = SECONDS,
    memory: int = MEMORY,
) -> T:
    """Call a function of a module in a worker process; its exceptions are raised here.

    Arguments and result are pickled. Several threads may call at a time.

    Args:
        function: must be importable by name from its module.
        arguments: its positional arguments.
        seconds: limit of processor time.
        memory: limit in bytes, besides what the worker had when it started.

    Raises:
        TooCostly: the call exceeded one of the limits, or ended its worker.
    """
    for attempt in (1, 2):
        task = _workers().schedule(
            _limited,
            args=[function, arguments, seconds, memory],
            timeout=PATIENCE * max(seconds, 2.0),
        )
        try:
            return task.result()
        except BrokenProcessPool as error:
            # A worker ended between two calls; this one may not be to blame.
            if attempt == 2:
                raise TooCostly(f"{function.__name__}: {error!r}") from None
        except (TimedOut, ProcessExpired, MemoryError, RecursionError) as error:
            raise TooCostly(f"{function.__name__}: {error!r}") from None
    raise AssertionError("unreachable")


def close() -> None:
    """Stop the workers; the next call starts new ones."""
    global _pool
    with _lock:
        pool, _pool = _pool, None
    if pool is not None:
        pool.stop()
        pool.join()


def _workers() -> ProcessPool:
    global _pool
    with _lock:
        if _pool is None or not _pool.active:
            # The same fork server that passes are forked from; see ``execution.runner``.
            context = multiprocessing.get_context("forkserver")
            workers = max(2, os.cpu_count() or 1)
            _pool = ProcessPool(
                workers,
                max_tasks=CALLS,
                initializer=_begin,
                context=context,
            )
        return _pool


atexit.register(close)


def _begin() -> None:
    """Record the address space of a new worker before its first call."""
    global _held
    _held = psutil.Process().memory_info().vms
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limited(
    function: Callable[..., T], arguments: tuple, seconds: float, memory: int
) -> T:
    """Apply the limits of a call within the worker, then call."""
    limits = {
        # Its signal ends the process; the limit is in whole seconds.
        resource.RLIMIT_CPU: math.ceil(time.process_time() + seconds),
        resource.RLIMIT_AS: _held + memory,
    }
    hard = {limit: resource.getrlimit(limit)[1] for limit in limits}
    for limit, most in limits.items():
        resource.setrlimit(limit, (most, hard[limit]))
    try:
        return function(*arguments)
    finally:
        # Lift the limits: receiving the next call may take much memory.
        for limit, most in hard.items():
            resource.setrlimit(limit, (most, most))
