"""Fixtures and hooks of all tests: the built book, a browser, required programs, durations."""

import gc
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from browser import launched, served
from filelock import FileLock
from page_visits import visited
from process_settings import settings

from project.errors import CourseError
from project.jax_options import share_context
from project.threads import ONE_THREAD
from studies import chromium

ROOT = Path(__file__).parent.parent
# Looking for garbage took a twentieth of the time, most of it among what stays: modules.
gc.disable()
# Workers share the cores already. With more threads, also the last digits may differ.
os.environ.update(ONE_THREAD)
# Chapters, exercises and tests compile the same functions, so keep JAX's compiled programs.
os.environ["JAX_COMPILATION_CACHE_DIR"] = str(ROOT / "_build" / ".jax")
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
# Tests compile thousands of small programs that each run a few times: less is optimised.
os.environ["XLA_FLAGS"] = (
    "--xla_cpu_use_fusion_emitters=false --xla_backend_optimization_level=0"
    " --xla_llvm_disable_expensive_passes=true"
)
measured = Counter()
TAIL = (
    15  # last lines of a failed build's log that are shown, besides warnings and errors
)


# Seconds by -m expression and file, written by ``--measure``.
DURATIONS = Path(__file__).with_name("durations.json")


# What the source of a file with long tests has: the mark, or a fixture that needs the book.
LONG = re.compile(r"mark\.long|\b(book|seen|address)\b")


def pytest_ignore_collect(collection_path, config):
    """Do not even import files without long tests where only those run: it takes seconds."""
    only_long = config.option.markexpr == "long" and collection_path.suffix == ".py"
    if only_long and not LONG.search(collection_path.read_text("utf-8")):
        return True
    return None


def pytest_addoption(parser):
    parser.addoption(
        "--measure", action="store_true", help=f"write {DURATIONS.name} after the run"
    )


@pytest.hookimpl(tryfirst=True)  # before -k selects
def pytest_collection_finish():
    share_context()  # what the tests import is imported by now
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


def pytest_collection_modifyitems(config, items):
    """Mark what needs the book as long; begin with the longest files.

    So no worker ends long after the others. Of the files that need the book, the longest comes
    first and builds it; the others come last, so that no worker waits for the build.
    """
    known = json.loads(DURATIONS.read_text("utf-8")).get(config.option.markexpr, {})
    seconds = {item.path: known.get(_name(item.path), 0) for item in items}
    reading = {item.path for item in items if "book" in item.fixturenames}
    for item in items:  # a task's id has hyphens; -k takes its function's name as well
        item.extra_keyword_matches.add(item.name.replace("-", "_"))
        if "book" in item.fixturenames:  # its build takes minutes
            item.add_marker("long")
    place = {path: n for n, path in enumerate(in_order(seconds, reading))}
    items.sort(key=lambda item: place[item.path])


def in_order(seconds, reading):
    """Return the files of ``seconds`` in the order in which workers take them.

    The order is the same in every worker, also where several files take the same time.
    """
    builds = max(reading, key=lambda path: (seconds[path], path), default=None)
    return sorted(seconds, key=lambda p: (p != builds, p in reading, -seconds[p], p))


def pytest_runtest_logreport(report):
    measured[_name(ROOT / report.location[0])] += report.duration


def pytest_sessionfinish(session):
    if session.config.option.measure and not hasattr(session.config, "workerinput"):
        known = json.loads(DURATIONS.read_text("utf-8"))
        known[session.config.option.markexpr] = {
            name: round(seconds) for name, seconds in measured.most_common()
        }
        DURATIONS.write_text(json.dumps(known, indent=1) + "\n", "utf-8")


def _name(path):
    return path.relative_to(DURATIONS.parent).as_posix()


def pytest_runtest_setup(item):
    """Skip tests that need a missing program; fail in CI, where skips would go unnoticed."""
    missing = None
    if item.get_closest_marker("browser") and chromium.executable() is None:
        missing = chromium.MISSING
    if item.get_closest_marker("sandbox"):
        missing = no_sandbox()
    if missing and os.environ.get("CI") == "true":
        pytest.fail(missing, pytrace=False)
    if missing:
        pytest.skip(missing)


@cache
def no_sandbox():
    """Return the reason that bubblewrap does not work here; ``None`` if it works."""
    # NumPy, which comes with it, reads its number of threads when it is imported.
    from grading.sandbox.bubblewrap import require_sandbox

    try:
        require_sandbox()
    except CourseError as error:
        return str(error)
    return None


@pytest.fixture(autouse=True)
def settings_stay():
    """Fail a test that changes a setting of the process: others would depend on the order."""
    before = settings()
    yield
    after = settings()
    assert [name for name in before if before[name] != after[name]] == []


@pytest.fixture
def optimised(monkeypatch):
    """Let JAX optimise programs as it does outside the tests, for those that run long."""
    monkeypatch.delenv("XLA_FLAGS")


def build_book(root, to=None, **environment):
    """Build the book at ``root`` as ``make book`` does; return the folder of pages."""
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    elsewhere = ["--path-output", to] if to else []
    as_is = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    done = subprocess.run(
        [jupyter_book, "build", ".", "-W", "--keep-going", *elsewhere],
        cwd=root,
        env=as_is | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        # Otherwise Sphinx would consider these pages up to date, and not warn again.
        trees = (to or root) / "_build" / ".doctrees"
        shutil.rmtree(trees, ignore_errors=True)
        log = done.stdout.splitlines()
        problems = [
            line
            for line in log[:-TAIL]
            if any(word in line for word in ("WARNING:", "ERROR:", "ExtensionError:"))
        ]
        shown = "\n".join(["the book does not build:", *problems, "…", *log[-TAIL:]])
        pytest.fail(shown, pytrace=False)
    return (to or root) / "_build" / "html"


@pytest.fixture(scope="session")
def this_run(request):
    """A name of this run, which its workers share."""
    return getattr(request.config, "workerinput", {}).get(
        "testrunuid", str(os.getpid())
    )


@pytest.fixture(scope="session")
def book(this_run):
    """The folder of the built book, which the workers of a run build once."""
    built_by = ROOT / "_build" / ".built-by"
    built_by.parent.mkdir(exist_ok=True)

    def built():
        return built_by.exists() and built_by.read_text("utf-8") == this_run

    # The class edition's build, which holds the lock, leaves the finished book as it is.
    if not built():
        with FileLock(ROOT / "_build" / ".lock"):
            if not built():
                build_book(ROOT)
                built_by.write_text(this_run, "utf-8")
    return ROOT / "_build" / "html"


@pytest.fixture(scope="session")
def seen(book, this_run):
    """A function of a screen: what every page of the book answers there, by page."""
    return cache(lambda screen: visited(book, screen, this_run))


@pytest.fixture(scope="module")
def address(book):
    """The address at which the book is served."""
    with served(book) as at:
        yield at


@pytest.fixture(scope="module")
def browser():
    """Start a browser for the tests of one file.

    Playwright keeps an event loop running in this thread, which would break the tests of
    other files.
    """
    with launched() as running:
        yield running
