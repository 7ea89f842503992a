"""The command ``course grade``: from the submissions to sheets, feedback and report."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from grading.classroom import EXAMPLES, FAULTS, grade_class
from grading.execution.examples import examples, mistakes_in
from grading.faults import read_faults
from grading.record import Result
from grading.reports.difference import read_grades, surprises, write_difference
from grading.reports.entered import NEW, entries, overridden
from grading.reports.late import Policy, adjusted, timed, unmatched
from grading.reports.marking import (
    Asked,
    check_marks,
    filled_table,
    questions,
    titles,
)
from grading.reports.marks import absent_students, asked_in, rows_of, shown
from grading.reports.outcome import class_of, write_outcome
from grading.reports.pages import plural, short
from grading.reports.several import best_by_task
from grading.reports.stopped import advice
from grading.reports.versions import Versions
from grading.settings import STATE, Settings
from grading.submissions.intake import Intake, Submission, take_in
from grading.submissions.names import shown as shown_name
from grading.submissions.several import Several
from grading.worker import blank, in_words
from project.errors import CourseError
from project.files import all_or_none, discard, require_writable
from project.practicals import Course

NAMED = 5  # unmatched rows of the table of times, or skipped files, that are named
# Folders of a checkout that must not hold grades, besides those that begin with . or _
PROJECT = {
    *("authoring", "book", "course", "exercises", "grading", "project", "solutions"),
    *("studies", "tests"),
}
# Files and folders that the grader writes.
WRITTEN = re.compile(
    r"(report|marking|items|similar|unnamed|difference|gradebook)\.html|(grades|canvas|moodle|moodle-\w+|marks|marks-new|difference|gradebook)\.csv"
    rf"|(grades|timings)\.json|moodle-feedback\.zip|feedback|{re.escape(STATE)}"
)


class Screen(Console):
    """A console that does not end the program with status 1 if its output is closed."""

    def on_broken_pipe(self) -> NoReturn:
        """Raise again; called while a ``BrokenPipeError`` is handled."""
        raise BrokenPipeError(32, "Nobody reads the output")


def grade_folder(
    submissions_path: Path,
    settings: Settings,
    manual: Path | None,
    console: Console,
    several: Several = "last",
    *,
    practicals: Sequence[str] = (),
    answers: bool = False,
    diff: bool = False,
    policy: Policy | None = None,
) -> list[Result]:
    """Grade the submissions, and write the sheets, the feedback and the report.

    Args:
        submissions_path: a folder or a zip. All paths are absolute.
        settings: how to grade, and where to write.
        manual: the table with marks for the answers in words; by default the one in the
            output folder, if somebody has written in it.
        console: for the progress and the summary.
        several: which of several notebooks of one student and lab counts.
        practicals: names of practicals or labs; notebooks of others are left out.
        answers: show the model answers in the feedback.
        diff: only compare with the grades of the last run, and write no others.
        policy: deducts points from late notebooks.

    Raises:
        CourseError: wrong use; no output has been changed.
        OSError: something cannot be written; sheets, feedback and report are unchanged.
    """
    _check_places(submissions_path, settings.out, manual, settings.root)
    manual = manual or filled_table(settings.out)
    for path in (manual, settings.out / NEW):
        if path is not None and path.is_file():
            check_marks(path)
    if diff:
        read_grades(settings.out / "grades.json")
    course = Course.read(settings.root)
    chosen = {lab.name for lab in course.labs(*practicals)} if practicals else None
    intake = take_in(submissions_path, course, several, chosen)
    unmarked = _unmarked(intake.submissions, course)
    if manual is not None:
        asked = asked_in(course)
        check_marks(manual, unmarked, asked)
    adjusted(unmarked, policy)
    results, kept = _grade(intake.submissions, settings, console)
    results = [
        _with_present_flags(result, submission)
        for result, submission in zip(results, intake.submissions, strict=True)
    ]
    if several == "best":
        results = best_by_task(timed(results, policy), policy)
    if diff:
        roster, _, _ = class_of(
            results, course, manual, policy, Versions.read(settings.out)
        )
        labs = course.labs(*(p.stem for p in roster.practicals)) if results else []
        found = write_difference(
            settings.out / "grades.json", roster, titles=titles(labs)
        )
        _say_what_failed(results, console)
        _say(console, f"The points of {plural(len(found), 'item')} would change.")
        _say(console, f"Open {settings.out / 'difference.html'}")
        return results
    labs = [course.lab(name) for name in sorted({r.lab for r in results} - {""})]
    public = examples(labs, settings.out / STATE / EXAMPLES, mistakes_in(results))
    sheet, before = settings.out / "grades.json", None
    with contextlib.suppress(CourseError):  # none yet, or another version's: replaced
        before = read_grades(sheet)
    with all_or_none():
        written = write_outcome(
            results,
            settings.out,
            course=course,
            marks=manual,
            examples=public,
            answers=answers,
            policy=policy,
            warnings=read_faults(
                settings.out / STATE / FAULTS, [lab.name for lab in labs]
            ),
        )
        for suffix in ("csv", "html"):  # of an earlier --diff; now its changes are made
            discard(settings.out / f"difference.{suffix}")
    _summary(results, kept, intake, settings, console)
    if manual is not None:
        _say(console, _merged(manual, results, asked))
        if names := absent_students(manual, results):
            _say(
                console,
                f"look: {manual} has rows of {_some(map(repr, names))}, not in this class: they stay "
                "there and do not count. If a name is mistyped, correct it.",
            )
        if note := _other_marks(manual, settings.out, results, asked):
            _say(console, note)
    if policy is not None and (names := unmatched(results, policy)):
        _say(
            console,
            f"look: {policy.times} has times for {_some(map(repr, names))}, which name no student or "
            "notebook of the class; they were ignored.",
        )
    if settings.out / NEW in written:
        _say(
            console,
            "Answers have come in that marks.csv lacks: enter their marks in marks-new.csv, "
            "which has yours, too, and rename it to marks.csv.",
        )
        if others := [
            f"{key[0]} · {short(key[2])}" for key in overridden(settings.out)
        ]:
            _say(
                console,
                f"look: marks-new.csv has other entries than marks.csv for {_some(others)}; they stay, "
                "and count when you have renamed it.",
            )
    honest = {one.id for lab in labs for one in questions(lab) if one.honest}
    for note in surprises(before, read_grades(sheet), honest):
        _say(console, f"look: {note}.")
    return results


def _some(names: Iterable[str]) -> str:
    """List the first names, and say how many more there are."""
    names = list(names)
    first, others = names[:NAMED], names[NAMED:]
    return ", ".join(first) + (f" and {len(others)} more" if others else "")


def _merged(marks: Path, results: Sequence[Result], asked: Asked) -> str:
    """Say how many marks and comments of a table were merged, and how many were not."""
    rows = rows_of(marks, list(results), asked)
    count = sum(row.marks is not None for row in rows)
    comments = sum(bool(row.comment) for row in rows)
    also = f" and {plural(comments, 'comment')}" if comments else ""
    verb = "was" if count == 1 and not comments else "were"
    said = f"{plural(count, 'mark')}{also} of {marks} {verb} merged."
    merged = {shown(row.key) for row in rows}
    others = [key for key, one in (entries(marks) or {}).items() if one.marks]
    left = sum(key not in merged for key in others)
    if left:
        said += f" {plural(left, 'mark')} of answers that were not graded this time"
        said += f" {'stays' if left == 1 else 'stay'} in the table."
    return said


def _other_marks(
    merged: Path, out: Path, results: Sequence[Result], asked: Asked
) -> str:
    """Say so if the output folder holds marks other than those merged, else nothing."""
    own = filled_table(out)
    if own is None or own.samefile(merged):
        return ""
    try:
        ones, others = (
            {row.key: row.marks for row in rows_of(path, list(results), asked)}
            for path in (own, merged)
        )
    except CourseError:
        return ""
    # Answers that only the own table marks are left out: most have the text of a marked one.
    given = {key: marks for key, marks in others.items() if marks is not None}
    count = sum(ones.get(key) != marks for key, marks in given.items())
    if not count:
        return ""
    return (
        f"look: {own} has other marks for {plural(count, 'answer')}, which the next run "
        "without --manual would merge. If you delete the table, it is written anew."
    )


def _with_present_flags(result: Result, submission: Submission) -> Result:
    """Use the submission's current flags: those of a stored grade may be from another run."""
    codes = {flag.code for flag in submission.flags}
    others = [flag for flag in result.flags if flag.code not in codes]
    return replace(result, flags=(*submission.flags, *others))


def _unmarked(submissions: Sequence[Submission], course: Course) -> list[Result]:
    """Results with only the questions, to check a table of marks before grading."""
    gradable = {one.lab for one in submissions if not one.problem} - {""}
    questions = {
        lab: tuple(in_words(course.lab(lab).released(), {})) for lab in sorted(gradable)
    }
    return [
        replace(
            blank(one),
            graded=not one.problem,
            written=() if one.problem else questions[one.lab],
        )
        for one in submissions
    ]


def _check_out(out: Path, submissions_path: Path, root: Path) -> None:
    """Check that grades can be written to a folder, and that it has no other purpose.

    Raises:
        CourseError: they cannot, or it has.
    """
    remedy = "Name another folder with --out."
    require_writable(out)
    top = out.relative_to(root).parts[:1] if out.is_relative_to(root) else ("",)
    if not top or top[0] in PROJECT or top[0].startswith((".", "_")):
        problem = "This is a folder of the project itself."
        raise CourseError(out, None, problem, remedy)
    there = sorted(out.iterdir()) if out.is_dir() else []
    for path in there:
        written = WRITTEN.fullmatch(path.name)
        if written and path.is_dir() != (path.name in ("feedback", STATE)):
            kind = "folder" if path.is_dir() else "file"
            problem = f"A {kind} is where the grades would be written."
            raise CourseError(path, None, problem, "Move it away.")
    if (out / "feedback").is_dir():
        require_writable(out / "feedback")
    if not any((out / name).exists() for name in (STATE, "grades.json")):
        foreign = [
            path
            for path in there
            if not WRITTEN.fullmatch(path.name)
            and not path.name.startswith(".")
            and not submissions_path.is_relative_to(path)
        ]
        if foreign:
            name = shown_name(foreign[0].name)
            problem = (
                f"It holds files that `course grade` did not write, such as {name}."
            )
            raise CourseError(out, None, problem, "Name a new folder with --out.")


def _check_places(
    submissions_path: Path, out: Path, manual: Path | None, root: Path
) -> None:
    """Check that the paths of a run do not conflict.

    Raises:
        CourseError: they do.
    """
    remedy = "Name another folder with --out."
    if submissions_path.is_dir() and out.is_relative_to(submissions_path):
        problem = "The grades would be written among the submissions."
        raise CourseError(out, None, problem, remedy)
    if any(submissions_path.is_relative_to(out / name) for name in (STATE, "feedback")):
        problem = "The grader itself writes to this folder."
        raise CourseError(submissions_path, None, problem, remedy)
    _check_out(out, submissions_path, root)
    if manual is not None and not manual.is_file():
        problem = "This is a folder." if manual.is_dir() else "There is no such file."
        raise CourseError(
            manual, None, problem, "Name the table that you filled in, marks.csv."
        )


def _grade(
    submissions: Sequence[Submission], settings: Settings, console: Console
) -> tuple[list[Result], int]:
    """Return the results, and how many of them an earlier run has graded."""
    kept = 0
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as progress:
        bar = progress.add_task("checking the reference", total=len(submissions))

        def report(result: Result, new: bool) -> None:
            nonlocal kept
            kept += result.graded and not new
            progress.update(bar, advance=1, description="grading" if new else "kept")

        def say(text: str) -> None:
            _say(progress.console, text)

        return grade_class(submissions, settings, report, say), kept


def _say_what_failed(results: list[Result], console: Console) -> None:
    for result in results:
        if not result.graded:
            _say(
                console,
                f"not graded: {result.student} · {result.notebook}: {result.problem}",
            )


def _say(console: Console, text: str) -> None:
    """Print a sentence as it is; the terminal breaks the line if it is too long."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _summary(
    results: list[Result],
    kept: int,
    intake: Intake,
    settings: Settings,
    console: Console,
) -> None:
    graded = sum(result.graded for result in results)
    earlier = f", {kept} of them by an earlier run" if kept else ""
    _say(console, f"{graded} of {len(results)} notebooks graded{earlier}.")
    _say_what_failed(results, console)
    stopped = [result for result in results if result.graded and result.cut_short]
    for result in stopped:
        tasks = [
            v.task for v in result.verdicts if v.stopped or v.status == "not-reached"
        ]
        _say(console, f"stopped: {result.student} · {', '.join(tasks)}")
    if stopped:
        _say(console, "A limit stopped this code, or it was not reached.")
        reasons = [v.reason for r in stopped for v in r.verdicts if v.stopped]
        for text in dict.fromkeys(map(advice, reasons or [""])):
            _say(console, text)
    for note in intake.notes:
        _say(console, f"look: {note}")
    if intake.skipped:
        _say(
            console,
            f"Skipped files that are not submitted notebooks: {_some(intake.skipped)}.",
        )
    _say(console, f"Open {settings.out / 'report.html'}")
