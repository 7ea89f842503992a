"""The file system view and the resource limits of a submission's kernel.

The view is an allow-list: the system's libraries, the Python installation, the part of
``course`` that notebooks import, and a private temporary folder. bubblewrap (``bwrap``) creates
it. There is no network, no other process, none of the grader's environment variables, and no
solutions, checks, expected values or other submissions.
"""

from __future__ import annotations

import os
import py_compile
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

import course
from grading.sandbox.syscalls import filter_of
from project.closure import closure
from project.errors import CourseError
from project.jax_options import XLA_FLAGS
from project.threads import ONE_THREAD

HOME = "/tmp/home"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ssl/openssl.cnf")
NO_CHECK = '''"""The part of the course that notebooks import; checks do not run while grading."""


class _Check:
    def __call__(self, task_id, answer):
        print(f"{task_id}: graded elsewhere")

    def hint(self, task_id, level=None):
        print(f"{task_id}: no hints while grading")

    def guess(self, guess_id, answer):
        print(f"{guess_id}: not graded")

    def quiz(self, quiz_id, question=None, answer=None):
        print(f"{quiz_id}: not graded")


check = _Check()
'''
# Modules that probes run: the only ones of the checks and of judging that a kernel sees.
RUN_BY_PROBES = "course.probing", "course.side_effects"
COMPILED = "compiled"  # programs that JAX has compiled, in the library
FILTER = "filter.bpf"
FONTS = "fontlist*.json"
RUNTIME_DIRS = "/runtime_dirs"  # where a zygote sees the folders of its kernels
ZYGOTE = "start/zygote.py"  # in the library
MIB = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """Resource limits of one pass over a submission, in bytes and seconds.

    ``task``, ``start`` and ``submission`` exclude the time spent waiting for a processor that
    others use: see ``clock.Reading.counted``.

    Args:
        memory: resident memory of all its processes together.
        processes: number of processes at a time.
        threads: number of threads of all its processes together.
        disk: size of its temporary files.
        output: total size of what it prints and displays.
        file: size of the largest file that it may write.
        files: number of files in its temporary folders: even an empty file takes memory
            of the system.
        cpu: processor time of one process.
        addresses: address space of one process, because page tables are not counted in
            ``memory``.
        sockets: number of sockets of all its processes together, because data that is
            queued in a socket is not counted in ``memory`` either.
        task: time for one cell.
        start: time for the kernel to start, and for the imports.
        submission: time for all passes together.
        patience: factor by which wall time may exceed these times.
    """

    memory: int = 3072 * MIB
    processes: int = 32
    threads: int = 512
    disk: int = 256 * MIB
    output: int = 8 * MIB
    file: int = 128 * MIB
    files: int = 20_000
    cpu: int = 300
    addresses: int = 24 * 1024 * MIB
    sockets: int = 256
    task: float = 30.0
    start: float = 90.0
    submission: float = 300.0
    patience: float = 10.0


@dataclass(frozen=True)
class Sandbox:
    """Where and how one kernel runs.

    Args:
        folder: a new folder with a short name, for the sockets and the connection file.
        library: the folder that ``stage_library`` filled.
        limits: the resource limits.
        sandboxed: use bubblewrap; without it only the limits apply.
        hidden: folders that must stay invisible even where the view would show them.
        runtime_dirs: the folder of a zygote that is ready to fork; contains ``folder``.
    """

    folder: Path
    library: Path
    limits: Limits = field(default_factory=Limits)
    sandboxed: bool = True
    hidden: tuple[Path, ...] = ()
    runtime_dirs: Path | None = None

    @property
    def sockets(self) -> Path:
        """The folder of its sockets, the only one outside that the kernel can write to."""
        return self.folder / "s"

    @property
    def connection(self) -> Path:
        """The connection file."""
        return self.folder / "c" / "kernel.json"

    @property
    def home(self) -> Path:
        """The home folder of a kernel that runs without bubblewrap."""
        return self.folder / "h"

    def environment(self) -> dict[str, str]:
        """The kernel's complete environment."""
        home = HOME if self.sandboxed else str(self.home)
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": home,
            "TMPDIR": "/tmp" if self.sandboxed else str(self.home),
            "USER": "student",
            "LOGNAME": "student",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(self.library),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "MPLCONFIGDIR": f"{home}/matplotlib",
            "IPYTHONDIR": f"{home}/ipython",
            "JUPYTER_PLATFORM_DIRS": "1",
            "JAX_PLATFORMS": "cpu",
            "XLA_FLAGS": XLA_FLAGS,
            "JAX_COMPILATION_CACHE_DIR": str(self.library / COMPILED),
            # Otherwise what a program is found by depends on the path of this folder.
            "JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES": "none",
            # Only programs that would take longer are added: none.
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "inf",
        } | ONE_THREAD

    def command(self, kernel: Sequence[str]) -> list[str]:
        """The command that runs ``kernel`` in this sandbox."""
        limits = self.limits
        limited = [
            tool("prlimit"),
            f"--fsize={limits.file}",
            f"--cpu={limits.cpu}",
            "--core=0",
            "--nofile=1024",
            f"--as={limits.addresses}",
        ]
        if not self.sandboxed:
            return [*limited, *kernel]
        return [*limited, *kernel_bwrap(self), *kernel]


def kernel_bwrap(sandbox: Sandbox) -> list[str]:
    """The ``bwrap`` command line of a kernel, without the command that it runs."""
    # bubblewrap reads the filter from an open file descriptor.
    arguments = ["/bin/sh", "-c", 'exec "$@" 9< "$0"', str(sandbox.library / FILTER)]
    arguments += [
        tool("bwrap"),
        "--seccomp",
        "9",
        *_isolation(sandbox),
        *_view(sandbox),
    ]
    for cached in (sandbox.library / "matplotlib").glob(FONTS):
        target = f"{HOME}/matplotlib/{cached.name}"
        arguments += ["--ro-bind", str(cached), target]
    arguments += ["--bind", str(sandbox.sockets), str(sandbox.sockets)]
    connection = str(sandbox.connection.parent)
    arguments += ["--ro-bind", connection, connection]
    return [*arguments, *_read_only(), "--"]


def zygote_bwrap(sandbox: Sandbox) -> list[str]:
    """The ``bwrap`` command line of a zygote, which sets up namespaces and mounts for kernels.

    Each kernel drops these capabilities and installs the filter before it runs.
    """
    arguments = [tool("bwrap"), *_isolation(sandbox)]
    # SETPCAP is needed to drop all capabilities for good.
    for right in ("SYS_ADMIN", "NET_ADMIN", "SETPCAP"):
        arguments += ["--cap-add", f"CAP_{right}"]
    arguments += [*_view(sandbox), "--bind", str(sandbox.folder), RUNTIME_DIRS]
    return [*arguments, *_read_only(), "--"]


def below_tmp(sandbox: Sandbox) -> list[Path]:
    """The paths bound below /tmp, which each forked kernel covers with a /tmp of its own."""
    bound = dict.fromkeys([*_installation(), sandbox.library])
    inside = [path for path in bound if path.is_relative_to("/tmp")]
    return [a for a in inside if not any(b in a.parents for b in inside)]


def _isolation(sandbox: Sandbox) -> list[str]:
    """Arguments for separate namespaces, no capabilities and a separate environment."""
    arguments = [
        *("--unshare-user", "--disable-userns", "--unshare-ipc", "--unshare-pid"),
        *("--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
        *("--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"),
    ]
    for name, value in sandbox.environment().items():
        arguments += ["--setenv", name, value]
    return arguments


def _view(sandbox: Sandbox) -> list[str]:
    """Arguments for the files that all kernels see, and for temporary files."""
    size = str(sandbox.limits.disk)
    # bubblewrap creates the mount points. Hidden folders are covered before the installation
    # is bound, because the installation may be inside one of them.
    arguments = ["--size", size, "--tmpfs", "/tmp"]
    installation = _installation()
    for path in SYSTEM:
        if os.path.islink(path):
            arguments += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            arguments += ["--ro-bind", path, path]
    shown = [Path(path) for path in SYSTEM]
    for path in _covered(sandbox.hidden, shown):
        arguments += ["--size", "4096", "--tmpfs", str(path)]
    for path in installation:
        arguments += ["--ro-bind", str(path), str(path)]
    for path in _covered((*sandbox.hidden, *_packages()), installation):
        arguments += ["--size", "4096", "--tmpfs", str(path), "--remount-ro", str(path)]
    arguments += ["--ro-bind", str(sandbox.library), str(sandbox.library)]
    arguments += ["--dev", "/dev", "--size", size, "--tmpfs", "/dev/shm"]
    # Shared mappings of /dev/zero are memory that is not charged to any process.
    arguments += ["--dev-bind", "/dev/null", "/dev/zero"]
    # Containers refuse a nested mount of proc. PyTorch reads the processor's features from
    # /proc/cpuinfo: without it, it is slower and its results differ in the last digits.
    arguments += ["--size", "4096", "--tmpfs", "/proc"]
    return [*arguments, "--ro-bind-try", "/proc/cpuinfo", "/proc/cpuinfo"]


def _read_only() -> list[str]:
    """Arguments that enter the home folder and make all but temporary files read-only."""
    arguments = ["--dir", HOME, "--chdir", HOME]
    for path in ("/dev", "/proc", "/"):
        arguments += ["--remount-ro", path]
    return arguments


def stage_library(folder: Path) -> Path:
    """Copy the part of the course that notebooks may import into ``folder``, and return it.

    This is every module except the checks and the modules that judge with them, but for those
    that probes share, which are compiled. Also write the filter of system calls.
    """
    package = Path(course.__file__).parent
    judging = closure(package.parent, "", Path(course.__file__), "course.feedback")
    shared = [Path(*name.split(".")).with_suffix(".py") for name in RUN_BY_PROBES]
    hidden = {package / "checks", *judging} - {package.parent / path for path in shared}
    target = folder / "course"
    shutil.copytree(
        package,
        target,
        ignore=lambda place, names: {
            name
            for name in names
            if name == "__pycache__" or Path(place, name) in hidden
        },
    )
    (target / "__init__.py").write_text(NO_CHECK, encoding="utf-8")
    for path in shared:  # in the sandbox, nothing can be written beside them
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(folder / path), doraise=True, invalidation_mode=mode)
    (folder / COMPILED).mkdir()
    with suppress(CourseError):  # ``require_sandbox`` reports it where it matters
        (folder / FILTER).write_bytes(filter_of())
    (folder / ZYGOTE).parent.mkdir()
    shutil.copyfile(Path(__file__).with_name("zygote.py"), folder / ZYGOTE)
    return folder


def stage_fonts(folder: Path) -> None:
    """Let matplotlib write its list of fonts into the library ``folder``.

    Kernels that start cold would otherwise each compute it; others have it from their zygote.
    """
    subprocess.run(
        [sys.executable, "-c", "import matplotlib.font_manager"],
        env=os.environ | {"MPLCONFIGDIR": str(folder / "matplotlib")},
        capture_output=True,
    )


def require_sandbox() -> None:
    """Check that bubblewrap works here, by running it, and that system calls can be filtered.

    Raises:
        CourseError: one of them does not; the message says what to do.
    """
    filter_of()
    remedy = (
        "Install it (Debian and Ubuntu: `apt install bubblewrap`; Fedora: `dnf install "
        "bubblewrap`) and allow user namespaces, or grade with --no-sandbox work that you "
        "trust: its code can then read and change whatever you can."
    )
    program = shutil.which("bwrap")
    if program is None:
        raise CourseError("bwrap", None, "bubblewrap is not installed.", remedy)
    probe = [program, "--unshare-user", "--disable-userns", "--unshare-pid"]
    probe += [
        "--unshare-net",
        "--ro-bind",
        "/",
        "/",
        "--tmpfs",
        "/proc",
        "--",
        "/bin/true",
    ]
    tried = subprocess.run(probe, capture_output=True, text=True)
    if tried.returncode != 0:
        said = tried.stderr.strip().splitlines()[-1:] or [f"exit {tried.returncode}"]
        raise CourseError(
            program, None, f"bubblewrap does not work: {said[0]}.", remedy
        )


@cache
def tool(name: str) -> str:
    """The path of an installed program.

    Raises:
        CourseError: it is not installed.
    """
    found = shutil.which(name)
    if found is None:
        raise CourseError(
            name,
            None,
            f"{name} is not installed.",
            f"Install {name}, then grade again.",
        )
    return found


def _installation() -> list[Path]:
    """The folders of Python itself and of the environment with the frameworks."""
    prefixes = dict.fromkeys((sys.base_prefix, sys.prefix))
    return [Path(os.path.abspath(prefix)) for prefix in prefixes]


def _packages() -> list[Path]:
    """The paths of this project's packages and modules, in an environment or a checkout."""
    names = distribution("known-unknowns").read_text("top_level.txt") or ""
    specs = [spec for name in names.split() if (spec := find_spec(name))]
    return [
        Path(place)
        for spec in specs
        for place in (spec.submodule_search_locations or [spec.origin])
    ]


def _covered(paths: Sequence[Path], shown: Sequence[Path]) -> list[Path]:
    """Those of ``paths`` that exist inside a visible folder."""
    return [
        path
        for path in dict.fromkeys(map(Path.resolve, paths))
        if path.exists() and any(path.is_relative_to(root) for root in shown)
    ]
