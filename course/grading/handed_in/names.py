"""What the names of files say: which student, which notebook, and what must not be shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

MAX_BYTES = 180  # of a name in UTF-8: a disk takes 255, and something may be added
MOODLE = re.compile(
    r"(?P<student>.+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<name>.*)"
)
CANVAS = re.compile(
    r"(?P<student>[^_]+)(?P<late>_LATE)?_(?P<number>\d+)_(?P<upload>\d+)_(?P<name>.+)"
)
COPY = re.compile(r"(?:[-_ ]|\()(\d{1,4})\)?$")  # name-1, name (1)


@dataclass(frozen=True)
class Name:
    """What a path says of a submission; ``upload`` is higher for a later one."""

    student: str
    notebook: str
    identifier: str = ""
    upload: int = 0
    late: bool = False

    @property
    def place(self) -> tuple[int, int, str]:
        """Later ones of a student are greater."""
        copy = COPY.search(self.notebook.rpartition(".")[0])
        return self.upload, int(copy[1]) if copy else 0, self.notebook


def student_of(name: str) -> str:
    """Whose it is, if it is a name that Moodle or Canvas gives; otherwise empty."""
    match = MOODLE.fullmatch(name) or CANVAS.fullmatch(name)
    return match["student"] if match else ""


def hidden(part: str) -> bool:
    """Is it a checkpoint of Jupyter's, or what a Mac adds to a zip?"""
    return part.startswith(".") or part == "__MACOSX"


def safe(parts: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """A path's parts without those that lead elsewhere, and whether there were any."""
    kept = [part for part in parts if part not in ("", ".", "..")]
    unsafe = ".." in parts or parts[:1] == ("",) or bool(re.match(r"\w:", parts[0]))
    return tuple(shown(part) for part in kept), unsafe


def shown(name: str) -> str:
    """A name that can stand in a page, a terminal or a path; it may still be ``=1`` or ``<b>``."""
    name = unicodedata.normalize("NFC", name)
    name = "".join("\ufffd" if _steers(character) else character for character in name)
    stem, dot, suffix = name.strip().rpartition(".")
    if len(suffix) > 10:
        stem, dot, suffix = name, "", ""
    room = MAX_BYTES - len(suffix.encode()) - 4
    if len(stem.encode()) > room:
        stem = stem.encode()[:room].decode(errors="ignore") + "…"
    return stem + dot + suffix or "\ufffd"


def _steers(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or character in "/\\"
        or "\u202a" <= character <= "\u202e"  # the direction of writing
        or "\u2066" <= character <= "\u2069"
    )


def read_name(
    parts: tuple[str, ...], around: str, known: Iterable[str], *, outside: bool = False
) -> Name:
    """What a path says.

    Args:
        parts: the path, as ``safe`` gives it.
        around: the name of the folder around everything: the student of a notebook that
            has the name of an exercise and no other.
        known: the stems of the practicals.
        outside: does the path lead out of its folder? Then it is nobody else's.
    """
    first, last = parts[0], parts[-1]
    mark = " (outside)" if outside else ""
    moodle, canvas = MOODLE.fullmatch(first), CANVAS.fullmatch(first)
    if moodle:
        name = last if len(parts) > 1 else moodle["name"] or last
        return Name(_student(moodle["student"]) + mark, name, moodle["number"])
    if len(parts) > 1:
        return Name(_student(first) + mark, last)
    if canvas:
        return Name(
            _student(canvas["student"]) + mark,
            canvas["name"],
            canvas["number"],
            int(canvas["upload"][:18]),
            bool(canvas["late"]),
        )
    exercise = "|".join(stem.replace("_", "[-_ ]") for stem in known)
    named = re.fullmatch(
        rf"(?:(.+?)_)??(?:\d\d[-_ ])?(?:{exercise}).*", first, re.IGNORECASE
    )
    if named:
        student = named[1] or shown(around)
        name = first[len(named[1]) + 1 :] if named[1] else first
    else:
        stem, _, rest = first.partition("_")
        student, name = (stem, rest) if stem and rest else (first, first)
    return Name(_student(re.sub(r"\.(ipynb|zip)$", "", student)) + mark, name)


def _student(name: str) -> str:
    name = name.strip()
    return "\ufffd" if name in ("", ".", "..") else name
