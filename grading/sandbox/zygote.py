"""The process that warm kernels are forked from: it has imported the frameworks, and run nothing.

It uses only the standard library, because ``grading`` is not visible in the sandbox where it
runs. Each kernel takes three processes. The *shim* enters new namespaces and hides the files of
other kernels; it ends when the connection that requested the kernel closes. *init* is process 1
of the new process namespace: when it ends, every process in the namespace is killed. The third
process has given up its capabilities for good and becomes the kernel.

    python zygote.py RUNTIME_DIRS FILTER < imports

It reads import statements and then listens at RUNTIME_DIRS/zygote. A request is one line of
JSON: ``runtime_dir`` (a folder in RUNTIME_DIRS), ``path`` (where the kernel sees it), ``kept``
(the paths bound below /tmp), ``fonts``, ``home``, ``disk``, ``file`` and ``addresses`` (bytes),
``files`` (a number), ``cpu`` (seconds) and ``argv``.
"""

import contextlib
import ctypes
import fcntl
import functools
import gc
import glob
import json
import os
import resource
import runpy
import select
import signal
import socket
import struct
import sys
import zlib

NAME = "zygote"  # of the socket
SOCKETS = 5  # that a kernel opens
LOOK = 0.005  # seconds
# From Linux's headers, the same on every machine.
NEWNS, NEWUTS, NEWIPC, NEWPID, NEWNET = 1 << 17, 1 << 26, 1 << 27, 1 << 29, 1 << 30
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC = 1, 2, 4, 8, 32, 4096, 16384
PDEATHSIG, DUMPABLE, SECCOMP, CAPBSET_DROP, NO_NEW_PRIVS, AMBIENT = 1, 4, 22, 24, 38, 47
FILTER_MODE, CLEAR_ALL, CAPABILITY_3 = 2, 4, 0x20080522
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40

libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: object) -> None:
    """Call a function of the C library.

    Raises:
        OSError: the call failed.
    """
    # Pass integers as unsigned long: the ABI expects register-sized arguments.
    wide = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in arguments]
    if getattr(libc, name)(*wide) == -1:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Call mount(2)."""
    texts = (text.encode() for text in (source, target, kind))
    call("mount", *texts, flags, data.encode() or None)


def main(runtime_dirs: str, filter_path: str) -> None:
    """Run the import statements, then fork a kernel for each request."""
    gc.disable()  # imports leave little garbage: looking for it takes an eighth of their time
    # ipykernel sets this too, but only after matplotlib has read it here.
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    for statement in sys.stdin.read().splitlines():
        # The cell of a failed import fails again in the kernel and shows the error.
        with contextlib.suppress(Exception):
            exec(statement, {})
    save_time()
    with open(filter_path, "rb") as file:
        program = file.read()
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nothing, standard)
    os.close(nothing)
    listener = socket.socket(socket.AF_UNIX)
    gc.collect()
    gc.freeze()  # otherwise a garbage collection in a kernel would copy all of this
    gc.enable()
    listener.bind(os.path.join(runtime_dirs, NAME))
    listener.listen(64)
    # Reap shims automatically; their exit status is not needed.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        connection, _ = listener.accept()
        with connection:
            try:
                child = os.fork()
            except OSError:  # too many processes at the moment: that kernel starts cold
                continue
            if child == 0:
                listener.close()
                keep(connection, runtime_dirs, program)


def save_time() -> None:
    """Replace functions of libraries that take long in every kernel."""
    # As ``project.jax_options.share_context`` does; the context is made in each kernel.
    mlir = sys.modules.get("jax._src.interpreters.mlir")
    if hasattr(mlir, "make_ir_context"):
        mlir.make_ir_context = functools.cache(mlir.make_ir_context)
    # The hash that names a cell's file takes 3 ms of Python for a probe, and only a debugger
    # needs the same one.
    compiler = sys.modules.get("ipykernel.compiler")
    if hasattr(compiler, "murmur2_x86"):
        compiler.murmur2_x86 = lambda code, seed: zlib.crc32(code.encode(), seed)
    # A kernel flushes its streams four times in each cell, and waits for another thread each
    # time, even if nothing was written to them.
    stream = getattr(sys.modules.get("ipykernel.iostream"), "OutStream", None)
    if stream is not None:
        flush = stream.flush

        def flush_written(self) -> None:
            if self._flush_pending or self._subprocess_flush_pending:
                flush(self)

        stream.flush = flush_written


def keep(connection: socket.socket, runtime_dirs: str, program: bytes) -> None:
    """Run the shim of one kernel; does not return."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with connection.makefile("rb") as lines:
            request = json.loads(lines.readline())
        os.setsid()
        separate(runtime_dirs, request)
        mine, theirs = os.pipe()
        init = os.fork()
        if init == 0:
            os.close(theirs)
            connection.close()
            give_up_rights()
            run_init(mine, request, program)
        os.close(mine)
        handle = os.pidfd_open(init)
        close_sockets(request, handle)
        give_up_rights()
        # The receiver learns the id of this process from the system's credentials message.
        connection.sendall(b"\n")
        select.select([connection, handle], [], [])
        os.kill(init, signal.SIGKILL)
        os.waitpid(init, 0)
    finally:
        os._exit(0)


def separate(runtime_dirs: str, request: dict) -> None:
    """Enter new namespaces, and hide the files of other kernels."""
    call("unshare", NEWNS | NEWUTS | NEWIPC | NEWPID | NEWNET)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as device:
        flags = struct.pack("16sH14x", b"lo", IFF_UP | IFF_RUNNING)
        fcntl.ioctl(device, SIOCSIFFLAGS, flags)
    runtime_dir = os.path.join(runtime_dirs, os.path.basename(request["runtime_dir"]))
    path, home, own = request["path"], request["home"], NOSUID | NODEV
    # The new /tmp covers these folders: they are bound again through open descriptors.
    kept = {folder: os.open(folder, os.O_PATH) for folder in request["kept"]}
    # Two such file systems together stay below the supervisor's limit.
    files = request["files"] // 2 - 1
    size = f"mode=0755,size={request['disk']},nr_inodes={files}"
    mount("tmpfs", "/tmp", "tmpfs", own, size)
    for folder, handle in kept.items():
        os.makedirs(folder, exist_ok=True)
        os.fchdir(handle)
        mount(".", folder, "", BIND | REC)
        os.close(handle)
    os.chdir("/")
    for name, only_read in (("s", False), ("c", True)):
        show(os.path.join(runtime_dir, name), os.path.join(path, name), only_read)
    os.makedirs(os.path.join(home, "matplotlib"))
    for fonts in glob.glob(request["fonts"]):
        show(fonts, os.path.join(home, "matplotlib", os.path.basename(fonts)), True)
    mount("tmpfs", "/dev/shm", "tmpfs", own, size)
    terminals = "newinstance,ptmxmode=0666,mode=620"
    mount("devpts", "/dev/pts", "devpts", NOSUID | NOEXEC, terminals)
    mount("tmpfs", runtime_dirs, "tmpfs", own | RDONLY, "mode=0700,size=4096")
    os.chdir(home)


def close_sockets(request: dict, init: int) -> None:
    """Wait until the kernel has opened its sockets, then make their folder read-only.

    Raises:
        OSError: the kernel has ended before that.
    """
    folder = os.path.join(request["path"], "s")
    while len(os.listdir(folder)) < SOCKETS:
        if select.select([init], [], [], LOOK)[0]:
            raise OSError("the kernel has ended")
    mount("none", folder, "", REMOUNT | BIND | RDONLY | NOSUID | NODEV)


def show(source: str, target: str, only_read: bool) -> None:
    """Create a mount point for a file or folder, and bind it there."""
    if os.path.isdir(source):
        os.makedirs(target)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY))
    mount(source, target, "", BIND)
    if only_read:
        flags = REMOUNT | BIND | RDONLY | NOSUID | NODEV
        mount("none", target, "", flags)


def give_up_rights() -> None:
    """Drop all capabilities for good: no program that is started brings one back.

    As capabilities(7) describes it. Dropping them needs CAP_SETPCAP, which is dropped last.
    """
    call("prctl", NO_NEW_PRIVS, 1, 0, 0, 0)
    call("prctl", AMBIENT, CLEAR_ALL, 0, 0, 0)
    for capability in range(64):  # more than exist; the call fails for the others
        libc.prctl(CAPBSET_DROP, capability, 0, 0, 0)
    header = struct.pack("=Ii", CAPABILITY_3, 0)
    call("capset", header, struct.pack("=6I", *[0] * 6))


def run_init(shim: int, request: dict, program: bytes) -> None:
    """Run process 1: start the kernel, reap orphans, and end with the kernel."""
    call("prctl", PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if select.select([shim], [], [], 0)[0]:  # the shim had died before
        os._exit(0)
    os.setsid()
    kernel = os.fork()
    if kernel == 0:
        os.close(shim)
        become_kernel(request, program)
    call("prctl", DUMPABLE, 0, 0, 0, 0)
    # Process 1 then ignores the signal if it is sent from inside its namespace.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    while os.wait()[0] != kernel:
        pass
    os._exit(0)


def become_kernel(request: dict, program: bytes) -> None:
    """Apply the limits and the filter of system calls, then run the kernel."""
    for limit, value in (
        (resource.RLIMIT_FSIZE, request["file"]),
        (resource.RLIMIT_CPU, request["cpu"]),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 1024),
        (resource.RLIMIT_AS, request["addresses"]),
    ):
        resource.setrlimit(limit, (value, value))
    steps = ctypes.create_string_buffer(program, len(program))
    filter_ = struct.pack("HL", len(program) // 8, ctypes.addressof(steps))
    call("prctl", SECCOMP, FILTER_MODE, filter_, 0, 0)
    if "numpy.random" in sys.modules:  # otherwise all would draw the same
        sys.modules["numpy.random"].seed()
    sys.path[:1] = [""]  # as `python -m` does
    module, *arguments = request["argv"]
    sys.argv = [module, *arguments]
    code = 1
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
