"""The classes to grade: one that has solved everything, or a realistic mixture."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import cycle
from pathlib import Path
from random import Random

import nbformat
from nbformat import NotebookNode

from authoring.chapter import read_chapter
from authoring.exercises import generate
from course.task import Task, find, stem_of, task_id
from project.practicals import Course, Lab
from studies.attacks import CORPUS, notebook
from studies.mutants import equivalents, mutants
from studies.submissions import COURSE, write_class


def role(cell: NotebookNode) -> str | None:
    """Return the role of an exercise's cell, such as task, given or check; ``None`` without one."""
    return cell.metadata.get("course", {}).get("role")


@dataclass(frozen=True)
class Material:
    """Identical notebooks of a class that has solved everything.

    Args:
        root: the checkout.
        practical: the name of a lab; the stem, if its practical has only one.
        count: how many students.
    """

    root: Path
    practical: str
    count: int

    @cached_property
    def lab(self) -> Lab:
        """The practical's lab."""
        return Course.read(self.root).lab(self.practical)

    @property
    def name(self) -> str:
        """File name of the exercise, without its extension."""
        return self.lab.exercise.stem

    @property
    def students(self) -> list[str]:
        """Names of the students."""
        return [f"s{number:04d}" for number in range(self.count)]

    @cached_property
    def tasks(self) -> dict[str, str]:
        """Name of the function or class that each task asks for, by the task's id."""
        chapter = read_chapter(self.lab.chapter)
        cells = [cell for cell in chapter.cells if cell.role == "task"]
        return {task_id(chapter.stem, c.names[0]): c.names[0] for c in cells}

    @property
    def points(self) -> int:
        """Points of a notebook without a mistake."""
        return sum(find(task).points for task in self.tasks)

    def problem_with(self, scores: list[float]) -> str:
        """Say what is wrong with a grader's scores; the empty string if nothing is."""
        full = sum(score == self.points for score in scores)
        good = full == len(scores) == self.count
        return "" if good else f"{full} of {self.count} got full marks"

    def notebook(self, *, checks: bool = True) -> NotebookNode:
        """Return the solved exercise: imports, given code, tasks and optionally their checks."""
        text = generate(self.lab, solved=True)
        notebook = nbformat.reads(text, as_version=4)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        # The first cell without a role imports what the checks need.
        first = next(cell for cell in code if role(cell) is None)
        notebook.cells = [
            cell
            for cell in code
            if (role(cell) and (checks or role(cell) != "check")) or cell is first
        ]
        return notebook

    def write_submissions(
        self, folder: Path, pattern: str, students: list[str], *, checks: bool = True
    ) -> list[Path]:
        """Write every student's notebook to ``folder``, at the path given by ``pattern``."""
        text = nbformat.writes(self.notebook(checks=checks))
        paths = []
        for student in students:
            path = folder / pattern.format(student=student, name=self.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            paths.append(path)
        return paths


@cache
def mutants_of(id_: str) -> list[str]:
    """Return the sources of the mutants of a task's reference that its check refuses."""
    lab = COURSE.labs(stem_of(id_))[0]
    made = mutants(lab.solutions().definitions[find(id_).name])
    same = equivalents(id_)
    return [source for what, source in made.items() if what not in same]


def mutant(task: Task, draw: Random) -> str:
    """Draw a wrong answer that stands in a cell by itself, as students' do."""
    return draw.choice(mutants_of(task.id))


@dataclass(frozen=True)
class Mixed(Material):
    """A realistic class: answers right, wrong in many ways, or missing; each tenth hostile."""

    def write_submissions(
        self, folder: Path, pattern: str, students: list[str], *, checks: bool = True
    ) -> list[Path]:
        """Write the whole class, in the layout of ``write_class``."""
        write_class(folder, self.count, stems=(self.practical,), wrong=mutant)
        paths = sorted(folder.rglob("*.ipynb"))
        rows = tomllib.loads((CORPUS / "rows.toml").read_text("utf-8"))
        attacks = cycle(name for name, row in rows.items() if row.get("soon"))
        for path, name in zip(paths[::10], attacks, strict=False):
            path.write_bytes(notebook(name))
        return paths

    def problem_with(self, scores: list[float]) -> str:
        """Say how many have a score; the empty string if all have."""
        graded = len(scores)
        return "" if graded == self.count else f"{graded} of {self.count} are graded"
