"""Reads what was handed in: bytes here, up to a limit; JSON in processes that can be ended."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import nbformat

from grading.bounded import SECONDS, TooCostly, bounded
from grading.submissions.answers import practical_of, read_answers
from grading.submissions.cells import MAX_BYTES
from grading.submissions.files import READS_BADLY, Entry, read_bytes

T = TypeVar("T")
# Of one student, so that nobody can use up what others need.
SECONDS_EACH = 3 * SECONDS
BYTES_EACH = 10 * MAX_BYTES
BATCH, BATCH_BYTES = 64, 4_000_000  # of one call
HANDS = 2  # calls at a time
UNTOUCHED, AROUND, ANSWERED = 0, 1, 2


@dataclass
class Budget:
    """What is left of what reading may cost one student: nobody else waits for more.

    Args:
        seconds: of processor time.
        size: in bytes.
    """

    seconds: float = field(default_factory=lambda: SECONDS_EACH)
    size: int = field(default_factory=lambda: BYTES_EACH)

    def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call ``bounded``, for as long as there is something left.

        Raises:
            TooCostly: there is not, or the call took too much.
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
    """What a file holds.

    Args:
        digest: SHA-256; of what is too large to read, of its beginning.
        size: in bytes.
        modified: seconds since some moment, or 0.
        practical: the stem, or the empty string.
        problem: the code of a flag if it cannot be read, or the empty string.
        detail: what more there is to say of the problem.
    """

    digest: str = ""
    size: int = 0
    modified: float = 0.0
    practical: str = ""
    problem: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Given:
    """A file that has been read.

    Args:
        content: what is known of it.
        data: its bytes.
        name: by which to tell the practical if the content does not, or the empty string.
        budget: of its student.
    """

    content: Content
    data: bytes
    name: str
    budget: Budget


def read(entry: Entry, budget: Budget) -> tuple[Content, bytes]:
    """A file's content; nothing of one that is too large."""
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


def practicals(given: Iterable[Given], known: list[str]) -> Iterator[Content]:
    """Tell the practicals of files, in order.

    Args:
        given: the files.
        known: the stems of the practicals.
    """
    waiting: deque[Future[list[Content]]] = deque()
    batch: list[Given] = []
    held = 0
    with ThreadPoolExecutor(HANDS, thread_name_prefix="read") as hands:
        for one in given:
            batch.append(one)
            held += len(one.data)
            if len(batch) >= BATCH or held > BATCH_BYTES:
                waiting.append(hands.submit(_with_practicals, batch, known))
                batch, held = [], 0
                if len(waiting) > HANDS:
                    yield from waiting.popleft().result()
        waiting.append(hands.submit(_with_practicals, batch, known))
        for future in waiting:
            yield from future.result()


def _with_practicals(batch: list[Given], known: list[str]) -> list[Content]:
    open_ = [one for one in batch if one.budget.seconds > 0]
    try:
        asked = [(one.data, one.name) for one in open_]
        found = bounded(_each, practical_of, asked, known) if asked else []
    except Exception:  # each by itself: one file costs its own student's row
        return [_by_itself(one, known) for one in batch]
    told = {}
    for one, (stem, seconds) in zip(open_, found, strict=True):
        one.budget.seconds -= seconds
        told[id(one)] = replace(one.content, practical=stem)
    return [told.get(id(one)) or _by_itself(one, known) for one in batch]


def _by_itself(one: Given, known: list[str]) -> Content:
    try:
        stem = one.budget.call(practical_of, one.data, one.name, known)
    except Exception as error:
        # The practical may still be told from the name, which costs nothing.
        stem = practical_of(b"", one.name, known)
        problem, detail = _problem(error)
        content = replace(one.content, practical=stem)
        if content.problem:
            return content
        return replace(content, problem=problem, detail=detail)
    return replace(one.content, practical=stem)


def _problem(error: Exception) -> tuple[str, str]:
    """The flag of a file that could not be read, and what it says in brackets."""
    if isinstance(error, TooCostly):
        return "too-costly", ""
    return "unreadable", type(error).__name__


def _each(
    function: Callable[..., T], given: list[tuple[bytes, str]], known: list[str]
) -> list[tuple[T, float]]:
    return [_timed(function, (data, name, known)) for data, name in given]


def _timed(function: Callable[..., T], arguments: tuple) -> tuple[T, float]:
    began = time.process_time()
    return function(*arguments), time.process_time() - began


def written(data: bytes, exercise: Path, budget: Budget) -> int:
    """How much of a notebook is the student's: ``UNTOUCHED``, ``AROUND`` or ``ANSWERED``.

    ``AROUND`` means that cells were added or edited, and no answer. It is -1 if the file
    is no notebook or costs too much to read.
    """
    try:
        return budget.call(_written, data, str(exercise))
    except Exception:  # what is wrong with it is said when it is graded
        return -1


def _written(data: bytes, exercise: str) -> int:
    answers = read_answers(data, _released(exercise))
    if any(not one.untouched and one.source.strip() for one in answers.tasks.values()):
        return ANSWERED
    if any(text.strip() for text in answers.written.values()):
        # A note in a cell of one's own may have been taken for an answer in words.
        found = any(flag.code == "recovered-words" for flag in answers.flags)
        return AROUND if found else ANSWERED
    return AROUND if answers.added or answers.around else UNTOUCHED


@lru_cache(maxsize=16)
def _released(path: str) -> nbformat.NotebookNode:
    return nbformat.reads(Path(path).read_text("utf-8"), as_version=4)
