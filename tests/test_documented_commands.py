"""Run every command that README, CONTRIBUTING and the book print, exactly as printed."""

import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import pytest
from documented import PAGES, block, clone, commands, furnish, shell, surroundings
from graded_class import ROOT, write_submissions

from project.publication import Publication

CLUSTER = "Grade faster, or on many machines"
NBGRADER = "tests/authoring/test_nbgrader.py::test_the_real_nbgrader_grades_and_exports"
RECIPES = "tests/test_contributing.py::test_a_chapter_is_added_by_the_book"
RECIPE = "tests/test_contributing.py::test_a_task_and_then_a_misconception_are_added_by_the_book"
# Commands that this file does not run, with the place that does, or the reason why none can.
ELSEWHERE = {
    "make book": "tests/conftest.py::book",
    "make book EDITION=class": "tests/book/test_editions.py::class_edition",
    ".venv/bin/jupyter-book build . -W --keep-going": "tests/conftest.py::book",
    "course gradebook lab-1a/grades.json lab-1b/grades.json --out term/": "tests/grading/test_gradebook.py::test_the_command",
    "course grade handed-in/ --out grades/ --due 2026-10-01T12:00 --times times.csv "
    "--late 10%/day": "tests/grading/test_late.py::test_the_command_deducts",
    "make model-answers": "tests/book/test_book.py::test_every_number_of_the_model_answers_is_found",
    "make test": ".ci/run",
    "make test-long": ".ci/run",
    '.venv/bin/python -m pytest -m "not long"': "make test",
    "make .venv-nbgrader/ready": "make test-long",
    "course exercises <lab>": RECIPE,
    "course exercises <stem>": RECIPES,
    "course new-task <lab> <name>": RECIPE,
    "python -m pytest tests/course -k <name>": RECIPE,
    "python -m ruff check --fix .": RECIPE,
    "python -m ruff format .": RECIPE,
    "course check-notebooks <stem>": RECIPES,
    "python -m pytest tests/course/test_tasks.py -k <stem>": RECIPES,
    "make pdf": "tests/book/test_pdf.py::test_every_page_is_printed_whole_and_legibly",
    "make which": "tests/studies/test_which_method_experiment.py::test_a_short_run_scores_every_method_on_every_problem",
    "make uci": "tests/studies/test_uci.py::test_a_stopped_run_goes_on",
    "make mnist": "tests/studies/test_mnist.py::test_bayes_by_backprop_learns_the_real_digits",
    "make bench-grading": "tests/studies/test_bench_grading.py::test_only_full_marks_for_everybody_are_a_figure",
    "make bench-grading ARGS=--save": "tests/studies/test_bench_grading.py::test_what_is_measured_again_replaces_its_own_rows",
    "make bench-grading ARGS='--growth --save'": "tests/studies/test_bench_grading.py::test_what_is_measured_again_replaces_its_own_rows",
    "make soak": "tests/studies/test_soak.py::test_it_goes_on_where_it_was_stopped",
    "python -m studies.soak 200 --only <id>": "tests/studies/test_soak.py::test_it_goes_on_where_it_was_stopped",
    "make lighthouse": "too slow: it measures, for minutes, on an idle machine",
    "make live": "too slow: it measures, for minutes, on an idle machine",
    "make bench": "too slow: it measures, for minutes, on an idle machine",
    "apt install bubblewrap": "changes the system",
    "dnf install bubblewrap": "changes the system",
    "apt-get install chromium": "changes the system",
    "uv pip compile pyproject.toml --extra dev --no-header --no-annotate --universal "
    "-o constraints.txt": "needs the network",
    "pip list --local --format=freeze": "needs environments that are installed from the network",
    "nbgrader generate_assignment 03a-bayes-by-backprop": NBGRADER,
    "nbgrader autograde 03a-bayes-by-backprop": NBGRADER,
    "nbgrader generate_feedback 03a-bayes-by-backprop": NBGRADER,
    "nbgrader export": NBGRADER,
    "cd my-course": NBGRADER,
    # With another folder, from a page of the book.
    "course nbgrader DIR": "tests/test_documented_commands.py::test_the_commands_for_teaching",
} | dict.fromkeys(Publication.read(ROOT).clone, "needs the network")
# Blocks and sentences whose commands run below, except those in ELSEWHERE.
SET_UP = ("README.md", "Read the book", 1)
TO_DO = [
    ("README.md", "Do the exercises"),
    ("book/intro.md", "Get started"),
]
TO_TEACH = [
    ("README.md", "Teach with it", 0),
    ("book/intro.md", "Get started", 1),
    ("book/grading-a-class.md", "Hand out", 0),
    ("book/grading-a-class.md", "Grade", 0),
    ("book/grading-a-class.md", "Mark the written answers", 0),
    ("book/grading-a-class.md", "With nbgrader", 0),
]
ON_A_CLUSTER = [("book/grading-a-class.md", CLUSTER, n) for n in (0, 1)]
IN_SENTENCES = [
    "course exercises",
    ".venv/bin/jupytext --sync book/01a-deep-ensembles.md",
]
ALL = [command for page in PAGES for command in commands(page)]


def lines(page, heading, number):
    """Return the lines of a block that are run in this file."""
    return [line for line in block(page, heading, number).splitlines() if here(line)]


def here(line):
    return without(line) and without(line) not in ELSEWHERE


def without(line):
    return re.sub(r"(^|\s+)# .*$", "", line).strip()


def run_here():
    """Return every line that a test of this file runs."""
    blocks = [SET_UP, *((*one, 0) for one in TO_DO), *TO_TEACH, *ON_A_CLUSTER]
    found = {without(line) for one in blocks for line in lines(*one)}
    return found | set(IN_SENTENCES)


def test_no_command_stands_in_a_page_that_no_test_runs():
    assert {command.page for command in ALL} == set(PAGES)
    covered = run_here() | set(ELSEWHERE)
    missing = [
        command
        for command in ALL
        # A sentence may name a command without its arguments.
        if not any(
            command.line == line or (command.inline and line.startswith(command.line))
            for line in covered
        )
    ]
    assert missing == []
    printed = {command.line for command in ALL}
    assert (set(ELSEWHERE) | set(IN_SENTENCES)) - printed == set()


def test_what_is_said_to_run_elsewhere_does():
    for line, place in ELSEWHERE.items():
        file, colons, name = place.partition("::")
        if colons:
            assert f"\ndef {name}(" in (ROOT / file).read_text("utf-8"), line
        elif place == ".ci/run":
            assert f"\n{line}\n" in (ROOT / place).read_text("utf-8"), line
        elif place.startswith("make "):
            assert place in ELSEWHERE


@pytest.mark.parametrize(
    "line", sorted({one.line for one in ALL if one.line.startswith("make ")})
)
def test_make_knows_what_it_is_told(line, tmp_path):
    """For the book and the tests, make runs what the page prints for use without make."""
    for name in (
        "Makefile",
        "pyproject.toml",
        "constraints.txt",
        "constraints-graders.txt",
    ):
        shutil.copyfile(ROOT / name, tmp_path / name)
    said = shell(f"make -n {line.removeprefix('make ')}", tmp_path)
    without_make = {
        "make book": ".venv/bin/jupyter-book build . -W --keep-going",
        "make test": '.venv/bin/python -m pytest -m "not long"',
    }
    assert without_make.get(line, "") in said
    assert "Nothing to be done" not in said


def test_make_runs_modules_that_exist():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    modules = set(re.findall(r"python -m ([\w.]*\w)", makefile))
    assert {"commands", "studies.soak", "authoring.model_answers"} < modules
    assert {name for name in modules if find_spec(name) is None} == set()


@pytest.fixture(scope="module")
def around():
    """A folder on the same disk as the environment, whose packages are hard-linked."""
    (ROOT / "_build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "_build", prefix=".clone-") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def checkout(around):
    """A fresh clone with the environment of the README, and a class in `handed-in`."""
    folder = clone(around / "Übung mit Leerzeichen")
    set_up(folder, *lines(*SET_UP), sandbox=True)
    code = "import course, solutions; print(course.__file__, solutions.__file__)"
    said = shell(f"cd /; python -c '{code}'", folder)
    assert said.count(str(folder)) == 2
    write_submissions(folder / "handed-in", 3)
    return folder


def set_up(folder, make, install, sandbox=False):
    """Create an environment with the two lines of a page; nothing is downloaded."""
    shell(make, folder)
    furnish(folder, sandbox)
    shell(install, folder)


@pytest.mark.long
@pytest.mark.sandbox
def test_the_commands_for_teaching(checkout):
    """Each once, also if several pages print it."""
    found = [without(line) for place in TO_TEACH for line in lines(*place)]
    for line in dict.fromkeys(found):
        shell(line, checkout)
    names = {path.name for path in checkout.iterdir()}
    assert {"handout", "grades", "my-course"} <= names
    assert (checkout / "handout" / "known-unknowns.zip").exists()
    sheet = (checkout / "grades" / "grades.csv").read_text("utf-8-sig").splitlines()
    assert len(sheet) == 4
    assert len(list((checkout / "grades" / "feedback").glob("*/*.html"))) == 3


@pytest.mark.long
def test_the_commands_for_editing_a_chapter(checkout):
    for line in IN_SENTENCES:
        shell(line, checkout)
    assert (checkout / "book" / "01a-deep-ensembles.ipynb").exists()
    changed = shell("git status --porcelain -- book exercises", checkout)
    # Uncommitted changes were copied into the clone, so they are listed but equal to the original.
    for line in changed.splitlines():
        name = line[3:].strip('"')
        assert (checkout / name).read_bytes() == (ROOT / name).read_bytes()


@pytest.mark.long
@pytest.mark.parametrize(("page", "heading"), TO_DO)
def test_the_commands_for_doing_the_exercises(checkout, around, page, heading):
    folder = checkout
    make, install, start = lines(page, heading, 0)
    if "requirements.txt" in install:
        if not (checkout / "handout").exists():  # of the commands for teaching
            shell(lines(*TO_TEACH[0])[0], checkout)
        folder = Path(
            shutil.copytree(checkout / "handout/known-unknowns", around / "it")
        )
        set_up(folder, make, install)
    else:
        shell(install, folder)
    log = around / "jupyter.log"
    with open(log, "w") as output:
        process = subprocess.Popen(
            ["/bin/bash", "-c", f"exec {start}"],
            cwd=folder,
            env=surroundings(folder),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        until = time.monotonic() + 120
        while not (url := re.search(r"http://127\.0\.0\.1:\d+/\S+", log.read_text())):
            assert time.monotonic() < until, log.read_text()
            assert process.poll() is None, log.read_text()
            time.sleep(0.2)
        address = url[0].replace("/lab?", "/api/contents?")
        assert b"01a-deep-ensembles.ipynb" in answered(address, until)
    finally:
        process.terminate()
        process.wait()


def answered(address, until):
    """Read from a server that has printed its address but may not listen yet."""
    while True:
        try:
            with urllib.request.urlopen(address, timeout=60) as answer:
                return answer.read()
        except urllib.error.URLError:
            assert time.monotonic() < until
            time.sleep(0.2)


# Give the loopback interface of this process's empty network namespace the page's address.
ADDRESS = """
import fcntl, os, socket, struct, sys
s = socket.socket()
fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 0x41))
ip = socket.inet_aton("10.0.0.1")
fcntl.ioctl(s, 0x8916, struct.pack("16sH2s4s8x", b"lo:1", socket.AF_INET, b"", ip))
os.execvp("bash", ["bash", "-e", "-c", sys.argv[1]])
"""


@pytest.mark.long
@pytest.mark.sandbox
def test_the_commands_for_a_cluster(checkout):
    scheduler, worker = lines(*ON_A_CLUSTER[0])
    (grade,) = lines(*ON_A_CLUSTER[1])
    shutil.rmtree(checkout / "grades", ignore_errors=True)
    script = (
        f"{scheduler} >scheduler.log 2>&1 &\n{worker} >worker.log 2>&1 &\n"
        f"trap 'kill %1 %2; wait' EXIT\n{grade}\n"
    )
    done = subprocess.run(
        [
            *("unshare", "--user", "--map-root-user", "--net"),
            *(sys.executable, "-c", ADDRESS, script),
        ],
        cwd=checkout,
        env=surroundings(checkout),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    logs = "".join((checkout / f"{n}.log").read_text() for n in ("scheduler", "worker"))
    assert done.returncode == 0, done.stdout + done.stderr + logs[-4000:]
    assert "3 of 3 notebooks graded" in done.stdout
