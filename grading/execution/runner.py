"""Run one assembled notebook with nbval, in a process of its own that can be killed."""

from __future__ import annotations

import contextlib
import gc
import importlib
import math
import multiprocessing
import os
import resource
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path

import nbformat
import psutil
from nbformat import NotebookNode

from grading.execution.passes import NOTEBOOK, PassInput, PassResult
from grading.sandbox.bubblewrap import Sandbox
from grading.settings import Settings

PREFIX = "ku-"
SHORT = Path("/tmp")  # the path of a socket is limited to 107 characters
SLACK = 15.0  # seconds, for nbval itself and for finishing a pass
LOOK = 0.5  # seconds
# Plugins of pytest that take 0.1 s to import, and more time at every cell.
NOT_NEEDED = (
    *("doctest", "junitxml", "logging", "pastebin", "setuponly"),
    *("setupplan", "stepwise", "subtests", "threadexception", "tracemalloc"),
    *("unittest", "unraisableexception"),
)

# Passes are forked from a process that has imported what nbval needs.
_passes = multiprocessing.get_context("forkserver")
_passes.set_forkserver_preload(["grading.preload"])
_running: set[BaseProcess] = set()
_lock = threading.Lock()
_ending = threading.Event()


@dataclass(frozen=True)
class Environment:
    """Where and how passes run.

    Args:
        library: the folder that ``sandbox.stage_library`` filled.
        settings: how to grade.
        runtime_dirs: the folders of zygotes that are ready, by lab.
    """

    library: Path
    settings: Settings
    runtime_dirs: Mapping[str, Path] = field(default_factory=dict)


def run_pass(
    notebook: NotebookNode,
    number: int,
    judged: Iterable[str],
    expected: Path,
    environment: Environment,
    seconds: float,
    lab: str = "",
    *,
    alone: bool = False,
) -> PassResult:
    """Run one assembled notebook with nbval, in a process of its own; return the result.

    Args:
        notebook: the assembled notebook.
        number: of the pass, from 1.
        judged: the tasks that are judged.
        expected: the file of the expected values.
        environment: where and how to run it.
        seconds: the limit of the time that counts.
        lab: its name.
        alone: wait until no other pass of this process runs, and let none begin.

    Raises:
        InterruptedError: the run is ending.
    """
    asked = time.monotonic()
    with _pass_lock.hold(alone):
        waited = time.monotonic() - asked
        result = _one_pass(
            notebook, number, judged, expected, environment, seconds, lab
        )
    result.excused += waited
    return result


class _PassLock:
    """A lock that lets passes run in parallel, or one pass alone."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = 0
        self._alone = False

    @contextlib.contextmanager
    def hold(self, alone: bool) -> Iterator[None]:
        """Hold the lock while a pass runs."""
        with self._changed:
            self._wait_for(lambda: not self._alone)
            if alone:
                self._alone = True
                try:
                    self._wait_for(lambda: self._running == 0)
                except InterruptedError:
                    self._alone = False
                    raise
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._alone = self._alone and not alone
                self._changed.notify_all()

    def _wait_for(self, condition: Callable[[], bool]) -> None:
        while not self._changed.wait_for(condition, LOOK):
            if _ending.is_set():
                raise InterruptedError("the run is ending")


_pass_lock = _PassLock()


def _one_pass(
    notebook: NotebookNode,
    number: int,
    judged: Iterable[str],
    expected: Path,
    environment: Environment,
    seconds: float,
    lab: str,
) -> PassResult:
    runtime_dirs, settings = environment.runtime_dirs.get(lab), environment.settings
    folder = new_folder()
    box = new_folder(runtime_dirs or SHORT)
    try:
        sandbox = Sandbox(
            box,
            environment.library,
            settings.limits,
            settings.sandboxed,
            settings.hidden,
            runtime_dirs,
        )
        # A pass that has begun may run a little longer, so that its verdicts count.
        pass_input = PassInput(
            number, expected, tuple(judged), sandbox, seconds + SLACK
        )
        pass_input.save(folder)
        nbformat.write(notebook, folder / NOTEBOOK)
        _nbval(folder, seconds, seconds * settings.limits.patience)
        return PassResult.load(folder)
    finally:
        remove(folder)
        remove(box)


def new_folder(within: Path = SHORT) -> Path:
    """Create a folder that ``sweep`` removes if this process cannot."""
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=within))


def sweep() -> None:
    """Remove the folders that killed runs have left."""
    for path in SHORT.glob(f"{PREFIX}*-*"):
        number = path.name.removeprefix(PREFIX).partition("-")[0]
        mine = (
            path.is_dir()
            and not path.is_symlink()
            and path.stat().st_uid == os.getuid()
        )
        if mine and number.isdigit() and not psutil.pid_exists(int(number)):
            remove(path)


def prepare_passes() -> None:
    """Start the process that passes are forked from; it imports in the background."""
    forkserver.ensure_running()


def allow_passes() -> None:
    """Let passes start again in this process after ``end_passes``."""
    _ending.clear()


def end_passes() -> None:
    """Kill every running pass of this process, and start no more."""
    _ending.set()
    with _lock:
        for process in _running:
            _kill(process)


def _nbval(folder: Path, processor: float, wall: float) -> None:
    """Run nbval; kill it after this much processor time of its own, or wall time."""
    with _lock:
        if _ending.is_set():
            raise InterruptedError("the run is ending")
        process = _passes.Process(target=_pytest, args=(folder, processor + SLACK))
        process.start()
        _running.add(process)
    try:
        process.join(wall + SLACK)
    finally:
        _kill(process)
        process.join()
        with _lock:
            _running.discard(process)
    if _ending.is_set():
        raise InterruptedError("the run is ending")


def _pytest(folder: Path, processor: float) -> None:
    """Run nbval for one pass, within the process of the pass."""
    # The process that starts passes needs neither; ``grading.preload`` has imported both.
    import pytest

    from grading.sandbox.provisioner import NAME

    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(processor), most))
    gc.freeze()  # keeps pytest's garbage collections out of shared memory
    os.setsid()
    os.environ["JUPYTER_DEFAULT_PROVISIONER_NAME"] = NAME
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    log = os.open(folder / "log", os.O_CREAT | os.O_WRONLY)
    for standard in (1, 2):
        os.dup2(log, standard)
    arguments = ["-q", "--no-header", "--tb=line", "-p", "no:cacheprovider"]
    arguments += ["-c", os.devnull, "--rootdir", str(folder), "--pass", str(folder)]
    arguments += ["--confcutdir", str(folder)]  # else it lists every parent folder
    arguments += ["--capture=no", *(f"-pno:{name}" for name in NOT_NEEDED)]
    arguments += ["--nbval-current-env", str(folder / NOTEBOOK)]
    # As modules: to resolve a name, pytest reads the metadata of every package.
    names = "nbval.plugin", "grading.execution.plugin"
    pytest.main(arguments, plugins=[importlib.import_module(name) for name in names])


def _kill(process: BaseProcess) -> None:
    """Kill a pass; its kernel dies with it."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()


def remove(folder: Path) -> None:
    """Remove a folder in which a submission may have created anything.

    Python fails on folders that are nested too deeply; ``chmod`` and ``rm`` do not.
    """
    for box in (folder, *folder.glob(f"{PREFIX}*")):
        if (box / "s").is_dir():
            tools = (["chmod", "-R", "u+rwX"], ["rm", "-rf"])
            for tool in tools:
                subprocess.run([*tool, "--", str(box)], capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)
