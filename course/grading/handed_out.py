"""The exercises as a class was given them: what is handed in is held against them."""

from __future__ import annotations

from pathlib import Path

import nbformat

from course.errors import CourseError


def path_of(root: Path, stem: str) -> Path:
    """The file of a practical's exercise.

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
    """The exercise of a practical as it is handed out.

    Raises:
        CourseError: there is none.
    """
    return nbformat.reads(path_of(root, stem).read_text("utf-8"), as_version=4)
