"""List and read the files of a folder or a zip without trusting names, links or sizes.

Limits apply to each entry of the class's folder, which is taken to be one student's: a student
who submits too many files, or files nested too deeply, uses up only their own limit.
"""

from __future__ import annotations

import itertools
import lzma
import os
import re
import stat
import struct
import threading
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from grading.bounded import TooCostly, bounded
from grading.submissions import layout
from grading.submissions.names import MOODLE, digest, safe
from project.errors import CourseError

MAX_FILES = 200_000  # directly in the folder of the class
MAX_NAME = 255  # characters of a file's name, as on disks
MAX_MEMBERS = 250_000  # of a zip: each takes about a kilobyte of memory
MAX_FILES_EACH = 5_000  # of one student, folders included
MAX_DEPTH = 20
READS_BADLY = (
    OSError,
    EOFError,
    RuntimeError,  # a password
    NotImplementedError,  # an unknown compression
    ValueError,
    IndexError,
    OverflowError,
    MemoryError,  # a compression with a dictionary of gigabytes
    struct.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    zlib.error,
)
REMEDY = "Give a folder of submissions, or a zip of one."
_lock = threading.Lock()


@dataclass(frozen=True)
class Entry:
    """A file that was found: the parts of its path below the class's folder, and its location.

    ``odd`` is the code of a flag if the file must not be read: ``link``, ``encrypted``,
    ``unreadable``, ``empty-folder``, ``too-deep`` or ``too-many-files``; the last three, and
    ``unreadable``, may apply to a ``folder``. An entry ``beside`` the folder of the class is
    nobody's; one whose path leads ``outside`` is not attributed to any other student.
    ``modified`` is in seconds, and known only for members of a zip. ``depth`` is the index of
    the part that names the student; those before it are folders of parts of the class.
    """

    parts: tuple[str, ...]
    path: Path
    member: int | None = None
    odd: str = ""
    folder: bool = False
    beside: bool = False
    outside: bool = False
    modified: float = 0.0
    depth: int = 0


@dataclass(frozen=True)
class Listing:
    """Every file, ordered by name, and the name of the folder around them."""

    entries: list[Entry]
    around: str


def entries(path: Path) -> Listing:
    """List every file of a folder or a zip (or a single notebook), below the class's folder.

    Raises:
        CourseError: there is nothing to read at this path, or far too much.
    """
    try:
        if path.is_dir():
            chain, found = _in_folder(path)
        elif zipfile.is_zipfile(path):
            chain, found = _in_zip(path)
        elif path.is_file() and path.suffix == ".ipynb":
            chain, found = (), [Entry((path.name,), path)]
        elif path.exists():
            problem = "It is neither a folder nor a zip."
            raise CourseError(path, None, problem, REMEDY)
        else:
            raise CourseError(path, None, "There is no such folder or file.", REMEDY)
    except READS_BADLY as error:
        problem = f"It cannot be read: {getattr(error, 'strerror', None) or error}."
        raise CourseError(path, None, problem, REMEDY) from None
    depths = layout.sections(entry for entry in found if not entry.beside)
    found = [replace(entry, depth=depths.get(entry.parts, 0)) for entry in found]
    found.sort(key=lambda entry: (entry.beside, entry.parts, entry.member or 0))
    around = path.resolve()
    if not path.is_dir():
        around = (
            around.with_suffix("")
            if found[:1] and found[0].member is not None
            else around.parent
        )
    return Listing(found, chain[-1] if chain else around.name)


def read_bytes(path: Path, member: int | None, limit: int) -> bytes:
    """Read a file, or a member of a zip, up to a limit.

    Raises:
        OSError, zipfile.BadZipFile, …: one of ``READS_BADLY``, if it cannot be read.
    """
    if member is not None:
        with _lock:  # a ``ZipFile`` counts its readers without a lock
            archive = _archive(path)
            # By index, because names need not be unique.
            with archive.open(archive.infolist()[member]) as file:
                return file.read(limit)
    # Since it was found, the file may have become a link or a pipe.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("not a file")
        return file.read(limit)


def _in_folder(root: Path) -> tuple[tuple[str, ...], list[Entry]]:
    """The folders that merely contain the class, and all files."""
    chain, children = (), _children(root)
    while len(chain) < MAX_DEPTH:
        folders = {c.name for c in children if c.is_dir(follow_symlinks=False)}
        one = layout.only_folder(folders, {c.name for c in children} - folders)
        try:
            children = _children(root.joinpath(*chain, one)) if one else []
        except (
            OSError,
            CourseError,
        ):  # unreadable or too large: it is taken to be a student's
            break
        if not one:
            break
        chain = (*chain, one)
    below = list(_walk(root, chain))
    kept = chain[: layout.around(chain, below)]
    if kept != chain:
        below = list(_walk(root, kept))
    for depth, name in enumerate(kept):
        above = kept[:depth]
        below += [
            replace(entry, parts=above + entry.parts, beside=True)
            for entry in _walk(root, above, without=name)
        ]
    return kept, below


def _children(folder: Path) -> list[os.DirEntry]:
    with os.scandir(folder) as scan:
        children = list(itertools.islice(scan, MAX_FILES + 1))
    if len(children) > MAX_FILES:
        problem = f"It holds more than {MAX_FILES:,} files side by side."
        raise CourseError(folder, None, problem, REMEDY)
    return sorted(children, key=lambda child: child.name)


def _walk(root: Path, base: tuple[str, ...], without: str = "") -> Iterator[Entry]:
    """Yield all files below a folder; each of its children has its own limit."""
    for child in _children(root.joinpath(*base)):
        if child.name != without:
            yield from _of_one(child)


def _of_one(top: os.DirEntry, above: tuple[str, ...] = ()) -> Iterator[Entry]:
    """Yield the files of one student, those of outer folders first.

    In a folder without a platform's name, an entry with one belongs to another student.
    """
    path, whole = Path(top.path), (*above, top.name)
    if not top.is_dir(follow_symlinks=False):
        yield Entry(whole, path, odd=_oddity(top))
        return
    known = bool(MOODLE.fullmatch(top.name))
    waiting: list[tuple[tuple[str, ...], Path]] = [(whole, path)]
    count, yielded = 0, False
    for parts, folder in waiting:  # grows in the loop
        room = MAX_FILES_EACH - count
        children: list[os.DirEntry] = []
        others: list[os.DirEntry] = []
        try:
            with os.scandir(folder) as scan:
                for child in itertools.islice(scan, MAX_FILES):
                    if not known and MOODLE.fullmatch(child.name):
                        others.append(child)
                    elif len(children) <= room:
                        children.append(child)
        except OSError:
            yield Entry(parts, folder, odd="unreadable", folder=True)
            yielded = True
            continue
        for child in sorted(others, key=lambda child: child.name):
            yield from _of_one(child, parts)
            yielded = True
        for child in sorted(children[:room], key=lambda child: child.name):
            if not child.is_dir(follow_symlinks=False):
                yield Entry((*parts, child.name), Path(child.path), odd=_oddity(child))
                yielded = True
            elif len(parts) < MAX_DEPTH:
                waiting.append(((*parts, child.name), Path(child.path)))
            else:
                deep = (*parts, child.name)
                yield Entry(deep, Path(child.path), odd="too-deep", folder=True)
                yielded = True
        count += len(children)
        if count > MAX_FILES_EACH:
            yield Entry(whole, path, odd="too-many-files", folder=True)
            return
    if not yielded:
        yield Entry(whole, path, odd="empty-folder", folder=True)


def _oddity(entry: os.DirEntry) -> str:
    if entry.is_symlink():
        return "link"
    # Opening a pipe or a device could block forever.
    return "" if entry.is_file(follow_symlinks=False) else "unreadable"


def _archive(path: Path) -> zipfile.ZipFile:
    """Open a zip once for as long as the file is unchanged: its list may be long."""
    status = path.stat()
    return _opened(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1)
def _opened(path: Path, modified: int, size: int) -> zipfile.ZipFile:
    return zipfile.ZipFile(path)


def _counted(path: Path, most: int) -> tuple[int, str, int]:
    """The number of a zip's members and, if it exceeds ``most``, the folder with most of them."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    if len(names) <= most:
        return len(names), "", 0
    ((name, count),) = Counter(name.split("/")[0][:80] for name in names).most_common(1)
    return len(names), name, count


def _in_zip(path: Path) -> tuple[tuple[str, ...], list[Entry]]:
    """The folders that merely contain the class, and all files."""
    remedy = "Unpack it and give the folder."
    try:
        members, most, count = bounded(_counted, path, MAX_MEMBERS)
    except TooCostly:
        raise CourseError(
            path, None, "Its list of files is too long.", remedy
        ) from None
    if members > MAX_MEMBERS:
        problem = f"It holds more than {MAX_MEMBERS:,} files: {count:,} in {most!r}."
        raise CourseError(path, None, problem, remedy)
    with _lock:
        infos = _archive(path).infolist()
    found = [_member(path, number, info) for number, info in enumerate(infos)]
    inside = [entry for entry in found if entry.parts and not entry.outside]
    chain: tuple[str, ...] = ()
    below = inside
    while len(chain) < MAX_DEPTH:
        depth = len(chain)
        here = [one for one in inside if one.parts[:depth] == chain != one.parts]
        folders = {e.parts[depth] for e in here if len(e.parts) > depth + 1 or e.folder}
        one = layout.only_folder(folders, {e.parts[depth] for e in here} - folders)
        if not one:
            break
        chain = (*chain, one)
        below = _below(here, chain)
    kept = chain[: layout.around(chain, below, path.stem)]
    below = _below(inside, kept)
    members = {entry.member for entry in below}
    rest = [entry for entry in found if entry.member not in members]
    beside = [
        replace(entry, beside=not (entry.parts and entry.outside))
        for entry in rest
        if not entry.folder
    ]
    return kept, [*_limited(below), *_limited(beside)]


def _below(found: list[Entry], chain: tuple[str, ...]) -> list[Entry]:
    return [
        replace(entry, parts=entry.parts[len(chain) :])
        for entry in found
        if entry.parts[: len(chain)] == chain and len(entry.parts) > len(chain)
    ]


def _limited(found: list[Entry]) -> Iterator[Entry]:
    """Yield the files of each student up to a limit, and each folder that contains none."""
    students: dict[tuple[bool, tuple[str, ...]], list[Entry]] = defaultdict(list)
    depths = layout.sections(found)
    for entry in found:
        whole = entry.parts[: depths.get(entry.parts, 0) + 1]
        students[entry.outside, whole].append(entry)
    tops = {whole[:1] for _, whole in students if len(whole) > 1}
    for (outside, whole), own in students.items():
        files = [entry for entry in own if not entry.folder]
        if len(files) > MAX_FILES_EACH:
            files.sort(key=lambda entry: (len(entry.parts), entry.parts))
            odd, files = "too-many-files", files[:MAX_FILES_EACH]
        else:
            odd = "" if files or whole in tops else "empty-folder"
        yield from files
        if odd:
            yield replace(
                own[0],
                parts=whole or ("",),
                odd=odd,
                folder=True,
                outside=outside,
                member=None,
            )


def _member(path: Path, number: int, info: zipfile.ZipInfo) -> Entry:
    name = info.filename
    if not info.flag_bits & 0x800:  # not marked as UTF-8, which it often is
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            name = info.filename
    odd = ""
    if stat.S_ISLNK(info.external_attr >> 16):
        odd = "link"
    elif info.flag_bits & 1:
        odd = "encrypted"
    elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        odd = "unreadable"  # others are unpacked whole, whatever size is requested
    parts, outside = safe(tuple(map(_cut, re.split(r"[/\\]", name))))
    try:
        modified = datetime(*info.date_time).timestamp()
    except (ValueError, OverflowError, OSError):
        modified = 0.0
    return Entry(
        parts, path, number, odd, info.is_dir(), outside=outside, modified=modified
    )


def _cut(part: str) -> str:
    """Truncate a part of a member's name to a length that disks allow.

    A zip allows 65,535 characters, and searching so many for a student's name may take
    minutes.
    """
    if len(part) <= MAX_NAME:
        return part
    stem, dot, suffix = part.rpartition(".")
    ending = dot + suffix if stem and len(suffix) <= 10 else ""
    return f"{part[: MAX_NAME // 2]}…{digest(part)}{ending}"
