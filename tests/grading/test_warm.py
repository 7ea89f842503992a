"""Kernels forked from a zygote can see and do the same as any other kernel."""

import contextlib
import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import nbformat
import psutil
import pytest
import torch
import zmq
from jupyter_client.provisioning import KernelProvisionerFactory
from jupyter_core.utils import ensure_event_loop
from labs import COURSE
from seen_from_inside import FIND, LEAVE, LOOK_AROUND, ask

from grading.execution import expected
from grading.execution.material import LabMaterial
from grading.execution.runner import new_folder
from grading.sandbox.bubblewrap import Limits, Sandbox, stage_fonts, stage_library
from grading.sandbox.kernel import Stopped, TooSlow, WatchedKernel
from grading.sandbox.warm import LATE, Zygote, imports
from grading.sandbox.zygote import NAME
from grading.settings import Settings
from grading.worker import Worker

ROOT = Path(__file__).parents[2]
LAB = "acting_on_uncertainty_a"  # which imports no framework
BUSY = """import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
"""
LIMITS = Limits(disk=2**26, file=2**25, cpu=77, start=60.0, task=20.0)
pytestmark = pytest.mark.sandbox


def notebook(*sources):
    return nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in sources]
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    library = stage_library(tmp_path_factory.mktemp("stage") / "library")
    stage_fonts(library)
    return library


@pytest.fixture(scope="module")
def start(library):
    """A function that starts zygotes; they are closed at the end."""
    started = []

    def zygote(*sources, exercise=None):
        box = Sandbox(new_folder(), library, LIMITS, hidden=(ROOT,))
        started.append(Zygote(exercise or notebook(*sources), box))
        return started[-1]

    yield zygote
    for one in started:
        one.close()


@pytest.fixture(scope="module")
def ready(start):
    zygote = start("import numpy.random", "from torch import nn")
    assert zygote.trouble() == ""
    return zygote


@pytest.fixture
def kernel(library, monkeypatch):
    """A function that starts kernels in the sandbox, forked from a zygote or cold."""
    monkeypatch.setenv("JUPYTER_DEFAULT_PROVISIONER_NAME", "known-unknowns-sandbox")
    # Jupyter reads the variable once per process, and other tests here start kernels too.
    KernelProvisionerFactory.clear_instance()
    running = []

    def new(zygote=None, limits=LIMITS):
        runtime_dirs = zygote.runtime_dirs if zygote else None
        folder = new_folder(runtime_dirs) if runtime_dirs else new_folder()
        box = Sandbox(
            folder, library, limits, hidden=(ROOT,), runtime_dirs=runtime_dirs
        )
        running.append(WatchedKernel(box))
        return running[-1]

    yield new
    for one in running:
        one.stop()
    KernelProvisionerFactory.clear_instance()
    ensure_event_loop().close()


def is_forked(kernel):
    return hasattr(kernel.km.provisioner.process, "connection")


def test_one_that_starts_too_slowly_closes_its_sockets(kernel, monkeypatch):
    """Otherwise the context may wait for them for ever when it is collected."""
    with zmq.Context() as context:
        monkeypatch.setattr("grading.sandbox.kernel.zmq.Context", lambda: context)
        with pytest.raises(TooSlow):
            kernel(limits=replace(LIMITS, start=0.01))
        assert context.closed


def test_it_finds_itself_where_any_other_kernel_is(kernel, ready, library):
    names = f"LIBRARY, ROOT = {str(library)!r}, {str(ROOT)!r}\n"
    cold, warm = kernel(), kernel(ready)
    assert [is_forked(cold), is_forked(warm)] == [False, True]
    other, seen = ask(cold, names + LOOK_AROUND), ask(warm, names + LOOK_AROUND)
    # The folder with its sockets and connection file has a different name in each kernel.
    for found in (other, seen):
        mine = found["folders"]["/tmp"]
        found["folders"]["/tmp"] = [n for n in mine if not n.startswith("ku-")]
        assert len(mine) == len(found["folders"]["/tmp"]) + 1
    # There is one more folder: the zygote's folder of all runtime directories, covered here.
    seen["folders"]["/"].remove("runtime_dirs")
    assert seen == other
    assert seen["filtered"] == 2
    assert seen["no new ones"] == 1
    assert not any(seen["rights"] + seen["bounded"])
    assert seen["limits"]["RLIMIT_CPU"] == [77, 77]


def test_it_has_imported_before_it_is_asked(kernel, ready):
    loaded = "import json, sys; print(json.dumps('torch' in sys.modules))"
    assert ask(kernel(ready), loaded)
    assert not ask(kernel(), loaded)


def test_it_lowers_all_jax_programs_in_one_context(kernel, start):
    with_jax = start("import jax")
    assert with_jax.trouble() == ""
    make = "from jax._src.interpreters.mlir import make_ir_context as make\n"
    one = make + "import json; print(json.dumps(make() is make()))"
    assert ask(kernel(with_jax), one)
    assert not ask(kernel(), one)


def test_each_cell_has_a_file_name_of_its_own(kernel, ready):
    running = kernel(ready)
    name = "import json, sys; print(json.dumps(sys._getframe().f_code.co_filename))"
    one, two, again = (ask(running, name + more) for more in ("", " # ü", ""))
    assert one == again != two
    assert Path(one).parent == Path(two).parent


def test_what_is_written_arrives_before_the_cell_has_ended(kernel, ready):
    text = """import os
print('[1', flush=True)
if (child := os.fork()) == 0: os._exit(print(', 2', end='', flush=True) or 0)
os.waitpid(child, 0), print(', 3'), print(']')"""
    for running in (kernel(), kernel(ready)):
        assert [ask(running, text) for _ in range(20)] == [[1, 2, 3]] * 20


def test_nothing_brings_rights_back(kernel, ready):
    refused = ask(
        kernel(ready),
        "import ctypes, json, os\n"
        "libc, refused = ctypes.CDLL(None, use_errno=True), []\n"
        "def tried(name, *arguments):\n"
        "    if getattr(libc, name)(*arguments) == -1: refused.append(name)\n"
        "for flag in (1 << 17, 1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30):\n"
        "    tried('unshare', flag)\n"
        "for place in (b'/runtime_dirs', b'/tmp', b'/dev/shm', b'/dev/pts', b'/proc'):\n"
        "    tried('umount2', place, 2)\n"
        "tried('mount', b'tmpfs', b'/tmp/home', b'tmpfs', 0, None)\n"
        "tried('setuid', 1)\n"
        "tried('chroot', b'/tmp')\n"
        "tried('pivot_root', b'/tmp', b'/tmp/home') if hasattr(libc, 'pivot_root') else 0\n"
        "try: os.mkdir('/runtime_dirs/mine')\n"
        "except OSError: refused.append('runtime_dirs')\n"
        "refused += os.listdir('/runtime_dirs')\n"
        "print(json.dumps(refused))",
    )
    counts = {name: refused.count(name) for name in refused}
    assert counts.pop("pivot_root", 1) == 1
    once = dict.fromkeys(("mount", "setuid", "chroot", "runtime_dirs"), 1)
    assert counts == {"unshare": 6, "umount2": 5} | once


def namespaces(kernel):
    """Return the namespaces of the process that runs the cells, as seen from outside."""
    top = psutil.Process(kernel.km.provisioner.pid)
    process = top.children(recursive=True)[-1].pid
    kinds = ("mnt", "pid", "net", "ipc", "uts")
    return {os.readlink(f"/proc/{process}/ns/{kind}") for kind in kinds}


def test_two_at_a_time_do_not_meet(kernel, ready):
    first, second = kernel(ready), kernel(ready)
    ask(first, LEAVE)
    assert ask(second, FIND) == []
    spaces = [namespaces(running) for running in (first, second)]
    assert not spaces[0] & spaces[1]
    # The first kernel does find all traces, so the test can fail.
    assert len(ask(first, FIND)) == 8


def test_no_two_draw_the_same(kernel, ready):
    draw = (
        "import json, os, random, uuid, numpy as np\n"
        "print(json.dumps([np.random.rand(), np.random.default_rng().random(),\n"
        "                  random.random(), str(uuid.uuid4()), os.urandom(8).hex()]))"
    )
    first, second = (ask(kernel(ready), draw) for _ in range(2))
    assert all(a != b for a, b in zip(first, second, strict=True))


def test_a_shell_command_in_a_cell_works_as_ever(kernel, ready):
    text = "!echo '[\"so it goes\"]'"
    assert ask(kernel(ready), text) == ask(kernel(), text) == ["so it goes"]


def test_it_and_all_that_it_started_end_with_it(kernel, ready):
    running = kernel(ready)
    text = (
        "import json, os, subprocess, sys\n"
        "away = [sys.executable, '-c', 'import time; time.sleep(3457)']\n"
        "subprocess.Popen(away, start_new_session=True)\n"
        "print(json.dumps(1))"
    )
    ask(running, text)
    top = psutil.Process(running.km.provisioner.pid)
    below = top.children(recursive=True)
    assert len(below) >= 3  # process 1, the kernel, and its child
    running.stop()
    gone, alive = psutil.wait_procs([top, *below], timeout=10)
    assert alive == []
    assert len(gone) == len(below) + 1


def wait_for_looks(supervisor):
    """Wait until the supervisor has looked at its kernel twice, once from beginning to end."""
    for _ in range(2):
        before = supervisor.clock.latest
        while supervisor.clock.latest is before:
            assert supervisor.is_alive()
            time.sleep(0.01)


def test_the_memory_that_all_share_is_not_counted_twice(kernel, ready):
    running = kernel(ready)
    ask(running, "print(1)")
    wait_for_looks(supervisor := running.km.provisioner.supervisor)
    top = psutil.Process(supervisor.top)
    kernel_alone = top.children()[0].children()[0]
    assert kernel_alone.memory_info().rss / 2 < supervisor.peak
    assert supervisor.peak < 1.5 * kernel_alone.memory_info().rss
    everything = [top, *top.children(recursive=True)]
    counted = sum(process.memory_info().rss for process in everything)
    assert supervisor.peak < counted


def test_a_large_library_may_be_open_while_it_is_loaded(kernel, ready):
    """From a slow disk that takes as long as several looks."""
    library = torch.__path__[0] + "/lib/libtorch_cpu.so"
    assert os.stat(library).st_size > LIMITS.disk
    running = kernel(ready)
    assert ask(running, f"held = open({library!r}); print(1)") == 1
    wait_for_looks(running.km.provisioner.supervisor)
    assert ask(running, "print(held.closed + 2)") == 2


@pytest.mark.parametrize("way", ["warm", "cold"])
def test_empty_files_are_counted_since_they_take_memory(kernel, ready, way):
    """They use kernel memory not charged to any process: 1.4 GB for a million files."""
    running = kernel(ready if way == "warm" else None)
    asked = running.execute_cell_input(
        "import os\n"
        "for folder in ('/tmp', '/dev/shm'):\n"
        "    for number in range(2_000_000):\n"
        "        os.close(os.open(f'{folder}/{number}', os.O_CREAT))\n"
    )
    try:
        running.await_reply(asked)
        while True:
            message = running.get_message("iopub")
            if message["msg_type"] == "error":
                said = message["content"]["evalue"]
                break
    except Stopped as stopped:
        said = str(stopped)
    assert ("No space left" if way == "warm" else "more than 20,000 files") in said


@pytest.mark.parametrize(
    ("source", "trouble"),
    [(BUSY, "it has 2 threads"), ("import os; os._exit(3)", "it exited with status 3")],
)
def test_a_zygote_that_has_threads_or_exits_is_not_used(
    start, library, source, trouble
):
    """A fork of the first could hang. Zygotes run only imports, but this one starts a thread."""
    (library / "odd.py").write_text(source)
    assert start("import odd").trouble() == trouble
    (library / "odd.py").unlink()


@pytest.mark.long
def test_what_the_labs_import_can_be_forked(start):
    """JAX starts threads with its first operation, so no import may run one."""
    together = COURSE.labs()[0].released()
    together.cells = [cell for lab in COURSE.labs() for cell in lab.released().cells]
    assert start(exercise=together).trouble() == ""


def test_without_its_zygote_a_kernel_starts_by_itself(kernel, start):
    zygote = start("import os")
    assert zygote.trouble() == ""
    psutil.Process(zygote.process.pid).kill()
    zygote.process.wait()
    assert (zygote.runtime_dirs / NAME).exists()
    alone = kernel(zygote)
    assert not is_forked(alone)
    assert ask(alone, "print(7)") == 7


def test_a_fork_that_fails_costs_one_warm_start(kernel, start, library):
    """Forking may fail for a moment if there are too many processes; the zygote survives."""
    (library / "full.py").write_text(
        "import os\nfork = os.fork\n"
        "def fails():\n    os.fork = fork\n    raise BlockingIOError\n"
        "os.fork = fails\n"
    )
    zygote = start("import full")
    assert zygote.trouble() == ""
    (library / "full.py").unlink()
    assert not is_forked(kernel(zygote))
    assert is_forked(kernel(zygote))


@pytest.fixture
def material(tmp_path):
    """A lab whose exercise imports a module that starts a thread."""
    path = tmp_path / "expected.msgpack"
    lab = COURSE.lab(LAB)
    expected.draw(lab, 7, path).finish()
    material = LabMaterial.read(lab, path)
    material.released.cells.append(nbformat.v4.new_code_cell("import busy"))
    material.released.cells[-1].metadata["course"] = {}
    return material


def test_where_it_is_not_safe_a_class_is_graded_without_and_told(material, tmp_path):
    said = []
    worker = Worker(Settings(ROOT, tmp_path / "out"), tmp_path / "library", said.append)
    (worker.environment.library / "busy.py").write_text(BUSY)
    with contextlib.closing(worker):
        worker.warm_up({LAB: material.released})
        worker.open({LAB: material})
        assert said == [
            f"{LAB}: no warm starts (it has 2 threads); every kernel starts on its own."
        ]
        assert worker.runtime_dirs == {}
        worker.prove(LAB)


def test_many_at_once_are_all_forked(kernel, ready):
    found, lock = [], threading.Lock()

    def one():
        running = kernel(ready)
        with lock:
            found.append((is_forked(running), ask(running, "print(7)")))
        running.stop()
        ensure_event_loop().close()

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(True, 7)] * 4


def test_imports_are_those_of_the_cells_and_nothing_is_run():
    cells = notebook(
        "import numpy as np, os\nx = np.ones(3)",
        "def f():\n    from torch import nn\n    return nn",
        "import numpy as np, os",
    )
    cells.cells.append(nbformat.v4.new_markdown_cell("import antigravity"))
    assert imports(cells) == ["import numpy as np, os", "from torch import nn"]


def test_what_pytorch_imports_late_is_imported_where_a_task_needs_it():
    """It would take a second in the kernel of every submission."""
    cells = notebook("import torch", "# with torch.optim.LBFGS\n...")
    assert imports(cells) == ["import torch"]
    cells.cells[1].metadata["course"] = {"role": "task", "task": "x/y"}
    assert imports(cells) == ["import torch", LATE]
    names = {lab.name for lab in COURSE.labs() if LATE in imports(lab.released())}
    assert names == {"approximate_inference_c", "calibration_and_flows_a"}
