"""Extract a student's answers from a notebook, by id, however the notebook was changed.

Only the sources of a submission count. Checks, given code, metadata and tags come from the
release; a flag reports where they differ. A submission is neither run nor trusted here: it
may be any JSON whatsoever.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nbformat import NotebookNode

from grading.flags import flag
from grading.record import Flag
from grading.submissions.cells import (
    SubmittedCell,
    cells_of,
    course_of,
    load,
    mapping,
)
from grading.submissions.excerpts import additions
from grading.submissions.forms import parsed
from grading.submissions.matching import match
from grading.submissions.recovery import Draft, recover
from grading.submissions.sources import MAX_SOURCE, problem_of
from grading.submissions.statements import Release
from grading.submissions.suspicion import suspicions
from project.practicals import cell_id

MAX_ADDED = 2_000  # cells of a student's own
MAX_LINES = 2_000  # of a question's cell
NAMED, LONGEST = 5, 60  # tasks of other labs that are named; characters of a name
NBVAL_TAGS = re.compile(r"(nbval|pytest)-.*|raises-exception")
NBVAL_COMMENT = re.compile(r"^[ \t]*#[# \t]*(NBVAL_|PYTEST_VALIDATE_)", re.MULTILINE)


@dataclass(frozen=True)
class Answer:
    """A student's answer to one task.

    Args:
        task: its id.
        source: what the student wrote.
        untouched: whether it is the stub as released.
        problem: why it cannot run at all, in one sentence; empty if it compiles.
    """

    task: str
    source: str
    untouched: bool = False
    problem: str = ""


@dataclass(frozen=True)
class Added:
    """A code cell of the student's own.

    ``before`` is the id of the released cell that follows, or empty.
    """

    id: str
    before: str
    source: str


@dataclass(frozen=True)
class Answers:
    """The contents of a submission.

    Args:
        tasks: the answers in code, by task, in the order of the release, without missing
            ones.
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
    """Flags in the order in which they were raised, each once per place."""

    def add(self, code: str, where: str = "", detail: str = "") -> None:
        self.setdefault((code, where), flag(code, where, detail=detail))


def read_answers(data: bytes, released: NotebookNode) -> Answers:
    """Find a student's answers in a submitted file.

    Cells are matched with those of the release, then each answer is searched for: in the
    task's own cell if something is written there, else wherever its name is bound.

    Args:
        data: the content of the file.
        released: the release.

    Raises:
        NotGradable: it is not a notebook.
    """
    notebook, flags = load(data), _Flags()
    cells = list(cells_of(notebook, flags.add))
    _look_at_format(notebook, cells, flags)
    homes = match(cells, released, flags.add)
    found = _look_at_cells(cells, homes, released, flags)
    drafts = _drafts(cells, homes, released, flags)
    place = {
        course_of(cell.metadata)[1]: index
        for index, cell in enumerate(released.cells)
        if course_of(cell.metadata)[0] == "task"
    }
    _look_for_other_labs(cells, released, flags)
    sources = recover(drafts, Release.of(released), place, flags.add)
    own = [draft for draft in drafts if not draft.home]
    edited = {draft.home: draft for draft in drafts if draft.home}
    tasks, written, around = {}, {}, {}
    added: list[tuple[int, str]] = []
    for index, cell in enumerate(released.cells):
        id_, (role, task) = cell["id"], course_of(cell.metadata)
        if role == "task":
            source = sources.get(task, "")
            if source.strip():
                untouched = _plain(source) == _plain(cell.source)
                tasks[task] = Answer(task, source, untouched, problem_of(source))
            else:
                flags.add("empty-answer" if id_ in found else "missing-answer", id_)
        elif role == "written":
            typed = _typed_beside(released.cells, index, found)
            text = _words(cell, found.get(id_, []), typed, flags)
            if text is not None:
                written[task] = text
        elif role in ("check", "given"):
            source = _look_at_locked(cell, found.get(id_, []), edited.get(id_), flags)
            if source:
                added.append((index + 1, source))
        elif id_ in edited and not edited[id_].untouched:
            source = edited[id_].text()
            if _plain(source) != _plain(cell.source):
                around[id_] = source
    added += [(draft.place, draft.text()) for draft in own]
    ids = [*(cell["id"] for cell in released.cells), ""]
    numbered = enumerate((ids[index], text) for index, text in added if text.strip())
    theirs = [Added(f"added--{n:04d}", before, text) for n, (before, text) in numbered]
    _look_at_code(released, tasks, theirs, around, flags)
    return Answers(tasks, written, tuple(theirs), around, tuple(flags.values()))


def _look_for_other_labs(
    cells: Iterable[SubmittedCell], released: NotebookNode, flags: _Flags
) -> None:
    """Flag cells that belong to tasks of the practical for which this lab does not ask."""
    if "lab" not in released.metadata.course:  # the practical has no other
        return
    ours = {cell["id"] for cell in released.cells}
    prefix = released.metadata.course.practical.replace("_", "-") + "--"
    ids = [(cell.id, cell.other_id, cell_id(cell.task)) for cell in cells]
    found = {
        id_.split("--")[1]: None
        for them in ids
        for id_ in them
        if id_.startswith(prefix) and id_ not in ours
    }
    if found:
        names = [name[:LONGEST] for name in [*found][:NAMED]]
        more = len(found) - NAMED
        also = f" and {more} more" if more > 0 else ""
        flags.add("other-lab", detail=", ".join(names) + also)


def _look_at_code(
    released: NotebookNode,
    tasks: Mapping[str, Answer],
    own: list[Added],
    around: Mapping[str, str],
    flags: _Flags,
) -> None:
    cells = {cell_id(task): answer.source for task, answer in tasks.items()}
    cells |= {added.id: added.source for added in own} | dict(around)
    sources = {c["id"]: c.source for c in released.cells if c.cell_type == "code"}
    for code, where, detail in suspicions(cells, sources):
        flags.add(code, where, detail)


def _plain(source: str) -> str:
    """A source without the blanks that editors change automatically."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def _look_at_format(
    notebook: dict[str, Any], cells: list[SubmittedCell], flags: _Flags
) -> None:
    if notebook.get("nbformat") != 4 or "cells" not in notebook:
        flags.add("old-format")
    if not any(cell.id for cell in cells):
        flags.add("no-ids")
    kernel = mapping(mapping(notebook, "metadata"), "kernelspec").get("name", "python3")
    if kernel != "python3":
        flags.add("other-kernel")


def _look_at_cells(
    cells: list[SubmittedCell], homes: list[str], released: NotebookNode, flags: _Flags
) -> dict[str, list[SubmittedCell]]:
    """Group the cells by the id of the released cell they match, and flag what is odd."""
    place = {cell["id"]: index for index, cell in enumerate(released.cells)}
    meant = {cell["id"]: course_of(cell.metadata) for cell in released.cells}
    found: dict[str, list[SubmittedCell]] = {}
    last = -1
    for cell, id_ in zip(cells, homes, strict=True):
        if any(NBVAL_TAGS.fullmatch(tag) for tag in cell.tags):
            flags.add("nbval-tag", id_)
        if cell.kind == "code" and NBVAL_COMMENT.search(cell.source):
            flags.add("nbval-comment", id_)
        if not id_:
            continue
        told = id_ in (cell.other_id, cell.grade_id) or bool(cell.role or cell.task)
        if cell.id and cell.id != id_ and id_ not in found and told:
            flags.add("renamed", id_)
        if (cell.role or cell.task) and (cell.role, cell.task) != meant[id_]:
            flags.add("retagged", id_)
        if place[id_] < last and id_ not in found:
            flags.add("reordered")
        last = max(last, place[id_])
        found.setdefault(id_, []).append(cell)
    return found


def _drafts(
    cells: list[SubmittedCell], homes: list[str], released: NotebookNode, flags: _Flags
) -> list[Draft]:
    """The student's code in released cells and in cells of their own."""
    theirs = {cell["id"]: (n, cell) for n, cell in enumerate(released.cells)}
    groups: dict[str, list[int]] = {}
    drafts: list[Draft] = []
    waiting: list[Draft] = []
    for at, (cell, id_) in enumerate(zip(cells, homes, strict=True)):
        if id_:
            if id_ not in groups:
                for draft in waiting:
                    draft.place = theirs[id_][0]
                waiting = []
            groups.setdefault(id_, []).append(at)
        elif cell.kind == "code" and cell.source.strip():
            if len(drafts) < MAX_ADDED and len(cell.source) <= MAX_SOURCE:
                drafts.append(Draft("", "", at, len(released.cells), cell.source))
                waiting.append(drafts[-1])
            else:
                many = len(drafts) >= MAX_ADDED
                flags.add("too-many-cells" if many else "too-long")
    for id_, places in groups.items():
        place, cell = theirs[id_]
        role = course_of(cell.metadata)[0]
        if cell.cell_type == "code":
            those = [(at, cells[at]) for at in places]
            drafts.append(_draft(place, cell, role, those, flags))
    return sorted(drafts, key=lambda draft: draft.at)


def _draft(
    place: int,
    released: NotebookNode,
    role: str,
    cells: list[tuple[int, SubmittedCell]],
    flags: _Flags,
) -> Draft:
    """The student's code in the place of one released code cell."""
    id_, stub = released["id"], _plain(released.source)
    code = [(at, cell) for at, cell in cells if cell.kind == "code"]
    if role == "task" and not code:
        flags.add("wrong-type", id_)
        code = cells
    filled = [(at, cell.source) for at, cell in code if cell.source.strip()]
    if role == "task" and len(filled) > 1:
        flags.add("duplicated", id_)
    # A copy of the stub below the answer would undo it.
    written = [(at, source) for at, source in filled if _plain(source) != stub]
    at = (written or cells)[-1][0]
    if written and role != "task":  # a changed copy may need what the original defines
        written = filled
    # An unfinished copy would take the others with it.
    written = [one for one in written if parsed(one[1]) is not None] or written
    if written:
        text = "\n\n".join(dict.fromkeys(source for _, source in written))
        return Draft(id_, role, at, place, text)
    text = filled[0][1] if filled else ""
    return Draft(id_, role, at, place, text, untouched=bool(filled))


def _typed_beside(
    released: list[NotebookNode], index: int, found: dict[str, list[SubmittedCell]]
) -> str:
    """What a student wrote into the text cells above and below that of an answer."""
    roles = [course_of(cell.metadata)[0] for cell in released]
    beside = [index - 1]
    if "written" not in roles[index + 1 : index + 3]:  # the next question's own
        beside.append(index + 1)
    stub = _plain(released[index].source)
    texts = [
        _typed_into(released[at], stub, found.get(released[at]["id"], []))
        for at in beside
        if at < len(released) and released[at].cell_type == "markdown"
    ]
    return "\n\n".join(filter(None, texts))


def _typed_into(released: NotebookNode, stub: str, cells: list[SubmittedCell]) -> str:
    """What a student wrote between the lines of a text cell; if these changed, below them."""
    there = {line for line in _plain(released.source).splitlines() if line}
    lines = [line for cell in cells for line in _plain(cell.source).splitlines()]
    new, missing = [], {*there}
    for line in lines[:MAX_LINES]:
        known = max((one for one in there if line.startswith(one)), key=len, default="")
        missing.discard(known)
        rest = line.removeprefix(known)
        if rest == line or rest.strip():
            new.append((rest.lstrip() if known else rest, False))
        else:
            new.append(("", True))
    if missing:  # the lines themselves were edited
        known_at = [at for at, (_, is_known) in enumerate(new) if is_known]
        new = new[known_at[-1] + 1 :] if known_at else []
    text = "\n".join(line for line, _ in new if line != stub)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def _words(
    released: NotebookNode, cells: list[SubmittedCell], typed: str, flags: _Flags
) -> str | None:
    """An answer in words; None if its cell is missing, empty if it is as released.

    The text that was ``typed`` beside its cell is added.
    """
    id_, stub = released["id"], _plain(released.source)
    texts = dict.fromkeys(cell.source.strip() for cell in cells)
    texts = [text for text in texts if text and _plain(text) != stub]
    if typed:
        flags.add("recovered-words", id_)
        return "\n\n".join([*texts, typed])[:MAX_SOURCE]
    if not cells:
        flags.add("missing-written", id_)
        return None
    if any(cell.kind == "code" for cell in cells):
        flags.add("wrong-type", id_)
    if len(texts) > 1:
        flags.add("duplicated", id_)
    text = "\n\n".join(texts)
    if len(text) > MAX_SOURCE:
        flags.add("too-long", id_)
    return text[:MAX_SOURCE]


def _look_at_locked(
    released: NotebookNode,
    cells: list[SubmittedCell],
    draft: Draft | None,
    flags: _Flags,
) -> str:
    """Flag a check or given code that differs from the release; it is never used.

    Return additions to it, such as an import.
    """
    id_, (role, task) = released["id"], course_of(released.metadata)
    if draft is None or not cells:
        flags.add(f"{role}-deleted", id_)
        return ""
    if not any(cell.kind == "code" for cell in cells):
        flags.add("wrong-type", id_)
        return ""
    if draft.untouched:
        return ""
    left = draft.text()
    if role == "check":
        if any(one.check == task for one in draft.statements or ()):
            if left.strip():
                flags.add("check-extended", id_)
            return left
        found = draft.statements or ()
        gone = draft.statements is not None and draft.taken >= {*found}
        gone = gone and not any(one.idle for one in found)
        flags.add("check-deleted" if gone else "check-edited", id_)
        return ""
    if _plain(left) == _plain(released.source):
        return ""
    new, whole = additions(left, released.source)
    if not whole:
        flags.add("given-edited", id_)
    elif new:
        flags.add("given-extended", id_)
    return new
