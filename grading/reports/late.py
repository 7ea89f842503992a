"""The late policy: points are deducted from notebooks that were submitted after the due time.

It is applied when results are merged, after the marks, and changes no verdict: the original
points are kept beside the adjusted ones. Each begun day (or hour, or week) costs a share of
the points that the lab is worth, as in Canvas's late policy.
"""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from grading.record import Late, Result
from grading.reports.marks import records, shown
from grading.reports.roster import score_of
from grading.reports.sheets import plain
from project.errors import CourseError

COLUMNS = ("submission", "when")
# Moodle's grading worksheet.
OTHERS = {"identifier": "submission", "last modified (submission)": "when"}
FORMS = [  # of Moodle, in English and in American English, with 12 hours or 24
    f"{weekday}{day}, {time}"
    for weekday in ("%A, ", "")
    for day in ("%d %B %Y", "%B %d, %Y", "%B %d %Y")
    for time in ("%I:%M %p", "%H:%M")
]
NAMED = 5  # students without a time that the error names
UNITS = {"minute": 60, "min": 60, "hour": 3600, "h": 3600, "day": 86400, "week": 604800}
RATE = re.compile(r"(\d{1,3}(?:\.\d+)?) ?% ?/ ?(hour|day|week)")
SPAN = re.compile(r"(\d{1,4}(?:\.\d+)?) ?(minute|min|hour|h|day|week)s?")


@dataclass(frozen=True)
class Policy:
    """A late policy, and when each submission was made.

    Args:
        due: the due time; with a time zone if the table's times have one.
        times: a table with the columns ``submission`` and ``when``, or Moodle's worksheet.
        rate: the share of a lab's points for each begun unit.
        unit: in seconds.
        grace: seconds after the due time that cost nothing; later, all time counts.
        most: the largest share that is deducted.
    """

    due: datetime
    times: Path
    rate: float
    unit: float
    grace: float = 0.0
    most: float = 1.0

    def share(self, seconds: float) -> float:
        """The share of a lab's points that is deducted at so many seconds after the due time."""
        if seconds <= self.grace:
            return 0.0
        return min(self.rate * math.ceil(seconds / self.unit), self.most)


def rate_of(text: str) -> tuple[float, float]:
    """Read ``10%/day``: a share, and the seconds of the unit.

    Raises:
        ValueError: it has another form.
    """
    if not (match := RATE.fullmatch(text.strip())) or float(match[1]) > 100:
        raise ValueError("write it as 10%/day, 5%/hour or 20%/week")
    return float(match[1]) / 100, UNITS[match[2]]


def seconds_of(text: str) -> float:
    """Read ``15 min``, ``2 h`` or ``1 day``.

    Raises:
        ValueError: it has another form.
    """
    if not (match := SPAN.fullmatch(text.strip())):
        raise ValueError("write it as 15min, 2h or 1day")
    return float(match[1]) * UNITS[match[2]]


def moment(text: str) -> datetime:
    """Read ``2026-10-01T12:00``, with a time zone or without.

    Raises:
        ValueError: it has another form, or no time of day.
    """
    if ":" not in text:
        raise ValueError("write it with the time of day, as 2026-10-01T12:00")
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError("write it as 2026-10-01T12:00") from None


def timed(results: Iterable[Result], policy: Policy | None) -> list[Result]:
    """Note how late each notebook is, unless that is known; nothing is deducted yet.

    Raises:
        CourseError: a time cannot be read, or one is missing.
    """
    results = list(results)
    if policy is None:
        return results
    times, ambiguous = _times(policy), _ambiguous(results)
    wanted = [result for result in results if result.graded and not result.late]
    rows = {
        one.key: next((n for n in _names(one, ambiguous) if n in times), None)
        for one in wanted
    }
    if missing := [one.student for one in wanted if rows[one.key] is None]:
        near = difflib.get_close_matches(missing[0], times, n=1, cutoff=0.5)
        hint = f" Is {near[0]!r} the same student as {missing[0]!r}?" if near else ""
        more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        raise CourseError(
            policy.times,
            None,
            f"It has no time for {', '.join(map(repr, missing[:NAMED]))}{more}.",
            f"Add a row; leave its time empty if it was submitted in time.{hint}",
        )
    return [
        _timed(one, times[rows[one.key]], policy) if one.key in rows else one
        for one in results
    ]


def adjusted(results: Iterable[Result], policy: Policy | None) -> list[Result]:
    """Deduct points from late notebooks, at most all that they earned.

    Raises:
        CourseError: as ``timed``.
    """
    results = timed(results, policy)
    if policy is None:
        return results
    return [_adjusted(result, policy) if result.late else result for result in results]


def unmatched(results: Iterable[Result], policy: Policy) -> list[str]:
    """List the rows of the table that have a time and name no notebook of the class.

    Raises:
        CourseError: a time cannot be read.
    """
    results = list(results)
    ambiguous = _ambiguous(results)
    known = {name for one in results for name in _names(one, ambiguous)}
    return [name for name, when in _times(policy).items() if when and name not in known]


def _ambiguous(results: Iterable[Result]) -> set[str]:
    """The names that several students have."""
    students = {(result.student, result.identifier) for result in results}
    count = Counter(_name(student, number) for student, number in students)
    return {name for name, many in count.items() if many > 1}


def _names(result: Result, ambiguous: set[str]) -> list[str]:
    """What a row of a notebook can be called, the first choice first."""
    name = _name(result.student, result.identifier)
    names = [f"{result.student}/{result.notebook}", result.student]
    if result.identifier:
        names += [f"Participant {result.identifier}", result.identifier]
    names += [name] * (name not in ambiguous)
    return [*names, *shown(names)]  # a name that is not UTF-8 is escaped in tables


def _timed(result: Result, when: datetime | None, policy: Policy) -> Result:
    seconds = 0.0 if when is None else (when - policy.due).total_seconds()
    # Rounded up, since every begun unit counts.
    return replace(result, late=Late(max(math.ceil(seconds), 0), 0.0))


def _adjusted(result: Result, policy: Policy) -> Result:
    score = score_of(result)
    share = policy.share(result.late.seconds)
    # Two decimals, as points are written.
    deducted = round(min(share * score.possible, score.total), 2)
    return replace(result, late=replace(result.late, deducted=deducted))


def _times(policy: Policy) -> dict[str, datetime | None]:
    """Read the table: times by student or notebook, None for an empty cell."""
    found: dict[str, datetime | None] = {}
    lines: dict[str, int] = {}
    for line, record in records(policy.times, COLUMNS, OTHERS):
        name = plain(record["submission"]).strip()
        if name in lines:
            raise CourseError(
                policy.times,
                line,
                f"{name!r} already has a time in line {lines[name]}.",
                "Delete one of the two rows.",
            )
        lines[name] = line
        found[name] = _time(plain(record["when"]), policy, line)
    return found


def _time(text: str, policy: Policy, line: int) -> datetime | None:
    text = " ".join(text.split())
    if text in ("", "-"):
        return None
    when = None
    for read in (
        moment,
        *(lambda text, form=form: datetime.strptime(text, form) for form in FORMS),
    ):
        try:
            when = read(text)
            break
        except ValueError:
            continue
    if when is None:
        raise CourseError(
            policy.times,
            line,
            f"The time {text!r} cannot be read.",
            "Write it as 2026-10-01T12:00, or leave the cell empty if it was in time.",
        )
    if (when.tzinfo is None) != (policy.due.tzinfo is None):
        one, other = ("no", "one") if when.tzinfo is None else ("a", "none")
        raise CourseError(
            policy.times,
            line,
            f"The time {text!r} has {one} time zone, but --due has {other}.",
            "Give both a time zone, as in 2026-10-01T12:00+02:00, or neither.",
        )
    return when


def _name(student: str, identifier: str) -> str:
    return student.removesuffix(f"_{identifier}") if identifier else student
