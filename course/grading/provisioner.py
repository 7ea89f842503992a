"""Starts the kernel of a submission in its sandbox; Jupyter finds it by its entry point."""

from __future__ import annotations

import os
import subprocess
from typing import Any

from jupyter_client.provisioning import LocalProvisioner

from course.grading.sandbox import Sandbox
from course.grading.supervisor import Supervisor

NAME = "known-unknowns-sandbox"


class SandboxProvisioner(LocalProvisioner):
    """A local kernel behind a wall, watched from outside.

    It is given its ``Sandbox`` as the keyword ``sandbox`` of ``start_kernel``. A kernel has a
    process group, a folder and an environment of its own.
    """

    supervisor: Supervisor | None = None
    sandbox: Sandbox

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Choose sockets in a folder, since a network cannot cross the wall, and wrap the command."""
        self.sandbox = kwargs.pop("sandbox")
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
        kwargs["cmd"] = self.sandbox.command(kwargs["cmd"])
        # bubblewrap is process 1 in there, and its environment can be read.
        kwargs["env"] = self.sandbox.environment()
        kwargs["cwd"] = str(self.sandbox.home)
        # Ours would be pytest's own files.
        kwargs["stdout"] = kwargs["stderr"] = subprocess.DEVNULL
        return kwargs

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Start it and begin to watch."""
        info = await super().launch_kernel(cmd, **kwargs)
        self.supervisor = Supervisor(
            self.pid, self.sandbox.sockets, self.sandbox.limits, self.kill_all
        )
        self.supervisor.start()
        return info

    def kill_all(self) -> None:
        """End the kernel and all that it started; without a wall, what left its group stays."""
        if self.pgid:
            try:
                os.killpg(self.pgid, 9)
            except OSError:
                return

    async def cleanup(self, restart: bool = False) -> None:
        """Stop watching."""
        if self.supervisor is not None:
            self.supervisor.close()
        await super().cleanup(restart)
