"""The sandbox as seen from inside."""

import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from grading.sandbox import bubblewrap
from grading.sandbox.bubblewrap import (
    COMPILED,
    RUN_BY_PROBES,
    Limits,
    Sandbox,
    require_sandbox,
    stage_fonts,
    stage_library,
)
from grading.sandbox.syscalls import (
    ALLOW,
    EQUAL,
    FOREIGN,
    LOAD,
    MACHINES,
    MASK,
    REFUSE,
    RETURN,
    filter_of,
)
from project.errors import CourseError

ROOT = Path(__file__).parents[2]
MIB = 1024 * 1024
pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    library = stage_library(tmp_path_factory.mktemp("stage") / "library")
    stage_fonts(library)
    return library


@pytest.fixture
def inside(library, tmp_path):
    """A function that runs Python code in the sandbox, and returns the JSON that it prints."""
    box = Sandbox(tmp_path / "box", library, Limits(disk=64 * MIB), hidden=(ROOT,))
    for folder in (box.sockets, box.connection.parent):
        folder.mkdir(parents=True)

    def run(text):
        done = subprocess.run(
            box.command([sys.executable, "-c", text]),
            capture_output=True,
            text=True,
            env=os.environ | box.environment(),
        )
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)

    run.box = box
    return run


EXPONENTIAL = (
    "import json, jax, jax.numpy as jnp, numpy as np\n"
    "events = []\n"
    "jax.monitoring.register_event_listener(lambda event, **_: events.append(event))\n"
    "jnp.exp(np.ones({size}))\n"
    "print(json.dumps([sum(word in one for one in events) for word in ('requests', 'hits')]))"
)


def test_programs_are_read_that_jax_compiled_before_and_none_is_added(inside, library):
    compiled = library / COMPILED
    adding = {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    subprocess.run(
        [sys.executable, "-c", EXPONENTIAL.format(size=3)],
        env=inside.box.environment() | adding,
        check=True,
    )
    before = {path.name for path in compiled.iterdir()}
    assert before
    assert inside(EXPONENTIAL.format(size=3)) == [len(before)] * 2
    requests, hits = inside(EXPONENTIAL.format(size=4))
    assert requests > hits
    assert {path.name for path in compiled.iterdir()} == before


def test_an_allow_list_of_files_can_be_seen(inside, tmp_path):
    (tmp_path / "secret").write_text("expected values")
    hidden = [
        ROOT / "solutions" / "deep_ensembles" / "losses.py",
        ROOT / "course" / "checks" / "__init__.py",
        ROOT / "grading" / "execution" / "expected.py",
        ROOT / "exercises",
        ROOT / "tests",
        tmp_path / "secret",
        Path("/etc/passwd"),
        Path("/etc/hostname"),
        Path.home() / ".bashrc",
        Path("/var"),
        Path("/proc/1/environ"),
        Path("/proc/self"),
    ]
    # The folders above the project exist in the sandbox, as mount points.
    names = [str(path) for path in hidden if path not in ROOT.parents]
    assert (ROOT / "solutions" / "deep_ensembles" / "losses.py").exists()
    seen = inside(
        f"import json, os; print(json.dumps([p for p in {names} if os.path.exists(p)]))"
    )
    assert seen == []


def test_the_processor_is_the_same_on_both_sides(inside):
    """Otherwise PyTorch would be slower in the sandbox, and would round differently."""
    text = (
        "import json, torch; print(json.dumps(torch.backends.cpu.get_cpu_capability()))"
    )
    assert inside(text) == torch.backends.cpu.get_cpu_capability()
    assert inside("import json, os; print(json.dumps(os.listdir('/proc')))") == [
        "cpuinfo"
    ]


def test_the_course_in_there_has_no_checks_and_no_oracles(inside):
    found = inside(
        "import json, importlib.util as u\n"
        "names = ['course.data', 'course.plots', 'course.checks', 'course.judge',\n"
        "         'grading', 'course.task', 'solutions', 'course.feedback',\n"
        f"         *{RUN_BY_PROBES}]\n"
        "print(json.dumps([n for n in names if u.find_spec(n)]))"
    )
    assert found == ["course.data", "course.plots", *RUN_BY_PROBES]


def test_what_probes_share_is_compiled(inside):
    found = inside(
        "import json, os, importlib.util as u\n"
        f"files = [u.find_spec(name).cached for name in {RUN_BY_PROBES}]\n"
        "print(json.dumps([os.path.exists(file) for file in files]))"
    )
    assert found == [True, True]


def test_what_notebooks_import_works_in_there(inside):
    found = inside(
        "import json\n"
        "from course import check, data, nuts, plots\n"
        "import io, contextlib\n"
        "with contextlib.redirect_stdout(io.StringIO()) as text:\n"
        "    check('a/b', None); check.hint('a/b'); check.hint('a/b', 2)\n"
        "    check.guess('a/b', 'c'); check.quiz('a/b'); check.quiz('a/b', 1, 'a')\n"
        "print(json.dumps([text.getvalue(), plots.COLOURS['blue']]))"
    )
    assert "graded elsewhere" in found[0]


def test_the_environment_is_its_own(inside, monkeypatch):
    for name in ("SECRET_TOKEN", "USER"):
        monkeypatch.setenv(name, "of the instructor")
    found = inside("import json, os; print(json.dumps(dict(os.environ)))")
    assert "of the instructor" not in found.values()
    assert set(found) - {"PWD", "LC_CTYPE"} == set(inside.box.environment())


def test_nothing_can_be_written_but_its_own_temporary_files(inside):
    places = [
        *("/", "/usr", "/dev", "/proc", "/bin", sys.prefix, sys.base_prefix),
        *(str(inside.box.library), str(inside.box.library / "course")),
        str(inside.box.connection.parent),
    ]
    written = inside(
        "import json, os\n"
        "written = []\n"
        f"for place in {[*places, '/tmp', '/dev/shm', '/tmp/home']}:\n"
        "    try:\n"
        "        open(os.path.join(place, 'x'), 'w').write('x')\n"
        "        written.append(place)\n"
        "    except OSError:\n"
        "        pass\n"
        "print(json.dumps(written))"
    )
    assert written == ["/tmp", "/dev/shm", "/tmp/home"]
    for place in places:
        assert not (Path(place) / "x").exists()


def test_its_files_have_a_limit(inside):
    full = inside(
        "import json\n"
        "full = []\n"
        "for place in ('/tmp', '/dev/shm'):\n"
        "    try:\n"
        "        with open(f'{place}/x', 'wb') as file:\n"
        "            for _ in range(100):\n"
        "                file.write(bytes(1024 * 1024)); file.flush()\n"
        "    except OSError as error:\n"
        "        full.append(place)\n"
        "print(json.dumps(full))"
    )
    assert full == ["/tmp", "/dev/shm"]


def test_there_is_no_network(inside):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), 5).close()  # open from outside
        reached = inside(
            "import json, socket\n"
            "try:\n"
            f"    socket.create_connection(('127.0.0.1', {port}), 2); reached = True\n"
            "except OSError:\n"
            "    reached = False\n"
            "print(json.dumps(reached))"
        )
    assert reached is False


def test_there_are_no_other_processes_and_no_way_to_more_rights(inside):
    found = inside(
        "import ctypes, json, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "mounted = libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)\n"
        "unshared = libc.unshare(0x10000000)\n"
        "alive = []\n"
        "for pid in range(1, 5000):\n"
        "    try:\n"
        "        os.kill(pid, 0); alive.append(pid)\n"
        "    except ProcessLookupError:\n"
        "        pass\n"
        "    except PermissionError:\n"
        "        alive.append(pid)\n"
        "print(json.dumps([mounted, unshared, len(alive)]))"
    )
    mounted, unshared, alive = found
    assert mounted == -1
    assert unshared == -1
    assert alive <= 3


def test_without_bubblewrap_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(CourseError, match=r"apt install bubblewrap.*--no-sandbox"):
        require_sandbox()


def test_a_bubblewrap_that_does_not_work_is_noticed(monkeypatch, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text(
        "#!/bin/sh\necho 'No permissions to create namespace' >&2\nexit 1\n"
    )
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(CourseError, match="No permissions to create namespace"):
        require_sandbox()


def test_a_project_inside_the_installation_is_covered(tmp_path):
    """If installed as packages, course and solutions are below Python's visible folders."""
    inner = tmp_path / "lib" / "course"
    inner.mkdir(parents=True)
    assert bubblewrap._covered([inner], [tmp_path]) == [inner]
    assert bubblewrap._covered([inner], [tmp_path / "other"]) == []


def test_memory_that_counts_with_no_process_is_not_to_be_had(inside):
    found = inside(
        "import ctypes, errno, json, mmap, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "found = [libc.shmget(0, 4096, 0o1600), libc.ptrace(16, 1, 0, 0)]\n"
        "def tried(make):\n"
        "    try:\n"
        "        make()\n"
        "        found.append('made')\n"
        "    except OSError as error:\n"
        "        found.append(errno.errorcode[error.errno])\n"
        "private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS\n"
        "tried(lambda: os.memfd_create('x'))\n"
        "tried(lambda: mmap.mmap(-1, 4096))\n"
        "tried(lambda: mmap.mmap(-1, 4096, flags=private))\n"
        "tried(lambda: mmap.mmap(-1, 64 * 2**30, flags=private))\n"
        "tried(lambda: mmap.mmap(os.open('/dev/zero', os.O_RDWR), 4096))\n"
        "print(json.dumps(found))"
    )
    assert found == [-1, -1, "ENOSYS", "ENOSYS", "made", "ENOMEM", "ENODEV"]


def test_what_reaches_into_other_processes_is_refused(inside):
    """System calls are made directly, on the process itself and its own descriptor."""
    found = inside(
        "import ctypes, errno, json, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "own = os.pidfd_open(os.getpid())\n"
        "pid = os.getpid()\n"
        "calls = [(438, own, 0, 0), (440, own, None, 0, 20, 0), (448, own, 0)]\n"
        "calls += [(312 if os.uname().machine == 'x86_64' else 272, pid, pid, 0, 0, 0)]\n"
        "calls += [(428, -100, b'/tmp', 1), (430, b'tmpfs', 0)]\n"
        "found = []\n"
        "for call in calls:\n"
        "    assert libc.syscall(*call) == -1\n"
        "    found.append(errno.errorcode[ctypes.get_errno()])\n"
        "print(json.dumps(found))"
    )
    assert found == ["ENOSYS"] * 6


def test_nobody_can_ask_to_be_served_last(inside):
    """A cell's clock does not count waiting for a processor, so priority must not be lowered."""
    found = inside(
        "import errno, json, os\n"
        "found = []\n"
        "last = os.sched_param(0)\n"
        "for ask in (lambda: os.sched_setscheduler(0, os.SCHED_IDLE, last),\n"
        "            lambda: os.sched_setscheduler(0, os.SCHED_BATCH, last),\n"
        "            lambda: os.sched_setparam(0, last),\n"
        "            lambda: os.setpriority(os.PRIO_PROCESS, 0, 19), lambda: os.nice(19)):\n"
        "    try:\n"
        "        ask(); found.append('allowed')\n"
        "    except OSError as error:\n"
        "        found.append(errno.errorcode[error.errno])\n"
        "print(json.dumps(found))"
    )
    assert found == ["ENOSYS"] * 5


def test_sockets_are_of_the_usual_families(inside):
    """Other families, such as a virtual machine's, could bypass the missing network."""
    found = inside(
        "import json, socket\n"
        "found = []\n"
        "for family in range(1, 46):\n"
        "    try:\n"
        "        socket.socket(family, socket.SOCK_DGRAM).close()\n"
        "        found.append(family)\n"
        "    except OSError:\n"
        "        pass\n"
        "print(json.dumps(found))"
    )
    assert set(found) <= {1, 2, 10, 16}
    assert {1, 2} <= set(found)


def decided(program, machine, number, arguments=(0,) * 6):
    """Interpret a filter's program for a system call, and return its verdict."""
    data = struct.pack("=IIQ6Q", number, machine, 0, *arguments)
    at, value = 0, 0
    while True:
        code, true, false, operand = program[at]
        if code == RETURN:
            return operand
        if code == LOAD:
            (value,) = struct.unpack_from("=I", data, operand)
        elif code == MASK:
            value &= operand
        else:
            holds = value == operand if code == EQUAL else value >= operand
            at += true if holds else false
        at += 1


@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_of_system_calls_refuses_what_it_names_and_nothing_else(machine):
    program = list(struct.iter_unpack("=HBBI", filter_of(machine)))
    found = MACHINES[machine]
    for number in range(600):
        refused = decided(program, found.name, number, (1, 0, 0, 2, 0, 0)) == REFUSE
        assert refused == (number in found.refused.values()), number
    assert decided(program, found.name + 1, 0) == REFUSE
    assert decided(program, found.name, FOREIGN + 1) == REFUSE
    for flags, verdict in ((0x21, REFUSE), (0x22, ALLOW), (0x01, ALLOW)):
        call = (0, 4096, 3, flags, 0, 0)
        assert decided(program, found.name, found.mmap, call) == verdict
    for policy in range(7):
        verdict = ALLOW if policy == 0 else REFUSE
        call = (0, policy, 0, 0, 0, 0)
        assert decided(program, found.name, found.scheduler, call) == verdict
    for family in range(46):
        known = family in (1, 2, 10, 16)
        call = (family, 1, 0, 0, 0, 0)
        verdict = ALLOW if known else REFUSE
        assert decided(program, found.name, found.socket, call) == verdict


def test_on_a_processor_that_is_not_known_nothing_is_graded_behind_a_wall(monkeypatch):
    monkeypatch.setattr(filter_of, "__defaults__", ("riscv64",))
    with pytest.raises(
        CourseError, match=r"^riscv64: There is no filter .*--no-sandbox"
    ):
        require_sandbox()
