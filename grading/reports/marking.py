"""Answers in words: a page for marking them, and a table of the marks.

``marking.html`` shows every answer beside the model answer and the rubric of
``questions``, answers with the same or nearly the same text together; ``marks.csv`` has a row
for each, to be filled in and read back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from authoring.questions import Question, questions, titles
from grading.record import Result, Written
from grading.reports.alike import LONG, Variant, grouped, has_changed, version_of
from grading.reports.entered import entries, text_of, write_new_table
from grading.reports.feedback import Comments
from grading.reports.marks import COLUMNS, records, rows_of, shown
from grading.reports.pages import number, render
from grading.reports.roster import ColumnGroup, Item, Roster, unanswered
from grading.reports.versions import Versions
from project.files import write_whole

__all__ = [
    "COLUMNS",
    "Question",
    "check_marks",
    "filled_table",
    "mark_honest",
    "marking_page",
    "marks_csv",
    "questions",
    "read_comments",
    "read_marks",
    "titles",
    "write_marking",
]

Asked = Mapping[str, Iterable[str]]  # ids of questions, by practical


@dataclass(frozen=True)
class Section:
    """A question with its answers, as the page for marking shows them."""

    practical: ColumnGroup
    item: Item
    question: Question
    groups: list[tuple[Variant, ...]]
    silent: list[str]

    @property
    def lab(self) -> str:
        """The title of the lab that asks it, or of its practical."""
        return self.question.lab or self.practical.title

    @property
    def answers(self) -> list[Written]:
        """The answers that are not blank."""
        variants = (variant for group in self.groups for variant in group)
        return [answer for variant in variants for _, answer in variant.answers]

    @property
    def marked(self) -> int:
        """The number of answers that have marks."""
        return sum(answer.marks is not None for answer in self.answers)


def sections(
    roster: Roster, asked: Mapping[str, Sequence[Question]]
) -> Iterator[Section]:
    """Yield the questions of a class; see ``marking_page``."""
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
            yield Section(practical, item, question, grouped(given), silent)


def marking_page(
    roster: Roster,
    asked: Mapping[str, Sequence[Question]],
    comments: Comments | None = None,
) -> str:
    """Render the page that shows every answer beside the model answer and the rubric.

    Args:
        roster: the class.
        asked: the questions of each practical, by stem; a missing one is shown by its id.
        comments: a person's comments on the answers.
    """
    found = list(sections(roster, asked))
    return render(
        "marking.html.j2",
        sections=found,
        comments=comments or {},
        long=LONG,
        changed=has_changed,
    )


def marks_csv(
    roster: Roster,
    comments: Comments | None = None,
    asked: Mapping[str, Sequence[Question]] | None = None,
) -> str:
    """The table to fill in: a row for each answer, in the order of the page.

    Existing marks are filled in; unanswered questions have no row, and neither have answers
    that ``mark_honest`` has marked. Of answers with the same text, the later ones refer to the
    first in the column ``same as``.
    """
    return text_of(_open_rows(roster, comments, asked or {}))


def write_marking(
    roster: Roster,
    out: Path,
    asked: Mapping[str, Sequence[Question]],
    comments: Comments | None = None,
) -> list[Path]:
    """Write ``marking.html`` and the table to fill in; return their paths.

    A ``marks.csv`` in which anything has been filled in, or that cannot be read, is not
    changed. If it lacks rows for new answers, ``write_new_table`` writes a table with all rows.
    """
    write_whole(out / "marking.html", marking_page(roster, asked, comments))
    path, rows = out / "marks.csv", _open_rows(roster, comments, asked)
    filled = entries(path) if path.exists() else {}
    if filled == {}:
        write_whole(path, text_of(rows))
    elif filled is None or not filled.keys() >= {shown(row[:3]) for row in rows}:
        path = write_new_table(out, rows, filled or {})
    return [out / "marking.html", path]


def filled_table(out: Path) -> Path | None:
    """The table in the output folder, if somebody has written in it."""
    path = out / "marks.csv"
    filled = entries(path) if path.is_file() else {}
    # An unreadable table was written in as well: merging it reports what is wrong.
    return path if filled or filled is None else None


def check_marks(
    path: Path, results: Iterable[Result] | None = None, asked: Asked | None = None
) -> None:
    """Check that a table of marks can be merged.

    Args:
        path: the table.
        results: of a class, with its questions; answers and verdicts are not needed. If it
            is None, only the format of the table is checked.
        asked: as for ``rows_of``.

    Raises:
        CourseError: as ``read_marks``.
    """
    if results is None:
        for _ in records(path):
            pass
    else:
        rows_of(path, list(results), asked)


def read_marks(
    path: Path,
    results: Iterable[Result],
    asked: Asked | None = None,
    versions: Versions | None = None,
) -> list[Result]:
    """Put the marks of a table into the results; rows without marks change nothing.

    The table may be separated by commas, semicolons or tabs, use a decimal point or a decimal
    comma, and have further columns; ``asked`` and ``versions`` are as for ``rows_of``.

    Raises:
        CourseError: a row is invalid; the message names file, line and remedy. Nothing is
            merged then.
    """
    results = list(results)
    read = rows_of(path, results, asked, versions)
    rows = {row.key: row for row in read if row.marks is not None}
    roster = Roster(results)

    def marked(result: Result, answer: Written) -> Written:
        row = rows.get((result.student, result.practical, answer.task))
        return replace(answer, marks=row.marks, version=row.version) if row else answer

    return [
        replace(
            result, written=tuple(marked(result, answer) for answer in result.written)
        )
        if roster.counts(result)
        else result
        for result in results
    ]


def mark_honest(
    results: Iterable[Result], asked: Mapping[str, Sequence[Question]]
) -> list[Result]:
    """Give full marks to answers to which any honest answer gets full marks.

    Blank answers, and answers that a person has marked, are unchanged.
    """
    honest = {one.id for found in asked.values() for one in found if one.honest}

    def marked(answer: Written) -> Written:
        if answer.task in honest and answer.marks is None and not unanswered(answer):
            return replace(answer, marks=answer.points)
        return answer

    return [
        replace(result, written=tuple(map(marked, result.written)))
        for result in results
    ]


def read_comments(
    path: Path, results: Iterable[Result], asked: Asked | None = None
) -> dict[tuple[str, str, str], str]:
    """Read the comments of a table, by student, practical and question.

    Raises:
        CourseError: as ``read_marks``.
    """
    rows = rows_of(path, list(results), asked)
    return {row.key: row.comment for row in rows if row.comment}


def _open_rows(
    roster: Roster,
    comments: Comments | None,
    asked: Mapping[str, Sequence[Question]],
) -> list[list[str]]:
    rows = []
    honest = {one.id for found in asked.values() for one in found if one.honest}
    for section in sections(roster, asked):
        stem, id_ = section.practical.stem, section.item.id
        for variant in (variant for group in section.groups for variant in group):
            first: tuple[str, float | None, str] | None = None
            for student, answer in variant.answers:
                comment = (comments or {}).get((student, stem, id_), "")
                if id_ in honest and answer.marks == answer.points and not comment:
                    continue
                marks, version = "", version_of(answer.text)
                if answer.marks is not None:  # given to a text that may not be known
                    marks, version = number(answer.marks), answer.version or ""
                if first is None:
                    first = student, answer.marks, comment
                    rows.append([student, stem, id_, marks, comment, "", version])
                    continue
                if answer.marks == first[1] and (comment or not first[2]):
                    marks, comment = "", comment if comment != first[2] else ""
                rows.append([student, stem, id_, marks, comment, first[0], version])
    return rows
