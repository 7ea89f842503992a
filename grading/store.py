"""Store grades on disk, so that a run that was stopped can be resumed."""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import msgspec

import course
from grading.record import Result
from grading.sandbox.bubblewrap import Limits
from grading.submissions.intake import Submission
from grading.worker import blank
from project.closure import closure, digest_of
from project.files import write_whole
from project.practicals import Lab
from project.source import files_of


class Store:
    """Grades by name, one file each.

    Args:
        folder: contains them; it is created if it does not exist.

    Raises:
        OSError: a grade cannot be read or written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def get(self, name: str) -> Result | None:
        """Return the grade of this name; None if it is missing or damaged."""
        with contextlib.suppress(
            FileNotFoundError, ValueError, msgspec.ValidationError
        ):
            data = json.loads(self._path(name).read_text("utf-8"))
            return msgspec.convert(data, Result)
        return None

    def put(self, name: str, result: Result) -> None:
        """Store a grade."""
        write_whole(self._path(name), json.dumps(msgspec.to_builtins(result)))

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"


def machinery_of(lab: Lab, limits: Limits, sandboxed: bool) -> str:
    """A hash of what a grade in a lab depends on besides the submission and the packages.

    To judge again with another version of a package, grade into another folder.
    """
    package = Path(course.__file__).parents[1]
    code = closure(
        package,
        "",
        Path(course.__file__),
        "grading.worker",
        lab.checks,
    )
    lab.released()  # says so if there is none
    material = [lab.exercise, *files_of(lab.root, lab.stem)]
    parts = [
        digest_of(package, code),
        digest_of(lab.root, material),
        asdict(limits),
        sandboxed,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def name_of(submission: Submission, machinery: str) -> str:
    """The name under which the grade of a submission is stored."""
    parts = [
        blank(submission).student,
        submission.lab,
        submission.notebook,
        submission.digest,
        submission.problem,
        *(item.code for item in submission.flags),
        machinery,
    ]
    text = json.dumps(parts, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:40]
