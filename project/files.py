"""Atomic file writes, and validation of the paths that users type."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from project.errors import CourseError

UNFINISHED = ".unfinished"  # ends the names of temporary files


@dataclass
class _Pending:
    """Changes to make when an ``all_or_none`` block ends."""

    files: list[tuple[Path, Path]] = field(default_factory=list)  # temporary, final
    folders: list[Path] = field(
        default_factory=list
    )  # created for the files, outermost first
    discarded: list[Path] = field(default_factory=list)


_pending: ContextVar[_Pending | None] = ContextVar("pending", default=None)


def read_text(path: Path) -> str:
    """Read a file of the project, with line ends as ``\\n``.

    Raises:
        CourseError: it is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        problem = "It is not UTF-8."
        raise CourseError(path, line, problem, "Save it as UTF-8.") from None


def write_whole(path: Path, content: str | bytes, mode: int = 0o644) -> None:
    """Write a file atomically: readers see the old content or the new, never a part.

    Text is written as UTF-8, with its line ends unchanged. ``mode`` are the file's permissions.

    Raises:
        OSError: it cannot be written; the error names ``path``.
    """
    pending = _pending.get()
    temporary = None
    try:
        _make_folder(path.parent, pending)
        handle, name = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name[:60]}.", suffix=UNFINISHED
        )
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.chmod(temporary, mode)
        if pending is None:
            os.replace(temporary, path)
        else:
            pending.files.append((temporary, path))
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        # A full disk is reported without a path; other errors name the temporary file.
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def remove_unfinished(folder: Path) -> None:
    """Remove what ``write_whole`` left in a folder, or below it, when it was killed."""
    for path in folder.rglob(f".*{UNFINISHED}"):
        path.unlink(missing_ok=True)


def discard(path: Path) -> None:
    """Remove a file; within ``all_or_none``, only when the block succeeds."""
    pending = _pending.get()
    if pending is None:
        path.unlink(missing_ok=True)
    else:
        pending.discarded.append(path)


@contextlib.contextmanager
def all_or_none() -> Iterator[None]:
    """Put all files that ``write_whole`` writes in this block in place when it ends.

    If anything fails before then, for example because the disk is full, no file changes. (If
    it fails while the files are moved into place, those already moved stay.)

    Raises:
        OSError: a file cannot be written, or its path is a folder.
    """
    pending = _Pending()
    token = _pending.set(pending)
    try:
        yield
        for _, path in pending.files:
            if path.is_dir():
                raise IsADirectoryError(21, "Is a directory", str(path))
        for temporary, path in pending.files:
            os.replace(temporary, path)
        for path in pending.discarded:
            path.unlink(missing_ok=True)
    except BaseException:
        for temporary, _ in pending.files:
            temporary.unlink(missing_ok=True)
        for folder in reversed(pending.folders):
            with contextlib.suppress(OSError):  # something else was put into it
                folder.rmdir()
        raise
    finally:
        _pending.reset(token)


def absolute(path: str | Path) -> Path:
    """Return the absolute path, with links resolved, of a path that a user has typed.

    Raises:
        CourseError: it is empty, or names a pipe or a device.
    """
    if not str(path).strip():
        raise CourseError("''", None, "This path is empty.", "Name a file or a folder.")
    # Check before resolving links: /dev/fd/63 links to a name such as pipe:[123], which
    # does not exist as a file.
    with contextlib.suppress(OSError):
        mode = os.stat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            problem = "This is a pipe or a device, not a file or a folder."
            raise CourseError(path, None, problem, "Save it as a file, and name that.")
    return Path(os.path.realpath(path))


def require_writable(folder: Path) -> None:
    """Check that a folder is writable or can be created; write nothing.

    Raises:
        CourseError: it is not a folder, or may not be written to.
    """
    existing = folder
    while not os.path.lexists(existing) and existing != existing.parent:
        existing = existing.parent
    problem = None
    if not existing.is_dir():
        problem = "This is a file, not a folder."
    elif not os.access(existing, os.W_OK | os.X_OK):
        problem = "You may not write to this folder."
    if problem:
        raise CourseError(existing, None, problem, "Name another folder to write to.")


def _make_folder(folder: Path, pending: _Pending | None) -> None:
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    if pending is not None:
        pending.folders.extend(reversed(missing))
