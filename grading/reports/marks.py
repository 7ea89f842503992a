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
from grading.reports.roster import Roster
from grading.reports.sheets import plain
from grading.reports.versions import Versions
from project.errors import CourseError
from project.practicals import Course

COLUMNS = ("student", "practical", "question", "marks", "comment")
# Further columns: the student whose marks and comment count here, too; the version of the text
# that the marks are for.
SAME, VERSION = "same as", "version"
LETTERS = re.compile("[a-p]{8}")
DIGITS = re.compile(r"\d+")
ALIKE = 0.8  # of 1, at which a name may be a wrong spelling of another
NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)")


@dataclass(frozen=True)
class Row:
    """A row: student, practical and question, and the entries, with None for no marks.

    ``same`` is the student whose marks count if there are none; ``version`` identifies the text
    that the marks are for, None if that is not known. ``emptied`` means that it is not in the
    table.
    """

    key: tuple[str, str, str]
    marks: float | None
    comment: str
    same: str = ""
    version: str | None = None
    emptied: bool = False


@dataclass(frozen=True)
class _Known:
    """What a row may name: students as a table shows them, questions by practical.

    ``answers`` are those that count, by the key of their row. ``open`` are the practicals of
    which a notebook could not be graded, so that some questions may be unknown.
    """

    students: dict[str, str]
    questions: dict[str, set[str]]
    open: set[str]
    answers: dict[tuple[str, str, str], Written]

    @classmethod
    def of(cls, results: list[Result], asked: Mapping[str, Iterable[str]]) -> _Known:
        roster = Roster(results)
        found = {stem: set(questions) for stem, questions in asked.items()}
        for practical in roster.practicals:
            questions = {item.id for item in practical.questions}
            found.setdefault(practical.stem, set()).update(questions)
        counting = [
            result
            for student in roster.students
            for practical in roster.practicals
            if (result := roster.counting(student, practical.stem)) is not None
        ]
        return cls(
            {shown([name])[0]: name for name in roster.students},
            found,
            {one.practical for one in results if not one.graded} - set(asked),
            {
                (one.student, one.practical, answer.task): answer
                for one in counting
                for answer in one.written
            },
        )


def asked_in(course: Course) -> dict[str, list[str]]:
    """The ids of all questions of a course, by practical.

    Raises:
        CourseError: an exercise cannot be read.
    """
    return {
        practical.stem: [
            cell.metadata["course"]["task"]
            for lab in practical.labs
            for cell in lab.released().cells
            if cell.metadata.get("course", {}).get("role") == "written"
        ]
        for practical in course.practicals
    }


def shown(cells: Iterable[str]) -> tuple[str, ...]:
    """Cells as written to the table, where names that are not UTF-8 are escaped."""
    return tuple(cell.encode("utf-8", "backslashreplace").decode() for cell in cells)


def rows_of(
    path: Path,
    results: list[Result],
    asked: Mapping[str, Iterable[str]] | None = None,
    versions: Versions | None = None,
) -> list[Row]:
    """Read the rows of a table, and check them against the results of the class.

    Rows of answers that are not graded this time are not returned, but others may refer to
    them: a student or a notebook may be missing, or its lab may not have been chosen.

    Args:
        path: the table.
        results: of the class.
        asked: as ``asked_in`` returns them; by default the questions of the results.
        versions: those of marked texts that are not in the table.

    Raises:
        CourseError: a row is invalid.
    """
    known, seen, rows = _Known.of(results, asked or {}), {}, {}
    read = list(records(path))
    _check_names(path, read, known)
    for line, record in read:
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
    return [
        _with_same(path, seen, row, rows, known, versions)
        for key, row in rows.items()
        if key in known.answers
    ]


def absent_students(path: Path, results: list[Result]) -> list[str]:
    """The students in a table who are not in the class, in the order of the table."""
    names = set(shown(result.student for result in results))
    found = dict.fromkeys(_key(record)[0] for _, record in records(path))
    return [name for name in found if name not in names]


def _key(record: Mapping[str, str]) -> tuple[str, str, str]:
    """The first cells of a row; a name that is not UTF-8 is escaped there."""
    stem = plain(record["practical"]).strip().replace("-", "_")
    return plain(record["student"]), stem, plain(record["question"]).strip()


def _check_names(
    path: Path, read: Sequence[tuple[int, dict[str, str]]], known: _Known
) -> None:
    """Check that students with marks who are not in the class may have left it.

    Raises:
        CourseError: a name seems to be misspelt, since it is like that of a student who has no
            row, or the table belongs to another class.
    """
    keys = [_key(record) for _, record in read]
    there = set(keys)
    away = [
        (line, key)
        for (line, record), key in zip(read, keys, strict=True)
        if key[0] not in known.students and plain(record["marks"]).strip()
    ]
    if away and not any(name in known.students for name, *_ in keys):
        line, key = away[0]
        raise _unknown(path, line, "student", key[0], known.students)
    for line, (name, *rest) in away:
        # Names that differ in a number, such as a platform's, are of different students.
        free = {
            other.casefold().strip(): other
            for other, student in known.students.items()
            if (other, *rest) not in there
            and (student, *rest) in known.answers
            and DIGITS.findall(other) == DIGITS.findall(name)
        }
        folded = name.casefold().strip()
        for near in difflib.get_close_matches(folded, free, n=1, cutoff=ALIKE):
            raise CourseError(
                path,
                line,
                f"There is no student called {name!r}.",
                f"Did you mean {free[near]!r}? If not, add a row for {free[near]!r}, too, "
                "with or without marks.",
            )


def _with_same(
    path: Path,
    lines: Mapping[tuple[str, str, str], int],
    row: Row,
    rows: Mapping[tuple[str, str, str], Row],
    known: _Known,
    versions: Versions | None,
) -> Row:
    """A row with the marks and the comment of the row that it refers to, if it has none."""
    names, answers = known.students, known.answers
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
    version, emptied = row.version, row.version is None
    if emptied and versions is not None and found.marks is not None:
        version = versions.of(row.key, found.marks, answers[row.key].text)
    elif version and not found.version and found.key in answers:  # marked again
        stored = versions or Versions({}, {})
        version = stored.of(found.key, found.marks, answers[found.key].text)
    comment = row.comment or found.comment
    return replace(
        row, marks=found.marks, comment=comment, version=version, emptied=emptied
    )


def _row(
    path: Path,
    line: int,
    record: dict[str, str],
    known: _Known,
) -> Row:
    student, stem, question = _key(record)
    student = known.students.get(student, student)
    if stem not in known.questions:
        raise _unknown(path, line, "practical", stem, known.questions)
    questions = known.questions[stem]
    if question not in questions and stem not in known.open:
        raise _unknown(path, line, f"question of {stem}", question, questions)
    text, marks = plain(record["marks"]).strip(), None
    answer = known.answers.get((student, stem, question))
    most = answer.points if answer else None
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
