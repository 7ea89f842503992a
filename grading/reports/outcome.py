"""Write all sheets and pages of a graded class at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from authoring.questions import Question, places, prompts
from grading.execution.examples import Example
from grading.record import Result
from grading.reports.feedback import Comments, page_paths, write_feedback
from grading.reports.items import write_items
from grading.reports.late import Policy, adjusted
from grading.reports.marking import (
    mark_honest,
    questions,
    read_comments,
    read_marks,
    titles,
    write_marking,
)
from grading.reports.marks import asked_in, rows_of
from grading.reports.report import write_report
from grading.reports.returned import returned_in
from grading.reports.roster import Roster
from grading.reports.sheets import write_sheets
from grading.reports.similar import flagged, similar, write_similar
from grading.reports.unnamed import unnamed, write_unnamed
from grading.reports.versions import Versions
from project.practicals import Course


def write_outcome(
    results: Iterable[Result],
    out: Path,
    *,
    course: Course,
    marks: Path | None = None,
    examples: Mapping[str, Example] | None = None,
    answers: bool = False,
    policy: Policy | None = None,
    warnings: Sequence[str] = (),
) -> list[Path]:
    """Write the sheets, the feedback, the report and the page for marking.

    Args:
        results: of a whole class, in any order.
        out: the folder; it is created if it does not exist.
        course: the checkout, whose chapters give titles, order and model answers.
        marks: a table of marks to merge first.
        examples: public examples for the feedback, by task.
        answers: show the model answers to the students.
        policy: deducts points from late notebooks.
        warnings: sentences about faults of the course, for the report.

    Returns:
        The files written, the report first.

    Raises:
        CourseError: the marks cannot be merged, or a chapter cannot be read; nothing has
            been written then.
    """
    results, versions = list(results), Versions.read(out)
    roster, asked, comments = class_of(results, course, marks, policy, versions)
    if marks is not None:
        rows = rows_of(marks, results, asked_in(course), versions)
        versions.write(out, rows)
    labs = course.labs(*asked) if asked else []
    pairs = similar(roster, labs)
    roster = Roster(flagged(roster.results, pairs), course.stems)
    called = titles(labs)
    pages = page_paths(roster.results)
    groups = unnamed(roster, called)
    return [
        write_report(
            roster,
            out,
            titles=called,
            pages=pages,
            places=places(labs),
            examples=examples,
            similar=len(pairs),
            unnamed=groups,
            warnings=warnings,
        ),
        write_unnamed(groups, out),
        write_items(roster, out, titles=called, asked=asked),
        write_similar(pairs, out, titles=called),
        *write_sheets(roster, out),
        *write_feedback(
            roster.results,
            out,
            titles=called,
            comments=comments,
            examples=examples,
            asked={one.id: one for found in asked.values() for one in found},
            prompts={id_: text for lab in labs for id_, text in prompts(lab).items()},
            answers=answers,
        ),
        *(path for path in returned_in(out) if path.exists()),
        *write_marking(roster, out, asked, comments),
    ]


def class_of(
    results: Iterable[Result],
    course: Course,
    marks: Path | None = None,
    policy: Policy | None = None,
    versions: Versions | None = None,
) -> tuple[Roster, dict[str, list[Question]], Comments]:
    """Merge the marks, deduct points for lateness; return the class, its questions by practical, and the comments.

    ``versions`` are as for ``rows_of``.

    Raises:
        CourseError: as ``write_outcome``.
    """
    results, comments = list(results), {}
    if marks is not None:
        everywhere = asked_in(course)
        comments = read_comments(marks, results, everywhere)
        results = read_marks(marks, results, everywhere, versions)
    stems = {result.practical for result in results if result.practical}
    labs = {stem: course.labs(stem) for stem in course.stems if stem in stems}
    asked = {
        stem: [question for lab in those for question in questions(lab)]
        for stem, those in labs.items()
    }
    results = adjusted(mark_honest(results, asked), policy)
    roster = Roster(results, course.stems)
    return roster, asked, comments
