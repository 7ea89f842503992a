"""Item statistics: how hard each task and question is, and how well it separates students.

The share of the points, the corrected item–total correlation (of an item with the sum of all
others) with its interval by Fisher's transformation, and Cronbach's alpha (Psychometrika 16,
1951). Each lab is a test of its own, so that every student has a score for every item. The
libraries for this fit models of item response, which a class of a hundred cannot support.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from authoring.questions import Question
from grading.record import Result
from grading.reports.pages import render, short
from grading.reports.roster import Roster, unanswered
from project.files import write_whole
from project.practicals import title_of

REVIEW = 0.6  # a task that a smaller share of the class solves should be looked at
NORMAL = 1.959964  # the 97.5% quantile of the standard normal distribution
FEWEST = 4  # students for whom Fisher's interval exists
LONGEST, MOST = (
    2_000,
    1_000,
)  # characters of an answer that are read; minutes that count
BEGIN = r"(?<![\d.,:/])"  # not within a longer number
HALF = re.compile(r"(\d?) ?(?:\b1/2|½)")
HOURS = re.compile(
    BEGIN
    + r"(?:(?P<hours>\d{1,3}(?:[.,]\d{1,2})?) ?(?:h|hrs?|hours?)(?![a-z])(?: ?(?P<more>\d\d)(?= *(?:$|[.,;()])))?"
    r"|(?P<clock>\d{1,2}):(?P<after>[0-5]\d) ?(?:h|hrs?|hours?)(?![a-z]))",
    re.IGNORECASE,
)
MINUTES = re.compile(BEGIN + r"(\d{1,4}) ?(?:m|mins?|minutes?)(?![a-z])", re.IGNORECASE)
# A number without a unit, but not "3 days".
BARE = re.compile(
    r"\s*(?:about|ca\.?|~|approximately)?\s*(\d{1,4})\b(?![.,:/]\d)"
    r"(?! ?(?:s|sec|seconds?|days?|weeks?|nights?|evenings?|afternoons?|tasks?|times|%)(?![a-z]))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ItemRow:
    """The statistics of one item.

    ``share`` is the mean share of its points, ``tried`` whether anybody answered;
    ``correlation``, ``low`` and ``high`` are None if there is no variation, if there are fewer
    than four students, or if the two scores of all students lie on one line.
    """

    id: str
    title: str
    share: float
    tried: bool = True
    correlation: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def review(self) -> bool:
        """Is it an item to look at?"""
        low = self.tried and self.share < REVIEW
        return low or (self.high is not None and self.high < 0)


@dataclass(frozen=True)
class LabItems:
    """The items of a lab, with Cronbach's alpha, as ``cronbach`` returns it, and the minutes.

    ``minutes`` are those that students reported for the lab, ascending.
    """

    title: str
    students: int
    rows: tuple[ItemRow, ...]
    alpha: float | None
    minutes: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median of the minutes."""
        return statistics.median(self.minutes)


def correlation(
    item: np.ndarray, rest: np.ndarray
) -> tuple[float, float, float] | None:
    """Return Pearson's correlation of two scores with its 95% interval.

    Args:
        item, rest: scores, shape (students,).

    Returns:
        The correlation, and the ends of Fisher's interval; None if it is undefined.
    """
    if len(item) < FEWEST or np.ptp(item) == 0 or np.ptp(rest) == 0:
        return None
    r = float(np.clip(np.corrcoef(item, rest)[0, 1], -1, 1))
    if abs(r) > 1 - 1e-12:
        return None  # Fisher's transformation of it is infinite
    half = NORMAL / math.sqrt(len(item) - 3)
    return r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def cronbach(scores: np.ndarray) -> float | None:
    """Return Cronbach's alpha of scores, shape (students, items).

    It is None if it is undefined, or if there are fewer than four students.
    """
    students, items = scores.shape
    if items < 2 or students < FEWEST or np.ptp(scores.sum(axis=1)) == 0:
        return None
    parts = scores.var(axis=0, ddof=1).sum()
    return float(items / (items - 1) * (1 - parts / scores.sum(axis=1).var(ddof=1)))


def minutes_in(text: str) -> float | None:
    """Return the minutes that an answer reports: the first hours and minutes, or a number.

    Beside hours, 60 minutes or more repeat them, as in "1.5 h (90 min)": the longer time counts.
    """
    text = HALF.sub(lambda half: f"{half[1] or 0}.5", text[:LONGEST])
    hours, minutes = HOURS.search(text), MINUTES.search(text)
    total = float(minutes[1]) if minutes else 0.0
    if hours:
        whole = 60 * float((hours["hours"] or hours["clock"]).replace(",", "."))
        total = total or float(hours["more"] or hours["after"] or 0)
        total = whole + total if total < 60 else max(whole, total)
    if not hours and not minutes and (bare := BARE.match(text)):
        total = float(bare[1])
    return total if 0 < total <= MOST else None


def lab_items(
    roster: Roster,
    titles: Mapping[str, str] | None = None,
    asked: Mapping[str, Sequence[Question]] | None = None,
) -> list[LabItems]:
    """Compute the statistics of each lab that the class submitted, in the course's order."""
    honest = {one.id for found in (asked or {}).values() for one in found if one.honest}
    found = []
    for practical in roster.practicals:
        labs: dict[str, list[Result]] = {}
        for student in roster.students:
            for one in roster.labs(student, practical.stem):
                if one.graded and not any(
                    v.status == "not-graded" for v in one.verdicts
                ):
                    labs.setdefault(one.part, []).append(one)
        for part, results in sorted(labs.items()):
            columns = _columns(results, honest)
            scores = np.array(list(columns.values()), dtype=float).T
            tried = _tried(results)
            rows = tuple(
                _row(scores, index, id_, titles or {}, tried=id_ in tried)
                for index, id_ in enumerate(columns)
            )
            minutes = [
                reported
                for one in results
                for answer in one.written
                if answer.task in honest and (reported := minutes_in(answer.text))
            ]
            title = title_of(practical.stem, part)
            alpha = cronbach(scores) if columns else None
            found.append(
                LabItems(title, len(results), rows, alpha, tuple(sorted(minutes)))
            )
    return found


def write_items(
    roster: Roster,
    out: Path,
    *,
    titles: Mapping[str, str] | None = None,
    asked: Mapping[str, Sequence[Question]] | None = None,
) -> Path:
    """Write ``items.html``."""
    labs = lab_items(roster, titles, asked)
    write_whole(out / "items.html", render("items.html.j2", labs=labs, limit=REVIEW))
    return out / "items.html"


def _columns(results: Sequence[Result], honest: set[str]) -> dict[str, list[float]]:
    """The shares of the points by item; questions only if all answers are marked."""
    columns: dict[str, list[float]] = {}
    for one in results:
        for verdict in one.verdicts:
            columns.setdefault(verdict.task, []).append(
                float(verdict.status == "right")
            )
        for answer in one.written:
            if answer.task in honest or not answer.points:
                continue
            marks = 0.0 if unanswered(answer) else answer.marks
            share = math.nan if marks is None else marks / answer.points
            columns.setdefault(answer.task, []).append(share)
    return {
        id_: column
        for id_, column in columns.items()
        if len(column) == len(results) and not any(map(math.isnan, column))
    }


def _tried(results: Sequence[Result]) -> set[str]:
    """The items that somebody answered, whether or not it could be judged."""
    tasks = {
        verdict.task
        for one in results
        for verdict in one.verdicts
        if verdict.status != "not-attempted"
    }
    return tasks | {
        answer.task
        for one in results
        for answer in one.written
        if not unanswered(answer)
    }


def _row(
    scores: np.ndarray, index: int, id_: str, titles: Mapping[str, str], *, tried: bool
) -> ItemRow:
    rest = np.delete(scores, index, axis=1).sum(axis=1)
    found = correlation(scores[:, index], rest) or (None, None, None)
    title = titles.get(id_) or short(id_)
    return ItemRow(id_, title, float(scores[:, index].mean()), tried, *found)
