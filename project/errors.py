"""Errors that name the file, the line and the remedy."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Self

SPACE = "Free some space, then run the same command again."
RIGHTS = "Name another path, or change its permissions."
REMEDIES = {
    errno.ENOSPC: SPACE,
    errno.EDQUOT: SPACE,
    errno.EFBIG: "Raise the limit on the size of a file (ulimit -f).",
    errno.EMFILE: "Raise the limit on open files (ulimit -n).",
    errno.EACCES: RIGHTS,
    errno.EPERM: RIGHTS,
    errno.EROFS: "Name a path on a disk that can be written to.",
    errno.ENOTDIR: "There is a file where a folder is needed: name another path.",
    errno.EEXIST: "There is a file where a folder is needed: name another path.",
    errno.EISDIR: "There is a folder where a file is needed: move it away.",
    errno.ENAMETOOLONG: "Name a shorter path.",
}


class CourseError(Exception):
    """An error in the project's files; the message says where it is and what to do."""

    def __init__(
        self, path: Path | str, line: int | None, problem: str, remedy: str
    ) -> None:
        place = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{place}: {problem} {remedy}")
        self.path, self.line, self.problem, self.remedy = path, line, problem, remedy

    @classmethod
    def of_system(cls, error: OSError) -> Self:
        """Convert an error of the operating system, adding its path and a remedy."""
        path = error.filename2 or error.filename or "course"
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        problem = (error.strerror or str(error) or type(error).__name__).rstrip(".")
        remedy = "Check that it exists and is intact, then run the command again."
        return cls(
            path if isinstance(path, str) else str(path),
            None,
            f"{problem}.",
            REMEDIES.get(error.errno, remedy),
        )

    def __reduce__(self) -> tuple:
        """Pickle by constructor arguments, to pass the error between processes."""
        return type(self), (self.path, self.line, self.problem, self.remedy)
