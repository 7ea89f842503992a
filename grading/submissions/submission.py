"""A student's notebook for one lab, or the reason why there is none."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grading.flags import FLAGS, flag
from grading.record import CHANGED, Flag
from grading.submissions.cells import MAX_BYTES, NotGradable
from grading.submissions.files import READS_BADLY, read_bytes
from project.practicals import lab_name


@dataclass(frozen=True)
class Submission:
    """One notebook that one student submitted, or the reason why there is none.

    Args:
        student: the name that the platform gives. It has no slash and can be part of a
            path; otherwise it may be anything, such as ``=1+1`` or ``<b>``.
        identifier: the platform's number for the student, or the empty string.
        practical: the stem, or the empty string if it is unknown.
        notebook: the file's name, without what the platform adds; unique for the student,
            and without a slash.
        path: the file, or the zip that contains it.
        member: its index in the zip, or None.
        size: in bytes.
        digest: SHA-256 of the content, or of its beginning if it is too large to read.
        problem: why it cannot be graded, in one sentence; empty if it can be.
        flags: what a person should know.
        part: the lab's letter, or the empty string if its practical has only one.
    """

    student: str
    identifier: str
    practical: str
    notebook: str
    path: Path
    member: int | None = None
    size: int = 0
    digest: str = ""
    problem: str = ""
    flags: tuple[Flag, ...] = ()
    part: str = ""

    @property
    def lab(self) -> str:
        """The name of the lab, or the empty string if it is unknown."""
        return lab_name(self.practical, self.part)

    def read(self) -> bytes:
        """Return the content of the notebook.

        Raises:
            NotGradable: it cannot be read, or has changed since it was found.
        """
        if self.problem:
            raise NotGradable(self.problem)
        try:
            data = read_bytes(self.path, self.member, MAX_BYTES + 1)
        except READS_BADLY:
            raise NotGradable(FLAGS["unreadable"]) from None
        if hashlib.sha256(data).hexdigest() != self.digest:
            raise NotGradable(CHANGED)
        return data


def with_problem(found: Submission, code: str, detail: str = "") -> Submission:
    """Return the submission marked as not gradable, with the flag that says why."""
    why = flag(code, found.notebook, detail=detail)
    return with_flags(replace(found, problem=why.message), why)


def with_flags(found: Submission, *flags: Flag) -> Submission:
    """Return the submission with further flags, each once."""
    return replace(found, flags=tuple(dict.fromkeys((*found.flags, *flags))))


def with_unique_names(found: Sequence[Submission]) -> tuple[Submission, ...]:
    """Make each student's notebook names unique, even where a disk ignores case."""
    seen: set[tuple[str, str, str]] = set()
    result = []
    for one in found:
        stem, suffix = os.path.splitext(one.notebook)
        student = one.student.casefold(), one.identifier
        name, number = one.notebook, 1
        while (*student, name.casefold()) in seen:
            number += 1
            name = f"{stem} ({number}){suffix}"
        seen.add((*student, name.casefold()))
        result.append(replace(one, notebook=name))
    return tuple(result)
