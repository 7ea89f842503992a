"""Cells that print, as JSON, what they can see and do in the sandbox."""

import json

# Facts that a kernel can find out about its environment.
LOOK_AROUND = """
import ctypes, gc, json, os, resource, signal, socket, stat, sys
libc = ctypes.CDLL(None, use_errno=True)

def listing(folder):
    try:
        return sorted(os.listdir(folder))
    except OSError as error:
        return type(error).__name__

def capabilities():
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc.capget(header, data)
    return list(data)

def writable(folder):
    statistics = os.statvfs(folder)
    return [bool(statistics.f_flag & flag) for flag in (os.ST_RDONLY, os.ST_NOSUID)]

def handle(number):
    try:
        return stat.S_IFMT(os.fstat(number).st_mode)
    except OSError:
        return None

folders = ["/", "/tmp", "/tmp/home", "/tmp/home/matplotlib", "/dev", "/dev/shm",
           "/dev/pts", "/proc", LIBRARY, ROOT]
limits = [name for name in dir(resource) if name.startswith("RLIMIT_")]
print(json.dumps({
    "environment": dict(os.environ),
    "arguments": sys.argv[:2],
    "main": sys.modules["__main__"].__name__,
    "path": sys.path,
    "folder": os.getcwd(),
    "folders": {folder: listing(folder) for folder in folders},
    "written": {f: writable(f) for f in ["/", "/tmp", "/dev", "/dev/shm", "/proc"]},
    "sizes": [os.statvfs(f).f_blocks * os.statvfs(f).f_bsize for f in ("/tmp", "/dev/shm")],
    "limits": {name: resource.getrlimit(getattr(resource, name)) for name in limits},
    "rights": capabilities(),
    "bounded": [libc.prctl(23, number, 0, 0, 0) for number in range(41)],
    "no new ones": libc.prctl(39, 0, 0, 0, 0),
    "filtered": libc.prctl(21, 0, 0, 0, 0),
    "who": [os.getuid(), os.getgid(), os.getgroups(), os.umask(0o22)],
    "process": [os.getpid(), os.getppid(), os.getsid(0), os.getpgid(0)],
    "devices": socket.if_nameindex(),
    "host": socket.gethostname(),
    "signals": [str(signal.getsignal(n)) for n in (2, 13, 15, 17)],
    "standard": [handle(number) for number in (1, 2)],
    "collects": gc.isenabled(),
}))
"""

# Traces that one kernel leaves, and a search for them from another kernel.
LEAVE = """
import json, os, socket, sys, numpy
for folder in ("/tmp", "/dev/shm", "/tmp/home"):
    with open(folder + "/left", "w") as file:
        file.write("left")
named, served = socket.socket(socket.AF_UNIX), socket.socket()
named.bind("\\0left"); named.listen()
served.bind(("127.0.0.1", 5757)); served.listen()
terminal, _ = os.openpty()
numpy.left = sys.left = "left"
print(json.dumps(os.getpid()))
"""
FIND = """
import json, os, socket, sys, numpy
found = [f for f in ("/tmp", "/dev/shm", "/tmp/home") if os.path.exists(f + "/left")]
for kind, address in ((socket.AF_UNIX, "\\0left"), (socket.AF_INET, ("127.0.0.1", 5757))):
    try:
        socket.socket(kind).connect(address)
        found.append(str(address))
    except OSError:
        pass
found += [name for name in os.listdir("/dev/pts") if name != "ptmx"]
found += [module.__name__ for module in (numpy, sys) if hasattr(module, "left")]
print(json.dumps(found))
"""


def ask(kernel, text):
    """Run a cell, and return the JSON that it prints."""
    asked = kernel.execute_cell_input(text)
    kernel.await_reply(asked)
    said = ""
    while True:
        message = kernel.get_message("iopub")
        if message["parent_header"].get("msg_id") != asked:
            continue
        content = message["content"]
        assert message["msg_type"] != "error", "\n".join(content["traceback"])
        said += content["text"] if message["msg_type"] == "stream" else ""
        if content.get("execution_state") == "idle":
            return json.loads(said)
