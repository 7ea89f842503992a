"""What stands behind the wall, seen from inside it."""

import dataclasses
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from course.errors import CourseError
from course.grading import sandbox
from course.grading.sandbox import (
    COMPILED,
    Limits,
    Sandbox,
    require_wall,
    stage_library,
)
from course.grading.syscalls import LOAD, RETURN, filter_of

ROOT = Path(__file__).parents[1]
MIB = 1024 * 1024
pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return stage_library(tmp_path_factory.mktemp("stage") / "library")


@pytest.fixture
def inside(library, tmp_path):
    """Runs a Python text behind the wall; what it prints as JSON."""
    box = Sandbox(tmp_path / "box", library, Limits(disk=64 * MIB), hidden=(ROOT,))
    for folder in (box.sockets, box.connection.parent):
        folder.mkdir(parents=True)

    def run(text, **changes):
        mine = dataclasses.replace(box, **changes)
        done = subprocess.run(
            mine.command([sys.executable, "-c", text]),
            capture_output=True,
            text=True,
            env=mine.environment(),
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    run.box = box
    return run


def test_an_allow_list_of_files_can_be_seen(inside, tmp_path):
    (tmp_path / "secret").write_text("expected values")
    hidden = [
        ROOT / "solutions" / "deep_ensembles" / "losses.py",
        ROOT / "course" / "checks" / "__init__.py",
        ROOT / "course" / "grading" / "expected.py",
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
    names = [str(path) for path in hidden]
    assert (ROOT / "solutions" / "deep_ensembles" / "losses.py").exists()
    seen = inside(
        f"import json, os; print(json.dumps([p for p in {names} if os.path.exists(p)]))"
    )
    assert seen == []


def test_the_processor_is_the_same_on_both_sides(inside):
    """Otherwise PyTorch computes more slowly in there, and rounds differently."""
    text = (
        "import json, torch; print(json.dumps(torch.backends.cpu.get_cpu_capability()))"
    )
    outside = subprocess.check_output([sys.executable, "-c", text], text=True)
    assert inside(text) == json.loads(outside)
    assert inside("import json, os; print(json.dumps(os.listdir('/proc')))") == [
        "cpuinfo"
    ]


def test_the_course_in_there_has_no_checks_and_no_oracles(inside):
    found = inside(
        "import json, importlib.util as u\n"
        "names = ['course.data', 'course.plots', 'course.checks', 'course.judge',\n"
        "         'course.grading', 'course.task', 'solutions']\n"
        "print(json.dumps([n for n in names if u.find_spec(n)]))"
    )
    assert found == ["course.data", "course.plots"]


def test_what_notebooks_import_works_in_there(inside):
    found = inside(
        "import json\n"
        "from course import check, data, nuts, plots\n"
        "import io, contextlib\n"
        "with contextlib.redirect_stdout(io.StringIO()) as text:\n"
        "    check('a/b', None); check.hint('a/b'); check.hint('a/b', 2)\n"
        "print(json.dumps([text.getvalue(), plots.COLOURS['blue']]))"
    )
    assert "graded elsewhere" in found[0]


def test_the_environment_is_its_own(inside, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "of the instructor")
    found = inside("import json, os; print(json.dumps(dict(os.environ)))")
    assert set(found) - {"PWD", "LC_CTYPE"} == set(inside.box.environment())


def test_nothing_can_be_written_but_its_own_temporary_files(inside):
    places = [
        *("/", "/usr", "/dev", "/proc", "/bin", sys.prefix, sys.base_prefix),
        *(str(inside.box.library), str(inside.box.library / "course")),
        str(inside.box.library / COMPILED),
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


def test_what_jax_compiles_for_the_reference_is_read_by_others_and_written_by_none(
    inside,
):
    text = (
        "import json, jax, jax.numpy as jnp\n"
        "events = []\n"
        "jax.monitoring.register_event_listener(lambda event, **_: events.append(event))\n"
        "jnp.sin(jnp.arange({many})).sum()\n"
        "hits = '/jax/compilation_cache/cache_hits'\n"
        "print(json.dumps(events.count(hits)))"
    )
    compiled = inside.box.library / COMPILED
    assert inside(text.format(many=7)) == 0
    assert list(compiled.iterdir()) == []
    inside(text.format(many=7), compiles=True)
    kept = sorted(compiled.iterdir())
    assert kept
    assert inside(text.format(many=7)) > 0
    inside(text.format(many=9))
    assert sorted(compiled.iterdir()) == kept


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
        require_wall()


def test_a_bubblewrap_that_does_not_work_is_noticed(monkeypatch, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text(
        "#!/bin/sh\necho 'No permissions to create namespace' >&2\nexit 1\n"
    )
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(CourseError, match="No permissions to create namespace"):
        require_wall()


def test_a_project_inside_the_installation_is_covered(tmp_path):
    """Installed as packages, course and solutions lie where Python itself is shown."""
    inner = tmp_path / "lib" / "course"
    inner.mkdir(parents=True)
    assert sandbox._covered([inner], [tmp_path]) == [inner]
    assert sandbox._covered([inner], [tmp_path / "other"]) == []


def test_memory_that_counts_with_no_process_is_not_to_be_had(inside):
    found = inside(
        "import ctypes, errno, json, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "found = [libc.shmget(0, 4096, 0o1600), libc.ptrace(16, 1, 0, 0)]\n"
        "try:\n"
        "    os.memfd_create('x')\n"
        "except OSError as error:\n"
        "    found.append(error.errno == errno.ENOSYS)\n"
        "print(json.dumps(found))"
    )
    assert found == [-1, -1, True]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64", "another"])
def test_the_filter_of_system_calls_ends_wherever_it_jumps(machine):
    steps = list(struct.iter_unpack("=HBBI", filter_of(machine)))
    ends = {i for i, (code, *_) in enumerate(steps) if code == RETURN}
    assert max(ends) == len(steps) - 1
    for index, (code, true, false, _) in enumerate(steps):
        if code not in (RETURN, LOAD):
            assert max(index + 1 + true, index + 1 + false) < len(steps)
            # One way goes on, the other to the refusal.
            assert {true, false} == {0, len(steps) - 2 - index}
