"""Runs one assembled notebook with nbval, in a process of its own that can be ended."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil
from nbformat import NotebookNode

from course.grading.attempt import NOTEBOOK, Found, Given
from course.grading.provisioner import NAME
from course.grading.sandbox import Limits, Sandbox

PREFIX = "ku-"
SHORT = Path("/tmp")  # the name of a socket has room for 107 characters
SLACK = 15.0  # seconds for nbval itself

_running: set[subprocess.Popen] = set()
_lock = threading.Lock()
_ending = threading.Event()


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
        _remove(folder)
        _remove(box)


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
            _remove(path)


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


def _remove(folder: Path) -> None:
    """Remove a folder in which a submission may have made whatever it liked.

    Python gives up on folders that are nested too deeply; these two do not.
    """
    if (folder / "s").is_dir():
        tools = (["chmod", "-R", "u+rwX"], ["rm", "-rf"])
        for tool in tools:
            subprocess.run([*tool, "--", str(folder)], capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)
