"""Lists and reads the files of a folder or a zip without trusting a name, a link or a size."""

from __future__ import annotations

import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from course.errors import CourseError

MAX_FILES = 200_000
MAX_DEPTH = 8
READS_BADLY = (
    OSError,
    EOFError,
    RuntimeError,  # a password
    NotImplementedError,  # a compression that is not known
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True)
class Entry:
    """A file as found: its path in parts, and where to read it.

    ``odd`` is the code of a flag if it is not to be read: ``link``, ``encrypted`` or
    ``unreadable``.
    """

    parts: tuple[str, ...]
    path: Path
    member: int | None = None
    odd: str = ""


def entries(path: Path) -> list[Entry]:
    """Every file of a folder or a zip (or a single notebook), ordered by name.

    Raises:
        CourseError: there is nothing to read at this path, or far too much.
    """
    remedy = "Give a folder of submissions, or a zip of one."
    try:
        if path.is_dir():
            found = _in_folder(path)
        elif zipfile.is_zipfile(path):
            found = _in_zip(path)
        elif path.is_file() and path.suffix == ".ipynb":
            found = iter([Entry((path.name,), path)])
        elif path.exists():
            problem = "It is neither a folder nor a zip."
            raise CourseError(path, None, problem, remedy)
        else:
            raise CourseError(path, None, "There is no such folder or file.", remedy)
        listed = []
        for entry in found:
            listed.append(entry)
            if len(listed) > MAX_FILES:
                problem = f"It holds more than {MAX_FILES:,} files."
                raise CourseError(path, None, problem, remedy)
    except READS_BADLY as error:
        problem = f"It cannot be read: {getattr(error, 'strerror', None) or error}."
        raise CourseError(path, None, problem, remedy) from None
    return sorted(listed, key=lambda entry: (entry.parts, entry.member or 0))


def archive_of(path: Path, found: list[Entry]) -> AbstractContextManager:
    """The zip that the entries are in, opened once for all of them, or nothing."""
    in_zip = any(entry.member is not None for entry in found)
    return zipfile.ZipFile(path) if in_zip else nullcontext()


def read_bytes(
    path: Path, member: int | None, limit: int, archive: zipfile.ZipFile | None = None
) -> bytes:
    """The content of a file, or of a member of a zip, up to a limit.

    Raises:
        OSError, zipfile.BadZipFile, …: one of ``READS_BADLY``, if it cannot be read.
    """
    if member is not None:
        opened = nullcontext(archive) if archive else zipfile.ZipFile(path)
        # By its place, since names need not differ.
        with opened as zipped, zipped.open(zipped.infolist()[member]) as file:
            return file.read(limit)
    # Between finding and reading a file may become a link or a pipe.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("not a file")
        return file.read(limit)


def _in_folder(root: Path) -> Iterator[Entry]:
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(root.joinpath(*folder)) as scan:
                children = list(scan)
        except OSError:
            if not folder:
                raise
            # As if a file stood in it: the folder's name is that of a student.
            parts = (*folder, folder[-1])
            yield Entry(parts, root.joinpath(*folder), odd="unreadable")
            continue
        for child in children:
            parts, path = (*folder, child.name), Path(child.path)
            if child.is_symlink():
                yield Entry(parts, path, odd="link")
            elif child.is_dir(follow_symlinks=False):
                if len(parts) < MAX_DEPTH:
                    waiting.append(parts)
            elif child.is_file(follow_symlinks=False):
                yield Entry(parts, path)
            else:  # a pipe or a device: to open it could wait for ever
                yield Entry(parts, path, odd="unreadable")


def _in_zip(path: Path) -> Iterator[Entry]:
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
    for number, info in enumerate(infos):
        if info.is_dir():
            continue
        name = info.filename
        if not info.flag_bits & 0x800:  # not said to be UTF-8, which it often is
            try:
                name = name.encode("cp437").decode("utf-8")
            except UnicodeError:
                name = info.filename
        odd = ""
        if stat.S_ISLNK(info.external_attr >> 16):
            odd = "link"
        elif info.flag_bits & 1:
            odd = "encrypted"
        yield Entry(tuple(re.split(r"[/\\]", name)), path, number, odd)
