"""The practicals of a checkout: the names of their files, and their released exercises."""

from __future__ import annotations

from pathlib import Path

import nbformat

from project.errors import CourseError
from project.source import files_of

ANSWER_HERE = "*Write your answer here.*"


def stem_of(path: Path) -> str:
    """Return the stem of a practical: ``book/01-deep-ensembles.md`` → ``deep_ensembles``."""
    return path.stem.partition("-")[2].replace("-", "_")


def chapters(root: Path) -> list[Path]:
    """List the chapters that have exercises, in order: those with reference solutions."""
    paths = sorted((root / "book").glob("[0-9][0-9]-*.md"))
    return [path for path in paths if files_of(root, stem_of(path))]


def chosen(root: Path, stems: tuple[str, ...]) -> list[Path]:
    """List the chapters of the named practicals, or all of them if none is named.

    Raises:
        CourseError: there is no such practical.
    """
    known = chapters(root)
    wanted = {stem.replace("-", "_") for stem in stems}
    unknown = wanted - {stem_of(path) for path in known}
    if unknown:
        names = ", ".join(stem_of(path) for path in known)
        raise CourseError(
            root / "book",
            None,
            f"There is no practical {unknown.pop()!r}.",
            f"There are {names}.",
        )
    return [path for path in known if not wanted or stem_of(path) in wanted]


def exercise_path(root: Path, chapter: Path) -> Path:
    """Return the path of a chapter's exercise notebook."""
    return root / "exercises" / f"{chapter.stem}.ipynb"


def path_of(root: Path, stem: str) -> Path:
    """Find the file of a practical's exercise.

    Raises:
        CourseError: there is none.
    """
    paths = list((root / "exercises").glob(f"*-{stem.replace('_', '-')}.ipynb"))
    if len(paths) != 1:
        raise CourseError(
            root / "exercises",
            None,
            f"There is no exercise of {stem}.",
            "Write it with `course exercises`.",
        )
    return paths[0]


def released(root: Path, stem: str) -> nbformat.NotebookNode:
    """Read the released exercise of a practical.

    Raises:
        CourseError: there is none.
    """
    return nbformat.reads(path_of(root, stem).read_text("utf-8"), as_version=4)
