"""Any tree of hand-ins: students, what each handed in, and how a platform lays it out."""

import unicodedata
from dataclasses import dataclass

from handed_in import BACKPROP, DEEP, notebook
from hypothesis import assume
from hypothesis import strategies as st

LETTERS = "abcdefgmnoqrstuvwyzABMNOZÅäéïöñçßøłżαβжшאمगあ中"
USUAL = (
    "José Ek",
    "Anna Maria",
    "anna_maria",
    "anna_lena",
    "Ånna-Lena",
    "van der Berg, Jan",
    "O'Brien",
    "n" * 200,
    "n" * 201,
    "é" * 95,
)
# What one student can do to a name without another one seeing it.
SPELLINGS = {
    "as it is": lambda name: name,
    "NFC": lambda name: unicodedata.normalize("NFC", name),
    "NFD": lambda name: unicodedata.normalize("NFD", name),
    "two blanks": lambda name: name.replace(" ", "  "),
    "no break": lambda name: name.replace(" ", "\N{NO-BREAK SPACE}"),
    "blank behind": lambda name: f"{name} ",
}
CHANGES = {
    "as it is": lambda name: name,
    "capitals": lambda name: name.upper(),
    "underscores": lambda name: name.replace(" ", "_"),
    "one more": lambda name: f"{name}n",
}
PLAIN = {
    "01-deep-ensembles.ipynb": notebook(),
    "03-bayes-by-backprop.ipynb": notebook(BACKPROP),
    "01-deep-ensembles (2).ipynb": notebook(note="second"),
    "01-deep-ensembles.ipynb.txt": notebook(note="text"),
    "01-deep-ensembles.IPYNB": notebook(note="capitals"),
    "03-bayes-by-backprop.ipynb.json": notebook(BACKPROP, note="json"),
    "01-deep-ensembles.json": notebook(note="json alone"),
    "01-deep-ensembles-final.ipynb": b'{"cells": [',
    "01-deep-ensembles.pdf": b"%PDF",
    "01-deep-ensembles.py": b"x = 1",
    "01-deep-ensembles.zip": b"PK",
}
DEEPER = {
    "": None,  # the folder alone
    ".ipynb_checkpoints/01-deep-ensembles-checkpoint.ipynb": notebook(note="old"),
    "/".join("abcdefghi") + "/01-deep-ensembles.ipynb": notebook(note="nine levels"),
    "/".join(["deep"] * 24) + "/01-deep-ensembles.ipynb": notebook(note="deeper"),
    "data/values.json": b"[1, 2]",
    "copy/01-deep-ensembles.ipynb": notebook(),
    "._01-deep-ensembles.ipynb": b"\0",
}
READABLE = (".ipynb", ".txt", ".IPYNB", ".json")


@dataclass(frozen=True)
class Model:
    """A class.

    Args:
        files: what lies there, by path; None for an empty folder.
        students: how each wrote their name, by what tells them apart.
        readable: those who handed in a notebook that can be read.
    """

    files: dict[str, bytes | None]
    students: dict[tuple[str, str], set[str]]
    readable: set[tuple[str, str]]


@st.composite
def names(draw):
    word = st.text(LETTERS, min_size=4, max_size=12)
    name = draw(
        st.sampled_from(USUAL) | st.lists(word, min_size=1, max_size=3).map(" ".join)
    )
    return CHANGES[draw(st.sampled_from(list(CHANGES)))](name)


@st.composite
def classes(draw):
    """A class on one platform: between two and eight spellings of names, mostly different."""
    layout = draw(st.sampled_from(list(LAYOUTS)))
    people = draw(st.lists(names(), min_size=1, max_size=4, unique_by=_same))
    files: dict[str, bytes | None] = {}
    students: dict[tuple[str, str], set[str]] = {}
    readable = set()
    kinds = PLAIN if layout in ("moodle flat", "canvas", "flat") else PLAIN | DEEPER
    for number, person in enumerate(people, 1):
        for _ in range(draw(st.integers(1, 2))):
            written = SPELLINGS[draw(st.sampled_from(list(SPELLINGS)))](person)
            if layout == "canvas":
                written = "".join(filter(str.isalnum, written.lower())) or "x"
            who = _same(written), str(number) if layout in NUMBERED else ""
            chosen = draw(
                st.lists(st.sampled_from(list(kinds)), min_size=1, max_size=4)
            )
            for file in dict.fromkeys(chosen):
                path = LAYOUTS[layout](written, number, file)
                if len(path.split("/")[0].encode()) > 250:
                    continue
                files[path] = kinds[file]
                students.setdefault(who, set()).add(written)
                data = kinds[file] or b""
                told = file.endswith(READABLE) and not file.startswith((".", "deep/"))
                if told and data.startswith(b'{"metadata'):
                    readable.add(who)
    assume(students)  # no name was too long for the platform's
    return Model(files, students, readable)


LAYOUTS = {
    "folder": lambda name, number, file: f"{name}/{file}",
    "moodle flat": lambda name, number, file: (
        f"{name}_{number}_assignsubmission_file_{file}"
    ),
    "moodle folders": lambda name, number, file: (
        f"{name}_{number}_assignsubmission_file_/{file}"
    ),
    "canvas": lambda name, number, file: f"{name}_{number}_{number}77_{file}",
    "flat": lambda name, number, file: f"{name}_{file}",
}
NUMBERED = ("moodle flat", "moodle folders", "canvas")


def _same(name):
    return " ".join(unicodedata.normalize("NFC", name).split())


__all__ = ["DEEP", "Model", "classes"]
