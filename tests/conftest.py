"""What several test files share: the repository, the book as built, a browser."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import browser as chromium
import pytest
from filelock import FileLock

from grading.sandbox.bubblewrap import require_wall
from project.errors import CourseError

ROOT = Path(__file__).parent.parent
# The tests have JAX compile the same again and again: what it has compiled is kept. Each
# worker has its own, since two could write a file at a time.
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "alone")
os.environ["JAX_COMPILATION_CACHE_DIR"] = str(ROOT / "_build" / ".jax" / WORKER)
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
TAIL = 15  # lines of a failed build's log, besides what it complains of


# What takes minutes begins first, so that no worker is left alone with it at the end.
LONGEST = (
    *(
        "test_book.py",
        "test_notebooks.py",
        "test_grading_hostile.py",
        "test_nbgrader.py",
    ),
    *("test_grading_passes.py", "test_grading_resume.py", "test_grading_draws.py"),
    *("test_other_right_answers.py", "test_wrong_answers.py", "test_jupyterlab.py"),
    *("test_editions.py", "test_deep_ensembles.py", "test_book_quality.py"),
)


def pytest_collection_modifyitems(items):
    """Order the files; within one, nothing changes."""
    order = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.name, len(order)))


def pytest_runtest_setup(item):
    """Without Chromium or bubblewrap a test skips, and fails where nobody would notice."""
    missing = None
    if item.get_closest_marker("browser") and chromium.executable() is None:
        missing = chromium.MISSING
    if item.get_closest_marker("sandbox"):
        missing = no_wall()
    if missing and os.environ.get("CI") == "true":
        pytest.fail(missing, pytrace=False)
    if missing:
        pytest.skip(missing)


@cache
def no_wall():
    """Why bubblewrap does not work here, in one line; None if it does."""
    try:
        require_wall()
    except CourseError as error:
        return str(error)
    return None


def build_book(root, to=None, **environment):
    """Build the book at ``root`` as ``make book`` does; return the folder of pages."""
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    elsewhere = ["--path-output", to] if to else []
    done = subprocess.run(
        [jupyter_book, "build", ".", "-W", "--keep-going", *elsewhere],
        cwd=root,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        # Sphinx would take these pages for up to date, and not warn again.
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
def book():
    """The folder of the built book. Workers share one build: the later find it ready."""
    (ROOT / "_build").mkdir(exist_ok=True)
    with FileLock(ROOT / "_build" / ".lock"):
        return build_book(ROOT)


@pytest.fixture(scope="module")
def browser():
    """A browser for one file of tests.

    Playwright keeps an event loop running in this thread, which the tests of other
    files must not find there.
    """
    with chromium.launched() as running:
        yield running
