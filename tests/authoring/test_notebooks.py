"""The exercises solved, untouched, and half done by a student.

The checks of all are run here; a kernel runs those that the commit draws, with nbval.
"""

import copy
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import nbformat
import pytest
from labs import COURSE, LABS, each_lab
from nbclient import NotebookClient
from seeds import SOAK, first_seed
from test_half_solved import cells_of, most_needed

from authoring import running
from authoring.exercises import generate, packages_of
from project.publication import extras_of

ROOT = Path(__file__).parents[2]


def drawn(labs):
    return labs[first_seed() % len(labs)]


# Of these the whole notebook runs; each commit draws another one.
WHOLE = LABS if SOAK else [drawn(LABS)]
# Run notebooks one after the other: each is a list of cells, and each cell an id and source.
RUN = """
import importlib, json, sys
from contextlib import redirect_stdout
from project.jax_options import share_context

for framework in sys.argv[1:]:
    importlib.import_module(framework)
share_context()
found = {}
for name, cells in json.load(sys.stdin).items():
    namespace, found[name] = {"__name__": "__main__"}, {}
    for id_, source in cells:
        try:
            with redirect_stdout(sys.stderr):
                exec(compile(source, id_, "exec"), namespace)
        except Exception as error:
            found[name][id_] = type(error).__name__, str(error)
print(json.dumps(found))
"""


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
    return [(cell["id"], cell.source) for cell in code if role(cell) or cell is first]


@cache
def frameworks(lab):
    return extras_of(packages_of(lab, lab.released().cells))


@cache
def raised(needed):
    """Run the checks of the labs that need these frameworks, solved and untouched.

    They run in one process, because to import the frameworks takes longest; it imports no
    other, by which an answer could change. Returns what each cell raised, by lab, edition
    and cell: the exception's name and text.
    """
    notebooks = {
        f"{lab.exercise.stem} {edition}": without_training(
            nbformat.reads(generate(lab, solved=edition == "solved"), as_version=4)
        )
        for lab in LABS
        if frameworks(lab) == needed
        for edition in ("solved", "untouched")
    }
    imported = [name for name in needed.split(",") if name]
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", RUN, *imported],
        input=json.dumps(notebooks),
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


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
def test_the_solved_exercise_passes_its_checks(lab):
    """Without the cells that train and draw."""
    assert raised(frameworks(lab))[f"{lab.exercise.stem} solved"] == {}


@each_lab
def test_in_the_untouched_exercise_every_check_fails(lab):
    """Without the cells that train and draw; no other cell fails."""
    found = raised(frameworks(lab))[f"{lab.exercise.stem} untouched"]
    notebook = nbformat.reads(generate(lab), as_version=4)
    checks = {cell["id"] for cell in notebook.cells if role(cell) == "check"}
    assert checks == found.keys()
    for id_, (name, said) in found.items():
        assert name == "CheckFailed", id_
        assert "not written yet" in said, id_


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
        if cell.cell_type == "code" and role(cell) == "check":
            (error,) = errors(cell)
            assert error.ename == "CheckFailed", cell["id"]
            (message,) = (o.data for o in cell.outputs if "data" in o)
            for said in (message["text/plain"], message["text/html"]):
                assert "not written yet" in said
            assert len(error.traceback) == 1, cell["id"]
        elif cell.cell_type == "code":
            names = {error.ename for error in errors(cell)}
            assert names <= {"NotImplementedError"}, cell["id"]


@pytest.mark.long
@pytest.mark.parametrize("lab", WHOLE, ids=lambda lab: lab.exercise.stem)
def test_where_one_answer_is_missing_only_what_needs_it_stops(lab, tmp_path, optimised):
    """Cells that need it raise NotImplementedError; no cell raises NameError as a consequence.

    One answer at a time is enough: what fails with several missing fails with one of them.
    ``test_half_solved.py`` decides it for every task by reading the cells; a run shows for
    one task of the drawn lab, that which most cells need, that it reads them as Python runs
    them. ``SOAK`` runs all labs, ``EVERY_TASK=1`` all tasks.
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


def test_a_cell_that_takes_too_long_is_reported(monkeypatch):
    cell = nbformat.v4.new_code_cell("import time; time.sleep(60)")
    text = nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))
    monkeypatch.setattr(running, "generate", lambda lab, solved: text)
    monkeypatch.setattr(running, "SECONDS", 1)
    assert "timed out" in running.run_solved(COURSE.lab("warm_up_a"))
