"""The class report: one page that shows what to talk about in the next lecture.

The page computes nothing and fetches nothing: this module counts, the template displays.
Everything shown by colour is also shown by a symbol or a number.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grading.execution.examples import Example
from grading.flags import LOOK
from grading.record import Result, Verdict
from grading.reports.histogram import BINS, histogram
from grading.reports.pages import beginning, only_mistake, render, sentence, short
from grading.reports.roster import ColumnGroup, Roster, verdicts_of
from grading.reports.stopped import stopped
from grading.reports.unnamed import Unnamed
from project.files import write_whole

MANY = 0.1  # a mistake made by at least this share of a class is a talking point
FEW = 0.5  # a task solved by less than this share of a class is one, too


@dataclass(frozen=True)
class TaskRow:
    """The results of a class on one task; the counts add up to ``of``, the graded ones."""

    id: str
    title: str
    points: int
    of: int
    right: int
    named: int
    other: int
    skipped: int
    missed: int
    ungraded: int

    @property
    def share(self) -> float:
        """The share that solved it, of all whose notebook was judged."""
        judged = self.of - self.ungraded
        return self.right / judged if judged else 0.0

    @property
    def tried(self) -> int:
        """The number of students who wrote an answer, judged or not reached."""
        return self.of - self.ungraded - self.skipped


@dataclass(frozen=True)
class MistakeRow:
    """A misconception, and the students who hold it, out of those who attempted the task."""

    key: str
    task: str
    title: str
    hint: str
    students: tuple[str, ...]
    of: int

    @property
    def count(self) -> int:
        """The number of students who hold it."""
        return len(self.students)

    @property
    def share(self) -> float:
        """Their share of those who attempted the task."""
        return self.count / self.of if self.of else 0.0


@dataclass(frozen=True)
class Point:
    """A talking point: how many students of those who attempted a task, and a sentence.

    ``mistake`` is a misconception as it continues "you get this if", without what is right, or
    the empty string, and ``hint`` all that the course says about it; ``group`` is the number of
    a group of ``unnamed``, or 0.
    """

    count: int
    of: int
    task: str
    title: str
    text: str
    mistake: str = ""
    hint: str = ""
    group: int = 0

    @property
    def share(self) -> float:
        """The share of those who are counted."""
        return self.count / self.of if self.of else 0.0


def task_rows(
    roster: Roster, practical: ColumnGroup, titles: Mapping[str, str] | None = None
) -> list[TaskRow]:
    """The results of the class on the tasks of a practical, in their order."""
    results = [verdicts_of(result) for result in roster.graded(practical.stem)]
    rows = []
    for item in practical.tasks:
        verdicts = [found[item.id] for found in results if item.id in found]
        count = Counter(_kind(verdict) for verdict in verdicts)
        rows.append(
            TaskRow(
                id=item.id,
                title=_title(item.id, titles),
                points=item.points,
                of=len(verdicts),
                right=count["right"],
                named=count["named"],
                other=count["other"],
                skipped=count["not-attempted"],
                missed=count["not-reached"],
                ungraded=count["not-graded"],
            )
        )
    return rows


def mistakes(
    roster: Roster, titles: Mapping[str, str] | None = None
) -> list[MistakeRow]:
    """The misconceptions of a class, the most common first."""
    found: dict[str, MistakeRow] = {}
    for practical in roster.practicals:
        attempted = _attempted(roster, practical)
        for result in roster.graded(practical.stem):
            for verdict in result.verdicts:
                if not verdict.hint:
                    continue
                key = verdict.key or f"{verdict.task}: {verdict.hint}"
                known = found.get(key)
                students = (*known.students, result.student) if known else ()
                found[key] = MistakeRow(
                    key=key,
                    task=verdict.task,
                    title=_title(verdict.task, titles),
                    hint=known.hint if known else verdict.hint,
                    students=students or (result.student,),
                    of=attempted[verdict.task],
                )
    return sorted(
        found.values(),
        key=lambda mistake: (-mistake.count, -mistake.share, mistake.key),
    )


def talking_points(
    roster: Roster,
    titles: Mapping[str, str] | None = None,
    groups: Sequence[Unnamed] = (),
) -> list[Point]:
    """At most four talking points: common mistakes, then tasks that few solved.

    ``groups`` are the mistakes without a name; they count like the others. A mistake is common
    if at least a tenth of the class and at least two students make it; in a class of three or
    fewer, if anybody does. Of a task, only the students who attempted it
    are counted: a task that nobody began is no topic for a lecture.
    """
    found = mistakes(roster, titles)
    shared = [_named(mistake) for mistake in found]
    shared += _without_name(groups)
    sizes = _sizes(roster)
    shared.sort(key=lambda point: (-point.count, -point.share))
    points = [point for point in shared if point.count >= _common(sizes[point.task])][
        :3
    ]
    told = {point.task for point in points}
    rows = [
        row
        for practical in roster.practicals
        for row in task_rows(roster, practical, titles)
        if row.right < FEW * row.tried and row.id not in told
    ]
    for row in sorted(rows, key=lambda row: (row.right / row.tried, row.id)):
        if len(points) == 4:
            break
        missing = row.tried - row.right
        text = "Not solved."
        if row.missed:
            text += f" {row.missed} of them were not reached."
        if top := next((one for one in found if one.task == row.id), None):
            text += f" {top.count} of them: {beginning(sentence(top.hint))}"
        if row.skipped:
            text += f" Not attempted by {row.skipped} more."
        points.append(Point(missing, row.tried, row.id, row.title, text))
    return points


def report_page(
    roster: Roster,
    *,
    titles: Mapping[str, str] | None = None,
    pages: Mapping[tuple[str, ...], PurePosixPath] | None = None,
    places: Mapping[str, str] | None = None,
    examples: Mapping[str, Example] | None = None,
    similar: int = 0,
    unnamed: Sequence[Unnamed] = (),
    warnings: Sequence[str] = (),
) -> str:
    """Render the class report.

    Args:
        roster: the class.
        titles: the titles of tasks, by id; see ``marking.titles``.
        pages: the paths of the feedback pages; see ``feedback.page_paths``.
        places: where the book treats each task; see ``questions.places``.
        examples: inputs of the tasks' own checks, to ask the class about.
        similar: the number of pairs of notebooks with much code in common.
        unnamed: the groups with the same wrong numbers, as ``unnamed.html`` shows them.
        warnings: sentences about faults of the course.
    """
    graded = [result for result in roster.results if result.graded]
    rows = {
        practical.stem: task_rows(roster, practical, titles)
        for practical in roster.practicals
    }
    asked = [row for found in rows.values() for row in found if row.of]
    timed = [one for one in roster.results if one.graded or one.seconds >= 1]
    seconds = sorted(result.seconds for result in timed)
    return render(
        "report.html.j2",
        roster=roster,
        rows=rows,
        mistakes=mistakes(roster, titles),
        points=talking_points(roster, titles, unnamed),
        histograms=[
            found
            for practical in roster.practicals
            if (found := histogram(roster, practical))
        ],
        bins=BINS,
        students=_by_score(roster),
        cells=verdicts_of,
        failed_lab=lambda one: (
            not all(lab.graded for lab in roster.labs(one.student, one.practical))
        ),
        pages=pages or {},
        places=places or {},
        examples=examples or {},
        similar=similar,
        unnamed=len(unnamed),
        warnings=warnings,
        stopped=stopped(roster, titles),
        graded=graded,
        failed=[result for result in roster.results if not result.graded],
        flagged=[one for one in roster.results if {f.code for f in one.flags} & LOOK],
        unmarked=sum(roster.score(student).unmarked for student in roster.students),
        lowest=min((row.share for row in asked if row.tried), default=None),
        untried=not all(row.tried for row in asked),
        seconds=seconds,
        median=statistics.median(seconds) if seconds else 0.0,
        slowest=sorted(timed, key=lambda result: -result.seconds)[:5],
    )


def write_report(
    roster: Roster,
    out: Path,
    *,
    titles: Mapping[str, str] | None = None,
    pages: Mapping[tuple[str, ...], PurePosixPath] | None = None,
    places: Mapping[str, str] | None = None,
    examples: Mapping[str, Example] | None = None,
    similar: int = 0,
    unnamed: Sequence[Unnamed] = (),
    warnings: Sequence[str] = (),
) -> Path:
    """Write ``report.html``; see ``report_page``."""
    page = report_page(
        roster,
        titles=titles,
        pages=pages,
        places=places,
        examples=examples,
        similar=similar,
        unnamed=unnamed,
        warnings=warnings,
    )
    write_whole(out / "report.html", page)
    return out / "report.html"


def _named(mistake: MistakeRow) -> Point:
    return Point(
        mistake.count,
        mistake.of,
        mistake.task,
        mistake.title,
        sentence(beginning(mistake.hint)),
        mistake=only_mistake(mistake.hint),
        hint=mistake.hint,
    )


def _without_name(groups: Sequence[Unnamed]) -> list[Point]:
    return [
        Point(
            len(group.students),
            group.attempted,
            group.task,
            group.title,
            f"A mistake that has no name yet. {beginning(group.reason, 2)}",
            group=number,
        )
        for number, group in enumerate(groups, start=1)
    ]


def _common(size: int) -> int:
    """How many students of a class of this size make a mistake a common one."""
    return 1 if size <= 3 else max(2, math.ceil(MANY * size))


def _sizes(roster: Roster) -> Counter[str]:
    """How many notebooks were graded with each task; labs differ in their tasks."""
    found = Counter()
    for practical in roster.practicals:
        found += _counted(roster, practical, {"not-graded"})
    return found


def _attempted(roster: Roster, practical: ColumnGroup) -> Counter[str]:
    """How many of them have an answer to it."""
    return _counted(roster, practical, {"not-graded", "not-attempted"})


def _counted(
    roster: Roster, practical: ColumnGroup, without: Collection[str]
) -> Counter[str]:
    return Counter(
        verdict.task
        for result in roster.graded(practical.stem)
        for verdict in result.verdicts
        if verdict.status not in without
    )


def _kind(verdict: Verdict) -> str:
    if verdict.status == "wrong":
        return "named" if verdict.hint else "other"
    return verdict.status


def _title(task: str, titles: Mapping[str, str] | None) -> str:
    return (titles or {}).get(task) or short(task)


def _by_score(roster: Roster) -> list[tuple[str, list[Result | None]]]:
    """The students, best first, each with a notebook or None for every practical."""
    rows = [
        (student, [roster.counting(student, p.stem) for p in roster.practicals])
        for student in roster.students
    ]
    # Only by the tasks' points: marks come in over days, and rows should not move.
    return sorted(
        rows,
        key=lambda row: (
            -sum(found.earned for found in row[1] if found is not None and found.graded)
        ),
    )
