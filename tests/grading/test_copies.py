"""Changed copies of cells, and helpers on both sides of an answer, cost no points."""

import copy

import pytest
from cell_edits import IDS, TASKS, answer, read, right, solved
from student_notebook import cell, code, codes, index
from test_recovery import below

_, TWO, THREE, _, FIVE = IDS
ABOVE, BELOW = (
    "def wrap(x):\n    return scaled(x)",
    "def scaled(x):\n    return 1.0 * x",
)


@pytest.mark.parametrize("place", [f"{THREE}--check", f"{FIVE}--check", "end"])
@pytest.mark.parametrize("edited", [False, True])
def test_a_helper_below_that_a_helper_above_needs_comes_in_time(place, edited):
    notebook = solved(tasks=TASKS)
    cell(notebook, THREE)["source"] = answer("log_prior").replace(
        "return ", "return wrap(1.0) * ", 1
    )
    if edited:
        cell(notebook, "c006")["source"] += f"\n\n\n{ABOVE}"
    else:
        below(notebook, f"{TWO}--check", ABOVE)
    if place == "end":
        notebook["cells"].append(code(BELOW))
    else:
        below(notebook, place, BELOW)
    answers = read(notebook)
    assert right(answers) == {*TASKS}


def test_a_copy_that_does_not_compile_takes_nothing_away():
    notebook = solved()
    original = "".join(cell(notebook, "c008")["source"])
    below(notebook, "c008", f"{original}\nfor in x:")
    assert not read(notebook).around
    cell(notebook, "c008")["source"] = f"{original}\nmine = 3"
    assert "mine = 3" in read(notebook).around["c008"]


def test_a_changed_copy_of_a_check_leaves_the_check():
    """JupyterLab's copies keep the metadata."""
    notebook = solved()
    copied = copy.deepcopy(cell(notebook, f"{THREE}--check"))
    copied |= {"id": "copied", "source": "def mine(x):\n    return x"}
    notebook["cells"].insert(index(notebook, f"{THREE}--check") + 1, copied)
    answers = read(notebook)
    assert "def mine" in "".join(own.source for own in answers.added)
    assert {code for code, _ in codes(answers)} == {"check-extended"}
