"""The third exercise as a student opens it and hands it in, its cells, and reading answers."""

import json
from pathlib import Path

import nbformat

from grading.submissions.answers import read_answers

ROOT = Path(__file__).parents[2]
PATH = ROOT / "exercises/03a-bayes-by-backprop.ipynb"
RELEASED = nbformat.read(PATH, as_version=4)
FIRST, SECOND = "bayes-by-backprop/reparametrise", "bayes-by-backprop/log-posterior"
ONE, TWO = "bayes-by-backprop--reparametrise", "bayes-by-backprop--log-posterior"
TASKS = [
    cell.metadata.course["task"]
    for cell in RELEASED.cells
    if cell.metadata.get("course", {}).get("role") == "task"
]
ANSWER = "def reparametrise(mu, rho, epsilon):\n    return mu"
QUESTION = next(
    cell for cell in RELEASED.cells if cell.metadata.get("course", {}).get("role") == "written"
)  # fmt: skip


def exercise():
    """Return the exercise as a student opens it, as JSON."""
    return json.loads(PATH.read_text(encoding="utf-8"))


def cell(notebook, id_):
    return next(cell for cell in notebook["cells"] if cell.get("id") == id_)


def index(notebook, id_):
    return [cell.get("id") for cell in notebook["cells"]].index(id_)


def code(source, **rest):
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": []} | rest


def read(notebook):
    return read_answers(json.dumps(notebook).encode(), RELEASED)


def codes(answers):
    return {(flag.code, flag.where) for flag in answers.flags}


def problems(answers):
    return {flag.code for flag in answers.flags}
