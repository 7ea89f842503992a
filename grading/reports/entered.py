"""What somebody has entered in the tables of marks: it is kept when a table is written anew.

``marks-new.csv`` is ``marks.csv`` with rows for new answers, and marks may be entered in both.
A copy in the hidden folder shows what was taken from ``marks.csv``: where a cell of
``marks-new.csv`` differs from the copy, somebody has entered it there, and it is kept. All other
cells follow ``marks.csv``.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grading.reports.marks import COLUMNS, SAME, VERSION, records, shown
from grading.reports.sheets import guarded, plain, table
from grading.settings import STATE
from project.errors import CourseError
from project.files import write_whole

NEW = "marks-new.csv"
Key = tuple[str, ...]  # student, practical and question, as a table shows them


@dataclass(frozen=True)
class Entries:
    """A row of a table as somebody has filled it in; None where there is no such column.

    ``more`` are the cells of further columns.
    """

    marks: str
    comment: str
    same: str | None
    version: str | None
    more: Mapping[str, str]


def entries(path: Path) -> dict[Key, Entries] | None:
    """The entries by row; empty if nobody has written marks or comments, None if unreadable."""
    found = {}
    try:
        for _, record in records(path):
            cells = [plain(record[name]).strip() for name in COLUMNS]
            others = (
                plain(record[name]).strip() if name in record else None
                for name in (SAME, VERSION)
            )
            key = cells[0], cells[1].replace("-", "_"), cells[2]
            more = {
                name: plain(cell)
                for name, cell in record.items()
                if name not in (*COLUMNS, SAME, VERSION)
            }
            found[key] = Entries(*cells[3:], *others, more)
    except CourseError:
        return None
    written = any(one.marks or one.comment for one in found.values())
    return found if written else {}


def write_new_table(
    out: Path, rows: Iterable[list[str]], filled: Mapping[Key, Entries]
) -> Path:
    """Write ``marks-new.csv`` and its copy; return its path.

    What has been entered in it is kept; if it cannot be read, it is not changed. Rows of
    answers that are not graded this time come last.

    Args:
        out: the folder.
        rows: one for each answer.
        filled: the entries of ``marks.csv``.
    """
    path, copy = out / NEW, out / STATE / NEW
    newer = entries(path) if path.exists() else {}
    if newer is None:
        return path
    before = (entries(copy) if copy.exists() else None) or {}
    more = _columns([*filled.values(), *newer.values()])
    rows = list(rows)
    keys = {shown(row[:3]) for row in rows}
    rows = [_kept(row, filled, keys) for row in rows]
    rows += [
        [*key, one.marks, one.comment, one.same or "", one.version or ""]
        for key, one in filled.items()
        if key not in keys and (one.marks or one.comment)
    ]
    for row in rows:
        old = filled.get(shown(row[:3]))
        row += [old.more.get(name, "") if old else "" for name in more]
    there = {shown(row[:3]) for row in rows}
    rows += [
        [*key, "", "", one.same or "", one.version or "", *("" for _ in more)]
        for key, one in newer.items()
        if key not in there
    ]
    pairs = [_entered(row, newer, before, keys, more) for row in rows]
    pairs = [
        (row, _) for row, _ in pairs if shown(row[:3]) in there or row[3] or row[4]
    ]
    write_whole(path, text_of((row for row, _ in pairs), more))
    write_whole(copy, text_of((row for _, row in pairs), more))
    return path


def overridden(out: Path) -> list[Key]:
    """The answers for which ``marks-new.csv`` has other marks or comments than ``marks.csv``."""
    paths = out / STATE / NEW, out / "marks.csv", out / NEW
    taken, own, new = (
        {
            key: (one.marks, one.comment)
            for key, one in ((entries(path) if path.exists() else None) or {}).items()
        }
        for path in paths
    )
    return [
        key
        for key, cells in taken.items()
        if any(cells) and key in new and new[key] not in (cells, own.get(key))
    ]


def text_of(rows: Iterable[Sequence[str]], more: Iterable[str] = ()) -> str:
    """The table; ``more`` are the names of further columns."""
    header = (*COLUMNS, SAME, VERSION, *more)
    return table(
        ([guarded(cell) for cell in row] for row in (header, *rows)), mark=True
    )


def _columns(found: Iterable[Entries]) -> list[str]:
    return [*dict.fromkeys(name for one in found for name in one.more)]


def _kept(
    row: list[str], filled: Mapping[Key, Entries], keys: Container[Key]
) -> list[str]:
    """A new row, with the entries of the old table where it has none itself.

    Marks come with the version of the text that they are for. A row that refers to a row that
    no longer exists gets the marks and the comment of that row.
    """
    key = shown(row[:3])
    old = filled.get(key)
    if old is None:
        return row
    marks, comment, same, version = row[3:]
    if not marks and old.marks:
        marks, version = old.marks, old.version or ""
    comment, same = comment or old.comment, same if old.same is None else old.same
    other = (same, *key[1:])
    if other in filled and other not in keys:
        marks = marks or filled[other].marks
        comment, same = comment or filled[other].comment, row[5]
    return [*row[:3], marks, comment, same, version]


def _entered(
    row: list[str],
    newer: Mapping[Key, Entries],
    before: Mapping[Key, Entries],
    keys: Container[Key],
    more: Sequence[str],
) -> tuple[list[str], list[str]]:
    """A row with what somebody has entered in ``marks-new.csv``, and the row of its copy.

    Args:
        row: made from the marks that were merged.
        newer: the entries of ``marks-new.csv``.
        before: those of its copy. If it lacks the row, all marks and comments of the row count
            as entered, so that none is lost.
        keys: of the answers that are graded this time.
        more: the names of further columns.
    """
    key = shown(row[:3])
    if key not in newer:
        return row, row
    new = newer[key]
    made, now = row[3:], _cells(new, row, more)
    old = before.get(key) or replace(new, marks="", comment="", more={})
    was = _cells(old, row, more)
    entered = [one != other for one, other in zip(now, was, strict=True)]
    entered[3] |= entered[0]  # marks come with the version of their text
    cells = list(map(_choose, entered, now, made))
    # The merged table may say the same because it is marks-new.csv: it was still entered there.
    again = [
        key in before and differs and one == other
        for differs, one, other in zip(entered, now, made, strict=True)
    ]
    copy = list(map(_choose, again, was, made))
    other = (new.same or "", *key[1:])
    if not cells[0] and other in newer and other not in keys:
        cells[0], cells[3] = newer[other].marks, now[3]
        cells[1] = cells[1] or newer[other].comment
    return [*row[:3], *cells], [*row[:3], *copy]


def _cells(one: Entries, row: Sequence[str], more: Iterable[str]) -> list[str]:
    """The cells after the first three; ``row`` has the one of a missing column ``same as``."""
    same = row[5] if one.same is None else one.same
    others = (one.more.get(name, "") for name in more)
    return [one.marks, one.comment, same, one.version or "", *others]


def _choose(first: bool, one: str, other: str) -> str:
    return one if first else other
