"""Store grades on disk, so that a run that was stopped can be resumed."""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import asdict, fields
from pathlib import Path
from types import NoneType

import course
from grading.record import STATUSES, Flag, Result, Verdict, Written
from grading.sandbox.bubblewrap import Limits
from grading.submissions.intake import Submission
from grading.worker import blank
from project.closure import closure, digest_of
from project.files import write_whole
from project.practicals import path_of
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
        with contextlib.suppress(FileNotFoundError, ValueError, TypeError, KeyError):
            result = Result.from_json(json.loads(self._path(name).read_text("utf-8")))
            return result if _has_types(result) else None
        return None

    def put(self, name: str, result: Result) -> None:
        """Store a grade."""
        write_whole(self._path(name), json.dumps(result.to_json(), ensure_ascii=True))

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"


def machinery_of(root: Path, stem: str, limits: Limits, sandboxed: bool) -> str:
    """A hash of everything that a grade in a practical depends on besides the submission."""
    package = Path(course.__file__).parents[1]
    code = closure(
        package,
        "",
        Path(course.__file__),
        "grading.worker",
        f"course.checks.{stem}",
    )
    material = [path_of(root, stem), *files_of(root, stem)]
    parts = [
        digest_of(package, code),
        digest_of(root, material),
        asdict(limits),
        sandboxed,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def name_of(submission: Submission, machinery: str) -> str:
    """The name under which the grade of a submission is stored."""
    parts = [
        blank(submission).student,
        submission.practical,
        submission.notebook,
        submission.digest,
        submission.problem,
        *(item.code for item in submission.flags),
        machinery,
    ]
    text = json.dumps(parts, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def _has_types(record: Result | Verdict | Written | Flag) -> bool:
    """Are the fields of a record, and of records in it, of the types that its class declares?"""
    types = {
        "int": int,
        "bool": bool,
        "float": (int, float),
        "float | None": (int, float, NoneType),
    }
    for one in fields(record):
        value = getattr(record, one.name)
        if isinstance(value, tuple):
            good = all(map(_has_types, value))
        elif one.type == "Status":
            good = value in STATUSES
        else:
            good = isinstance(value, types.get(one.type, str))
        if not good:
            return False
    return True
