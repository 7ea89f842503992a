"""Finds the submissions in whatever a learning platform gives: a folder, or a zip of one.

Read are ``<student>/<notebook>.ipynb``, also some folders deeper; what Moodle downloads,
``Family Given_12345_assignsubmission_file_x.ipynb`` or a folder of that name; what Canvas
downloads, ``familygiven_LATE_12345_67890_x-1.ipynb``; and ``<student>_x.ipynb``. Nothing
is ever extracted, no link is followed, and no file is read beyond a limit.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from course.errors import CourseError
from course.grading.flags import FLAGS, flag
from course.grading.handed_in.answers import practical_of
from course.grading.handed_in.cells import MAX_BYTES, NotGradable
from course.grading.handed_in.files import (
    READS_BADLY,
    Entry,
    archive_of,
    entries,
    read_bytes,
)
from course.grading.handed_in.names import Name, hidden, read_name, safe, student_of
from course.grading.record import Flag
from course.task import stems

# Of one student, so that nobody can use up what others need.
MAX_FILES_EACH, MAX_BYTES_EACH = 1_000, 10 * MAX_BYTES
NO_NOTEBOOK = FLAGS["no-notebook"]


@dataclass(frozen=True)
class Submission:
    """One notebook that one student handed in.

    Args:
        student: the name that the platform gives. It has no slash and can stand in a path;
            otherwise it may be anything, such as ``=1+1`` or ``<b>``.
        identifier: the platform's number for the student, or the empty string.
        practical: the stem, or the empty string if it cannot be told.
        notebook: the file's name, without what the platform adds; one of a kind for the
            student, and without a slash.
        path: the file, or the zip that holds it.
        member: its place in the zip, or None.
        size: in bytes.
        digest: SHA-256 of the content; of what is too large to read, of its beginning.
        problem: why it cannot be graded, in one sentence; empty if it may be.
        flags: what a person should know.
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

    def read(self) -> bytes:
        """The content of the notebook.

        Raises:
            NotGradable: it cannot be read, or is not what it was when it was found.
        """
        if self.problem:
            raise NotGradable(self.problem)
        try:
            data = read_bytes(self.path, self.member, MAX_BYTES + 1)
        except READS_BADLY:
            raise NotGradable(FLAGS["unreadable"]) from None
        if hashlib.sha256(data).hexdigest() != self.digest:
            raise NotGradable("The file was changed while it was being graded.")
        return data


@dataclass(frozen=True)
class Intake:
    """All that was found; ``ignored`` counts the files that are no notebooks."""

    submissions: tuple[Submission, ...]
    ignored: int


Found = list[tuple[Name, Submission]]


def find_submissions(path: Path) -> list[Submission]:
    """The submissions in a folder or a zip, in order of student and practical.

    Of several by one student for one practical the last that can be read is taken: the
    latest upload, then the highest number that a platform puts behind a name, then the
    last name.

    Raises:
        CourseError: there is no such path, or no submission in it.
    """
    return list(take_in(path).submissions)


def take_in(path: Path) -> Intake:
    """As ``find_submissions``, together with how many files were left aside.

    Raises:
        CourseError: there is no such path, or no submission in it.
    """
    listed = _without_wrapper(entries(path), path)
    around = (path if path.is_dir() else path.parent).resolve().name
    known, ignored = stems(), 0
    files, read = Counter(), Counter()
    found: Found = []
    oddities: Found = []
    with archive_of(path, listed) as archive:
        for entry in listed:
            parts, outside = safe(entry.parts)
            files.update(parts[:1])
            if (
                not parts
                or any(hidden(part) for part in parts)
                or files[parts[0]] > MAX_FILES_EACH
            ):
                ignored += 1
                continue
            name = read_name(parts, around, known, outside=outside)
            one = Submission(
                name.student,
                name.identifier,
                "",
                name.notebook,
                entry.path,
                entry.member,
                flags=(flag("unsafe-name", parts[-1]),) if outside else (),
            )
            suffix = parts[-1].lower().rpartition(".")[2]
            odd = entry.odd or ("nested-zip" if suffix == "zip" else "")
            if suffix == "ipynb" and odd in ("", "unreadable"):
                left = MAX_BYTES_EACH - read[parts[0]]
                one = _problem(one, odd) if odd else _read(one, known, left, archive)
                one = _flagged(one, flag("late")) if name.late else one
                read[parts[0]] += min(one.size, MAX_BYTES)
                found.append((name, one))
                continue
            ignored += not odd
            if odd or name.identifier:
                oddities.append((name, _problem(one, odd or "no-notebook")))
    submissions = _unique(_last_of_each(_with_oddities(*_apart(found, oddities))))
    if not submissions:
        raise CourseError(
            path,
            None,
            "There is no notebook in it.",
            "Give the folder or the zip that the learning platform downloads, or a folder "
            "that holds <student>/<notebook>.ipynb.",
        )
    return Intake(tuple(submissions), ignored)


def _without_wrapper(listed: list[Entry], path: Path) -> list[Entry]:
    """Take away the one folder that a zip often puts around everything."""
    tops = {entry.parts[0] for entry in listed}
    if len(tops) != 1 or any(len(entry.parts) < 2 for entry in listed):
        return listed
    # A student who names a file as a platform would does not become another one.
    students = {student_of(entry.parts[1]) for entry in listed} - {""}
    outside = any(student_of(top) for top in tops)
    around = len(students) > 1 or (path.is_file() and tops == {path.stem})
    if outside or not around:
        return listed
    return [replace(entry, parts=entry.parts[1:]) for entry in listed]


def _read(
    found: Submission, known: list[str], left: int, archive: zipfile.ZipFile | None
) -> Submission:
    """What the content says, as far as it is read."""
    most = max(0, min(MAX_BYTES, left))
    try:
        data = read_bytes(found.path, found.member, most + 1, archive)
        size = len(data)
        if found.member is None:
            size = max(size, found.path.lstat().st_size)
    except READS_BADLY:
        return _problem(found, "unreadable")
    digest = hashlib.sha256(data).hexdigest()
    practical = practical_of(data if size <= most else b"", found.notebook, known)
    found = replace(found, size=size, digest=digest, practical=practical)
    if size > most:
        return _problem(found, "too-large")
    return found if practical else _problem(found, "unknown-practical")


def _problem(found: Submission, code: str) -> Submission:
    return _flagged(replace(found, problem=FLAGS[code]), flag(code, found.notebook))


def _flagged(found: Submission, *flags: Flag) -> Submission:
    return replace(found, flags=tuple(dict.fromkeys((*found.flags, *flags))))


def _apart(found: Found, oddities: Found) -> tuple[Found, Found]:
    """Tell students of one name apart by the platform's number."""
    numbers: dict[str, set[str]] = {}
    for name, _ in [*found, *oddities]:
        numbers.setdefault(name.student, set()).add(name.identifier)

    def apart(name: Name, one: Submission) -> tuple[Name, Submission]:
        if len(numbers[name.student]) > 1 and name.identifier:
            one = replace(one, student=f"{name.student} ({name.identifier})")
        return name, one

    return [apart(*pair) for pair in found], [apart(*pair) for pair in oddities]


def _with_oddities(found: Found, oddities: Found) -> Found:
    """Put what is no notebook on the student's notebooks, or where they would be."""
    flags: dict[str, list[Flag]] = {}
    missing: dict[str, tuple[Name, Submission]] = {}
    students = {one.student for _, one in found}
    for name, odd in oddities:
        if odd.student not in students:
            before = missing.get(odd.student)
            if before is None or before[1].problem == NO_NOTEBOOK:
                missing[odd.student] = name, odd
        if odd.problem != NO_NOTEBOOK:
            flags.setdefault(odd.student, []).extend(odd.flags)
    return [
        (name, _flagged(one, *flags.get(one.student, [])))
        for name, one in [*found, *missing.values()]
    ]


def _last_of_each(found: Found) -> list[Submission]:
    """Of each student and practical the last notebook; all those of no known practical."""
    groups: dict[tuple, list[Submission]] = {}
    for number, (_, one) in enumerate(sorted(found, key=lambda pair: pair[0].place)):
        group = (one.student, one.practical, -1 if one.practical else number)
        groups.setdefault(group, []).append(one)
    taken = []
    for group in groups.values():
        last = ([one for one in group if not one.problem] or group)[-1]
        if len({one.digest for one in group}) > 1:
            detail = f"of {len(group)}"
            last = _flagged(last, flag("resubmitted", last.notebook, detail=detail))
        taken.append(last)
    return sorted(taken, key=lambda one: (one.student, one.practical, one.notebook))


def _unique(found: list[Submission]) -> list[Submission]:
    """Names of notebooks that are one of a kind for each student, whatever a disk tells apart."""
    seen: set[tuple[str, str]] = set()
    result = []
    for one in found:
        stem, dot, suffix = one.notebook.rpartition(".")
        name, number = one.notebook, 1
        while (one.student.casefold(), name.casefold()) in seen:
            number += 1
            name = f"{stem} ({number}){dot}{suffix}"
        seen.add((one.student.casefold(), name.casefold()))
        result.append(replace(one, notebook=name))
    return result
