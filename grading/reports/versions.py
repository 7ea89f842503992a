"""The versions of marked texts of which the table of marks has none.

Whoever marks an answer again empties its cell in the column ``version``. The version of the text
that was marked then is stored in the hidden folder, so that later changes are noticed.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grading.reports.alike import version_of
from grading.reports.difference import read_grades
from grading.settings import STATE
from project.errors import CourseError
from project.files import write_whole

if TYPE_CHECKING:
    from grading.reports.marks import Row

FILE = "versions.json"
Key = tuple[str, str, str]  # student, practical and question


@dataclass(frozen=True)
class Versions:
    """What earlier runs have stored.

    ``marked`` are marks, each with the version of the text that they were given to; ``last`` are
    the versions of all texts of the last run, which its page for marking shows.
    """

    marked: Mapping[Key, tuple[float, str]]
    last: Mapping[Key, str]

    @classmethod
    def read(cls, out: Path) -> Versions:
        """Read what is in the output folder; what is missing or damaged is empty."""
        marked, last = {}, {}
        # Names that are not UTF-8 are lone surrogates, which msgspec's decoder refuses.
        with contextlib.suppress(OSError, ValueError, RecursionError):
            data = json.loads((out / STATE / FILE).read_bytes())
            rows = msgspec.convert(data, list[tuple[str, str, str, float, str]])
            marked = {row[:3]: row[3:] for row in rows}
        with contextlib.suppress(CourseError):
            last = {
                (one.student, one.practical, answer.task): version_of(answer.text)
                for one in read_grades(out / "grades.json").results
                for answer in one.written
                if one.counts
            }
        return cls(marked, last)

    def of(self, key: Key, marks: float | None, text: str) -> str:
        """The version that was marked: of the last run's text if the marks are new."""
        if key in self.marked and self.marked[key][0] == marks:
            return self.marked[key][1]
        return self.last.get(key) or version_of(text)

    def write(self, out: Path, rows: Iterable[Row]) -> None:
        """Store the versions of a table's rows; those of answers without a row are kept."""
        rows = list(rows)
        keys = {row.key for row in rows}
        found = {key: one for key, one in self.marked.items() if key not in keys}
        for row in rows:
            if row.emptied and row.marks is not None and row.version:
                found[row.key] = row.marks, row.version
        data = [[*key, *found[key]] for key in sorted(found)]
        write_whole(out / STATE / FILE, json.dumps(data, indent=1))
