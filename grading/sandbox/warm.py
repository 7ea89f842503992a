"""Warm starts: kernels forked from a process that has imported what a notebook imports.

A zygote runs in a sandbox and only imports; it never runs an operation of a framework. A fork
of a process that has threads can hang (JAX starts threads with its first operation): a zygote
with threads is not used, and kernels start cold, as they do when the zygote has ended.
"""

from __future__ import annotations

import ast
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import psutil
from nbformat import NotebookNode

from grading.sandbox.bubblewrap import (
    FILTER,
    FONTS,
    HOME,
    RUNTIME_DIRS,
    ZYGOTE,
    Sandbox,
    below_tmp,
    zygote_bwrap,
)
from grading.sandbox.zygote import NAME

KERNEL = (
    "import ipykernel.kernelapp, ipykernel.ipkernel, ipykernel.zmqshell",
    "import matplotlib_inline.backend_inline",
    # Modules that ipykernel imports only while it starts, or with a cell or an exception.
    "import ipykernel.debugger, IPython.core.completerlib, IPython.core.debugger",
    "import IPython.core.logger, IPython.core.oinspect, faulthandler",
    "import pygments.formatters.terminal256, pygments.styles",
    "import IPython.extensions.storemagic, psutil, sqlite3",
    "import tornado.locks, tornado.platform.asyncio, tornado.queues",
    "import encodings.ascii, encodings.idna, encodings.latin_1",
)
# PyTorch imports this when one of its optimisers or transforms first runs, for a second.
LATE = "import torch._dynamo"
USERS = ("torch.optim", "torch.func")
PAUSE = 0.02
ANSWER = 30.0  # seconds for a zygote to fork, and for the kernel to open its sockets
CREDENTIALS = struct.Struct(
    "3i"
)  # process, user and group, as the system fills them in


class Zygote:
    """A process that kernels of one lab are forked from.

    Args:
        notebook: the release; the zygote imports what its cells import.
        sandbox: the view and the limits of its kernels; their runtime directories are
            created in the sandbox's folder.
    """

    def __init__(self, notebook: NotebookNode, sandbox: Sandbox) -> None:
        self.runtime_dirs, self.limit = sandbox.folder, sandbox.limits.start
        program = sandbox.library / ZYGOTE
        own = [
            sys.executable,
            str(program),
            RUNTIME_DIRS,
            str(sandbox.library / FILTER),
        ]
        with tempfile.TemporaryFile("w+") as statements:
            statements.write("\n".join([*KERNEL, *imports(notebook)]))
            statements.seek(0)
            self.process = subprocess.Popen(
                [*zygote_bwrap(sandbox), *own],
                env=sandbox.environment(),
                stdin=statements,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def trouble(self) -> str:
        """Wait until the zygote is ready; return why it cannot be used, or an empty string."""
        deadline = time.monotonic() + self.limit
        while not (self.runtime_dirs / NAME).exists():
            if self.process.poll() is not None:
                return f"it exited with status {self.process.returncode}"
            if time.monotonic() > deadline:
                return f"it was not ready after {self.limit:g} s"
            time.sleep(PAUSE)
        below = psutil.Process(self.process.pid).children(recursive=True)
        threads = max((process.num_threads() for process in below), default=0)
        return f"it has {threads} threads" if threads != 1 else ""

    def close(self) -> None:
        """Kill the zygote and all its kernels."""
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.runtime_dirs, ignore_errors=True)


class Forked:
    """A kernel that a zygote has forked, with the methods of ``Popen`` that Jupyter uses.

    Raises:
        OSError: the zygote has ended, or does not answer.
    """

    stdin = stdout = stderr = None

    def __init__(self, sandbox: Sandbox, argv: list[str]) -> None:
        request = {
            "runtime_dir": sandbox.folder.name,
            "path": str(sandbox.folder),
            "kept": [str(path) for path in below_tmp(sandbox)],
            "fonts": str(sandbox.library / "matplotlib" / FONTS),
            "home": HOME,
            "disk": sandbox.limits.disk,
            "file": sandbox.limits.file,
            "files": sandbox.limits.files,
            "cpu": sandbox.limits.cpu,
            "addresses": sandbox.limits.addresses,
            "argv": argv,
        }
        self.returncode: int | None = None
        self.connection = socket.socket(socket.AF_UNIX)
        try:
            self.connection.settimeout(ANSWER)
            self.connection.connect(str(sandbox.runtime_dirs / NAME))
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            self.connection.sendall(json.dumps(request).encode() + b"\n")
            self.pid = self._shim_pid()
        except OSError:
            self.connection.close()
            raise

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs: its shim closes the connection."""
        if self.returncode is None:
            readable, _, _ = select.select([self.connection], [], [], 0)
            if readable:
                self.connection.close()
                self.returncode = -signal.SIGKILL  # the real one is not known
        return self.returncode

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait until the kernel has ended."""
        if self.returncode is None:
            select.select([self.connection], [], [], timeout)
        return self.poll()

    def send_signal(self, number: int) -> None:
        """Send a signal to the shim; if it ends the shim, the kernel ends too."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the kernel and every process that it has started."""
        self.send_signal(signal.SIGKILL)

    terminate = kill

    def _shim_pid(self) -> int:
        """The shim's process id in our namespace, from the system's credentials message."""
        space = socket.CMSG_SPACE(CREDENTIALS.size)
        data, extra, _, _ = self.connection.recvmsg(1, space)
        if not data or not extra:
            raise ConnectionError("the zygote did not fork a kernel")
        return CREDENTIALS.unpack(extra[0][2])[0]


def imports(notebook: NotebookNode) -> list[str]:
    """The distinct import statements of a notebook's cells, each on one line, and ``LATE``."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            is_task = cell.metadata.get("course", {}).get("role") == "task"
            if is_task and any(name in cell.source for name in USERS):
                found.append(LATE)
            for node in ast.walk(ast.parse(cell.source)):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    found.append(ast.unparse(node))
    return list(dict.fromkeys(found))
