"""Read a table of marks: every row is checked, and a wrong one names file, line and remedy."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grading.record import Result, Written
from grading.reports.alike import version_of
from grading.reports.roster import Roster
from grading.reports.sheets import plain
from project.errors import CourseError

COLUMNS = ("student", "practical", "question", "marks", "comment")
# Further columns: the student whose marks and comment count here, too; the version of the text
# that the marks are for.
SAME, VERSION = "same as", "version"
LETTERS = re.compile("[a-p]{8}")
NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")


@dataclass(frozen=True)
class Row:
    """A row: student, practical and question, and the entries, with None for no marks.

    ``same`` is the student whose marks count if there are none; ``version`` identifies the text
    that the marks are for, None if that is not known.
    """

    key: tuple[str, str, str]
    marks: float | None
    comment: str
    same: str = ""
    version: str | None = None


@dataclass(frozen=True)
class _Known:
    """What counts, by student and practical, and whether all of its labs were graded."""

    counting: dict[tuple[str, str], Result]
    whole: set[tuple[str, str]]

    @classmethod
    def of(cls, results: list[Result]) -> _Known:
        roster = Roster(results)
        counting = {
            (student, practical.stem): result
            for student in roster.students
            for practical in roster.practicals
            if (result := roster.counting(student, practical.stem)) is not None
        }
        whole = {key for key in counting if all(r.graded for r in roster.labs(*key))}
        return cls(counting, whole)


def shown(cells: Iterable[str]) -> tuple[str, ...]:
    """Cells as written to the table, where names that are not UTF-8 are escaped."""
    return tuple(cell.encode("utf-8", "backslashreplace").decode() for cell in cells)


def rows_of(path: Path, results: list[Result]) -> list[Row]:
    """Read the rows of a table, and check them against the results of the class.

    Rows of notebooks that could not be graded are not returned, but others may refer to them.

    Raises:
        CourseError: a row is invalid.
    """
    known, seen, rows = _Known.of(results), {}, {}
    for line, record in records(path):
        row = _row(path, line, record, known)
        if row.key in seen:
            raise CourseError(
                path,
                line,
                f"{row.key[0]!r} already has marks for {row.key[2]} in line {seen[row.key]}.",
                "Delete one of the two rows.",
            )
        seen[row.key] = line
        rows[row.key] = row
    answers = {
        (*key, answer.task): answer
        for key, result in known.counting.items()
        for answer in result.written
    }
    return [
        _with_same(path, seen, row, rows, answers)
        for key, row in rows.items()
        if key in answers
    ]


def _with_same(
    path: Path,
    lines: Mapping[tuple[str, str, str], int],
    row: Row,
    rows: Mapping[tuple[str, str, str], Row],
    answers: Mapping[tuple[str, str, str], Written],
) -> Row:
    """A row with the marks and the comment of the row that it refers to, if it has none."""
    names = {shown([student])[0]: student for student, *_ in rows}
    found, followed = row, set()
    while found.same and found.marks is None and found.key not in followed:
        followed.add(found.key)
        key = names.get(found.same, found.same), *row.key[1:]
        if key not in rows:
            raise CourseError(
                path,
                lines[row.key],
                f"There is no row for {found.same!r} and {row.key[2]}.",
                f"Correct the cell in the column {SAME!r}, or leave it empty.",
            )
        found = rows[key]
    if found.marks is not None and found.key not in answers:  # not checked yet
        most = answers[row.key].points
        _check_range(path, lines[found.key], row.key[2], found.marks, most)
    version = row.version
    if version and not found.version and found.key in answers:
        # Somebody marked the text that is there now.
        version = version_of(answers[found.key].text)
    comment = row.comment or found.comment
    return replace(row, marks=found.marks, comment=comment, version=version)


def _row(
    path: Path,
    line: int,
    record: dict[str, str],
    known: _Known,
) -> Row:
    counting = known.counting
    student = plain(record["student"])
    students = {name for name, _ in counting}
    if student not in students:
        # A name that is not UTF-8 is escaped by `table`.
        escaped = {shown([name])[0]: name for name in students}
        if student not in escaped:
            raise _unknown(path, line, "student", student, escaped)
        student = escaped[student]
    stem = plain(record["practical"]).strip().replace("-", "_")
    stems = {practical for name, practical in counting if name == student}
    if stem not in stems:
        raise _unknown(path, line, f"practical of {student!r}", stem, stems)
    answers = {answer.task: answer for answer in counting[student, stem].written}
    question = plain(record["question"]).strip()
    # The questions of a lab that could not be graded are not known.
    if question not in answers and (student, stem) in known.whole:
        raise _unknown(path, line, f"question of {stem}", question, set(answers))
    text, marks = plain(record["marks"]).strip(), None
    most = answers[question].points if question in answers else None
    if text:
        if not NUMBER.fullmatch(text):
            what = "a number" if most is None else f"a number from 0 to {most}"
            raise CourseError(
                path,
                line,
                f"The marks {text!r} are not a number.",
                f"Write {what}, or leave the cell empty.",
            )
        marks = float(text.replace(",", "."))
        if most is not None:
            _check_range(path, line, question, marks, most)
    comment = plain(record["comment"]).strip()
    same = plain(record.get(SAME, ""))
    version = plain(record.get(VERSION, "")).strip().lower()
    known = version if LETTERS.fullmatch(version) else None
    return Row((student, stem, question), marks, comment, same, known)


def _check_range(path: Path, line: int, question: str, marks: float, most: int) -> None:
    if not 0 <= marks <= most:
        raise CourseError(
            path,
            line,
            f"{marks:g} marks for {question} are out of range.",
            f"Give a number from 0 to {most}.",
        )


def records(
    path: Path,
    columns: Sequence[str] = COLUMNS,
    others: Mapping[str, str] | None = None,
) -> Iterable[tuple[int, dict[str, str]]]:
    """Yield the rows of a table, each with the line that it begins on.

    Args:
        path: the table.
        columns: those that it must have, in any order.
        others: other names of them, in small letters.

    Raises:
        CourseError: it is not such a table.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CourseError(
            path, None, f"It cannot be read: {error.strerror}.", "Correct the path."
        ) from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise CourseError(
            path,
            line,
            "It is not UTF-8.",
            "In a spreadsheet, save it as “CSV UTF-8 (comma delimited)”.",
        ) from None
    head = text.partition("\n")[0]
    separator = max(",;\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    header: list[str] = []
    begin = 1
    try:
        for cells in reader:
            line, begin = begin, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = [cell.strip().lower() for cell in cells]
                header = [(others or {}).get(name, name) for name in header]
                _check_header(path, line, header, columns)
                continue
            if len(cells) > len(header) and any(cells[len(header) :]):
                raise CourseError(
                    path,
                    line,
                    f"The row has {len(cells)} cells, but the header has {len(header)}.",
                    f'Put text that contains "{separator}" between double quotes.',
                )
            cells += [""] * (len(header) - len(cells))
            yield line, dict(zip(header, cells, strict=False))
    except csv.Error as error:
        raise CourseError(
            path,
            begin,
            f"It is not a table: {error}.",
            "Open it in a spreadsheet and save it as CSV again.",
        ) from None
    if not header:
        raise CourseError(
            path, None, "It is empty.", f"Begin with the header {','.join(columns)}."
        )


def _check_header(
    path: Path, line: int, header: list[str], columns: Sequence[str]
) -> None:
    missing = [name for name in columns if name not in header]
    double = [name for name in columns if header.count(name) > 1]
    if missing or double:
        what = f"no column {missing[0]!r}" if missing else f"two columns {double[0]!r}"
        raise CourseError(
            path,
            line,
            f"The header has {what}.",
            f"Its columns must be {', '.join(columns)}, in any order.",
        )


def _unknown(
    path: Path, line: int, what: str, name: str, known: Iterable[str]
) -> CourseError:
    near = difflib.get_close_matches(name, sorted(known), n=2, cutoff=0.5)
    remedy = (
        f"Did you mean {' or '.join(repr(guess) for guess in near)}?"
        if near
        else "Copy the cell from the table that `course grade` wrote."
    )
    return CourseError(path, line, f"There is no {what} called {name!r}.", remedy)
