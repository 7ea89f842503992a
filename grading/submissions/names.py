"""Interpret file names: which student, which notebook, and what must not be displayed."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

MAX_BYTES = 180  # of a name in UTF-8: disks allow 255, and a suffix may be added
MOODLE = re.compile(
    r"(?P<student>.+?)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<name>.*)",
    re.DOTALL,
)
CANVAS = re.compile(
    r"(?P<student>[^_]+)(?P<late>_LATE)?_(?P<number>[1-9]\d*)_(?P<upload>[1-9]\d*)_(?P<name>.+)",
    re.DOTALL,
)
COPY = re.compile(r"(?:[-_ ]|\()(\d{1,4})\)?$")  # name-1, name (1)
# Folders that programs create; a student's own may begin with a dot as well.
TOOLS = re.compile(
    r"__MACOSX|@eaDir|lost\+found|\$RECYCLE\.BIN|System Volume Information"
    r"|\.(ipynb_checkpoints|git|github|svn|hg|vscode|vs|idea|settings|cache|config"
    r"|local|venv|tox|jupyter|ipython|quarto|Rproj\.user|ruff_cache|mypy_cache"
    r"|pytest_cache|virtual_documents|Trash.*|Trashes|fseventsd|Spotlight-V100"
    r"|TemporaryItems)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Name:
    """The student and the notebook that a path names.

    Args:
        student: as it is written there, before ``shown``.
        notebook: the file's name, without what a platform adds.
        identifier: the platform's number for the student, or the empty string.
        upload: the platform's number for the upload, higher for a later one, or 0.
        late: whether the platform marks it as late.
        origin: where the name occurs: two that are written alike in two places, such as
            a folder and a file, may be two students.
        outside: whether the path leads out of its folder; then it is not attributed to
            any other student.
        written: the spelling in the path, if it differs from ``student``.
    """

    student: str
    notebook: str
    identifier: str = ""
    upload: int = 0
    late: bool = False
    origin: str = "folder"
    outside: bool = False
    written: str = ""

    @property
    def copy(self) -> int:
        """2 for ``name-2.ipynb`` and ``name (2).ipynb``, 0 for ``name.ipynb``."""
        copy = COPY.search(self.notebook.rpartition(".")[0])
        return int(copy[1]) if copy else 0

    @property
    def key(self) -> tuple[str, str, bool]:
        """The student's identity: the name, the platform's number, and ``outside``."""
        return fold(self.student), self.identifier, self.outside


def students_in(names: Iterable[str]) -> dict[str, str]:
    """The student, with the number, by name, for the names in a folder that are a platform's.

    Canvas gives each upload its own number, so where two files have the same, as
    ``hw_3_1_ann.ipynb`` and ``hw_3_1_bo.ipynb``, no name is Canvas's.
    """
    names = set(names)
    canvas = {name: match for name in names if (match := CANVAS.fullmatch(name))}
    moodle = {name: match for name in names if (match := MOODLE.fullmatch(name))}
    files = {
        (match["upload"], COPY.sub("", match["name"].rpartition(".")[0]))
        for name, match in canvas.items()
        if name not in moodle
    }
    if len({upload for upload, _ in files}) < len(files):
        canvas = {}
    found = canvas | moodle
    return {name: f"{m['student']}_{m['number']}" for name, m in found.items()}


def hidden(part: str) -> bool:
    """Is it hidden, such as Jupyter's checkpoints, or added to a zip by a Mac?"""
    return part.startswith(".") or part == "__MACOSX"


def safe(parts: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """The parts of a path that stay in its folder, and whether any lead out of it."""
    kept = tuple(part for part in parts if part not in ("", ".", ".."))
    unsafe = ".." in parts or parts[:1] == ("",) or bool(re.match(r"\w:", parts[0]))
    return kept, unsafe


def shown(name: str) -> str:
    """A name that can be put in a page, a terminal or a path; it may be ``=1`` or ``<b>``.

    A long name is truncated and gets a hash, so that different names stay different.
    """
    whole = unicodedata.normalize("NFC", name)
    name = "".join("\ufffd" if _steers(character) else character for character in whole)
    stem, dot, suffix = name.strip().rpartition(".")
    if len(suffix.encode()) > 10:
        stem, dot, suffix = name.strip(), "", ""
    if len(stem.encode()) + len(suffix.encode()) + 4 > MAX_BYTES:
        room = MAX_BYTES - len(suffix.encode()) - 16
        stem = f"{stem.encode()[:room].decode(errors='ignore')}…{digest(whole)}"
    return stem + dot + suffix or "\ufffd"


def digest(text: str) -> str:
    """The first eight hexadecimal digits of a text's hash."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def fold(name: str) -> str:
    """A normal form of a name's spellings, with composed letters and single blanks."""
    name = re.sub("[\u00ad\u200b\u2060\ufeff]", "", name)  # invisible
    return " ".join(unicodedata.normalize("NFC", name).split())


def alike(name: str) -> str:
    """A normal form of names that a person may confuse: letters and digits without accents."""
    plain = unicodedata.normalize("NFKD", fold(name)).casefold()
    letters = "".join(filter(str.isalnum, unicodedata.normalize("NFKD", plain)))
    return letters or fold(name)


def _steers(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
        or character in "/\\"
        or "\u202a" <= character <= "\u202e"  # set the direction of writing
        or "\u2066" <= character <= "\u2069"
    )


def read_name(
    parts: tuple[str, ...], *, outside: bool = False, section: str = ""
) -> Name:
    """Interpret a path that is not a plain file in the folder of the class.

    Args:
        parts: the path, as ``safe`` returns it, starting at the part that names the student.
        outside: whether the path leads out of its folder.
        section: the folder of a part of the class that contains it, or the empty string.
    """
    inside = f", in {shown(section)}" if section else ""
    first, last = parts[0], parts[-1]
    moodle, canvas = MOODLE.fullmatch(first), CANVAS.fullmatch(first)
    if moodle:
        name = last if len(parts) > 1 else moodle["name"] or last
        return Name(
            moodle["student"],
            name,
            moodle["number"],
            origin="moodle" + inside,
            outside=outside,
        )
    if canvas and len(parts) == 1:
        return Name(
            canvas["student"],
            canvas["name"],
            canvas["number"],
            int(canvas["upload"][:18]),
            bool(canvas["late"]),
            "canvas" + inside,
            outside,
        )
    return Name(first, last, outside=outside)
