"""Answers in a checkout's exercises are neither written over nor handed out."""

import json

import nbformat
import pytest
from test_exercises import copy  # noqa: F401 - a fixture
from test_release import ROOT

from authoring import release
from authoring.exercises import generate, write
from project.errors import CourseError
from project.practicals import Course

# ruff: noqa: F811 - fixtures are imported
NAME = "01a-deep-ensembles.ipynb"
LAB = Course.read(ROOT).lab("deep_ensembles_a")


def changed(root, change):
    """Change the notebook of lab 1a, and return its path."""
    path = root / "exercises" / NAME
    notebook = json.loads(path.read_text("utf-8"))
    change(notebook)
    path.write_text(json.dumps(notebook), "utf-8")
    return path


def cell_of(notebook, role):
    roles = [one["metadata"].get("course", {}).get("role") for one in notebook["cells"]]
    return notebook["cells"][roles.index(role)]


@pytest.mark.parametrize("role", ["task", "written"])
def test_an_answer_is_not_written_over(copy, role):
    def answer(notebook):
        cell_of(notebook, role)["source"] = ["Mine."]

    path = changed(copy, answer)
    before = {one: one.read_bytes() for one in copy.rglob("*") if one.is_file()}
    with pytest.raises(CourseError, match=rf"{NAME}: It holds an answer, in the cell"):
        write(Course.read(copy))
    assert {one: one.read_bytes() for one in copy.rglob("*") if one.is_file()} == before
    path.unlink()
    assert path in write(Course.read(copy))


@pytest.mark.parametrize(
    "change",
    [
        lambda notebook: cell_of(notebook, "task").update(source="# raise NotImplementedError()"),
        lambda notebook: cell_of(notebook, "check").update(outputs=[], execution_count=3),
        lambda notebook: notebook["cells"].clear(),
        lambda notebook: notebook.clear(),
    ],
    ids=["an old stub", "run", "empty", "damaged"],
)  # fmt: skip
def test_a_notebook_without_answers_is_written_anew(copy, change):
    path = changed(copy, change)
    assert path in write(Course.read(copy))
    assert nbformat.read(path, as_version=4).cells


@pytest.mark.parametrize(
    "change",
    [
        lambda cell: cell.metadata.course.update(task="deep-ensembles/entropy"),
        lambda cell: cell.metadata.nbgrader.update(points=99),
        lambda cell: cell.update(attachments={"a.txt": {"text/plain": "ANSWER"}}),
        lambda cell: cell.update(id="another"),
    ],
    ids=["task", "points", "attachment", "id"],
)
def test_changed_metadata_is_not_handed_out(change):
    """Graders read it."""
    notebook = nbformat.reads(generate(LAB), as_version=4)
    release._refuse_answers(LAB, notebook)
    (cell,) = [one for one in notebook.cells if one["id"] == "deep-ensembles--heads"]
    cell.metadata["scrolled"] = True  # by Jupyter: of no consequence
    release._refuse_answers(LAB, notebook)
    change(cell)
    with pytest.raises(CourseError, match=r"Cell \d+ is not the one"):
        release._refuse_answers(LAB, notebook)
