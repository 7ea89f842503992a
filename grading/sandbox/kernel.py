"""nbval's running kernel, supervised: it stops at once if the kernel dies, hangs or floods.

Everything that a submission's kernel sends may be forged, endless or malformed. Messages are
read as soon as they arrive, so that they do not pile up; their bytes are counted; unreadable
messages are dropped.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import zmq
from jupyter_client.manager import KernelManager
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager, RunningKernel

from grading.sandbox.bubblewrap import Limits, Sandbox
from grading.sandbox.clock import Clock, Reading

LARGEST_MESSAGE = 16 * 1024 * 1024
FRAME = 64  # bytes added to the size of each message frame, which may be empty
QUEUE = 64  # messages held in memory; further ones are lost, with their output
AFTER = 10.0  # seconds for the output that follows a reply
POLL = 100  # milliseconds


# A cell whose processor time is at least this share of its limit is too slow on any machine.
SURE = 0.9


class Stopped(Exception):
    """The kernel has ended or must be ended; the message says why."""


class TooSlow(Stopped):
    """The kernel exceeded a time limit.

    Args:
        message: which limit.
        unsure: True if the machine was so busy that it may be to blame.
        excused: the seconds since the kernel's start that do not count.
    """

    def __init__(self, message: str, *, unsure: bool, excused: float = 0.0) -> None:
        super().__init__(message)
        self.unsure, self.excused = unsure, excused


class OutOfTime(Stopped):
    """The time for the whole notebook is used up."""


class WatchedKernel(RunningKernel):
    """A kernel in a sandbox, with the interface of nbval's running kernel.

    Args:
        sandbox: where it runs.
        seconds: its time limit in all; by default the limit for a submission.
    """

    def __init__(self, sandbox: Sandbox, seconds: float | None = None) -> None:
        self.limits: Limits = sandbox.limits
        self.whole = self.limits.submission if seconds is None else seconds
        self.clock = Clock()
        self.born = self.clock.now()
        self.bytes = 0
        self.replied = False
        self.reply: Any = None  # the last cell's status, according to the kernel
        self.unread: deque[dict[str, Any]] = deque()
        self.seconds = self.limits.start
        context = zmq.Context()
        context.setsockopt(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
        context.setsockopt(zmq.RCVHWM, QUEUE)
        context.setsockopt(zmq.LINGER, 0)
        self.km = KernelManager(
            kernel_name=CURRENT_ENV_KERNEL_NAME,
            kernel_spec_manager=NbvalKernelspecManager(),
            context=context,
            shutdown_wait_time=1.0,
        )
        try:
            self.km.start_kernel(sandbox=sandbox, clock=self.clock)
            self._start_clock()
            self.kc = self.km.client()
            self.kc.start_channels(stdin=False, hb=False)
            self._meet()
        except BaseException:  # the context waits for open sockets when it is collected
            self.stop()
            raise

    def execute_cell_input(
        self, cell_input: str, allow_stdin: bool | None = None
    ) -> str:
        """Send a cell and start its clock."""
        self._start_clock()
        return super().execute_cell_input(cell_input, allow_stdin=False)

    def allow(self, seconds: float) -> None:
        """Set the time limit of each cell that is sent from now on."""
        self.seconds = seconds

    def _start_clock(self) -> None:
        self.replied = False
        self.began, self.limit = self.clock.now(), self.seconds

    def is_alive(self) -> bool:
        """Return True; nbval calls this before every cell.

        Raises:
            Stopped: the kernel has died since the last cell.
        """
        self._start_clock()
        self._look()
        return True

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """Wait for the reply to a request, and read published messages meanwhile.

        Raises:
            Stopped: the kernel died, took too long, or used too much.
        """
        while True:
            message = self._next()
            if message is not None and self._answers(message, msg_id):
                self.reply = message.get("content", {}).get("status")
                if self.reply == "aborted":
                    raise Stopped("the kernel refused to continue")
                # Published messages arrive on another channel, shortly afterwards.
                self.limit = max(self.limit, self.elapsed.counted + AFTER)
                self.replied = True
                return

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        """Return the next published message; the cell's clock replaces ``timeout``.

        Raises:
            Stopped: as in ``await_reply``, or published messages are lost.
        """
        while not self.unread:
            self._next()
        self._look()
        return self.unread.popleft()

    def stop(self) -> None:
        """Kill the kernel and every process that it started; can be called twice."""
        if not hasattr(self, "km"):
            return
        if hasattr(self, "kc"):
            self.kc.stop_channels()
        if self.km.has_kernel:
            self.km.shutdown_kernel(now=True)
        self.km.context.destroy(linger=0)
        del self.km

    @property
    def elapsed(self) -> Reading:
        """The time that has passed since the cell was sent."""
        return self.clock.now() - self.began

    @property
    def excused(self) -> float:
        """The seconds since the kernel's start that do not count."""
        passed = self.clock.now() - self.born
        return passed.wall - passed.counted

    def _meet(self) -> None:
        """Wait until the kernel answers and its published messages arrive."""
        while True:
            asked = self.kc.kernel_info()
            again = time.monotonic() + 1.0
            while time.monotonic() < again:
                self._next()
                while self.unread:
                    if self._answers(self.unread.popleft(), asked):
                        return

    def _next(self) -> dict[str, Any] | None:
        """Wait briefly; keep published messages, and return a reply if one has arrived."""
        self._look()
        shell, iopub = self.kc.shell_channel.socket, self.kc.iopub_channel.socket
        poller = zmq.Poller()
        poller.register(shell, zmq.POLLIN)
        poller.register(iopub, zmq.POLLIN)
        ready = dict(poller.poll(POLL))
        if iopub in ready:
            for _ in range(QUEUE):
                message = self._receive(iopub)
                if message is None:
                    break
                self.unread.append(message)
        return self._receive(shell) if shell in ready else None

    def _receive(self, socket: zmq.Socket) -> dict[str, Any] | None:
        """Return one message, or None if there is none; drop malformed ones."""
        while True:
            try:
                frames = socket.recv_multipart(zmq.NOBLOCK)
            except zmq.ZMQError:
                return None
            self.bytes += sum(len(frame) + FRAME for frame in frames)
            if self.bytes > self.limits.output:
                raise Stopped(
                    f"it produced more than {self.limits.output // 1024**2} MiB of output"
                )
            try:
                _, parts = self.kc.session.feed_identities(frames)
                message = self.kc.session.deserialize(parts)
            except Exception:  # unsigned, repeated, or not JSON: not from Jupyter
                continue
            if _well_formed(message):
                return message

    def _look(self) -> None:
        supervisor = self._supervisor()
        if supervisor is not None and supervisor.exceeded:
            raise Stopped(f"it used {supervisor.exceeded}")
        if not self.km.provisioner.is_running:
            raise Stopped("its kernel died")
        if (self.clock.latest - self.born).counted > self.whole:
            raise OutOfTime("the time for the whole notebook was used up")
        # As of the clock's latest look: waits since then are not known yet.
        passed, wall = self.clock.latest - self.began, self.elapsed.wall
        patient = wall <= self.limit * self.limits.patience
        if passed.counted <= self.limit and patient:
            return
        sure = passed.processor >= SURE * self.limit
        if self.replied:
            because = "its output did not arrive"
        else:
            allowed = self.limit * (1 if patient else self.limits.patience)
            because = f"it ran for more than {allowed:g} s"
        unsure = not sure and (not patient or passed.busy)
        raise TooSlow(because, unsure=unsure, excused=self.excused)

    def _supervisor(self):
        return getattr(
            getattr(self, "km", None) and self.km.provisioner, "supervisor", None
        )

    @staticmethod
    def _answers(message: dict[str, Any], msg_id: str) -> bool:
        return message["parent_header"].get("msg_id") == msg_id


def _well_formed(message: Any) -> bool:
    """Does the message have the fields that nbval reads for its type?"""
    content = message.get("content")
    if not isinstance(message.get("parent_header"), dict) or not isinstance(
        content, dict
    ):
        return False
    needed: dict[str, dict[str, type]] = {
        "status": {"execution_state": str},
        "display_data": {"data": dict, "metadata": dict},
        "execute_result": {"data": dict, "metadata": dict, "execution_count": int},
        "stream": {"name": str, "text": str},
        "error": {"ename": str, "evalue": str, "traceback": list},
    }
    kind = message.get("msg_type")
    fields = needed.get(kind, {}) if isinstance(kind, str) else {"": str}
    formed = all(isinstance(content.get(name), type_) for name, type_ in fields.items())
    lines = content["traceback"] if formed and "traceback" in fields else ()
    return formed and all(isinstance(line, str) for line in lines)
