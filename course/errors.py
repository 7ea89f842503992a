"""Errors that name the file, the place and the remedy."""

from __future__ import annotations

from pathlib import Path


class CourseError(Exception):
    """Something in the project's own files is wrong; the message says where and what to do."""

    def __init__(
        self, path: Path | str, line: int | None, problem: str, remedy: str
    ) -> None:
        place = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{place}: {problem} {remedy}")
        self.path, self.line, self.problem, self.remedy = path, line, problem, remedy

    def __reduce__(self) -> tuple:
        """How it crosses from one process to another."""
        return type(self), (self.path, self.line, self.problem, self.remedy)
