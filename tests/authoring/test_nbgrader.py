"""The exercises in nbgrader: the course folder, and the whole workflow with the real nbgrader.

nbgrader runs in its own environment, `.venv-nbgrader`, which `make test-long` installs.
"""

import csv
import json
import os
import subprocess
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from labs import COURSE, LABS, each_lab

from authoring.exercises import generate
from authoring.nbgrader import CONFIG, source, write_course
from authoring.questions import questions
from commands import main
from project.errors import CourseError
from project.practicals import ANSWER_HERE
from project.source import BEGIN, END, read_solutions

ROOT = Path(__file__).parents[2]
BIN = ROOT / ".venv-nbgrader" / "bin"
MISSING = "No nbgrader here: run `make .venv-nbgrader/ready`."
# The fastest lab; its notebook is run completely, including figures.
WHOLE = "acting_on_uncertainty_a"
# What `nbgrader generate_assignment` does, for several assignments.
GENERATE = """
import sys
from nbgrader.apps import GenerateAssignmentApp
for name in sys.argv[1:]:
    app = GenerateAssignmentApp.instance()
    app.initialize([name])
    app.start()
    GenerateAssignmentApp.clear_instance()
"""
GRADES = """
import json, sys
from nbgrader.api import Gradebook
with Gradebook("sqlite:///gradebook.db", "known-unknowns") as book:
    found = book.find_submission_notebook(sys.argv[1], sys.argv[1], sys.argv[2])
    print(json.dumps({
        grade.name: [grade.auto_score, grade.max_score, bool(grade.needs_manual_grade)]
        for grade in found.grades
    }))
"""


def role(cell):
    return cell.metadata.get("course", {}).get("role")


def cells_of(text):
    return nbformat.reads(text, as_version=4).cells


# --- the course folder ----------------------------------------------------------------


@each_lab
def test_a_source_has_the_solutions_in_markers_and_the_model_answers(lab):
    exercise = cells_of(lab.exercise.read_text("utf-8"))
    cells = cells_of(source(lab))
    assert [cell.id for cell in cells] == [cell.id for cell in exercise]
    for cell, handed_out in zip(cells, exercise, strict=True):
        assert cell.metadata == handed_out.metadata
        if role(cell) == "task":
            lines = [line.strip() for line in cell.source.splitlines()]
            assert lines.count(BEGIN) == lines.count(END) > 0
            assert "NotImplementedError" not in cell.source
        elif role(cell) != "written":
            assert cell.source == handed_out.source
    written = {c.metadata.course.task: c.source for c in cells if role(c) == "written"}
    for question in questions(lab):
        if question.rubric:
            for part in (question.model_answer, *question.rubric):
                assert part in written[question.id]
        else:
            assert written[question.id] == ANSWER_HERE


def test_the_command_writes_a_course_folder_and_keeps_an_instructors_settings(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(ROOT)
    folder = tmp_path / "my course"
    arguments = ["nbgrader", str(folder), "--practical", "bayes-by-backprop-a"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert done.output.count("wrote ") == 2
    config = folder / "nbgrader_config.py"
    assert config.read_text("utf-8") == CONFIG
    config.write_text("c = get_config()\n", encoding="utf-8")
    path = folder / "source/03a-bayes-by-backprop/03a-bayes-by-backprop.ipynb"
    path.write_text("old", encoding="utf-8")
    done = CliRunner().invoke(main, arguments)
    assert done.output.count("wrote ") == 1
    assert config.read_text("utf-8") == "c = get_config()\n"
    assert path.read_text("utf-8") == source(COURSE.lab("bayes_by_backprop_a"))


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CourseError, match="Name a folder"):
        write_course(COURSE, tmp_path / "file")


# --- the real nbgrader ----------------------------------------------------------------


class Nbgrader:
    """The real nbgrader in a course folder."""

    def __init__(self, folder):
        own = {
            f"JUPYTER_{name}_DIR": str(folder / ".jupyter" / name)
            for name in ("CONFIG", "DATA", "RUNTIME")
        }
        # nbgrader calls alembic by name.
        path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
        self.folder, self.environment = folder, os.environ | own | {"PATH": path}

    def __call__(self, *arguments):
        return self._run(BIN / "nbgrader", *arguments)

    def generate(self, names):
        return self._run(BIN / "python", "-c", GENERATE, *names)

    def grades(self, assignment, student):
        """Return score, maximum and whether it needs manual grading, by cell."""
        return json.loads(
            self._run(BIN / "python", "-c", GRADES, assignment, student).stdout
        )

    def _run(self, *command):
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done


@pytest.fixture
def nbgrader(tmp_path):
    if not (BIN / "nbgrader").exists():
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(MISSING)
    return Nbgrader(tmp_path)


def shortened(notebook):
    """Remove the cells that train and draw, as a student might have done."""
    first = next(c for c in notebook.cells if c.cell_type == "code" and role(c) is None)
    notebook.cells = [c for c in notebook.cells if role(c) or c is first]
    return notebook


def unused(lab):
    """Return stubs of tasks that no other definition uses, so that only their points are lost."""
    definitions = read_solutions(ROOT, lab.stem).definitions.values()
    used = set().union(*(definition.needs for definition in definitions))
    sources = {cell.source for cell in cells_of(lab.exercise.read_text("utf-8"))}
    free = [one for one in definitions if one.has_solution and one.name not in used]
    return [stub for one in free if (stub := one.stub()) in sources]


def write_submission(folder, student, name, notebook):
    path = folder / "submitted" / student / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


def ada(lab):
    """Return a notebook with everything right and one question answered, and its cell's id."""
    notebook = nbformat.reads(generate(lab, solved=True), as_version=4)
    answer = next(cell for cell in notebook.cells if role(cell) == "written")
    answer.source = "Because of the prior."
    return notebook, answer.id


def bob(lab):
    """Return a notebook with one task unwritten, one wrong, no answers, and their two ids."""
    notebook, _ = ada(lab)
    stubs = unused(lab)
    lost = []
    released = cells_of(lab.exercise.read_text("utf-8"))
    for cell, handed_out in zip(notebook.cells, released, strict=True):
        if role(cell) == "written" or handed_out.source == stubs[0]:
            cell.source = handed_out.source
        elif handed_out.source == stubs[-1]:
            cell.source = handed_out.source.replace(
                "raise NotImplementedError()", "return None"
            )
        if handed_out.source in (stubs[0], stubs[-1]):
            lost.append(cell.id)
    return notebook, lost


@pytest.mark.long
def test_the_real_nbgrader_releases_what_is_handed_out(nbgrader, tmp_path):
    """Cells and points agree; nbgrader reads nothing else, so one practical tests grading.

    ``test_notebooks.py`` shows with nbval, which runs the same cells, that checks pass and
    fail as they should in every practical.
    """
    write_course(COURSE, tmp_path)
    nbgrader.generate([lab.exercise.stem for lab in LABS])
    for lab in LABS:
        name = lab.exercise.stem
        released = cells_of(
            (tmp_path / "release" / name / f"{name}.ipynb").read_text("utf-8")
        )
        exercise = cells_of(lab.exercise.read_text("utf-8"))
        assert [(c.id, c.source) for c in released] == [
            (c.id, c.source) for c in exercise
        ]
        points = {
            c.id: c.metadata.nbgrader.points for c in exercise if role(c) == "check"
        }
        assert points == {
            c.id: c.metadata.nbgrader.points
            for c in released
            if c.metadata.get("nbgrader", {}).get("grade") and c.cell_type == "code"
        }
        assert all(points.values())


@pytest.mark.long
def test_the_real_nbgrader_grades_and_exports(nbgrader, tmp_path):
    lab = COURSE.lab(WHOLE)
    name = lab.exercise.stem
    write_course(COURSE, tmp_path, [lab.name])
    nbgrader("generate_assignment", name)
    exercise = cells_of(lab.exercise.read_text("utf-8"))
    right, answered = ada(lab)
    write_submission(tmp_path, "ada", name, right)
    half, lost = bob(lab)
    assert len(lost) == 2
    write_submission(tmp_path, "bob", name, shortened(half))
    nbgrader("autograde", name)

    points = {c.id: c.metadata.nbgrader.points for c in exercise if role(c) == "check"}
    questions = [c.id for c in exercise if role(c) == "written"]
    for student in ("ada", "bob"):
        wrong = [f"{task}--check" for task in lost] if student == "bob" else []
        # Unchanged answers get no points; written answers need manual grading.
        written = {
            question: [None, 3, True]
            if (student, question) == ("ada", answered)
            else [0, 3, False]
            for question in questions
        }
        assert nbgrader.grades(name, student) == written | {
            check: [0 if check in wrong else full, full, False]
            for check, full in points.items()
        }

    nbgrader("generate_feedback", name)
    said = {
        student: (tmp_path / "feedback" / student / name / f"{name}.html").read_text(
            "utf-8"
        )
        for student in ("ada", "bob")
    }
    assert "CheckFailed" not in said["ada"]
    assert "is not written yet" in said["bob"]
    nbgrader("export")
    with open(tmp_path / "grades.csv", encoding="utf-8", newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    total = sum(points.values())
    cost = sum(points[f"{task}--check"] for task in lost)
    assert {s: float(row["score"]) for s, row in rows.items()} == {
        "ada": total,
        "bob": total - cost,
    }
    assert float(rows["ada"]["max_score"]) == total + 3 * len(questions)
