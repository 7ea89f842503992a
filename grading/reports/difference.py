"""Regrade difference: whose points would move, by how much and why, before anything is written."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from grading.reports.alike import version_of
from grading.reports.grades import Grades, NotebookGrade, WrittenAnswer, grades
from grading.reports.pages import WORDS, number, plural, render, short
from grading.reports.roster import Roster, by_name
from grading.reports.sheets import guarded, table
from project.errors import CourseError
from project.files import all_or_none, write_whole
from project.practicals import title_of

HEADER = ("student", "practical", "item", "before", "after", "change", "why")
LARGEST = 500_000_000  # bytes of a grades.json that is read
REASON = 300  # characters
DEDUCTED = "deducted for lateness"


@dataclass(frozen=True)
class Change:
    """An item whose points move; None stands for no grade."""

    student: str
    practical: str
    item: str
    before: float | None
    after: float | None
    why: str

    @property
    def by(self) -> float:
        """How much they move."""
        return (self.after or 0) - (self.before or 0)

    @property
    def late(self) -> bool:
        """Is it a deduction? None is then no deduction."""
        return DEDUCTED in self.why


def read_grades(path: Path) -> Grades:
    """Read a ``grades.json``.

    Raises:
        CourseError: there is none, or it is not one.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError("it is too large")
        # Names that are not UTF-8 are lone surrogates, which msgspec's decoder refuses.
        return msgspec.convert(json.loads(path.read_bytes()), Grades)
    except OSError as error:
        problem = f"It cannot be read: {error.strerror}."
        remedy = "Name a grades.json that `course grade` wrote."
        raise CourseError(path, None, problem, remedy) from None
    except (ValueError, msgspec.ValidationError, RecursionError) as error:
        problem = f"These are not the grades of a class: {str(error)[:REASON]}."
        remedy = "Name a grades.json that `course grade` wrote."
        raise CourseError(path, None, problem, remedy) from None


def changes(before: Grades, after: Grades) -> list[Change]:
    """Return the items whose points differ, by student, practical and item."""
    old, new = _items(before), _items(after)
    found = []
    for key in sorted(old.keys() | new.keys(), key=lambda key: (by_name(key[0]), key)):
        was, now = old.get(key), new.get(key)
        points = was and was[0], now and now[0]
        if points[0] != points[1]:
            found.append(Change(*key, *points, _why(was, now)))
    return found


def write_difference(
    path: Path, roster: Roster, *, titles: Mapping[str, str] | None = None
) -> list[Change]:
    """Compare a class with ``grades.json``; write ``difference.csv`` and ``.html`` beside it.

    Raises:
        CourseError: there are no earlier grades.
    """
    found = changes(read_grades(path), grades(roster))
    rows = [HEADER]
    for one in found:
        points = [_shown(one.before), _shown(one.after), number(one.by)]
        cells = [one.student, one.practical, one.item, *points, one.why]
        rows.append(
            tuple(
                cell if 3 <= index <= 5 else guarded(cell)  # numbers
                for index, cell in enumerate(cells)
            )
        )
    page = render(
        "difference.html.j2",
        changes=found,
        students={one.student for one in found},
        total=sum(one.by for one in found),
        titles=titles or {},
        shown=_shown,
        short=short,
    )
    with all_or_none():
        write_whole(path.with_name("difference.csv"), table(rows, mark=True))
        write_whole(path.with_name("difference.html"), page)
    return found


def surprises(
    before: Grades | None, after: Grades, honest: Collection[str] = ()
) -> Iterator[str]:
    """Say what would otherwise change, or stay, in silence.

    These are marks that stay though the answer has changed, and deductions that are gone.

    Args:
        before: the grades of the last run, if there are any.
        after: those of this one.
        honest: ids of the questions to which any answer gets full marks.
    """
    for key, answer in _written(after):
        if answer.changed is True and answer.task not in honest:
            yield (
                f"{key[0]} · {short(answer.task)}: this answer has changed since it got "
                f"{number(answer.marks)} of {answer.points}; mark it again and empty its cell in "
                f"the column version; if it is empty, enter {version_of(answer.text)}"
            )
    earlier = before.results if before else ()
    gone = [deducted(one) for one in earlier if one.counts and deducted(one)]
    if gone and not any(one.late for one in after.results):
        yield (
            f"the last run deducted points from {plural(len(gone), 'late notebook')} "
            f"({number(sum(gone))} in all), this one from none: grade again with --due, "
            "--times and --late to deduct them"
        )


def deducted(notebook: NotebookGrade) -> float:
    """The points deducted from a notebook for lateness."""
    return notebook.late.deducted if notebook.late else 0


def _written(
    graded: Grades,
) -> Iterator[tuple[tuple[str, str, str], WrittenAnswer]]:
    for one in graded.results:
        for answer in one.written if one.counts else ():
            yield (one.student, one.practical, answer.task), answer


Entry = tuple[float | None, str]


def _items(graded: Grades) -> dict[tuple[str, str, str], Entry]:
    """Points and a reason, by student, practical and item, of the notebooks that count."""
    found: dict[tuple[str, str, str], Entry] = {}
    for notebook in graded.results:
        if notebook.counts:
            found |= _notebook(notebook)
    return found


def _notebook(notebook: NotebookGrade) -> dict[tuple[str, str, str], Entry]:
    found: dict[tuple[str, str, str], Entry] = {}
    for verdict in notebook.verdicts:
        known = notebook.graded and verdict.status != "not-graded"
        points = verdict.points if verdict.status == "right" else 0
        hint = f"You get this if {verdict.hint}" if verdict.hint else ""
        said = " ".join(part for part in (verdict.reason, hint) if part)
        text = f"{WORDS[verdict.status]}{': ' + said if said else ''}"[:REASON]
        key = notebook.student, notebook.practical, verdict.task
        found[key] = (float(points) if known else None, text)
    for answer in notebook.written:
        marks = None if answer.marks is None else float(answer.marks)
        key = notebook.student, notebook.practical, answer.task
        found[key] = marks, "marked" if marks is not None else "not marked"
    if deducted(notebook):
        lab = title_of(notebook.practical, notebook.part or "").partition(":")[0]
        item = f"Deduction for lateness, {lab.replace('Lab', 'lab')}"
        key = notebook.student, notebook.practical, item
        found[key] = -float(deducted(notebook)), DEDUCTED
    return found


def _why(was: Entry | None, now: Entry | None) -> str:
    deducted = any(entry and entry[1] == DEDUCTED for entry in (was, now))
    missing = "no deduction" if deducted else "no notebook"
    parts = [entry[1] if entry else missing for entry in (was, now)]
    return " → ".join(parts)


def _shown(points: float | None) -> str:
    return "" if points is None else number(points)
