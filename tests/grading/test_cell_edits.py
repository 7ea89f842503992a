"""No edits of cells in a notebook with right answers cost points."""

import copy
import random

import pytest
from cell_edits import IDS, TASKS, read, right, solved
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from seeds import SOAK
from student_notebook import RELEASED, cell, code

# --- edits that a student or an editor makes ------------------------------------------

CENTRED = """\
# The prior, centred.
def centred(scale):
    return Normal(0.0, scale)


def log_prior(w, prior_std):
    return centred(prior_std).log_prob(w)
"""
SPREAD = """\
SPREAD = F.softplus


def reparametrise(mu, rho, epsilon):
    return mu + SPREAD(rho) * epsilon
"""
OWN = (
    "x = 1",
    "%matplotlib inline\nprint(log_prior)",
    "def mine(w):\n    return log_prior(w, 1.0)",
    "import numpy as np\nnp.random.seed(0)",
    "log_prior(torch.ones(2), 1.0)",
    "# nothing yet",
)


# Parts of lines of the answers, and of code that they need.
MARKS = [
    *("SPREAD = F", "SPREAD(rho)", "def centred", "centred(prior", "complexity -"),
    *("return Normal(mu, F", "return Normal(prediction, noise"),
]


def answered():
    notebook = solved(tasks=TASKS)
    cell(notebook, IDS[0])["source"] = SPREAD
    cell(notebook, IDS[2])["source"] = CENTRED
    return notebook


def text(one):
    return "".join(one["source"])


def is_code(one):
    return one["cell_type"] == "code"


def is_written(one):
    """Does the cell contain an answer, or code that one needs?"""
    return any(mark in text(one) for mark in MARKS)


def pick(cells, draw):
    """Draw the index of a cell, mostly one near an answer."""
    near = [n for n, one in enumerate(cells) if is_code(one) and is_written(one)]
    if draw(4) and near:
        return min(near[draw(len(near))] + draw(3), len(cells) - 1)
    return draw(len(cells))


def split(cells, draw):
    at = pick(cells, draw)
    parts = text(cells[at]).split("\n\n\n")
    if is_code(cells[at]) and len(parts) > 1:
        cut = 1 + draw(len(parts) - 1)
        second = copy.deepcopy(cells[at]) | {"id": f"split-{draw(10**6)}"}
        if draw(2):
            second["metadata"] = {}
        cells[at]["source"] = "\n\n\n".join(parts[:cut])
        second["source"] = "\n\n\n".join(parts[cut:])
        cells.insert(at + 1, second)


def merge(cells, draw):
    at = min(pick(cells, draw), len(cells) - 2)
    one, two = cells[at : at + 2]
    if is_code(one) and is_code(two):
        kept = [one, two][draw(2)]
        kept["source"] = f"{text(one)}\n\n\n{text(two)}"
        cells.remove(two if kept is one else one)


def move(cells, draw):
    moved = cells.pop(pick(cells, draw))
    cells.insert(pick(cells, draw), moved)


def paste(cells, draw):
    one = copy.deepcopy(cells[pick(cells, draw)])
    if draw(2):
        one["id"] = f"copy-{draw(10**6)}"
    cells.insert(pick(cells, draw), one)


def paste_a_stub(cells, draw):
    id_ = IDS[draw(len(IDS))]
    stub = next(one.source for one in RELEASED.cells if one["id"] == id_)
    cells.insert(pick(cells, draw), code(stub, id=f"stub-{draw(10**6)}"))


def rename(cells, draw):
    for number, one in enumerate(cells if draw(2) else [cells[pick(cells, draw)]]):
        one["id"] = f"new-{draw(10**6)}-{number}"


def strip(cells, draw):
    for one in cells if draw(2) else [cells[pick(cells, draw)]]:
        one["metadata"] = {}


def retag(cells, draw):
    one, two = cells[pick(cells, draw)], cells[pick(cells, draw)]
    one["metadata"], two["metadata"] = two["metadata"], one["metadata"]


def remove(cells, draw):
    at = pick(cells, draw)
    if not is_written(cells[at]):
        if draw(2):
            cells[at]["source"] = ""
        else:
            del cells[at]


def insert(cells, draw):
    own = {"cell_type": "markdown", "metadata": {}, "source": "A note."}
    if draw(3):
        own = code(OWN[draw(len(OWN))], id=f"own-{draw(10**6)}")
    cells.insert(pick(cells, draw), own)


EDITS = (split, merge, move, paste, paste_a_stub, rename, strip, retag, remove, insert)
edits = st.lists(
    st.tuples(st.sampled_from(EDITS), st.integers(0, 2**32)), min_size=1, max_size=8
)


def edited(steps, version_3):
    notebook = answered()
    for edit, seed in steps:
        edit(notebook["cells"], random.Random(seed).randrange)
    if version_3:
        for one in notebook["cells"]:
            one["input"] = one.pop("source")
            one.pop("id", None)
        notebook["worksheets"] = [{"cells": notebook.pop("cells")}]
        notebook["nbformat"] = 3
    return notebook


def check_points(steps, version_3):
    answers = read(edited(steps, version_3))
    written = {task for task, one in answers.tasks.items() if not one.untouched}
    assert written >= {*TASKS}
    assert right(answers) == {*TASKS}


PROFILE = {
    "derandomize": True,
    "deadline": None,
    "database": None,
    "suppress_health_check": list(HealthCheck),
}


@settings(max_examples=15, **PROFILE)
@given(edits, st.booleans())
def test_edits_of_cells_cost_no_points(steps, version_3):
    check_points(steps, version_3)


@pytest.mark.long
@settings(max_examples=400 if SOAK else 100, **PROFILE)
@given(edits, st.booleans())
def test_many_edits_of_cells_cost_no_points(steps, version_3):
    check_points(steps, version_3)
