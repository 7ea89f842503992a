"""Answers in words: a page for marking them, and a table of the marks.

``marking.html`` shows every answer beside the model answer and the rubric of
``questions``; ``marks.csv`` has a row for each, to be filled in and read back.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from authoring.questions import Question, questions, titles
from grading.record import Result, Written
from grading.reports.feedback import Comments
from grading.reports.pages import number, render
from grading.reports.roster import Roster, unanswered
from grading.reports.sheets import guarded, plain, table
from project.errors import CourseError
from project.files import write_whole

__all__ = [
    "COLUMNS",
    "Question",
    "check_marks",
    "filled_table",
    "marking_page",
    "marks_csv",
    "questions",
    "read_comments",
    "read_marks",
    "titles",
    "write_marking",
]

COLUMNS = ("student", "practical", "question", "marks", "comment")
NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")


def marking_page(roster: Roster, asked: Mapping[str, Sequence[Question]]) -> str:
    """Render the page that shows every answer beside the model answer and the rubric.

    Args:
        roster: the class.
        asked: the questions of each practical, by stem; a missing one is shown by its id.
    """
    sections = []
    for practical in roster.practicals:
        known = {question.id: question for question in asked.get(practical.stem, ())}
        for item in practical.questions:
            question = known.get(item.id) or Question(item.id, item.id, "", "", ())
            answers = [
                (result.student, answer)
                for result in roster.graded(practical.stem)
                for answer in result.written
                if answer.task == item.id
            ]
            silent = [student for student, answer in answers if unanswered(answer)]
            given = [entry for entry in answers if not unanswered(entry[1])]
            marked = sum(answer.marks is not None for _, answer in given)
            sections.append((practical, item, question, given, silent, marked))
    return render("marking.html.j2", roster=roster, sections=sections)


def marks_csv(roster: Roster, comments: Comments | None = None) -> str:
    """The table to fill in: a row for each answer, in the order of the page.

    Existing marks are filled in; unanswered questions have no row.
    """
    return _text(_open_rows(roster, comments))


def write_marking(
    roster: Roster,
    out: Path,
    asked: Mapping[str, Sequence[Question]],
    comments: Comments | None = None,
) -> list[Path]:
    """Write ``marking.html`` and the table to fill in; return their paths.

    A ``marks.csv`` in which anything has been filled in, or that cannot be read, is not
    changed. If it lacks rows for new answers, a table with all rows, which includes its
    entries, is written to ``marks-new.csv``.
    """
    write_whole(out / "marking.html", marking_page(roster, asked))
    path, rows = out / "marks.csv", _open_rows(roster, comments)
    filled = _filled(path) if path.exists() else {}
    if filled is None or filled:
        filled = filled or {}
        if all(_shown(row[:3]) in filled for row in rows):
            return [out / "marking.html", path]
        path = out / "marks-new.csv"
        rows = [_kept(row, filled.get(_shown(row[:3]))) for row in rows]
    write_whole(path, _text(rows))
    return [out / "marking.html", path]


def filled_table(out: Path) -> Path | None:
    """The table in the output folder, if somebody has written in it."""
    path = out / "marks.csv"
    filled = _filled(path) if path.is_file() else {}
    # An unreadable table was written in as well: merging it reports what is wrong.
    return path if filled or filled is None else None


def check_marks(path: Path, results: Iterable[Result] | None = None) -> None:
    """Check that a table of marks can be merged.

    Args:
        path: the table.
        results: of a class, with its questions; answers and verdicts are not needed. If it
            is None, only the format of the table is checked.

    Raises:
        CourseError: as ``read_marks``.
    """
    if results is None:
        for _ in _records(path):
            pass
    else:
        _rows(path, list(results))


def read_marks(path: Path, results: Iterable[Result]) -> list[Result]:
    """Put the marks of a table into the results; rows without marks change nothing.

    The table may be separated by commas, semicolons or tabs, use a decimal point or a decimal
    comma, and have further columns.

    Raises:
        CourseError: a row is invalid; the message names file, line and remedy. Nothing is
            merged then.
    """
    results = list(results)
    marks = {
        row.key: row.marks for row in _rows(path, results) if row.marks is not None
    }
    roster = Roster(results)

    def marked(result: Result, answer: Written) -> Written:
        key = result.student, result.practical, answer.task
        return replace(answer, marks=marks.get(key, answer.marks))

    return [
        replace(
            result, written=tuple(marked(result, answer) for answer in result.written)
        )
        if roster.counts(result)
        else result
        for result in results
    ]


def read_comments(
    path: Path, results: Iterable[Result]
) -> dict[tuple[str, str, str], str]:
    """Read the comments of a table, by student, practical and question.

    Raises:
        CourseError: as ``read_marks``.
    """
    rows = _rows(path, list(results))
    return {row.key: row.comment for row in rows if row.comment}


# --- the table --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    key: tuple[str, str, str]
    marks: float | None
    comment: str


def _answers(results: list[Result]) -> dict[tuple[str, str], Result]:
    """What counts, by student and practical."""
    roster = Roster(results)
    return {
        (student, practical.stem): result
        for student in roster.students
        for practical in roster.practicals
        if (result := roster.counting(student, practical.stem)) is not None
    }


def _open_rows(roster: Roster, comments: Comments | None) -> list[list[str]]:
    rows = []
    for practical in roster.practicals:
        for item in practical.questions:
            for result in roster.graded(practical.stem):
                for answer in result.written:
                    if answer.task != item.id or unanswered(answer):
                        continue
                    key = (result.student, practical.stem, item.id)
                    marks = "" if answer.marks is None else number(answer.marks)
                    rows.append([*key, marks, (comments or {}).get(key, "")])
    return rows


def _text(rows: Iterable[Sequence[str]]) -> str:
    return table(
        [COLUMNS, *([guarded(cell) for cell in row] for row in rows)], mark=True
    )


def _shown(cells: Iterable[str]) -> tuple[str, ...]:
    """Cells as written to the table, where names that are not UTF-8 are escaped."""
    return tuple(cell.encode("utf-8", "backslashreplace").decode() for cell in cells)


def _kept(row: list[str], known: tuple[str, str] | None) -> list[str]:
    """A new row, with the entries of the old table where it has none itself."""
    marks, comment = known or ("", "")
    return [*row[:3], row[3] or marks, row[4] or comment]


def _filled(path: Path) -> dict[tuple[str, ...], tuple[str, str]] | None:
    """Marks and comments by row; empty if nobody has written any, None if unreadable."""
    found = {}
    try:
        for _, record in _records(path):
            cells = [plain(record[name]) for name in COLUMNS]
            found[tuple(cells[:3])] = cells[3], cells[4]
    except CourseError:
        return None
    return (
        found if any(cell.strip() for pair in found.values() for cell in pair) else {}
    )


def _rows(path: Path, results: list[Result]) -> list[_Row]:
    counting, seen, rows = _answers(results), {}, []
    for line, record in _records(path):
        row = _row(path, line, record, counting)
        if row.key in seen:
            raise CourseError(
                path,
                line,
                f"{row.key[0]!r} already has marks for {row.key[2]} in line {seen[row.key]}.",
                "Delete one of the two rows.",
            )
        seen[row.key] = line
        rows.append(row)
    return rows


def _row(
    path: Path,
    line: int,
    record: dict[str, str],
    counting: dict[tuple[str, str], Result],
) -> _Row:
    student = plain(record["student"])
    students = {name for name, _ in counting}
    if student not in students:
        # A name that is not UTF-8 is escaped by `table`.
        shown = {_shown([name])[0]: name for name in students}
        if student not in shown:
            raise _unknown(path, line, "student", student, shown)
        student = shown[student]
    stem = plain(record["practical"]).strip().replace("-", "_")
    stems = {practical for name, practical in counting if name == student}
    if stem not in stems:
        raise _unknown(path, line, f"practical of {student!r}", stem, stems)
    answers = {answer.task: answer for answer in counting[student, stem].written}
    question = plain(record["question"]).strip()
    if not counting[student, stem].graded:  # its questions are not known: keep the row
        return _Row((student, stem, question), None, "")
    if question not in answers:
        raise _unknown(path, line, f"question of {stem}", question, set(answers))
    text, most = plain(record["marks"]).strip(), answers[question].points
    marks = None
    if text:
        if not NUMBER.fullmatch(text):
            raise CourseError(
                path,
                line,
                f"The marks {text!r} are not a number.",
                f"Write a number from 0 to {most}, or leave the cell empty.",
            )
        marks = float(text.replace(",", "."))
        if not 0 <= marks <= most:
            raise CourseError(
                path,
                line,
                f"{text} marks for {question} are out of range.",
                f"Give a number from 0 to {most}.",
            )
    return _Row((student, stem, question), marks, plain(record["comment"]).strip())


def _records(path: Path) -> Iterable[tuple[int, dict[str, str]]]:
    """Yield the rows of a table, each with the line that it begins on."""
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
                _check_header(path, line, header)
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
            path, None, "It is empty.", f"Begin with the header {','.join(COLUMNS)}."
        )


def _check_header(path: Path, line: int, header: list[str]) -> None:
    missing = [name for name in COLUMNS if name not in header]
    double = [name for name in COLUMNS if header.count(name) > 1]
    if missing or double:
        what = f"no column {missing[0]!r}" if missing else f"two columns {double[0]!r}"
        raise CourseError(
            path,
            line,
            f"The header has {what}.",
            f"Its columns must be {', '.join(COLUMNS)}, in any order.",
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
