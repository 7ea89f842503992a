"""Put a student's answers into the released notebook, with a probe for each task.

The assembled notebook contains nothing that trains or draws, and of the release only sources
that students have, too. A probe calls the answer on the run's inputs and displays the
resulting numbers; the notebook does not contain the right ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from unicodedata import normalize

from nbformat import (
    NotebookNode,
    current_nbformat,
    current_nbformat_minor,
    from_dict,
)

from grading.submissions.answers import Added, Answers
from grading.submissions.effects import Effects
from grading.submissions.excerpts import (
    APART,
    EVERYTHING,
    defined,
    definitions,
    imported,
)
from grading.submissions.forms import without_shows
from grading.submissions.sources import BUILT_IN, free
from grading.submissions.statements import Release
from project.practicals import cell_id

PIECE = "__"  # between the id of a cell and the number of a piece of it
MAX_PIECES = 500  # of all cells that are not run as a whole; each becomes a cell
# SymPy evaluates a string as code wherever it is given instead of a number.
GUARD = """
import sympy.parsing.sympy_parser

sympy.parsing.sympy_parser.parse_expr = None
del sympy
""".strip()
ROUNDS = 3  # a cell may use what a later one defines


def assemble(
    released: NotebookNode,
    answers: Answers,
    judged: Collection[str],
    reference: Mapping[str, str],
    probes: Mapping[str, str],
    left_out: Collection[str] = (),
    reduced: Collection[str] = (),
    effects: Effects | None = None,
    guarded: bool = False,
    whole: bool = True,
) -> NotebookNode:
    """Assemble the notebook of one pass, in the release's order, up to the last judged task.

    It contains the imports, given code, the student's own cells, an answer for each task and,
    in place of its check, a probe for each judged one. Other cells of the release are not run,
    except for the definitions that the student's code relies on, such as imports.

    Args:
        released: the release.
        answers: the student's.
        judged: the tasks to judge, for which the student's answers are used.
        reference: the sources that stand in for other tasks, by task.
        probes: the source of the probe of every judged task.
        left_out: ids of cells, or of pieces of them, to leave out.
        reduced: ids of the student's own cells of which only definitions are to run.
        effects: of the student's notebook. If given, only the definitions in a student's
            cells are to run; a cell that contains nothing else stays as it is.
        guarded: prevent SymPy from evaluating strings.
        whole: run a student's cell that contains only definitions as it is. Otherwise, only
            those that are needed are run, apart from one another.
    """
    last = max(
        (
            index
            for index, cell in enumerate(released.cells)
            if cell.metadata.get("course", {}).get("task") in judged
        ),
        default=-1,
    )
    own: dict[str, list[Added]] = {}
    for added in answers.added:
        own.setdefault(added.before, []).append(added)
    borrowed = _borrowed(
        released, answers, own, judged, reference, reduced, effects, whole
    )
    cells = []

    def put(id_: str, source: str, role: str, task: str = "") -> None:
        if not {origin(id_), id_}.isdisjoint(left_out) or not source.strip():
            return
        course = {"task": task, "role": role} if task else {"role": role}
        cells.append(_code(id_, source, course))

    def lend(id_: str, start: int = 0) -> None:
        for number, source in enumerate(borrowed[id_], start):
            put(f"{id_}{PIECE}{number}" if number else id_, source, "given")

    for cell in released.cells[: last + 1]:
        for added in own.get(cell["id"], []):
            if added.id in borrowed:
                lend(added.id)
            else:
                put(added.id, added.source, "added")
        course = cell.metadata.get("course", {})
        role, task = course.get("role"), course.get("task")
        if role == "given":
            put(cell["id"], cell.source, "given")
        elif role == "task" and task not in judged:
            if cell["id"] in borrowed:
                lend(cell["id"], start=1)
            put(cell["id"], reference.get(task, ""), "reference", task)
        elif role == "task" and task in answers.tasks:
            whole = [answers.tasks[task].source]
            put(cell["id"], "\n".join(borrowed.get(cell["id"], whole)), "task", task)
        elif role == "check" and task in judged:
            put(cell_id(task, "probe"), probes[task], "probe", task)
        elif cell["id"] in borrowed:
            lend(cell["id"])
    if guarded and any("sympy" in normalize("NFKC", cell["source"]) for cell in cells):
        cells.insert(0, _code("guard", GUARD, {"role": "given"}))
    metadata = {
        "kernelspec": dict(released.metadata["kernelspec"]),
        "language_info": {"name": "python"},
        "course": dict(released.metadata.get("course", {})),
    }
    kind = {"nbformat": current_nbformat, "nbformat_minor": current_nbformat_minor}
    return from_dict(kind | {"metadata": metadata, "cells": cells})


def _code(id_: str, source: str, course: dict[str, str]) -> dict[str, Any]:
    """Make a code cell without validating it, which takes long for each cell on its own."""
    kind = {"cell_type": "code", "execution_count": None, "outputs": []}
    return kind | {"id": id_, "source": source, "metadata": {"course": course}}


def origin(cell: str) -> str:
    """The id of the cell that a piece was taken from; any other id is returned unchanged."""
    return cell.partition(PIECE)[0]


def differing(some: NotebookNode, others: NotebookNode) -> set[str]:
    """The ids of the cells whose sources differ between two assembled notebooks."""
    sources: list[dict[str, list[str]]] = [{}, {}]
    for found, notebook in zip(sources, (some, others), strict=True):
        for cell in notebook.cells:
            found.setdefault(origin(cell["id"]), []).append(cell.source)
    one, two = sources
    return {id_ for id_ in one.keys() | two.keys() if one.get(id_) != two.get(id_)}


def _borrowed(
    released: NotebookNode,
    answers: Answers,
    own: Mapping[str, list[Added]],
    judged: Collection[str],
    reference: Mapping[str, str],
    reduced: Collection[str],
    effects: Effects | None,
    whole_cells: bool,
) -> dict[str, list[str]]:
    """The definitions that a student's code needs of cells not run as a whole, by cell id.

    ``own`` are the student's own cells, by the cell of the release that they precede.
    """
    wanted: set[str] = set()
    order: list[tuple[str, str, bool]] = []  # id, source, is it the student's?
    stood_in: set[str] = set()  # ids of cells whose place a reference takes, if any
    whole: list[str] = []
    borrowed: dict[str, list[str]] = {}

    def take(id_: str, source: str) -> None:
        bare = source if effects is None else without_shows(source, effects.own)
        if whole_cells and (effects is None or effects.quiet(bare)):
            wanted.update(free(bare))
            if bare != source:
                borrowed[id_] = [bare]
        else:
            order.append((id_, source, True))

    for id_, cell in [*((cell["id"], cell) for cell in released.cells), ("", None)]:
        for added in own.get(id_, []):
            whole.append(added.source)
            if added.id in reduced:
                order.append((added.id, added.source, True))
            else:
                take(added.id, added.source)
        if cell is None or cell.cell_type != "code":
            continue
        task = cell.metadata.get("course", {}).get("task")
        role = cell.metadata.get("course", {}).get("role")
        if role is None or (role == "ready" and id_ in answers.around):
            source = answers.around.get(id_, cell.source)
            whole.append(source)
            order.append((id_, source, id_ in answers.around))
        elif task in judged and task in answers.tasks and _is_task(cell):
            take(id_, answers.tasks[task].source)
            wanted |= defined(cell.source)
        elif task in answers.tasks and _is_task(cell):
            # Own cells may use helpers in the cell of a task that a reference stands in for.
            source = answers.tasks[task].source
            if reference.get(task) != source:
                order.append((id_, source, True))
                stood_in.add(id_)
    released_names = {*Release.of(released).bound, *BUILT_IN, EVERYTHING}
    barred = _barred(released, whole)
    before = None
    for _ in range(ROUNDS if effects else 1):
        pieces = 0
        for id_, source, students in reversed(order):
            few = pieces < MAX_PIECES
            strict = effects if students else None
            apart = released_names if id_ in stood_in else ()
            borrowed[id_] = (
                definitions(source, wanted, barred, strict, apart) if few else []
            )
            pieces += len(borrowed[id_])
            if pieces > MAX_PIECES:
                borrowed[id_] = []
            wanted |= {name for piece in borrowed[id_] for name in free(piece)}
        if wanted == before:
            break
        before = set(wanted)
    return borrowed


def _is_task(cell: NotebookNode) -> bool:
    return cell.metadata["course"].get("role") == "task"


def _barred(released: NotebookNode, sources: Collection[str]) -> set[str]:
    """The names that pieces must not call: given code and its users may train, plots draw."""
    names = {*Release.of(released).slow}
    names |= {name for source in sources for name in imported(source, APART)}
    for cell in released.cells:
        if cell.metadata.get("course", {}).get("role") in ("given", "task"):
            names |= imported(cell.source, APART) | defined(cell.source)
    return names
