"""``grades.json``: everything about a graded class, for programs, and its JSON Schema.

The same submissions give the same bytes; therefore times are in a file of their own,
``timings.json``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from grading.record import Result, Status
from grading.reports.alike import has_changed
from grading.reports.roster import Roster

Id = Annotated[
    str,
    Meta(description="The id of a task or question, `<stem>/<name>`.", min_length=1),
]
Student = Annotated[str, Meta(description="The name that the platform gives.")]
Points = Annotated[int, Meta(ge=0)]
Marks = Points | Annotated[float, Meta(ge=0)]


def about(description: str, **constraints: Any) -> Meta:
    """Return the description of a field."""
    return Meta(description=description, **constraints)


class Column(Struct, frozen=True, forbid_unknown_fields=True):
    """A task or a question, and the points that it is worth."""

    id: Id
    points: Points


class PracticalGrades(Struct, frozen=True, forbid_unknown_fields=True):
    """A practical that the class submitted."""

    practical: Annotated[str, about("The stem.", pattern="^[a-z0-9_]+$")]
    points: Annotated[Points, about("Of its tasks and questions together.")]
    tasks: list[Column]
    questions: list[Column]


class Lateness(Struct, frozen=True, forbid_unknown_fields=True):
    """How late a notebook was."""

    seconds: Annotated[Points, about("After the due time.")]
    deducted: Annotated[Marks, about("From its points and marks.")]


class StudentGrades(Struct, frozen=True, forbid_unknown_fields=True):
    """A student's points over all practicals that were graded."""

    student: Student
    points: Annotated[Points, about("For tasks.")]
    written: Annotated[Marks, about("Marks for answers in words.")]
    total: Marks
    possible: Annotated[Points, about("The most that `total` could be.")]
    unmarked: Annotated[Points, about("Answers in words that have no marks yet.")]
    final: (
        Annotated[Marks, about("`total` less what was deducted for lateness.")]
        | UnsetType
    ) = UNSET


class TaskGrade(Struct, frozen=True, forbid_unknown_fields=True):
    """The grade of one task of one notebook."""

    task: Id
    points: Annotated[int, Meta(ge=1)]
    status: Annotated[Status, about("Only `right` earns the points.")]
    attempt: Annotated[
        int,
        about(
            "The pass that judged it; from the second on, the reference stood in for "
            "other tasks.",
            ge=1,
        ),
    ]
    reason: Annotated[str, about("What went wrong.")]
    hint: Annotated[
        str,
        about(
            "The misconception that gives exactly these values; it continues `you get "
            "this if …`."
        ),
    ]
    key: Annotated[str, about("A name for it, for counting.")]


class WrittenAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """An answer in words."""

    task: Id
    points: Points
    text: Annotated[str, about("Markdown.")]
    marks: Annotated[Marks | None, about("Given by a person; null until then.")]
    changed: (
        Annotated[
            bool,
            about("Whether the marks were given to an earlier text, if that is known."),
        ]
        | UnsetType
    ) = UNSET


class RaisedFlag(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that a person should know."""

    code: Annotated[str, Meta(min_length=1)]
    where: Annotated[str, about("The task, cell or file concerned, or empty.")]
    message: str


class NotebookGrade(Struct, frozen=True, forbid_unknown_fields=True):
    """The grade of one notebook."""

    student: Student
    practical: Annotated[
        str, about("The stem; empty if it is unknown.", pattern="^[a-z0-9_]*$")
    ]
    notebook: Annotated[str, about("The file's name as submitted.")]
    digest: Annotated[str, about("SHA-256 of the file.", pattern="^([0-9a-f]{64})?$")]
    identifier: Annotated[
        str, about("The platform's number for the student, or empty.")
    ]
    graded: Annotated[bool, about("False if no task could be judged.")]
    problem: Annotated[str, about("Why not; empty if it was graded.")]
    verdicts: list[TaskGrade]
    written: list[WrittenAnswer]
    flags: list[RaisedFlag]
    earned: Annotated[Points, about("Points for tasks.")]
    points: Annotated[Points, about("The points that its tasks are worth.")]
    counts: Annotated[
        bool, about("False if another notebook of the same student and lab counts.")
    ]
    part: (
        Annotated[
            str,
            about("The lab's letter, if its practical has several.", pattern="^[a-z]$"),
        ]
        | UnsetType
    ) = UNSET
    late: (
        Annotated[Lateness, about("Only if a late policy was applied.")] | UnsetType
    ) = UNSET


class Grades(Struct, frozen=True, forbid_unknown_fields=True):
    """The grades of a class, as `course grade` writes them to grades.json."""

    version: Annotated[
        Literal[1, 2],
        about(
            "Of this layout; 1 has no status `not-attempted` and says `wrong` instead."
        ),
    ]
    practicals: Annotated[list[PracticalGrades], about("In the order of the course.")]
    students: Annotated[list[StudentGrades], about("One for each student, by name.")]
    results: Annotated[
        list[NotebookGrade],
        about("One for each notebook, by student, practical and file name."),
    ]


def grades(roster: Roster) -> Grades:
    """Return all results without their times."""
    data = {
        "version": 2,
        "practicals": [
            {
                "practical": practical.stem,
                "points": practical.points,
                "tasks": practical.tasks,
                "questions": practical.questions,
            }
            for practical in roster.practicals
        ],
        "students": [
            {
                "student": student,
                "points": score.points,
                "written": score.written,
                "total": score.total,
                "possible": score.possible,
                "unmarked": score.unmarked,
            }
            | ({"final": score.final} if roster.adjusted else {})
            for student in roster.students
            for score in [roster.score(student)]
        ],
        "results": [_graded(roster, result) for result in roster.results],
    }
    return msgspec.convert(msgspec.to_builtins(data), Grades)


def timings(roster: Roster) -> list[dict[str, Any]]:
    """Wall times by submission and task, the only data that differ from run to run."""
    return [
        {
            "student": result.student,
            "notebook": result.notebook,
            "seconds": round(result.seconds, 3),
            "tasks": {
                verdict.task: round(verdict.seconds, 3) for verdict in result.verdicts
            },
        }
        for result in roster.results
    ]


def schema() -> dict[str, Any]:
    """The JSON Schema of ``grades.json``."""
    return msgspec.json.schema(Grades)


def _graded(roster: Roster, result: Result) -> dict[str, Any]:
    data = msgspec.to_builtins(result)
    del data["seconds"], data["code"], data["spare"]
    for verdict in data["verdicts"]:
        del verdict["seconds"], verdict["sketch"]
    for answer, written in zip(data["written"], result.written, strict=True):
        del answer["version"]
        if (changed := has_changed(written)) is not None:
            answer["changed"] = changed
    for optional in ("part", "late"):
        if not data[optional]:
            del data[optional]
    more = {"earned": result.earned, "points": result.points}
    return data | more | {"counts": roster.counts(result)}
