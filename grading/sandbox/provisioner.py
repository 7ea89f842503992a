"""The Jupyter provisioner that starts the kernel of a submission in its sandbox.

Jupyter finds it by its entry point.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from typing import Any

from jupyter_client.provisioning import LocalProvisioner

from grading.sandbox.bubblewrap import Sandbox, tool
from grading.sandbox.clock import Clock
from grading.sandbox.supervisor import Supervisor
from grading.sandbox.warm import Forked

NAME = "known-unknowns-sandbox"
LOOK, MOMENT = 0.005, 1.0  # seconds
# To print the code around each line of a traceback, IPython goes through all modules that are
# imported, 0.2 s for the first one; it writes each cell into a database; and the kernel sleeps
# before each reply, so that late output comes first, but grading reads no text that is printed.
QUICKER = (
    "--InteractiveShell.xmode=Plain",
    "--HistoryManager.enabled=False",
    "--IPythonKernel._execute_sleep=0",
)


class SandboxProvisioner(LocalProvisioner):
    """A local kernel in a sandbox, supervised from outside.

    Pass its ``Sandbox`` and its ``Clock`` to ``start_kernel`` as the keywords ``sandbox`` and
    ``clock``. Each kernel has its own process group, folder and environment.
    """

    supervisor: Supervisor | None = None
    sandbox: Sandbox
    clock: Clock

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Put the sockets in a folder, as a sandbox has no network, and wrap the command."""
        self.sandbox, self.clock = kwargs.pop("sandbox"), kwargs.pop("clock")
        for folder in (
            self.sandbox.sockets,
            self.sandbox.connection.parent,
            self.sandbox.home,
        ):
            folder.mkdir(parents=True, exist_ok=True)
        manager = self.parent
        manager.transport = "ipc"
        manager.ip = str(self.sandbox.sockets / "k")
        manager.connection_file = str(self.sandbox.connection)
        kwargs = await super().pre_launch(**kwargs)
        self.kernel_command = [*kwargs["cmd"], *QUICKER]
        command = self.sandbox.command(self.kernel_command)
        kwargs["cmd"] = dying_with(os.getpid(), command)
        # bubblewrap is process 1 of the sandbox, where its environment can be read.
        kwargs["env"] = self.sandbox.environment()
        kwargs["cwd"] = str(self.sandbox.home)
        # Inherited, they would be pytest's own files.
        kwargs["stdout"] = kwargs["stderr"] = subprocess.DEVNULL
        return kwargs

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Start the kernel, from a zygote if one is ready, and then its supervisor."""
        if not self._fork():
            await super().launch_kernel(cmd, **kwargs)
        self.supervisor = Supervisor(
            self.pid,
            self.sandbox.sockets,
            self.sandbox.limits,
            self.kill_all,
            self.clock,
            shims=self.sandbox.sandboxed,
        )
        self.supervisor.start()
        return self.connection_info

    def _fork(self) -> bool:
        """Ask the zygote to fork the kernel; False if there is none or it fails."""
        if self.sandbox.runtime_dirs is None:
            return False
        try:
            module = self.kernel_command.index("-m") + 1
            self.process = Forked(self.sandbox, self.kernel_command[module:])
            self.pid, self.pgid = self.process.pid, os.getpgid(self.process.pid)
        except OSError:  # the zygote has ended, or the kernel already has
            self.process = None
            return False
        return True

    async def kill(self, restart: bool = False) -> None:
        """Kill the kernel and wait briefly for its end: Jupyter polls only every 0.1 s."""
        await super().kill(restart)
        until = time.monotonic() + MOMENT
        while self.is_running and time.monotonic() < until:
            await asyncio.sleep(LOOK)

    async def wait(self) -> int | None:
        """Wait until the kernel has ended."""
        while self.process is not None and self.process.poll() is None:
            await asyncio.sleep(LOOK)
        return await super().wait()

    @property
    def is_running(self) -> bool:
        """True while the kernel runs; Jupyter's own test starts an event loop each time."""
        return self.process is not None and self.process.poll() is None

    def kill_all(self) -> None:
        """Kill the kernel and every process that it started.

        Without bubblewrap, processes that have left its process group survive.
        """
        if self.pgid:
            try:
                os.killpg(self.pgid, 9)
            except OSError:
                return

    async def cleanup(self, restart: bool = False) -> None:
        """Stop the supervisor."""
        if self.supervisor is not None:
            self.supervisor.close()
        await super().cleanup(restart)


def dying_with(parent: int, command: list[str]) -> list[str]:
    """A command that does not outlive its parent.

    bubblewrap also ends with its parent, but only once it is running: if the parent were
    killed earlier, the kernel would survive.
    """
    still_there = '[ "$PPID" = "$0" ] && exec "$@"'
    asked = [tool("setpriv"), "--pdeathsig", "KILL", tool("sh"), "-c", still_there]
    return [*asked, str(parent), *command]
