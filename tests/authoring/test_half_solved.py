"""An exercise with one answer missing: every error says that the answer is missing.

A cell that needs the answer raises ``NotImplementedError``. Names that this cell would have
defined are then undefined, and a later cell that uses one would raise a ``NameError``, which
does not help the student. Here the cells are analysed for every task; ``test_notebooks.py``
runs one notebook.
"""

import ast
import builtins
import re
from collections import Counter
from pathlib import Path

import nbformat
from labs import each_lab

from authoring.chapter import read_chapter
from authoring.exercises import generate
from course.quiz import find_guess, guess_cell
from course.task import find
from grading.submissions.sources import free

ROOT = Path(__file__).parents[2]


def bound(statement):
    """Return the names that a statement binds."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    nodes = list(ast.walk(statement))
    imported = [node for node in nodes if isinstance(node, ast.alias)]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    return {name.id for name in names if isinstance(name.ctx, ast.Store)} | {
        (one.asname or one.name).partition(".")[0] for one in imported
    }


def statements(cell):
    """Yield a cell's statements, the names each looks up, and those its function looks up."""
    for statement in ast.parse(cell["source"]).body:
        inner = None
        parts = [statement]
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            inner, parts = set(free(ast.unparse(statement))), statement.decorator_list
        names = set().union(*(free(ast.unparse(part)) for part in parts))
        yield statement, names, inner


def definitions(cells):
    """What each definition of the cells uses, by name; and which of them are tasks."""
    uses, tasks = {}, set()
    for cell in cells:
        for statement, _, inner in statements(cell):
            if inner is not None:
                uses[statement.name] = uses.get(statement.name, set()) | inner
                if cell["role"] == "task":
                    tasks.add(statement.name)
    return uses, tasks


def reached(names, uses):
    """The names, and all that the definitions of these names use."""
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += uses.get(name, ())
    return found


def most_needed(cells):
    """The cell of the task without which most other cells stop."""
    uses, tasks = definitions(cells)
    stops = Counter()
    for cell in cells:
        if cell["role"] != "task":
            looked_up = set().union(*(names for _, names, _ in statements(cell)))
            stops.update(reached(looked_up, uses) & tasks)
    name = max(stops, key=lambda name: (stops[name], name))
    return next(
        cell["id"]
        for cell in cells
        if cell["role"] == "task" and name in map(_name, ast.parse(cell["source"]).body)
    )


def _name(statement):
    return getattr(statement, "name", None)


def unbound(cells):
    """The uses of names that are unbound if one task raises: cell, name and task."""
    uses, tasks = definitions(cells)
    bindings = {}
    rows = [
        (number, statement, names)
        for number, cell in enumerate(cells)
        for statement, names, _ in statements(cell)
    ]
    before, last = set(), -1
    needed = []  # the tasks its cell needed before each statement, and including it
    for number, _, names in rows:
        before = set() if number != last else before
        last = number
        task = cells[number]["role"] == "task"
        earlier = set(before)
        before |= set() if task else reached(names, uses) & tasks
        needed.append((earlier, set(before)))
    for (number, statement, _), (_, by_then) in zip(rows, needed, strict=True):
        for name in bound(statement):
            bindings.setdefault(name, []).append((number, by_then))
    for (number, _, names), (earlier, _) in zip(rows, needed, strict=True):
        for name in reached(names, uses) & bindings.keys():
            found = [by_then for at, by_then in bindings[name] if at < number]
            if found and not any(at == number for at, _ in bindings[name]):
                for task in set.intersection(*found) - earlier:
                    yield cells[number]["id"], name, task


def cells_of(lab):
    """Return the code cells of the solved exercise, without its checks."""
    notebook = nbformat.reads(generate(lab, solved=True), as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    found = [
        {
            "id": cell["id"],
            "source": cell.source,
            "role": cell.metadata.get("course", {}).get("role"),
        }
        for cell in code
    ]
    return [cell for cell in found if cell["role"] != "check"]


@each_lab
def test_where_any_answer_is_missing_no_name_is_undefined(lab):
    assert {(cell, name) for cell, name, _ in unbound(cells_of(lab))} == set()


def needing_further_tasks(lab):
    """Yield the first line and the tasks of cells that need a further task, away from it.

    Cells below the task itself, those in a section *Further*, and those that the text leaves to
    readers who wrote the task may need it.
    """
    notebook = nbformat.reads(generate(lab, solved=True), as_version=4)
    info = re.compile(r"· (core|further) · `(\S+)`")
    levels = {
        id_: level for c in notebook.cells for level, id_ in info.findall(c.source)
    }
    assert sorted(levels) == sorted(lab.tasks())
    further = {find(id_).name for id_, level in levels.items() if level == "further"}
    uses, _ = definitions(cells_of(lab))
    section, text, own = "", "", False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = cell.source
            section = (re.findall(r"^## (.*)", text, re.M) or [section])[-1]
            if re.search("^#", text, re.M):
                own = "further" in dict(info.findall(text))
        elif cell.metadata.get("course", {}).get("role") is None:
            looked_up = set().union(
                *(names for _, names, _ in statements({"source": cell.source}))
            )
            needed = reached(looked_up, uses) & further
            left = own or section.startswith("Further") or "If you wrote" in text
            if needed and not left:
                yield cell.source.splitlines()[0], needed


@each_lab
def test_who_solves_the_core_tasks_sees_every_figure_about_them(lab):
    assert list(needing_further_tasks(lab)) == []


def unknown(cells):
    """Yield the names that are looked up and bound nowhere before: cell and name."""
    uses, known = {}, {*dir(builtins), "display"}
    for cell in cells:
        for statement, names, inner in statements(cell):
            for name in reached(names, uses) - known - bound(statement):
                yield cell["id"], name
            known |= bound(statement)
            uses |= dict.fromkeys(bound(statement), inner or set())


@each_lab
def test_every_name_in_the_solved_exercise_is_bound_before_it_is_used(lab):
    assert set(unknown(cells_of(lab))) == set()


@each_lab
def test_every_cell_without_a_role_is_a_cell_of_the_chapter(lab):
    """So the build of the book has run it; a guess trains and draws nothing."""
    cells = read_chapter(lab.chapter).cells
    there = [cell.source.strip() for cell in cells]
    there += [guess_cell(c.guess, find_guess(c.guess)) for c in cells if c.guess]
    for found in cells_of(lab):
        assert found["role"] or found["source"].strip() in there, found["id"]


def test_a_name_that_no_cell_binds_is_found():
    answer = cell("answer", "def f(x):\n    return x + scale", "task")
    early = cell("early", "f(1)")
    late = cell("late", "scale = 2\nf(1)\nprint(other)")
    assert set(unknown([answer, early, late])) == {
        ("early", "scale"),
        ("late", "other"),
    }


def cell(id_, source, role=None):
    return {"id": id_, "source": source, "role": role}


def test_a_name_that_a_missing_answer_leaves_undefined_is_found():
    answer = cell("answer", "def f(x):\n    return x", "task")
    trains = cell("trains", "def train():\n    return f(1)\nW = train()\nV = 2")
    draws = cell("draws", "def draw():\n    return W + V\ndraw()")
    again = cell("again", "train()\nprint(W)")
    assert set(unbound([answer, trains, draws, again])) == {
        ("draws", "W", "f"),
        ("draws", "V", "f"),
    }
    cached = cell("cached", "V = 2\ndef train():\n    return f(1)")
    draws = cell("draws", "print(V)\ntrain()")
    assert list(unbound([answer, cached, draws])) == []
