"""Faults of the course that a run finds are in its report, and cost nobody a grade."""

import csv
import io
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from graded_class import LAB, ROOT, write_submissions
from labs import COURSE
from pages import text_of

from course.task import Misconception, tasks_of
from grading.execution.expected import (
    asked,
    draw,
    failures,
    key_of,
    mistakes_of,
    read_failures,
)
from grading.faults import keep_faults, read_faults

HINT = "you divide by an empty list."
PINBALL = "acting-on-uncertainty/pinball-loss"
SEVERAL = ["kl-categorical", "squared-errors", "rounded", "log-mean-exp"]
SEVERAL = [f"warm-up/{name}" for name in SEVERAL]
# Misconceptions that raise, added to tasks of the process that draws. Each leaves a file with
# its task's name; the third of these waits until the drawing is told to end: for the thread that
# `_answer` starts.
PLANTED = f"""
import dataclasses, pathlib, threading
import course.task

original = course.task.tasks_of

def planted(name):
    def broken(*args, **kwargs):
        pathlib.Path(__file__).with_name(name).touch()
        if name == "rounded":
            for thread in threading.enumerate():
                if "(end)" in thread.name:
                    thread.join()
        raise ZeroDivisionError("hidden inputs")

    return broken

def tasks_of(stem):
    tasks = dict(original(stem))
    for id_, task in tasks.items():
        if id_ in {[*SEVERAL, PINBALL]}:
            bad = course.task.Misconception(planted(id_.split("/")[1]), "{HINT}")
            both = (*task.misconceptions, bad)
            tasks[id_] = dataclasses.replace(task, misconceptions=both)
    return tasks

course.task.tasks_of = tasks_of
"""


def test_a_misconception_that_raises_is_reported_and_the_others_are_kept():
    task = tasks_of("acting_on_uncertainty")[PINBALL]
    bad = Misconception(lambda *args: 1 / 0, HINT)
    more = replace(task, misconceptions=(bad, *task.misconceptions))
    failed = []
    found = mistakes_of(more, key_of(task, 1).cases, failed)
    numbers = [one.number for one in found]
    assert numbers == [k + 2 for k in range(len(task.misconceptions))]
    (said,) = failed
    assert f"misconception 1 of {task.id} (“you get this if {HINT}”)" in said
    assert "raised ZeroDivisionError" in said


def test_faults_are_kept_until_the_checks_change(tmp_path):
    path = tmp_path / "faults.json"
    keep_faults(path, "a", "1", [])
    assert not path.exists()
    assert read_faults(path, ["a"]) == []
    keep_faults(path, "a", "1", ["x"])
    keep_faults(path, "b", "1", ["z"])
    keep_faults(path, "a", "1", ["y", "x"])
    keep_faults(path, "a", "1", [])
    assert read_faults(path, ["a", "b"]) == ["x", "y", "z"]
    keep_faults(path, "a", "2", [])
    assert read_faults(path, ["a", "b"]) == ["z"]
    path.write_text("{")
    assert read_faults(path, ["a"]) == []


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Let every process that starts in this test find the misconception that raises."""
    (tmp_path / "planted").mkdir()
    (tmp_path / "planted" / "sitecustomize.py").write_text(PLANTED)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'planted'}{os.pathsep}{ROOT}")


@pytest.mark.usefixtures("planted")
def test_it_is_found_when_the_known_mistakes_of_its_task_are_asked_for(tmp_path):
    found = []
    for tasks in ([], [PINBALL]):
        path = tmp_path / f"{len(found)}.msgpack"
        drawing = draw(COURSE.lab(LAB), 3, path)
        for task in tasks:
            asked(path, task)
        drawing.finish()
        found.append(read_failures(path))
    unasked, when_asked = found
    assert unasked == {}  # nothing was computed that no verdict needs
    (said,) = when_asked.pop(PINBALL)
    assert when_asked == {}
    assert "misconception" in said
    assert HINT in said


@pytest.mark.usefixtures("planted")
def test_a_run_that_was_stopped_goes_on_with_what_it_has_found(tmp_path):
    path, last = tmp_path / "expected.msgpack", COURSE.lab(LAB).tasks()[-1]
    drawing = draw(COURSE.lab(LAB), 3, path)
    asked(path, PINBALL)
    drawing.stop()
    said = read_failures(path)
    assert HINT in said[PINBALL][0]
    failures(path).write_text(json.dumps({last: ["another"]}), "utf-8")
    drawing = draw(COURSE.lab(LAB), 3, path)
    asked(path, PINBALL)
    drawing.finish()
    both = read_failures(path)
    assert both == {**said, last: ["another"]}
    assert list(both) == [PINBALL, last]  # as in the lab


@pytest.mark.usefixtures("planted")
def test_what_is_compiled_ahead_is_not_waited_for_nor_reported(tmp_path):
    lab = SimpleNamespace(stem="warm_up", root=tmp_path, tasks=lambda: SEVERAL)
    first, second, third, fourth = (
        tmp_path / "planted" / id_.partition("/")[2] for id_ in SEVERAL
    )

    def drawn(*tasks):
        """Draw, and end while the third task is computed."""
        (compiled := tmp_path / f"compiled for {len(tasks)}").mkdir()
        drawing = draw(lab, 3, path := tmp_path / f"{len(tasks)}.new", compiled)
        for task in tasks:
            asked(path, task)
        while not third.exists():
            assert drawing.process.poll() is None
            time.sleep(0.01)
        third.unlink()
        drawing.finish()
        return read_failures(path)

    assert list(drawn(SEVERAL[1])) == [SEVERAL[1]]
    assert not fourth.exists()
    # The two tasks whose mistakes were all computed are not compiled ahead again.
    first.unlink()
    second.unlink()
    assert drawn() == {}
    assert not first.exists()
    assert not second.exists()


@pytest.mark.long
@pytest.mark.sandbox
@pytest.mark.usefixtures("planted")
def test_the_report_warns_of_it_and_the_class_is_graded(tmp_path):
    write_submissions(tmp_path / "in", 2, seed=1)  # one answer to that task is wrong
    command = [sys.executable, "-m", "commands", "grade", tmp_path / "in"]
    for _ in range(2):  # the second run grades nothing, and still says so
        done = subprocess.run(
            [*command, "--out", tmp_path / "out"],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        page = text_of((tmp_path / "out" / "report.html").read_text("utf-8"))
        assert "Warnings about the course" in page
        assert "acting-on-uncertainty/pinball-loss (“you get this if " + HINT in page
        assert "hidden inputs" not in page
        sheet = (tmp_path / "out" / "grades.csv").read_text("utf-8-sig")
        assert [row["not graded"] for row in csv.DictReader(io.StringIO(sheet))] == ["", ""]  # fmt: skip
    feedback = [*(tmp_path / "out" / "feedback").rglob("*.html")]
    assert all(HINT not in one.read_text("utf-8") for one in feedback)
    assert LAB in (tmp_path / "out" / ".grading" / "faults.json").read_text("utf-8")
