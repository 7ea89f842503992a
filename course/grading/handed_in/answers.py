"""Takes a student's answers out of a notebook, by id, whatever became of the notebook.

Of a submission only sources count. Checks, given code, metadata and tags come from the
release; where they differ, a flag says so. What is read here is never run and never
trusted: it may be of any shape that JSON has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from nbformat import NotebookNode

from course.grading.flags import flag
from course.grading.handed_in.cells import (
    Cell,
    NotGradable,
    cells_of,
    course_of,
    load,
    mapping,
)
from course.grading.handed_in.excerpts import additions
from course.grading.handed_in.sources import MAX_SOURCE, problem_of
from course.grading.record import Flag

MAX_ADDED = 2_000  # cells of a student's own
NBVAL_TAGS = re.compile(r"(nbval|pytest)-.*|raises-exception")
NBVAL_COMMENT = re.compile(r"^[ \t]*#[# \t]*(NBVAL_|PYTEST_VALIDATE_)", re.MULTILINE)


@dataclass(frozen=True)
class Answer:
    """A student's answer to one task.

    Args:
        task: its id.
        source: what the student wrote.
        untouched: is it the stub as it was released?
        problem: why it cannot run at all, in one sentence; empty if it compiles.
    """

    task: str
    source: str
    untouched: bool = False
    problem: str = ""


@dataclass(frozen=True)
class Added:
    """A code cell of the student's own; ``before`` is the id of the released cell that follows, or empty."""

    id: str
    before: str
    source: str


@dataclass(frozen=True)
class Answers:
    """What a submission holds.

    Args:
        tasks: the answers in code, by task, in the order of the release; one that is
            missing is not there.
        written: the answers in words, by id; empty if it was left as released.
        added: the student's own code cells, in the student's order.
        around: released code cells without a role that were edited, by cell id.
        flags: what a person should know.
    """

    tasks: Mapping[str, Answer]
    written: Mapping[str, str]
    added: tuple[Added, ...] = ()
    around: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[Flag, ...] = ()


class _Flags(dict):
    """Flags in the order in which they came up, each once for a place."""

    def add(self, code: str, where: str = "", detail: str = "") -> None:
        self.setdefault((code, where), flag(code, where, detail=detail))


def read_answers(data: bytes, released: NotebookNode) -> Answers:
    """Find a student's answers in the file that was handed in.

    A cell is looked up by its id, then by its metadata (``course``, then ``nbgrader``);
    for one that cannot be found so, the code cell that defines the answer's name is taken.

    Args:
        data: the content of the file.
        released: the exercise as it was handed out.

    Raises:
        NotGradable: it is no notebook.
    """
    notebook, flags = load(data), _Flags()
    cells = list(cells_of(notebook, flags.add))
    _look_at_format(notebook, cells, flags)
    found, unknown = _sort(cells, released, flags)
    tasks, written, around = {}, {}, {}
    extended: list[Added] = []
    following = [*(cell["id"] for cell in released.cells[1:]), ""]
    for cell, next_id in zip(released.cells, following, strict=True):
        role, task = course_of(cell.metadata)
        handed_in = found.get(cell["id"], [])
        if role == "task":
            source = _code(cell, handed_in, unknown, flags)
            if source is not None:
                untouched = _plain(source) == _plain(cell.source)
                tasks[task] = Answer(task, source, untouched, problem_of(source))
        elif role == "written":
            text = _words(cell, handed_in, flags)
            if text is not None:
                written[task] = text
        elif role in ("check", "given"):
            source = _look_at_locked(cell, handed_in, flags)
            if source:
                id_ = f"added--{len(unknown) + len(extended):04d}"
                extended.append(Added(id_, next_id, source))
        elif cell.cell_type == "code" and handed_in:
            source = "\n\n".join(one.source for one in handed_in)
            if _plain(source) != _plain(cell.source):
                around[cell["id"]] = source
    own = [*extended, *(added for added in unknown if added is not None)]
    return Answers(tasks, written, tuple(own), around, tuple(flags.values()))


def practical_of(data: bytes, name: str, known: Collection[str]) -> str:
    """Which practical a notebook belongs to: its stem, or the empty string.

    The notebook's metadata say so, or else its cells' ids, or else the file's name.

    Args:
        data: the content of the file; it may be anything.
        name: the file's name.
        known: the stems that there are.
    """
    try:
        notebook = load(data)
        stem = mapping(mapping(notebook, "metadata"), "course").get("practical")
        if isinstance(stem, str) and stem in known:
            return stem
        cells = list(cells_of(notebook, _Flags().add))
    except NotGradable:
        cells = []
    counts = Counter(
        prefix.replace("-", "_")
        for cell in cells
        for prefix in {cell.id.partition("--")[0], cell.task.partition("/")[0]}
    )
    best = max(known, key=lambda stem: counts[stem], default="")
    if best and counts[best]:
        return best
    plain = re.sub(r"[^a-z0-9]+", "_", PurePath(name).name.lower())
    return next((stem for stem in known if stem in plain), "")


def _plain(source: str) -> str:
    """A source without what an editor changes unasked."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def _look_at_format(notebook: dict[str, Any], cells: list[Cell], flags: _Flags) -> None:
    if notebook.get("nbformat") != 4 or "cells" not in notebook:
        flags.add("old-format")
    if not any(cell.id for cell in cells):
        flags.add("no-ids")
    kernel = mapping(mapping(notebook, "metadata"), "kernelspec").get("name", "python3")
    if kernel != "python3":
        flags.add("other-kernel")


def _sort(
    cells: list[Cell], released: NotebookNode, flags: _Flags
) -> tuple[dict[str, list[Cell]], list[Added | None]]:
    """The cells that are the release's, by its ids, and the code cells that are not."""
    place = {cell["id"]: index for index, cell in enumerate(released.cells)}
    kinds = {cell["id"]: cell.cell_type for cell in released.cells}
    meant = {cell["id"]: course_of(cell.metadata) for cell in released.cells}
    by_task = {course: id_ for id_, course in meant.items() if course[1]}
    found: dict[str, list[Cell]] = {}
    added: list[Added | None] = []
    waiting: list[str] = []
    count, last = 0, -1

    def attach(before: str) -> None:
        nonlocal count
        for source in waiting:
            if count < MAX_ADDED and len(source) <= MAX_SOURCE:
                added.append(Added(f"added--{count:04d}", before, source))
                count += 1
            else:
                flags.add("too-many-cells" if count >= MAX_ADDED else "too-long")
        waiting.clear()

    for cell in cells:
        id_ = cell.id if cell.id in place else by_task.get((cell.role, cell.task))
        if id_ is None and cell.grade_id in place:
            id_ = cell.grade_id
        # A text of the release that was turned into code is the student's own.
        if id_ and not meant[id_][0] and kinds[id_] != cell.kind:
            id_ = None
        where = id_ or ""
        if any(NBVAL_TAGS.fullmatch(tag) for tag in cell.tags):
            flags.add("nbval-tag", where)
        if cell.kind == "code" and NBVAL_COMMENT.search(cell.source):
            flags.add("nbval-comment", where)
        if id_ is None:
            if cell.kind == "code" and cell.source.strip():
                waiting.append(cell.source)
            continue
        attach(id_)
        if cell.id and cell.id != id_ and id_ not in found:
            flags.add("renamed", where)
        if (cell.role or cell.task) and (cell.role, cell.task) != meant[id_]:
            flags.add("retagged", where)
        if place[id_] < last and id_ not in found:
            flags.add("reordered")
        last = max(last, place[id_])
        found.setdefault(id_, []).append(cell)
    attach("")
    return found, added


def _code(
    released: NotebookNode,
    cells: list[Cell],
    unknown: list[Added | None],
    flags: _Flags,
) -> str | None:
    """The answer to a task; None if there is none."""
    id_ = released["id"]
    code = [cell for cell in cells if cell.kind == "code"]
    if cells and not code:
        flags.add("wrong-type", id_)
    sources = [cell.source for cell in code or cells if cell.source.strip()]
    if len(sources) > 1:
        flags.add("duplicated", id_)
        stub = _plain(released.source)
        # A copy of the stub below the answer would undo it.
        written = [source for source in sources if _plain(source) != stub]
        sources = written or sources[:1]
    if sources:
        return "\n\n".join(dict.fromkeys(sources))
    for name in re.findall(r"^(?:def|class) (\w+)", released.source, re.MULTILINE):
        defines = re.compile(rf"^(?:async +)?(?:def|class) +{name}\b", re.MULTILINE)
        for index in reversed(range(len(unknown))):
            own = unknown[index]
            if own is not None and defines.search(own.source):
                unknown[index] = None
                flags.add("recovered", id_)
                return own.source
    flags.add("empty-answer" if cells else "missing-answer", id_)
    return None


def _words(released: NotebookNode, cells: list[Cell], flags: _Flags) -> str | None:
    """An answer in words; None if its cell is missing, empty if it is as released."""
    id_ = released["id"]
    if not cells:
        flags.add("missing-written", id_)
        return None
    if any(cell.kind == "code" for cell in cells):
        flags.add("wrong-type", id_)
    stub = _plain(released.source)
    texts = dict.fromkeys(cell.source.strip() for cell in cells)
    texts = [text for text in texts if text and _plain(text) != stub]
    if len(texts) > 1:
        flags.add("duplicated", id_)
    text = "\n\n".join(texts)
    if len(text) > MAX_SOURCE:
        flags.add("too-long", id_)
    return text[:MAX_SOURCE]


def _look_at_locked(released: NotebookNode, cells: list[Cell], flags: _Flags) -> str:
    """Say so if a check or given code is not what was released; it is never taken.

    What was added to given code, such as an import, is returned.
    """
    id_, role = released["id"], course_of(released.metadata)[0]
    code = [cell.source for cell in cells if cell.kind == "code"]
    edited = [one for one in code if _plain(one) != _plain(released.source)]
    if not cells:
        flags.add(f"{role}-deleted", id_)
    elif not code:
        flags.add("wrong-type", id_)
    elif edited and role == "check":
        flags.add("check-edited", id_)
    elif edited:
        new, whole = additions("\n".join(edited), released.source)
        if not whole:
            flags.add("given-edited", id_)
        elif new:
            flags.add("given-extended", id_)
        return new
    return ""
