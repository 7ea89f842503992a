"""Reads what was handed in: bytes here, up to a limit; JSON in processes that can be ended."""

from __future__ import annotations

import hashlib
import zipfile
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import nbformat

from course.grading.bounded import TooCostly, bounded
from course.grading.handed_in.answers import practical_of, read_answers
from course.grading.handed_in.cells import NotGradable
from course.grading.handed_in.files import READS_BADLY, Entry, read_bytes

BATCH, BATCH_BYTES = 64, 4_000_000  # of one call
HANDS = 2  # calls at a time
UNTOUCHED, AROUND, ANSWERED = 0, 1, 2


@dataclass(frozen=True)
class Content:
    """What a file holds.

    Args:
        digest: SHA-256; of what is too large to read, of its beginning.
        size: in bytes.
        modified: seconds since some moment, or 0.
        practical: the stem, or the empty string.
        problem: the code of a flag if it cannot be read, or the empty string.
    """

    digest: str = ""
    size: int = 0
    modified: float = 0.0
    practical: str = ""
    problem: str = ""


def read(
    entry: Entry, most: int, archive: zipfile.ZipFile | None
) -> tuple[Content, bytes]:
    """A file's content, of ``most`` bytes at most; nothing of one that is larger."""
    if entry.odd:
        return Content(problem=entry.odd), b""
    try:
        data = read_bytes(entry.path, entry.member, most + 1, archive)
        size, modified = len(data), entry.modified
        if entry.member is None:
            stat = entry.path.lstat()
            size, modified = max(size, stat.st_size), stat.st_mtime
    except READS_BADLY:
        return Content(problem="unreadable"), b""
    digest = hashlib.sha256(data).hexdigest()
    if size > most:
        return Content(digest, size, modified, problem="too-large"), b""
    return Content(digest, size, modified), data


def practicals(
    given: Iterable[tuple[Content, bytes, str]], known: list[str]
) -> Iterator[Content]:
    """Tell the practicals of files, in order.

    Args:
        given: what is known of each file, its content, and a name by which to tell the
            practical if the content does not, or the empty string.
        known: the stems of the practicals.
    """
    waiting: deque[Future[list[Content]]] = deque()
    batch: list[tuple[Content, bytes, str]] = []
    held = 0
    with ThreadPoolExecutor(HANDS, thread_name_prefix="read") as hands:
        for one in given:
            batch.append(one)
            held += len(one[1])
            if len(batch) >= BATCH or held > BATCH_BYTES:
                waiting.append(hands.submit(_with_practicals, batch, known))
                batch, held = [], 0
                if len(waiting) > HANDS:
                    yield from waiting.popleft().result()
        waiting.append(hands.submit(_with_practicals, batch, known))
        for future in waiting:
            yield from future.result()


def _with_practicals(
    batch: list[tuple[Content, bytes, str]], known: list[str]
) -> list[Content]:
    given = [(data, name) for _, data, name in batch]
    try:
        found = bounded(_practicals, given, known) if given else []
    except TooCostly:  # each by itself: one file costs its own student's row
        found = [_one_practical(data, name, known) for data, name in given]
    return [
        replace(content, practical=stem)
        if stem is not None
        else replace(content, problem=content.problem or "too-costly")
        for (content, _, _), stem in zip(batch, found, strict=True)
    ]


def _one_practical(data: bytes, name: str, known: list[str]) -> str | None:
    try:
        return bounded(practical_of, data, name, known)
    except TooCostly:
        return None


def _practicals(given: list[tuple[bytes, str]], known: list[str]) -> list[str]:
    return [practical_of(data, name, known) for data, name in given]


def written(data: bytes, exercise: Path) -> int:
    """How much of a notebook is the student's: ``UNTOUCHED``, ``AROUND`` or ``ANSWERED``.

    ``AROUND`` means that cells were added or edited, and no answer. It is -1 if the file
    is no notebook or costs too much to read.
    """
    try:
        return bounded(_written, data, str(exercise))
    except (TooCostly, NotGradable):
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
