"""Read submitted files: bytes in this process, up to a limit; JSON in processes of their own."""

from __future__ import annotations

import hashlib
import itertools
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import nbformat

from grading.bounded import SECONDS, TooCostly, bounded
from grading.submissions.answers import read_answers
from grading.submissions.cells import MAX_BYTES
from grading.submissions.files import READS_BADLY, Entry, read_bytes
from grading.submissions.labs import KnownLab, lab_of

T = TypeVar("T")
# Limits for each student, so that nobody can use up what others need.
SECONDS_EACH = 3 * SECONDS
BYTES_EACH = 10 * MAX_BYTES
BATCH, BATCH_BYTES = 64, 4_000_000  # files and bytes of one call
READERS = 2  # calls at a time
UNTOUCHED, AROUND, ANSWERED = 0, 1, 2


@dataclass
class ReadingBudget:
    """The remaining limits for reading one student's files, so that nobody else has to wait.

    Args:
        seconds: of processor time.
        size: in bytes.
    """

    seconds: float = field(default_factory=lambda: SECONDS_EACH)
    size: int = field(default_factory=lambda: BYTES_EACH)

    def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function through ``bounded``, within what is left of the budget.

        Raises:
            TooCostly: nothing is left, or the call took too much.
        """
        most = min(SECONDS, self.seconds)
        if most <= 0:
            raise TooCostly("nothing is left of what reading this student's may cost")
        began = time.monotonic()
        try:
            result, took = bounded(_timed, function, arguments, seconds=most)
        except Exception:
            self.seconds -= min(most, time.monotonic() - began)
            raise
        self.seconds -= took
        return result


@dataclass(frozen=True)
class Content:
    """The properties of a file's content.

    Args:
        digest: SHA-256 of the content, or of its beginning if it is too large to read.
        size: in bytes.
        modified: seconds since some moment, or 0.
        practical: the stem, or the empty string.
        part: the lab's letter, or the empty string.
        problem: the code of a flag if it cannot be read, or the empty string.
        detail: further details of the problem.
    """

    digest: str = ""
    size: int = 0
    modified: float = 0.0
    practical: str = ""
    part: str = ""
    problem: str = ""
    detail: str = ""


@dataclass(frozen=True)
class LoadedFile:
    """A file that has been read.

    Args:
        content: the properties known so far.
        data: its bytes.
        name: the name that determines the lab if the content does not, or empty.
        budget: of its student.
    """

    content: Content
    data: bytes
    name: str
    budget: ReadingBudget


def read(entry: Entry, budget: ReadingBudget) -> tuple[Content, bytes]:
    """Read a file; return no bytes if it is too large."""
    if entry.odd:
        return Content(problem=entry.odd), b""
    most = max(0, min(MAX_BYTES, budget.size))
    try:
        data = read_bytes(entry.path, entry.member, most + 1)
        size, modified = len(data), entry.modified
        if entry.member is None:
            stat = entry.path.lstat()
            size, modified = max(size, stat.st_size), stat.st_mtime
    except Exception as error:
        known = isinstance(error, READS_BADLY)
        detail = "" if known else type(error).__name__
        return Content(problem="unreadable", detail=detail), b""
    budget.size -= min(size, MAX_BYTES)
    digest = hashlib.sha256(data).hexdigest()
    if size > most:
        return Content(digest, size, modified, problem="too-large"), b""
    return Content(digest, size, modified), data


def with_labs(
    files: Iterable[LoadedFile], known: Mapping[str, KnownLab]
) -> Iterator[Content]:
    """Determine the labs of files, in order.

    Args:
        files: in any order.
        known: all labs by name.
    """
    waiting: deque[Future[list[Content]]] = deque()
    batch: list[LoadedFile] = []
    held = 0
    with ThreadPoolExecutor(READERS, thread_name_prefix="read") as pool:
        for one in files:
            batch.append(one)
            held += len(one.data)
            if len(batch) >= BATCH or held > BATCH_BYTES:
                waiting.append(pool.submit(_with_labs, batch, known))
                batch, held = [], 0
                if len(waiting) > READERS:
                    yield from waiting.popleft().result()
        waiting.append(pool.submit(_with_labs, batch, known))
        for future in waiting:
            yield from future.result()


def _with_labs(batch: list[LoadedFile], known: Mapping[str, KnownLab]) -> list[Content]:
    within = [one.budget.seconds > 0 for one in batch]
    asked = [(one.data, one.name) for one in itertools.compress(batch, within)]
    try:
        found = iter(bounded(_each, lab_of, asked, known) if asked else [])
    except Exception:  # one by one, so that a bad file affects only its own student
        return [_by_itself(one, known) for one in batch]
    contents = []
    for one, is_within in zip(batch, within, strict=True):
        if is_within:
            (lab, problem), seconds = next(found)
            one.budget.seconds -= seconds
            contents.append(_of_lab(one.content, known.get(lab), problem))
        else:
            contents.append(_by_itself(one, known))
    return contents


def _by_itself(one: LoadedFile, known: Mapping[str, KnownLab]) -> Content:
    try:
        lab, problem = one.budget.call(lab_of, one.data, one.name, known)
    except Exception as error:
        # The name may still determine the lab, at no cost.
        lab, _ = lab_of(b"", one.name, known)
        problem, detail = _problem(error)
        content = _of_lab(one.content, known.get(lab))
        if content.problem:
            return content
        return replace(content, problem=problem, detail=detail)
    return _of_lab(one.content, known.get(lab), problem)


def _of_lab(content: Content, lab: KnownLab | None, problem: str = "") -> Content:
    """Add the lab; if it is unknown, add what is wrong with the file, which may be why."""
    if lab:
        return replace(content, practical=lab.stem, part=lab.part)
    if content.problem:  # it has not been read
        return content
    return replace(content, detail=problem[:1].lower() + problem[1:].removesuffix("."))


def _problem(error: Exception) -> tuple[str, str]:
    """The flag of a file that could not be read, and the detail it shows in brackets."""
    if isinstance(error, TooCostly):
        return "too-costly", ""
    return "unreadable", type(error).__name__


def _each(
    function: Callable[..., T],
    contents: list[tuple[bytes, str]],
    known: Mapping[str, KnownLab],
) -> list[tuple[T, float]]:
    return [_timed(function, (data, name, known)) for data, name in contents]


def _timed(function: Callable[..., T], arguments: tuple) -> tuple[T, float]:
    began = time.process_time()
    return function(*arguments), time.process_time() - began


def written(data: bytes, exercise: Path, budget: ReadingBudget) -> int:
    """The extent of the student's work in a notebook: ``UNTOUCHED``, ``AROUND``, ``ANSWERED``.

    ``AROUND`` means that cells were added or edited, but no answer was. The result is -1 if the
    file is not a notebook or costs too much to read.
    """
    try:
        return budget.call(_written, data, str(exercise))
    except Exception:  # the problem is reported when it is graded
        return -1


def _written(data: bytes, exercise: str) -> int:
    answers = read_answers(data, _released(exercise))
    if any(not one.untouched and one.source.strip() for one in answers.tasks.values()):
        return ANSWERED
    if any(text.strip() for text in answers.written.values()):
        # A note in a cell of the student's own may have been taken for an answer in words.
        found = any(flag.code == "recovered-words" for flag in answers.flags)
        return AROUND if found else ANSWERED
    return AROUND if answers.added or answers.around else UNTOUCHED


@lru_cache(maxsize=16)
def _released(path: str) -> nbformat.NotebookNode:
    return nbformat.reads(Path(path).read_text("utf-8"), as_version=4)
