"""What ``course grade`` does: from what was handed in to everything that comes out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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

from course.grading.classroom import Settings, grade_class
from course.grading.handed_in.intake import Submission, take_in
from course.grading.record import Result
from course.grading.results.outcome import write_outcome


def grade_folder(
    handed_in: Path, settings: Settings, manual: Path | None, console: Console
) -> list[Result]:
    """Grade what was handed in and write the sheets, the feedback and the report.

    Args:
        handed_in: a folder or a zip.
        settings: how to grade, and where to.
        manual: the table with marks for the answers in words, or None.
        console: for the progress and the summary.

    Raises:
        CourseError: wrong use; nothing of what comes out has been touched.
    """
    intake = take_in(handed_in)
    results = _grade(intake.submissions, settings, console)
    write_outcome(results, settings.out, root=settings.root, marks=manual)
    _summary(results, intake.ignored, settings, console)
    return results


def _grade(
    submissions: Sequence[Submission], settings: Settings, console: Console
) -> list[Result]:
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
        bar = progress.add_task("the reference first", total=len(submissions))

        def report(result: Result, new: bool) -> None:
            progress.update(bar, advance=1, description="grading" if new else "kept")

        def say(text: str) -> None:
            progress.console.print(text, markup=False, highlight=False)

        return grade_class(submissions, settings, report, say)


def _summary(
    results: list[Result], ignored: int, settings: Settings, console: Console
) -> None:
    failed = [result for result in results if not result.graded]
    console.print(f"{len(results) - len(failed)} of {len(results)} notebooks graded.")
    for result in failed:
        console.print(
            f"not graded: {result.student} · {result.notebook}: {result.problem}",
            markup=False,
            highlight=False,
        )
    stopped = sum(result.cut_short for result in results)
    if stopped:
        console.print(
            f"In {stopped} of them code was stopped by a limit, or a task was not reached. "
            "If the machine was busy, grade again with --retry."
        )
    if ignored:
        console.print(f"{ignored} files are no notebooks and were passed over.")
    console.print(f"Open {settings.out / 'report.html'}", soft_wrap=True)
