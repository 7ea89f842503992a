"""Match the cells of a submission with those of the release.

Editors drop or replace ids and metadata. A cell is matched by its id, by its text, by the
metadata that it still has, and if all of these fail, by the similarity of its text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from nbformat import NotebookNode

from grading.submissions.cells import SubmittedCell, course_of
from grading.submissions.sources import TOKEN
from grading.submissions.statements import squeezed

NEAR = 0.7  # share of token triples; cells of one release share 0.61 at most
MAX_NEAR = 2_000_000  # characters that are compared by similarity
MAX_TEXT = 20_000  # of one cell: far more than any cell of a release


def match(
    cells: Sequence[SubmittedCell], released: NotebookNode, flag: Callable[..., None]
) -> list[str]:
    """The id of the released cell that each cell matches; empty for the student's own cells.

    Args:
        cells: as submitted.
        released: the release.
        flag: called with the code of the flag for every oddity, and the cell's id.
    """
    homes = _by_name(cells, released, flag)
    _by_likeness(cells, homes, released, flag)
    _words_beside(cells, homes, released, flag)
    return homes


def _by_name(
    cells: Sequence[SubmittedCell], released: NotebookNode, flag: Callable[..., None]
) -> list[str]:
    """Match cells by id, by a text that only one released cell has, and by metadata."""
    kinds = {cell["id"]: cell.cell_type for cell in released.cells}
    meant = {cell["id"]: course_of(cell.metadata) for cell in released.cells}
    by_task = {course: id_ for id_, course in meant.items() if course[1]}
    keys = [_key(cell.cell_type, cell.source) for cell in released.cells]
    times = Counter(keys)
    by_text = {
        key: cell["id"]
        for key, cell in zip(keys, released.cells, strict=True)
        if times[key] == 1
    }
    homes, found = [], set()
    for cell in cells:
        id_ = next((id_ for id_ in (cell.id, cell.other_id) if id_ in kinds), "")
        tag = by_task.get((cell.role, cell.task), cell.grade_id)
        tag = tag if tag in kinds else ""
        if not id_:
            short = len(cell.source) <= MAX_TEXT
            text = by_text.get(_key(cell.kind, cell.source), "") if short else ""
            lost = cell.id and not tag and cell.kind == "code"
            if text and lost and text not in found:
                flag("found-by-text")
            id_ = text or tag
        # A text cell of the release that was turned into code is the student's own.
        if id_ and not meant[id_][0] and kinds[id_] != cell.kind:
            id_ = ""
        found.add(id_)
        homes.append(id_)
    return homes


def _key(kind: str, source: str) -> tuple[str, str]:
    # Version 3 of the format stores headings as separate cells, without the # signs.
    source = source.lstrip("# ") if kind == "markdown" else source
    return kind, squeezed(source)


def _by_likeness(
    cells: Sequence[SubmittedCell],
    homes: list[str],
    released: NotebookNode,
    flag: Callable[..., None],
) -> None:
    """Match code that is similar to a released cell that was lost, or that trains or draws.

    A cell that defines an answer matches no other cell, however similar it is.
    """
    found, names = set(homes), []
    shapes: dict[str, set[tuple[str, ...]]] = {}
    where: dict[tuple[str, ...], list[str]] = {}
    for cell in released.cells:
        role = course_of(cell.metadata)[0]
        if cell.cell_type != "code":
            continue
        if role == "task":
            names += re.findall(r"^(?:def|class) (\w+)", cell.source, re.MULTILINE)
        elif not role or cell["id"] not in found:
            shapes[cell["id"]] = _shape(cell.source)
            for run in shapes[cell["id"]]:
                where.setdefault(run, []).append(cell["id"])
    any_name = "|".join(names or ["(?!)"])
    answer = re.compile(
        rf"^(?:(?:async +)?(?:def|class) +(?:{any_name})\b|(?:{any_name}) *[:=])",
        re.MULTILINE,
    )
    left = MAX_NEAR
    for index, cell in enumerate(cells):
        if homes[index] or cell.kind != "code" or not 0 < len(cell.source) <= MAX_TEXT:
            continue
        left -= len(cell.source)
        if left < 0:
            break
        if answer.search(cell.source):
            continue
        own = _shape(cell.source)
        shared = Counter(id_ for run in own for id_ in where.get(run, ()))
        alike = {
            id_: 2 * n / (len(own) + len(shapes[id_])) for id_, n in shared.items()
        }
        best = max(alike, key=alike.__getitem__, default="")
        if best and alike[best] >= NEAR:
            homes[index] = best
            if cell.id and best not in found:
                flag("found-by-text")


def _shape(source: str) -> set[tuple[str, ...]]:
    """The triples of consecutive tokens."""
    tokens = TOKEN.findall(source)
    return {*zip(tokens, tokens[1:], tokens[2:], strict=False)}


def _words_beside(
    cells: Sequence[SubmittedCell],
    homes: list[str],
    released: NotebookNode,
    flag: Callable[..., None],
) -> None:
    """Match the student's own text cells in places where an answer in words is missing."""
    place = {cell["id"]: index for index, cell in enumerate(released.cells)}
    place[""] = len(place)
    stubs = {
        cell["id"]: squeezed(cell.source)
        for cell in released.cells
        if course_of(cell.metadata)[0] == "written"
    }
    waiting = dict.fromkeys(stubs)
    for cell, id_ in zip(cells, homes, strict=True):
        if id_ in stubs and squeezed(cell.source[:MAX_TEXT]) not in ("", stubs[id_]):
            waiting.pop(id_, None)
    texts: list[int] = []
    last = -1

    def settle(end: int) -> None:
        nonlocal texts
        here = [id_ for id_ in waiting if last <= place[id_] <= end]
        if here:
            for number, index in enumerate(texts):
                homes[index] = here[min(number, len(here) - 1)]
                if squeezed(cells[index].source) != stubs[homes[index]]:
                    waiting.pop(homes[index], None)
                    flag("recovered-words", homes[index])
        texts = []

    for index, cell in enumerate(cells):
        if homes[index]:
            settle(place[homes[index]])
            last = place[homes[index]]
        elif cell.kind == "markdown" and cell.source.strip():
            texts.append(index)
    settle(place[""])
