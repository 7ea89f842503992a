"""All outputs together: complete, reproducible, and none if the marks are invalid."""

import csv
import io
import subprocess
import sys
from dataclasses import replace

import pytest
from classroom import classroom
from labs import COURSE
from pages import text_of

from grading.record import Result, Written
from grading.reports.gradebook import gradebook, write_gradebook
from grading.reports.outcome import write_outcome
from grading.reports.roster import Roster
from project.errors import CourseError

STEMS = ("bayes_by_backprop", "deep_ensembles")
# What the process of `course grade` imports, and reads of all labs.
OWN = """
import sys
from pathlib import Path
import grading.app
from authoring.questions import questions, titles
from project.practicals import Course

labs = Course.read(Path(".")).labs()
assert len(titles(labs)) > 80
assert all(questions(lab) for lab in labs)
print(*sorted({"jax", "torch", "scipy"} & sys.modules.keys()))
"""


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_everything_is_written_and_again_the_same(tmp_path):
    results = classroom(30, STEMS)
    written = write_outcome(results, tmp_path / "one", course=COURSE)
    assert {path for path in (tmp_path / "one").rglob("*") if path.is_file()} == {
        *written
    }
    write_outcome(results[::-1], tmp_path / "two", course=COURSE)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    header = (tmp_path / "one" / "canvas.csv").read_text("utf-8").splitlines()[0]
    # Practicals are in the book's order, not sorted by name.
    assert header.endswith("Deep ensembles,Bayes by Backprop")


def test_a_lab_has_one_name_everywhere(tmp_path):
    stem, name = "acting_on_uncertainty", "Lab 6a: Conformal prediction"
    results = [replace(one, part="a") for one in classroom(6, (stem,), hostile=False)]
    question = (Written("acting-on-uncertainty/my-interval", 1, "90%."),)
    results = [replace(one, written=question) for one in results]
    write_outcome(results, tmp_path, course=COURSE)
    write_gradebook(gradebook([tmp_path / "grades.json"]), tmp_path)
    canvas, moodle = (
        next(csv.reader(io.StringIO((tmp_path / sheet).read_text("utf-8"))))
        for sheet in ("canvas.csv", "moodle.csv")
    )
    assert canvas[-1] == name
    assert moodle[-2:] == [f"Assignment: {name} (Real)", f"Assignment: {name} (Feedback)"]  # fmt: skip
    for page in ("report", "items", "marking", "gradebook"):
        assert name in text_of((tmp_path / f"{page}.html").read_text("utf-8")), page


def test_several_labs_of_a_practical_are_named_after_it():
    stem = "acting_on_uncertainty"
    labs = [Result("ada", stem, "a.ipynb", "0" * 64, part=part) for part in "ab"]
    assert Roster(labs).practicals[0].title == "Acting on uncertainty"


def test_marks_and_comments_reach_sheets_and_students(tmp_path):
    results = classroom(5, STEMS[1:])
    write_outcome(results, tmp_path, course=COURSE)
    path = tmp_path / "marks.csv"
    rows = list(csv.reader(io.StringIO(path.read_text("utf-8-sig"))))
    rows = [rows[0]] + [
        [*row[:3], "2.5", "Spoken like a statistician."] for row in rows[1:]
    ]
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    path.write_text(out.getvalue(), encoding="utf-8", newline="")
    filled = path.read_bytes()
    write_outcome(results, tmp_path, course=COURSE, marks=path)
    assert path.read_bytes() == filled
    table = (tmp_path / "grades.csv").read_text("utf-8-sig")
    marked = csv.DictReader(io.StringIO(table))
    questions = "deep-ensembles/"
    assert all(row[2] != f"{questions}survey" for row in rows)
    total = sum(
        float(row[name] or 0)
        for row in marked
        for name in row
        if name.startswith(questions) and name in {found[2] for found in rows[1:]}
    )
    assert total == 2.5 * (len(rows) - 1)
    pages = [page.read_text("utf-8") for page in tmp_path.glob("feedback/*/*.html")]
    found = sum(page.count("Spoken like a statistician.") for page in pages)
    assert found == len(rows) - 1


def test_the_process_that_grades_loads_no_framework():
    """The oracles need them, in processes of their own: JAX and PyTorch never in one."""
    done = subprocess.run(
        [sys.executable, "-c", OWN], cwd=COURSE.root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_wrong_marks_write_nothing(tmp_path):
    marks = tmp_path / "marks.csv"
    marks.write_text("student,practical,question,marks,comment\nnobody,x,y,1,\n")
    with pytest.raises(CourseError, match="nobody"):
        write_outcome(classroom(3), tmp_path / "out", course=COURSE, marks=marks)
    assert not (tmp_path / "out").exists()
