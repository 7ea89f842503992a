"""The grade sheets: for a person, for Moodle, for Canvas, and for programs.

``grades.csv``
    One row for each student: the points of every task, the marks of every question,
    totals, and with a late policy the deduction and the final points. An empty cell is *not known* (no notebook, or it could not be graded), 0 is
    known.
``moodle.csv``
    The format of *Grades → Import → CSV file*: one row for each student and two columns
    for each lab, named as in Moodle's own export. Moodle finds a student by the
    column that you map to a user field: username, ID number or e-mail address, never by
    name.
``moodle-<lab>.csv``
    The format of *Upload grading worksheet* on an assignment's page. Rows are found by
    ``Identifier``, the number that Moodle puts into the names of downloaded files.
``canvas.csv``
    The format of *Grades → Import*. Canvas looks for a student by ``ID``, then ``SIS User
    ID``, then ``SIS Login ID``, then name, and for an assignment by its title, which must
    be the lab's name (or be copied, with its number, from Canvas's own export).
    Platforms have a column for each lab: a student who lacks one, or whose notebook could
    not be graded, has an empty cell there, so that it is not taken for zero points.
``grades.json``
    Everything, for programs; the module ``grades`` describes it.

Spreadsheets evaluate cells that begin like a formula. In every CSV file such text gets an
apostrophe in front, and so does text that begins with an apostrophe or a quote, so that
``plain(guarded(text)) == text``. The same is done after a comma, a semicolon, a tab or a
line break inside a text, where a new cell begins in a spreadsheet that expects another
separator. Platforms see a guarded name only if the real name begins in this way; they find
such a student by number, login or address, none of which can begin so.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from grading.record import Result
from grading.reports.grades import grades, timings
from grading.reports.pages import number, plural
from grading.reports.roster import (
    ColumnGroup,
    Roster,
    score_of,
    unanswered,
    verdicts_of,
)
from project.files import discard, write_whole
from project.practicals import lab_name

# Characters that begin a formula in a spreadsheet (in some countries in full width), or that
# would make the guard ambiguous; then the places where a cell can begin.
RISKY = "=+\\-@\t\r\n＝＋－＠'\""
BEGIN = r"(?:\A|(?<=[;,\t\r\n]))"
GUARD, GUARDED = (re.compile(f"{BEGIN}{sign}(?=[{RISKY}])") for sign in ("", "'"))

EMAIL = re.compile(r"^[^@\s]+@[^@\s]+\.[^@\s]+$")
LOGIN = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")


@dataclass(frozen=True)
class Identity:
    """The identifiers of a student on a platform, as far as a submission shows them.

    Unknown ones are empty strings.
    """

    name: str
    number: str = ""
    email: str = ""
    login: str = ""


def identity(student: str, identifier: str = "") -> Identity:
    """The identifiers of a student on a platform.

    Args:
        student: the name in a result.
        identifier: the platform's number, if it gave one. It is never read from the name,
            which students may choose.
    """
    if identifier:
        return Identity(student.removesuffix(f"_{identifier}"), number=identifier)
    if EMAIL.match(student):
        return Identity(student, email=student, login=student)
    if LOGIN.match(student):
        return Identity(student, login=student)
    return Identity(student)


def guarded(text: str) -> str:
    """Escape text, so that no spreadsheet evaluates it as a formula; ``plain`` undoes it."""
    return GUARD.sub("'", text)


def plain(text: str) -> str:
    """The inverse of ``guarded``."""
    return GUARDED.sub("", text)


def table(rows: Iterable[Sequence[str]], *, mark: bool = False) -> str:
    """Rows as CSV; every cell must be guarded already.

    Args:
        rows: the header first.
        mark: begin with a byte-order mark, without which Excel misreads accents.
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    text = out.getvalue().encode("utf-8", "backslashreplace").decode("utf-8")
    return ("\ufeff" if mark else "") + text


def grades_csv(roster: Roster) -> str:
    """Students × tasks and questions, with totals."""
    header = ["student"]
    for practical in roster.practicals:
        header += [item.id for item in practical.tasks + practical.questions]
        header += [f"{practical.stem} points", f"{practical.stem} written"]
    header += ["points", "written", "total", "possible", "unmarked"]
    header += [*(["deducted", "final"] if roster.adjusted else []), "not graded"]
    rows = [header]
    for student in roster.students:
        row = [student]
        problems = [
            f"{result.notebook}: {result.problem}"
            for result in roster.results
            if result.student == student and not result.graded
        ]
        for practical in roster.practicals:
            row += _cells(practical, roster.counting(student, practical.stem))
        score = roster.score(student)
        sums = [str(score.points), number(score.written), number(score.total)]
        sums += [str(score.possible), str(score.unmarked)]
        if roster.adjusted:
            sums += [number(score.deducted), number(score.final)]
        # If nothing was graded, leave the cells empty: a zero would be a grade.
        row += sums if score.possible else [""] * len(sums)
        row.append("; ".join(problems))
        rows.append([guarded(cell) for cell in row])
    return table(rows, mark=True)


def moodle_csv(roster: Roster) -> str:
    """The layout of Moodle's gradebook, exported or imported."""
    header = ["Full name", "Username", "ID number", "Email address"]
    labs = roster.by_lab()
    for lab in labs:
        header += [f"Assignment: {lab.title} ({kind})" for kind in MOODLE_KINDS]
    rows = [header]
    for student in roster.students:
        who = identity(student, roster.identifier(student))
        login = "" if who.email else who.login
        row = [who.name, login, login, who.email]
        for lab in labs:
            row += _total(roster.counting_in(student, lab))
        rows.append([guarded(cell) for cell in row])
    return table(rows)


MOODLE_KINDS = ("Real", "Feedback")
WORKSHEET = (
    "Identifier",
    "Full name",
    "Email address",
    "Status",
    "Grade",
    "Maximum grade",
    "Grade can be changed",
    "Last modified (submission)",
    "Last modified (grade)",
    "Feedback comments",
)


def worksheet_csv(roster: Roster, lab: ColumnGroup) -> str:
    """The grading worksheet of a Moodle assignment, with students whose number is known."""
    rows: list[Sequence[str]] = [WORKSHEET]
    for student in roster.students:
        who, result = (
            identity(student, roster.identifier(student)),
            roster.counting_in(student, lab),
        )
        if not who.number or result is None:
            continue
        grade, comment = _total(result)
        row = [f"Participant {who.number}", who.name, who.email, "Submitted", grade]
        # Moodle reads `-` as never, and accepts the grade unless it has a newer one.
        row += [str(lab.points), "Yes", "-", "-", comment]
        # A `-` is not a formula, and Moodle would not understand `'-`.
        rows.append([cell if cell == "-" else guarded(cell) for cell in row])
    return table(rows)


def canvas_csv(roster: Roster) -> str:
    """The layout of Canvas's gradebook."""
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    possible = ["    Points Possible", "", "", "", ""]
    labs = roster.by_lab()
    header += [lab.title for lab in labs]
    possible += [str(lab.points) for lab in labs]
    rows = [header, possible]
    for student in roster.students:
        who = identity(student, roster.identifier(student))
        row = [who.name, who.number, who.login, who.login, ""]
        row += [_total(roster.counting_in(student, lab))[0] for lab in labs]
        rows.append([guarded(cell) for cell in row])
    return table(rows)


def write_sheets(roster: Roster, out: Path) -> list[Path]:
    """Write every sheet, each whole or not at all; return their paths."""
    texts = {
        "grades.csv": grades_csv(roster),
        "moodle.csv": moodle_csv(roster),
        "canvas.csv": canvas_csv(roster),
        "grades.json": _json(msgspec.to_builtins(grades(roster))),
        "timings.json": _json(timings(roster)),
    }
    if any(
        identity(student, roster.identifier(student)).number
        for student in roster.students
    ):
        for lab in roster.by_lab():
            name = lab_name(lab.stem, "".join(lab.parts))
            texts[f"moodle-{name}.csv"] = worksheet_csv(roster, lab)
    for name, text in texts.items():
        write_whole(out / name, text)
    for stem in roster.order:  # an earlier run may have had more labs
        for path in [out / f"moodle-{stem}.csv", *out.glob(f"moodle-{stem}_[a-z].csv")]:
            if path.name not in texts:
                discard(path)
    return [out / name for name in texts]


def _cells(practical: ColumnGroup, result: Result | None) -> list[str]:
    if result is None or not result.graded:
        return [""] * (len(practical.tasks) + len(practical.questions) + 2)
    verdicts = verdicts_of(result)
    answers = {answer.task: answer for answer in result.written}
    cells = []
    for item in practical.tasks:
        verdict = verdicts.get(item.id)
        known = verdict is not None and verdict.status != "not-graded"
        cells.append(str(verdict.earned) if known else "")
    for item in practical.questions:
        answer = answers.get(item.id)
        if answer is None or (answer.marks is None and not unanswered(answer)):
            cells.append("")
        else:
            cells.append(number(answer.marks or 0))
    return [*cells, str(result.earned), number(score_of(result).written)]


def _total(result: Result | None) -> tuple[str, str]:
    """A platform's grade for one lab, and a line that explains it."""
    if result is None:
        return "", ""
    if not result.graded:
        # Leave the grade open: a notebook that could not be graded is not worth zero.
        return "", f"Could not be graded: {result.problem}"
    score = score_of(result)
    kinds = Counter(verdict.status for verdict in result.verdicts)
    words = f"{kinds['right']} of {plural(len(result.verdicts), 'task')} right"
    if missing := kinds["not-attempted"]:
        words += f", {missing} not attempted"
    if failed := kinds["not-graded"]:  # of another lab
        words += f", {failed} could not be graded"
    if score.unmarked:
        words += f"; {plural(score.unmarked, 'answer')} in words not marked yet"
    if score.deducted:
        words += (
            f"; {number(score.deducted)} of {number(score.total)} deducted for lateness"
        )
    return number(score.final), f"{words}."


def _json(data: Any) -> str:
    text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)
    # A lone surrogate, from a file name that is not UTF-8, becomes JSON's own escape.
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"
