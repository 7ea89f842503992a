"""The exercises in real kernels, with nbval: solved, untouched, and half done by a student."""

import copy
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from labs import COURSE, LABS, each_lab
from nbclient import NotebookClient
from seeds import SOAK, first_seed
from test_half_solved import cells_of, most_needed

from authoring.exercises import generate

ROOT = Path(__file__).parents[2]
# Of these the whole notebook runs; each commit draws another one.
WHOLE = LABS
WHOLE = WHOLE if SOAK else [WHOLE[first_seed() % len(WHOLE)]]


def nbval(notebook, *options):
    """Run nbval as an instructor would, without any of our plugins."""
    command = [sys.executable, "-m", "pytest", "--nbval-lax", "--nbval-current-env"]
    command += [
        "--nbval-cell-timeout=600",
        "-p",
        "no:cacheprovider",
        "-q",
        *options,
        notebook.name,
    ]
    return subprocess.run(command, cwd=notebook.parent, capture_output=True, text=True)


def role(cell):
    return cell.metadata.get("course", {}).get("role")


def without_training(notebook):
    """The code that defines and checks: of the cells without a role, the first imports."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    first = next(cell for cell in code if role(cell) is None)
    notebook.cells = [cell for cell in code if role(cell) or cell is first]
    return notebook


def assert_passes(notebook, path):
    nbformat.write(notebook, path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    done = nbval(path)
    assert done.returncode == 0, done.stdout[-4000:]
    assert f"{len(code)} passed" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize("lab", WHOLE, ids=lambda lab: lab.exercise.stem)
def test_the_solved_exercise_passes_nbval_whole(lab, tmp_path, optimised):
    """One practical per commit; ``SOAK`` runs all.

    The cells that train and draw are those of the chapter, which the build of the book runs;
    ``test_half_solved.py`` shows that every name in them is bound.
    """
    notebook = nbformat.reads(generate(lab, solved=True), as_version=4)
    assert_passes(notebook, tmp_path / f"{lab.exercise.stem}.ipynb")


@each_lab
def test_the_solved_exercise_passes_its_checks(lab, tmp_path):
    """Without the cells that train and draw."""
    notebook = nbformat.reads(generate(lab, solved=True), as_version=4)
    assert_passes(without_training(notebook), tmp_path / f"{lab.exercise.stem}.ipynb")


def executed(notebook, folder):
    """The notebook after a run that goes on after errors."""
    where = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=600, allow_errors=True, resources=where).execute()
    return notebook


def errors(cell):
    return [output for output in cell.outputs if output.output_type == "error"]


@pytest.mark.long
@pytest.mark.parametrize("lab", WHOLE, ids=lambda lab: lab.exercise.stem)
def test_in_the_untouched_exercise_only_stubs_raise(lab, tmp_path):
    """One practical per commit; ``SOAK`` runs all.

    ``test_half_solved.py`` shows for all that no name is undefined for want of an answer.
    """
    notebook = nbformat.reads(generate(lab), as_version=4)
    for cell in executed(notebook, tmp_path).cells:
        if cell.cell_type == "code" and role(cell) != "check":
            names = {error.ename for error in errors(cell)}
            assert names <= {"NotImplementedError"}, cell["id"]


@pytest.mark.long
@each_lab
def test_in_the_untouched_exercise_every_check_fails(lab, tmp_path):
    """Without the cells that train and draw."""
    notebook = without_training(nbformat.reads(generate(lab), as_version=4))
    for cell in executed(notebook, tmp_path).cells:
        found = errors(cell)
        if role(cell) == "check":
            assert [error.ename for error in found] == ["CheckFailed"], cell["id"]
            assert "not written yet" in "\n".join(found[0].traceback)
            assert "Traceback" not in "\n".join(found[0].traceback)
        else:
            assert found == [], cell["id"]


@pytest.mark.long
@each_lab
def test_where_one_answer_is_missing_only_what_needs_it_stops(lab, tmp_path, optimised):
    """Cells that need it raise NotImplementedError; no cell raises NameError as a consequence.

    One answer at a time is enough: what fails with several missing fails with one of them.
    ``test_half_solved.py`` decides it for every task by reading the cells; a run shows for
    one task of each practical, that which most cells need, that it reads them as Python runs
    them. ``EVERY_TASK=1`` runs all.
    """
    untouched = nbformat.reads(generate(lab), as_version=4)
    stubs = {cell["id"]: cell.source for cell in untouched.cells}
    solved = nbformat.reads(generate(lab, solved=True), as_version=4)
    solved.cells = [cell for cell in solved.cells if role(cell) != "check"]
    tasks = [cell for cell in solved.cells if role(cell) == "task"]
    if not os.environ.get("EVERY_TASK"):
        one = most_needed(cells_of(lab))
        tasks = [task for task in tasks if task["id"] == one]
    assert tasks
    for task in tasks:
        notebook = copy.deepcopy(solved)
        for cell in notebook.cells:
            if cell["id"] == task["id"]:
                cell.source = stubs[task["id"]]
        raised = {
            (cell["id"], error.ename, error.evalue)
            for cell in executed(notebook, tmp_path).cells
            if cell.cell_type == "code"
            for error in errors(cell)
        }
        others = {row for row in raised if row[1] != "NotImplementedError"}
        assert not others, f"without {task['id']}: {others}"


def test_plain_nbval_grades_a_students_notebook_with_no_tool_of_ours(tmp_path):
    """One task right, one wrong, one untouched: only the check of the first passes in nbval."""
    lab = COURSE.lab("deep_ensembles_a")
    notebook = nbformat.reads(generate(lab), as_version=4)
    solved = nbformat.reads(generate(lab, solved=True), as_version=4)
    right = {cell["id"]: cell.source for cell in solved.cells}
    tasks = [
        "deep-ensembles--gaussian-nll",
        "deep-ensembles--laplace-nll",
        "deep-ensembles--heads",
    ]
    ids = ["given--imports", "c003", *tasks, *(f"{task}--check" for task in tasks)]
    notebook.cells = [cell for cell in notebook.cells if cell["id"] in ids]
    for cell in notebook.cells:
        if cell["id"] == tasks[0]:
            cell.source = right[tasks[0]]
        if cell["id"] == tasks[1]:
            cell.source = right[tasks[1]].replace("2 * scale", "scale")
    path = tmp_path / "student.ipynb"
    nbformat.write(notebook, path)
    done = nbval(path, "-rA", "--color=no")
    outcome = {
        int(cell): word
        for word, cell in re.findall(
            r"^(PASSED|FAILED) .*::Cell (\d+)", done.stdout, re.M
        )
    }
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    wrong = {f"{task}--check" for task in tasks[1:]}
    assert outcome == {
        index: "FAILED" if cell["id"] in wrong else "PASSED"
        for index, cell in enumerate(code)
    }
