"""Programs that JAX compiles for a draw, kept in the checkout for later runs.

Each kind of processor has its own: a program may need its features.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import zlib
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

from course.task import Case

PROGRAMS = "_build/programs"  # in the checkout


def folder_of(root: Path, stem: str) -> Path:
    """Return the folder of a practical's programs for this processor."""
    name = platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith(("flags", "Features")):
                name = f"{zlib.crc32(line.encode()):08x}"
                break
    return root / PROGRAMS / stem / name


def mark_of(task: str, cases: Sequence[Case], mistakes: int) -> str:
    """Name the file that says that all programs of a task's known mistakes are kept.

    Other shapes, or more mistakes, need others.
    """
    shapes = [{name: np.shape(value) for name, value in case.items()} for case in cases]
    form = repr((task, shapes, mistakes, version("jax")))
    return f"{zlib.crc32(form.encode()):08x}.mark"


def copy_new(source: Path, target: Path, marks: Iterable[str] = ()) -> None:
    """Copy the programs that ``target`` lacks, each whole or not at all; then mark tasks."""
    with contextlib.suppress(OSError):  # such a cache only saves time
        target.mkdir(parents=True, exist_ok=True)
        for path in source.glob("*-cache"):
            if not (target / path.name).exists():
                part = target / f".{os.getpid()}"
                shutil.copyfile(path, part)
                part.replace(target / path.name)
        for mark in marks:
            (target / mark).touch()
