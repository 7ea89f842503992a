"""A practical of two labs: two chapters, two notebooks, one group of columns."""

import csv
import json
import shutil
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from authoring.chapter import answers_in
from authoring.exercises import generate, write
from authoring.release import bundle
from commands import main
from grading.execution import expected
from grading.submissions.answers import read_answers
from grading.submissions.intake import take_in
from project.errors import CourseError
from project.practicals import Course

ROOT = Path(__file__).parents[2]
STEM, CUT = "warm_up", "## A gradient for each data point"
GIVEN = """```{code-cell} ipython3
:tags: [given]

from solutions.warm_up import kl_categorical
```

"""
FIRST, SECOND = "00a-warm-up.ipynb", "00b-warm-up.ipynb"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A checkout whose first lab of the warm-up is cut in two."""
    root = tmp_path_factory.mktemp("checkout")
    for name in ("_toc.yml", "_config.yml", "LICENSE", "LICENSE-text"):
        shutil.copy(ROOT / name, root)
    for name in ("constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, root)
    ignored = shutil.ignore_patterns("__pycache__", "_static")
    for folder in ("book", "course", "exercises", "solutions"):
        shutil.copytree(ROOT / folder, root / folder, ignore=ignored)
    chapter = root / "book" / "00a-warm-up.md"
    first, cut, second = chapter.read_text("utf-8").partition(CUT)
    head = first[: first.index("## ")]  # front matter, title and imports
    chapter.write_text(first, "utf-8")
    chapter.with_name("00b-warm-up.md").write_text(head + GIVEN + cut + second, "utf-8")
    course = Course.read(root)
    write(course)
    return course


def solved(lab, right=lambda task: True):
    """Return a lab's exercise with the reference solutions of some tasks."""
    notebook = lab.released()
    answers = nbformat.reads(generate(lab, solved=True), as_version=4)
    for cell, answer in zip(notebook.cells, answers.cells, strict=True):
        told = cell.metadata.get("course", {})
        if told.get("role") == "task" and right(told["task"]):
            cell.source = answer.source
        if told.get("role") == "written":
            cell.source = "Because."
    return notebook


def without_ids(notebook):
    """Return a notebook as some editors save it, without metadata and cell ids."""
    notebook.metadata.pop("course")
    for index, cell in enumerate(notebook.cells):
        cell["id"] = f"new-{index}"
        cell.metadata.clear()
    return notebook


def test_stems_labs_and_ids(course):
    labs = {one.stem: len(one.labs) for one in course.practicals}
    here = {one.stem: len(one.labs) for one in Course.read(ROOT).practicals}
    assert labs == here
    first, second = course.labs(STEM)
    assert [one.name for one in (first, second)] == ["warm_up_a", "warm_up_b"]
    assert course.lab("warm-up-b") == second
    assert first.exercise.name == FIRST
    assert set(first.tasks() + second.tasks()) == set(
        Course.read(ROOT).lab("warm_up_a").tasks()
    )
    assert not set(first.tasks()) & set(second.tasks())
    assert all(task.startswith("warm-up/") for task in first.tasks() + second.tasks())
    with pytest.raises(CourseError, match=r"several labs.*warm_up_a, warm_up_b"):
        course.lab(STEM)


def test_a_bundle_holds_the_labs_that_were_asked_for(course):
    names = {name for name in bundle(course, [STEM]) if name.startswith("exercises/")}
    assert names == {f"exercises/{FIRST}", f"exercises/{SECOND}"}
    names = {name for name in bundle(course, ["warm_up_b"]) if name.startswith("ex")}
    assert names == {f"exercises/{SECOND}"}


def test_a_later_lab_gives_the_answers_on_which_it_builds(course):
    first, second = course.labs(STEM)
    asked, given = (
        next(cell for cell in notebook.cells if cell["id"] == name)
        for notebook, name in (
            (solved(first), "warm-up--kl-categorical"),
            (second.released(), "given--kl-categorical"),
        )
    )
    assert given.source == asked.source
    assert not given.metadata["editable"]
    assert "warm-up/kl-categorical" not in second.tasks()
    assert answers_in(first) == []
    assert answers_in(second) == ["warm-up/kl-categorical"]


def test_who_hands_out_both_is_told_so(course, tmp_path, monkeypatch):
    monkeypatch.chdir(course.root)
    told = [
        CliRunner().invoke(main, ["release", str(tmp_path), "--practical", name]).output
        for name in ("warm_up_a", "warm_up_b")
    ]
    assert "gives the answers" not in told[0]
    assert f"{SECOND} gives the answers to warm-up/kl-categorical" in told[1]


def submit(folder, name, notebook):
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / name)


def test_a_notebook_is_known_by_its_metadata_its_tasks_or_its_name(course, tmp_path):
    first, second = course.labs(STEM)
    submit(tmp_path / "ann", "mine.ipynb", solved(second))
    submit(tmp_path / "bo", "mine.ipynb", without_ids(solved(second)))
    submit(tmp_path / "cy", "mine.ipynb", without_ids(solved(first)))
    empty = nbformat.v4.new_notebook()
    submit(tmp_path / "di", "00b_warm_up_final.ipynb", empty)
    found = {one.student: one.lab for one in take_in(tmp_path, course).submissions}
    assert found == {
        "ann": "warm_up_b",
        "bo": "warm_up_b",
        "cy": "warm_up_a",
        "di": "warm_up_b",
    }


def test_tasks_of_another_lab_are_flagged(course):
    """They were handed out in one notebook before the practical had labs, for example."""
    first, second = course.labs(STEM)
    notebook, answered = solved(first), solved(second)
    known = read_answers(nbformat.writes(notebook).encode(), first.released())
    assert "other-lab" not in {flag.code for flag in known.flags}
    notebook.cells += [
        cell for cell in answered.cells if "task" in cell.metadata.get("course", {})
    ]
    answers = read_answers(nbformat.writes(notebook).encode(), first.released())
    (told,) = [flag for flag in answers.flags if flag.code == "other-lab"]
    assert answers.tasks == known.tasks
    for task in second.tasks()[:5]:
        assert task.partition("/")[2] in told.message
    for number in range(9):
        cell = nbformat.v4.new_code_cell("1")
        cell["id"] = f"warm-up--{number}{'z' * 50}"
        notebook.cells.append(cell)
    notebook.cells[-1].metadata["course"] = {"task": f"warm-up/{'y' * 100_000}"}
    answers = read_answers(nbformat.writes(notebook).encode(), first.released())
    (told,) = [flag for flag in answers.flags if flag.code == "other-lab"]
    assert len(told.message) < 600
    assert " more)" in told.message


@pytest.mark.long
@pytest.mark.sandbox
def test_labs_are_graded_one_by_one_and_share_their_columns(
    course, tmp_path, monkeypatch
):
    """A student who hands in one lab is graded for it, out of its points."""
    first, second = course.labs(STEM)
    wrong = second.tasks()[0]
    submit(tmp_path / "in" / "ann", FIRST, solved(first))
    submit(tmp_path / "in" / "ann", SECOND, solved(second, lambda task: task != wrong))
    submit(tmp_path / "in" / "bo", FIRST, solved(first))
    monkeypatch.chdir(course.root)
    draw, compiled = expected.draw, []

    def drawn(lab, seed, target, folder, shown):
        drawing = draw(lab, seed, target, folder, shown)
        expected.asked(target, lab.tasks()[0])  # answered when all has been compiled
        compiled.append(any(folder.iterdir()))
        return drawing

    monkeypatch.setattr(expected, "draw", drawn)
    grade = ["grade", f"{tmp_path}/in", "--out", f"{tmp_path}/out"]
    done = CliRunner().invoke(main, grade)
    assert compiled == [True, True]  # what JAX compiled is there for the submissions
    assert done.exit_code == 0, done.output
    assert "3 of 3 notebooks graded" in done.output
    with open(
        tmp_path / "out" / "grades.csv", encoding="utf-8-sig", newline=""
    ) as file:
        ann, bo = csv.DictReader(file)
    tasks = first.tasks() + second.tasks()
    assert [name for name in ann if name in tasks] == tasks
    points = {task: ann[task] for task in tasks}
    assert points.pop(wrong) == "0"
    assert "0" not in points.values()
    assert [bo[task] for task in first.tasks()] == [ann[task] for task in first.tasks()]
    assert {bo[task] for task in second.tasks()} == {""}
    told = json.loads((tmp_path / "out" / "grades.json").read_text("utf-8"))
    assert [one["practical"] for one in told["practicals"]] == [STEM]
    assert [one.get("part") for one in told["results"]] == ["a", "b", "a"]
    assert all(one["counts"] for one in told["results"])
    possible = {one["student"]: one["possible"] for one in told["students"]}
    assert possible["bo"] < possible["ann"]
    pages = {path.name for path in (tmp_path / "out" / "feedback" / "ann").iterdir()}
    assert len(pages) == 2
    report = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert all(f"feedback/ann/{page}" in report for page in pages)
    done = CliRunner().invoke(main, [*grade, "--practical", first.name])
    assert f"look: ann · {second.name}: ann/{SECOND} was left out" in done.output
    sheet = (tmp_path / "out" / "grades.csv").read_text("utf-8-sig")
    assert [name for name in tasks if name in sheet] == first.tasks()
