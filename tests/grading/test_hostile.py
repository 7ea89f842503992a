"""A class of attacks, graded with the real command; ``hostile/rows.toml`` has expected results.

Every notebook of the corpus has three answers: an honest one, the attack, and another
honest one, which keeps its point whatever the attack does.
"""

import contextlib
import csv
import hashlib
import json
import os
import socket
import subprocess
import sys
import tomllib
import zipfile
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from seeds import SOAK, first_seed

from grading.sandbox.bubblewrap import Limits
from grading.submissions.cells import MAX_BYTES
from studies.attacks import ATTACKS, CORPUS, does, notebook

ROOT = Path(__file__).parents[2]
ROWS = tomllib.loads((CORPUS / "rows.toml").read_text("utf-8"))
SOON = [name for name, row in ROWS.items() if row.get("soon")]
# Other rows in a kernel of their own, where every commit draws some of those about the sandbox.
COLD = [name for name, row in ROWS.items() if "cold" in row]
ABOUT_SANDBOX = [n for n, row in ROWS.items() if row.get("sandbox") and n not in COLD]
COLD += ABOUT_SANDBOX if SOAK else ABOUT_SANDBOX[first_seed() % 6 :: 6]
TASKS = [
    f"bayes-by-backprop/{name}"
    for name in ("reparametrise", "log-posterior", "log-prior")
]
HONEST = ("aaa honest", "zzz honest")  # the first and the last of the class
# Flags of every notebook here, for the parts that it lacks.
ABSENT = {"check-deleted", "given-deleted", "missing-answer", "missing-written"}
SIMILAR = "similar"  # depends on the class: some attacks share their code
WALL_CLOCK = 300 + 60  # of one submission, and what ends it
# What `course grade` does, with other limits than its own.
GRADE = """
import dataclasses, json, sys
from pathlib import Path
from grading.app import Screen, grade_folder
from grading.sandbox.bubblewrap import Limits
from grading.settings import Settings

submissions, out, limits, start = sys.argv[1:]
settings = Settings(Path.cwd(), Path(out), jobs=4, warm=start == "--warm")
settings = dataclasses.replace(settings, limits=Limits(**json.loads(limits)))
results = grade_folder(Path(submissions), settings, None, Screen(), "last")
sys.exit(not all(result.graded for result in results))
"""
# So that nobody waits half a minute for each endless loop, nor long for each flood.
SHORT = {"task": 5.0, "start": 45.0, "submission": 150.0, "output": 4 * 2**20}
SCRIPT = "<script>hacked()</script>"
NAMES = (
    "=1+1",
    "@SUM(1)",
    "🦊 with spaces",
    "<img src=x onerror=hacked()>",
    "a&b;c\"d'e",
)
EMPTY = json.dumps(
    {
        "cells": [{"cell_type": "markdown", "metadata": {}, "source": SCRIPT}],
        "metadata": {"course": {"practical": "bayes_by_backprop"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
).encode()
pytestmark = pytest.mark.sandbox


def many_cells():
    cell = {"cell_type": "code", "metadata": {}, "source": "x = 1", "outputs": []}
    return json.dumps(json.loads(EMPTY) | {"cells": [cell] * 100_000}).encode()


def made():
    """Return invalid and oversized notebooks: content, and why they are not graded."""
    honest = notebook("honest")
    return {
        "invalid-json": (b"{'cells': []}", "not valid JSON"),
        "truncated": (honest[: len(honest) // 2], "not valid JSON"),
        "empty": (b"", "empty"),
        "not-utf-8": (honest.replace(b"reparametrise", b"\xff\xfe"), "UTF-8"),
        "not-a-notebook": (b"[1, 2, 3]", "not a notebook"),
        "nested": (b"[" * 200_000, "nested too deeply"),
        "too-large": (None, "size limit"),
    }


def write_submissions(folder, names, large=True):
    """Write a class: these attacks, two honest students, invalid files and odd names."""
    file = "bayes_by_backprop.ipynb"
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / file).write_bytes(notebook(name))
    for name in HONEST:
        (folder / name).mkdir()
        (folder / name / file).write_bytes(notebook("honest"))
    for name, (content, _) in made().items():
        (folder / name).mkdir()
        with open(folder / name / file, "wb") as target:
            target.write(b"{" if content is None else content)
            if content is None:
                target.truncate(MAX_BYTES + 1)  # sparse
    for name in NAMES:
        (folder / name).mkdir()
        (folder / name / file).write_bytes(EMPTY)
    if large:
        (folder / "100000-cells").mkdir()
        (folder / "100000-cells" / file).write_bytes(many_cells())


def fingerprints(*folders):
    """Hash every file, except for Python's caches."""
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                with open(path, "rb") as file:
                    found[path] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def run(submissions, out, *options, limits=None):
    """Grade with the real command, or with other limits; what came out."""
    folders = ("course", "exercises", "grading", "project", "solutions")
    watched = (*(ROOT / folder for folder in folders), submissions)
    before = fingerprints(*watched)
    command = ["-m", "commands", "grade", str(submissions), "--out", str(out)]
    if limits:
        command = ["-c", GRADE, str(submissions), str(out), json.dumps(limits)]
    process = subprocess.Popen(
        [sys.executable, *command, *options],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said, _ = process.communicate()
    assert (out / "grades.json").exists(), said
    grades = json.loads((out / "grades.json").read_text("utf-8"))
    kept = [
        json.loads(path.read_text("utf-8"))
        for path in (out / ".grading" / "results").glob("*.json")
    ]
    with open(out / "grades.csv", encoding="utf-8-sig", newline="") as file:
        sheet = list(csv.reader(file))
    return SimpleNamespace(
        code=process.returncode,
        said=said,
        pid=process.pid,
        out=out,
        results={result["student"]: result for result in grades["results"]},
        points={one["student"]: one["points"] for one in grades["students"]},
        seconds={result["student"]: result["seconds"] for result in kept},
        sheet=sheet,
        changed={
            path for path, was in (before.items() ^ fingerprints(*watched).items())
        },
    )


def statuses(result):
    found = {verdict["task"]: verdict["status"] for verdict in result["verdicts"]}
    return [found[task] for task in TASKS]


def compare(name, graded):
    """Check that a notebook's result is the expected one."""
    row, result = ROWS[name], graded.results[name]
    assert result["graded"], result["problem"]
    expected = row.get("status", ["right", "wrong", "right"])
    said = [v["reason"] for v in result["verdicts"] if v["task"] in TASKS]
    assert statuses(result) == expected, said
    assert graded.points[name] == expected.count("right")
    says = row.get("says", "")
    says = row.get("cold", says) if graded.cold else says
    either = [says] if isinstance(says, str) else says
    limit = f"{graded.limits['task']:g} s"
    assert any(one.replace("30 s", limit) in said[1] for one in either), said[1]
    flags = {flag["code"] for flag in result["flags"]}
    assert flags - ABSENT - {SIMILAR} == set(row.get("flags", ()))
    assert graded.seconds[name] < WALL_CLOCK
    # Neither secrets that it read nor text that it chose are in the result.
    assert "Stolen" not in json.dumps(result)
    assert "31415" not in json.dumps(result)


def compare_class(graded):
    """Check the results that do not depend on the attacks in the class."""
    assert graded.code == 1, graded.said
    for name in HONEST:
        assert statuses(graded.results[name]) == ["right"] * 3
        assert {flag["code"] for flag in graded.results[name]["flags"]} <= ABSENT
    for name, (_, problem) in made().items():
        result = graded.results[name]
        assert not result["graded"]
        assert problem in result["problem"]
        assert graded.points[name] == 0
    if not graded.cold:  # no kernel is needed for it
        cells = graded.results["100000-cells"]
        assert {flag["code"] for flag in cells["flags"]} - ABSENT >= {"too-many-cells"}
        assert graded.points["100000-cells"] == 0
    left_out = [name for name in NAMES if name not in graded.results]
    assert left_out == []
    # No cell of the sheet is a formula in a spreadsheet.
    cells = [cell for line in graded.sheet for cell in line]
    assert [cell for cell in cells if cell[:1] in ("=", "+", "@", "\t")] == []
    for page in graded.out.rglob("*.html"):
        text = page.read_text("utf-8")
        assert SCRIPT not in text, page
        assert "<img src=x onerror=hacked()>" not in text, page


def compare_what_is_left(graded, around):
    """Check that no files and processes are left, and that no files have changed."""
    assert graded.changed == set()
    assert list(Path("/tmp").glob(f"ku-{graded.pid}-*")) == []
    mark = f"/tmp/ku-{graded.pid}-"
    alive = [
        process.info["cmdline"]
        for process in psutil.process_iter(["cmdline"])
        if any(mark in part for part in process.info["cmdline"] or ())
        or process.info["cmdline"] == ["/bin/sleep", "57"]  # outlives-as-process
    ]
    assert alive == []
    assert {path.name for path in around.iterdir()} == {"class", graded.out.name}
    for path in around.rglob("*"):
        small = path.is_file() and path.stat().st_size < 100
        assert not (small and b"hacked" in path.read_bytes()), path


def graded_class(folder, names, *options, limits=None):
    cold = "--cold" in options
    write_submissions(folder / "class", names, large=not cold)
    graded = run(folder / "class", folder / "out", *options, limits=limits)
    graded.limits = limits or asdict(Limits())
    graded.around = folder
    graded.cold = cold
    return graded


@pytest.fixture(scope="module", autouse=True)
def listener():
    """Listen where ``opens-a-socket`` tries to connect, unless another program does already."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            stack.enter_context(socket.create_server(("127.0.0.1", 8888)))
        yield


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """One at a time: each gets the row that it gets beside others in the long tests."""
    return graded_class(tmp_path_factory.mktemp("few"), SOON, "--jobs", "1")


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """Most of the time somebody waits for a clock: four of them at a time."""
    return graded_class(tmp_path_factory.mktemp("warm"), ROWS, "--warm", limits=SHORT)


@pytest.fixture(scope="module")
def cold(tmp_path_factory):
    return graded_class(tmp_path_factory.mktemp("cold"), COLD, "--cold", limits=SHORT)


def test_every_attack_has_a_row_and_every_row_an_attack():
    assert set(ATTACKS) == set(ROWS)
    assert all(does(name).endswith(".") for name in ATTACKS)
    assert all(notebook(name) != notebook("honest") for name in ATTACKS)
    assert sum(path.stat().st_size for path in CORPUS.iterdir()) < 150_000


@pytest.mark.parametrize("name", SOON)
def test_an_attack_gets_the_expected_row(name, few):
    compare(name, few)


def test_the_rest_of_the_class_is_untouched(few):
    compare_class(few)
    compare_what_is_left(few, few.around)


def test_a_name_that_leads_out_of_a_zip_writes_nothing_there(tmp_path):
    around = tmp_path / "around"
    around.mkdir()
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr("../../escaped/x.ipynb", b"{}")
        archive.writestr("/etc/ku-escaped/x.ipynb", b"")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "commands", "grade"),
            *(str(tmp_path / "class.zip"), "--out", str(around / "out")),
        ],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    grades = json.loads((around / "out" / "grades.json").read_text("utf-8"))
    for result in grades["results"]:
        assert "unsafe-name" in {flag["code"] for flag in result["flags"]}
    assert [path.name for path in around.iterdir()] == ["out"]
    assert {path.name for path in tmp_path.iterdir()} == {"around", "class.zip"}
    assert not Path("/etc/ku-escaped").exists()


@pytest.mark.long
@pytest.mark.parametrize("name", ROWS)
def test_each_attack_gets_the_expected_row(name, warm):
    compare(name, warm)


@pytest.mark.long
@pytest.mark.parametrize("name", COLD)
def test_an_attack_on_the_sandbox_gets_it_in_a_kernel_of_its_own_too(name, cold):
    """Other attacks target messages, code and notebooks, for which the start is irrelevant."""
    compare(name, cold)


@pytest.mark.long
@pytest.mark.parametrize("start", ["warm", "cold"])
def test_the_rest_of_a_class_of_attacks_is_untouched(start, request):
    graded = request.getfixturevalue(start)
    compare_class(graded)
    compare_what_is_left(graded, graded.around)
