"""The data that all submissions of one practical share: the release and the right values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from nbformat import NotebookNode

from grading.execution.expected import Key, read
from project.practicals import released
from project.source import read_solutions


@dataclass(frozen=True)
class Practical:
    """The data that all submissions of one practical share.

    Args:
        stem: such as ``deep_ensembles``.
        released: the release.
        reference: the source of each task's reference solution, by task.
        given: the sources of given definitions, by name.
        expected: the file of the expected values.
        keys: its content, by task.
    """

    stem: str
    released: NotebookNode
    reference: Mapping[str, str]
    given: Mapping[str, str]
    expected: Path
    keys: Mapping[str, Key]

    @classmethod
    def read(cls, root: Path, stem: str, expected: Path) -> Self:
        """Read a practical of the checkout, with the file of its expected values.

        Raises:
            CourseError: it has no exercise, or no reference solution.
        """
        keys = read(expected)
        definitions = read_solutions(root, stem).definitions
        sources = {name: found.shown() for name, found in definitions.items()}
        reference = {task: sources.pop(key.name) for task, key in keys.items()}
        return cls(stem, released(root, stem), reference, sources, expected, keys)
