"""The distribution of a practical's scores, for the class report."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass

from grading.reports.pages import plural
from grading.reports.roster import ColumnGroup, Roster

BINS = 10


@dataclass(frozen=True)
class Histogram:
    """The distribution of a practical's notebooks by their share of the points for tasks."""

    title: str
    counts: tuple[int, ...]
    shares: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median share."""
        return statistics.median(self.shares)

    @property
    def label(self) -> str:
        """The histogram in words."""
        best = max(range(BINS), key=self.counts.__getitem__)
        low = sum(self.counts[: BINS // 2])
        return (
            f"Scores in {self.title}: {plural(len(self.shares), 'notebook')}, "
            f"the median has {self.median:.0%} of the points; the most common range is "
            f"{best * 100 // BINS}% to {(best + 1) * 100 // BINS}%, with "
            f"{plural(self.counts[best], 'notebook')}; {low} {'is' if low == 1 else 'are'} below 50%."
        )


def histogram(roster: Roster, practical: ColumnGroup) -> Histogram | None:
    """The histogram of the scores in a practical, or None if there are none."""
    results = [result for result in roster.graded(practical.stem) if result.possible]
    if not results:
        return None
    # Integer division: a rounding error must not put 7 of 10 points below 70%.
    bins = Counter(
        min(result.earned * BINS // result.possible, BINS - 1) for result in results
    )
    return Histogram(
        practical.title,
        tuple(bins[index] for index in range(BINS)),
        tuple(result.earned / result.possible for result in results),
    )
