"""The course as data: its practicals, the labs of each, and their files.

A *practical* is a stem, such as ``deep_ensembles``, with its solutions and its checks. It has one
*lab* or several; a lab is one page to read and one notebook to complete. The stem and the lab
are in the names of both files: ``01-deep-ensembles.md``, or ``01a-deep-ensembles.md`` and
``01b-deep-ensembles.md``. Names of files, stems and ids are converted here and, for what
students import, in ``course.task``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Self

import nbformat

from course.task import stem_of
from project.closure import closure
from project.errors import CourseError
from project.files import read_text
from project.source import Module, files_of, read_solutions

ANSWER_HERE = "*Write your answer here.*"
NAME = re.compile(r"(?P<number>\d\d)(?P<part>[a-z]?)-(?P<stem>.+)")
HEADING = re.compile(r"^# +(.+?)\s*$", re.MULTILINE)
ROOT = Path(__file__).parents[1]
# Words of a practical's name that a stem does not spell as the book does.
SPELLED = {"Warm up": "Warm-up", " backprop": " Backprop"}


@dataclass(frozen=True)
class Lab:
    """One page to read and one notebook to complete.

    ``chapter`` is the page's file, ``book/<number><part>-<stem>.md``; ``part`` is a letter if the
    practical has several labs, else empty.
    """

    root: Path
    chapter: Path

    @property
    def number(self) -> str:
        """The practical's number, two digits."""
        return self._part("number")

    @property
    def part(self) -> str:
        """The lab's letter, or the empty string."""
        return self._part("part")

    @property
    def stem(self) -> str:
        """The practical's stem."""
        return stem_of(self._part("stem"))

    @property
    def name(self) -> str:
        """The stem and the letter: ``deep_ensembles`` or ``deep_ensembles_a``."""
        return lab_name(self.stem, self.part)

    @property
    def label(self) -> str:
        """The number and the letter, as the book has them: ``1a``."""
        return f"{int(self.number or 0)}{self.part}"

    @property
    def title(self) -> str:
        """``Lab 6a: Conformal prediction``; see ``title_of``."""
        return title_of(self.stem, self.part, self.root)

    @property
    def checks(self) -> str:
        """The full name of the package of the practical's checks."""
        return f"course.checks.{self.stem}"

    @property
    def exercise(self) -> Path:
        """The file of the exercise; it exists once ``course exercises`` has written it."""
        return self.root / "exercises" / f"{self.chapter.stem}.ipynb"

    def released(self) -> nbformat.NotebookNode:
        """Read the exercise as it is handed out.

        Raises:
            CourseError: there is none, or it is not a notebook.
        """
        remedy = "Write it with `course exercises`."
        if not self.exercise.is_file():
            problem = f"There is no exercise of {self.name}."
            raise CourseError(self.exercise, None, problem, remedy)
        try:
            return nbformat.reads(read_text(self.exercise), as_version=4)
        except (ValueError, nbformat.ValidationError, AttributeError):
            problem = "It is not a notebook."
            raise CourseError(self.exercise, None, problem, remedy) from None

    def tasks(self) -> list[str]:
        """List the ids of the tasks of the exercise, in order.

        Raises:
            CourseError: there is no exercise.
        """
        told = [cell.metadata.get("course", {}) for cell in self.released().cells]
        return [course["task"] for course in told if course.get("role") == "task"]

    def solutions(self) -> Module:
        """Parse the practical's reference solutions.

        Raises:
            CourseError: as ``project.source.read_solutions``.
        """
        return read_solutions(self.root, self.stem)

    def closure(self) -> frozenset[Path]:
        """Find the files that the exercise depends on, its checks and guesses among them."""
        cells = self.released().cells
        code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
        more = self.checks, f"{self.checks}.guesses"
        return closure(self.root, code, self.exercise, *more)

    def _part(self, name: str) -> str:
        match = NAME.fullmatch(self.chapter.stem)
        return match[name] if match else ""


@dataclass(frozen=True)
class Practical:
    """A practical: its stem, and its labs in order."""

    stem: str
    labs: tuple[Lab, ...]

    @property
    def title(self) -> str:
        """``deep_ensembles`` → ``Deep ensembles``."""
        return title_of(self.stem)

    def __str__(self) -> str:
        """``deep_ensembles (deep_ensembles_a, deep_ensembles_b)``."""
        labs = [lab.name for lab in self.labs if lab.part]
        return f"{self.stem} ({', '.join(labs)})" if labs else self.stem


@dataclass(frozen=True)
class Course:
    """A checkout: its folder, and its practicals in order."""

    root: Path
    practicals: tuple[Practical, ...]

    @classmethod
    def read(cls, root: Path) -> Self:
        """Find the practicals: chapters that have reference solutions."""
        paths = sorted((root / "book").glob("[0-9][0-9]*-*.md"))
        labs = [Lab(root, path) for path in paths if NAME.fullmatch(path.stem)]
        labs = [lab for lab in labs if files_of(root, lab.stem)]
        grouped = groupby(labs, key=attrgetter("stem"))
        return cls(root, tuple(Practical(stem, tuple(them)) for stem, them in grouped))

    @property
    def stems(self) -> list[str]:
        """The practicals' stems."""
        return [practical.stem for practical in self.practicals]

    def labs(self, *names: str) -> list[Lab]:
        """List the labs of the named practicals, or all labs if none is named.

        Args:
            names: stems, or names of single labs, with hyphens or underscores.

        Raises:
            CourseError: there is no such practical, or none at all.
        """
        known = [lab for practical in self.practicals for lab in practical.labs]
        wanted = {stem_of(name) for name in names}
        unknown = sorted(wanted - {n for lab in known for n in (lab.stem, lab.name)})
        if unknown or not known:
            raise CourseError(
                unknown[0] if known else self.root / "book",
                None,
                "There is no such practical or lab."
                if known
                else "It holds no practical.",
                f"There are {', '.join(map(str, self.practicals))}."
                if known
                else "Use a checkout that holds the chapters.",
            )
        if not wanted:
            return known
        return [lab for lab in known if wanted & {lab.stem, lab.name}]

    def lab(self, name: str) -> Lab:
        """Return the lab of this name.

        Raises:
            CourseError: there is none, or the practical of this name has several.
        """
        found = self.labs(name)
        if len(found) > 1:
            raise CourseError(
                self.root / "book",
                None,
                f"The practical {name!r} has several labs.",
                f"Name one of {', '.join(lab.name for lab in found)}.",
            )
        return found[0]


def lab_name(stem: str, part: str) -> str:
    """``deep_ensembles``, or ``deep_ensembles_a`` if the practical has several labs."""
    return f"{stem}_{part}" if part else stem


def cell_id(task_id: str, role: str = "") -> str:
    """Return the id of a task's cell, or of one that belongs to it, such as its ``check``.

    ``deep-ensembles/heads`` → ``deep-ensembles--heads``, ``deep-ensembles--heads--check``.
    """
    return "--".join(filter(None, [*task_id.split("/"), role]))


def title_of(stem: str, part: str = "", root: Path = ROOT) -> str:
    """Name a lab, ``Lab 6a: Conformal prediction``, or a practical, ``Acting on uncertainty``.

    A lab is called by the heading of its page in the book. A practical of several labs has no
    page, so its name is made of the stem, and so is that of a lab that the book lacks.

    Args:
        stem: the practical's.
        part: the lab's letter; the empty string for the practical, or for its only lab.
        root: the checkout that has the book.
    """
    if found := _headings(root).get(lab_name(stem, part)):
        return found
    title = stem.replace("_", " ").capitalize() or "Unknown practical"
    for plain, usual in SPELLED.items():
        title = title.replace(plain, usual)
    return f"{title} {part}".strip()


@cache
def _headings(root: Path) -> dict[str, str]:
    """The titles of the labs of a checkout, by name."""
    found = {}
    for practical in Course.read(root).practicals:
        for lab in practical.labs:
            heading = HEADING.search(read_text(lab.chapter))
            if heading:
                found[lab.name] = f"Lab {lab.label}: {heading[1]}"
    return found


def lab_of(chapter: Path) -> Lab:
    """Return the lab of a page, which is in the folder ``book``."""
    return Lab(chapter.parents[1], chapter)
