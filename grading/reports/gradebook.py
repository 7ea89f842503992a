"""A gradebook over the term: several ``grades.json`` become one table and one page.

Students are joined by their names without the platform's numbers, since Moodle gives
a student another number in each assignment. Students of one name keep their numbers.
A lab may be in one file only, because otherwise it is not clear which of two grades
counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grading.reports.difference import read_grades
from grading.reports.grades import NotebookGrade
from grading.reports.pages import number, render
from grading.reports.roster import PLACEHOLDERS, by_name
from grading.reports.sheets import guarded, identity, table
from project.errors import CourseError
from project.files import all_or_none, require_writable, write_whole
from project.practicals import ROOT, Course, title_of

Lab = tuple[str, str]  # a practical's stem, and the lab's letter or the empty string


@dataclass(frozen=True)
class LabGrade:
    """A student's grade of one lab; ``points`` is None if it could not be graded.

    ``deducted`` has been taken off the points, for lateness.
    """

    points: float | None
    possible: int
    unmarked: int
    deducted: float = 0.0


@dataclass(frozen=True)
class Gradebook:
    """The labs, and the grades of each student by lab.

    The labs are in the order of the files, those of one file in the order of the course.

    ``namesakes`` are the names that several students of one file have.
    """

    labs: tuple[Lab, ...]
    students: dict[str, dict[Lab, LabGrade]]
    namesakes: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """What a person must do about namesakes; empty if there are none."""
        if not self.namesakes:
            return ""
        return (
            f"Several students are called {', '.join(map(repr, self.namesakes))}: they "
            "keep the platform's numbers. If the numbers differ between files, each "
            "of these students has several rows, which you must join yourself."
        )

    @property
    def late(self) -> bool:
        """Were points deducted from any notebook?"""
        every = (one for them in self.students.values() for one in them.values())
        return any(one.deducted for one in every)

    def total(self, student: str) -> tuple[float, int]:
        """A student's points, and the most that they could be, over the labs graded."""
        known = [
            one for one in self.students[student].values() if one.points is not None
        ]
        return sum(one.points or 0 for one in known), sum(one.possible for one in known)


def gradebook(paths: Sequence[Path]) -> Gradebook:
    """Merge several ``grades.json``.

    Raises:
        CourseError: one cannot be read, or two contain the same lab.
    """
    origin: dict[Lab, Path] = {}
    students: dict[str, dict[Lab, LabGrade]] = {}
    files = [(path, read_grades(path).results) for path in paths]
    namesakes = {name for _, results in files for name in _namesakes(results)}
    for path, results in files:
        for one in results:
            name = identity(one.student, one.identifier).name
            student = one.student if name in namesakes else name
            lab = one.practical, one.part or ""
            if not one.practical or not one.counts:
                students.setdefault(student, {})
                continue
            if origin.setdefault(lab, path) != path:
                raise CourseError(
                    path,
                    None,
                    f"{title_of(*lab)} is also in {origin[lab]}.",
                    "Grade the lab in one folder only: --practical leaves it out of the "
                    "other. Or name only one of the two files.",
                )
            students.setdefault(student, {})[lab] = _grade(one)
    ordered = sorted(students, key=by_name)
    course = [(lab.stem, lab.part) for lab in Course.read(ROOT).labs()]

    def place(lab: Lab) -> tuple[int, int, Lab]:
        """The number of its file, then that in the course; a lab that it lacks comes last."""
        known = course.index(lab) if lab in course else len(course)
        return paths.index(origin[lab]), known, lab

    return Gradebook(
        tuple(sorted(origin, key=place)),
        {name: students[name] for name in ordered},
        tuple(sorted(namesakes, key=by_name)),
    )


def gradebook_csv(book: Gradebook) -> str:
    """A row for each student; an empty cell is not known, 0 is known."""
    names = ["_".join(filter(None, lab)) for lab in book.labs]
    more = ["deducted"] if book.late else []
    rows = [["student", *names, "total", "possible", "unmarked", *more]]
    for student, grades in book.students.items():
        cells = [_shown(grades.get(lab)) for lab in book.labs]
        points, possible = book.total(student)
        unmarked = sum(one.unmarked for one in grades.values())
        sums = [number(points), str(possible), str(unmarked)] if possible else [""] * 3
        if book.late:
            sums.append(number(sum(one.deducted for one in grades.values())))
        rows.append([guarded(cell) for cell in (student, *cells, *sums)])
    return table(rows, mark=True)


def write_gradebook(book: Gradebook, out: Path) -> list[Path]:
    """Write ``gradebook.csv`` and ``gradebook.html``; return their paths."""
    require_writable(out)
    possible = {
        lab: max(
            (g[lab].possible for g in book.students.values() if lab in g), default=0
        )
        for lab in book.labs
    }
    page = render(
        "gradebook.html.j2",
        book=book,
        title=title_of,
        shown=_shown,
        possible=possible,
        late=book.late,
    )
    with all_or_none():
        write_whole(out / "gradebook.csv", gradebook_csv(book))
        write_whole(out / "gradebook.html", page)
    return [out / "gradebook.csv", out / "gradebook.html"]


def _namesakes(results: Iterable[NotebookGrade]) -> set[str]:
    students = {(one.student, one.identifier) for one in results}
    count = Counter(identity(*one).name for one in students)
    return {name for name, many in count.items() if many > 1}


def _grade(one: NotebookGrade) -> LabGrade:
    marks = sum(answer.marks or 0 for answer in one.written)
    possible = one.points + sum(answer.points for answer in one.written)
    unmarked = sum(
        answer.marks is None and answer.text.strip() not in PLACEHOLDERS
        for answer in one.written
    )
    deducted = float(one.late.deducted) if one.late else 0.0
    # The deduction is rounded, so it may be larger by a rounding error.
    points = max(0.0, one.earned + marks - deducted) if one.graded else None
    return LabGrade(points, possible, unmarked, deducted)


def _shown(grade: LabGrade | None) -> str:
    return "" if grade is None or grade.points is None else number(grade.points)
