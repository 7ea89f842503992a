"""The data that all submissions of one lab share: the release and the right values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from nbformat import NotebookNode

from grading.execution.expected import Key, read
from project.practicals import Lab


@dataclass(frozen=True)
class LabMaterial:
    """The data that all submissions of one lab share.

    Args:
        lab: the lab.
        released: the release.
        reference: the source of each task's reference solution, by task.
        given: the sources of given definitions, by name.
        expected: the file of the expected values.
        keys: its content, by task.
    """

    lab: Lab
    released: NotebookNode
    reference: Mapping[str, str]
    given: Mapping[str, str]
    expected: Path
    keys: Mapping[str, Key]

    @classmethod
    def read(cls, lab: Lab, expected: Path) -> Self:
        """Read a lab of the checkout, with the file of its expected values.

        Raises:
            CourseError: it has no exercise, or no reference solution.
        """
        keys = read(expected)
        definitions = lab.solutions().definitions
        sources = {name: found.shown() for name, found in definitions.items()}
        reference = {task: sources.pop(key.name) for task, key in keys.items()}
        return cls(lab, lab.released(), reference, sources, expected, keys)
