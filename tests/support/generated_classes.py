"""Generated trees of submissions: students, their files, and the platform's layout."""

import unicodedata
import zipfile
from dataclasses import dataclass

from hypothesis import assume
from hypothesis import strategies as st
from submission_files import BACKPROP, notebook

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
    "Manifest Mo",
    "Read Me",
    "src",
    "data",
    "Index Ida",
)
DOTTED = (
    ".dora",
    ".config Li",
)  # names with a leading dot, possible on a platform or disk
# Variations of a name that still belong to the same student.
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
    "01a-deep-ensembles.ipynb": notebook(),
    "03a-bayes-by-backprop.ipynb": notebook(BACKPROP),
    "01a-deep-ensembles (2).ipynb": notebook(note="second"),
    "01a-deep-ensembles.ipynb.txt": notebook(note="text"),
    "01a-deep-ensembles.IPYNB": notebook(note="capitals"),
    "03a-bayes-by-backprop.ipynb.json": notebook(BACKPROP, note="json"),
    "01a-deep-ensembles.json": notebook(note="json alone"),
    "01a-deep-ensembles-final.ipynb": b'{"cells": [',
    "01a-deep-ensembles.pdf": b"%PDF",
    "01a-deep-ensembles.py": b"x = 1",
    "01a-deep-ensembles.zip": b"PK",
}
TABLES = {
    "values.csv": b"1,2",
    "grades.xlsx": b"PK",
}  # a student's only in platform layouts
DEEPER = {
    "": None,  # an empty folder
    ".ipynb_checkpoints/01a-deep-ensembles-checkpoint.ipynb": notebook(note="old"),
    "/".join("abcdefghi") + "/01a-deep-ensembles.ipynb": notebook(note="nine levels"),
    "/".join(["deep"] * 24) + "/01a-deep-ensembles.ipynb": notebook(note="deeper"),
    "data/values.json": b"[1, 2]",
    "copy/01a-deep-ensembles.ipynb": notebook(),
    "bo/03a-bayes-by-backprop.ipynb": notebook(BACKPROP, note="bo's"),
    "report.docx": b"PK",
    "._01a-deep-ensembles.ipynb": b"\0",
}
READABLE = (".ipynb", ".txt", ".IPYNB", ".json")
FORMS = ("folder", "zip", "wrapped zip", "wrapped folder")


@dataclass(frozen=True)
class Model:
    """A class and its files. Students are identified by name and number.

    Args:
        files: contents by path; ``None`` for an empty folder.
        students: the places that each student's files are in, with the name as written there.
        folders: the folders within each student's folder that contain a notebook.
        readable: the students with a notebook that can be read.
    """

    files: dict[str, bytes | None]
    students: dict[tuple[str, str], set[str]]
    folders: dict[tuple[str, str], set[str]]
    readable: set[tuple[str, str]]

    def all_usual(self) -> bool:
        """Are all top-level names ones that a single student would use for folders?"""
        tops = {path.partition("/")[0] for path in self.files}
        return tops <= {"src", "data", *"ab"}

    def merged(self, form: str) -> set[tuple[str, str]]:
        """Return the students whose files may belong to several, which must be reported."""
        usual = {"copy"} if len(self.students) > 1 else set()
        usual |= (
            set() if form.endswith("zip") else {"deep"}
        )  # on disk, too deep to be read
        return {
            who
            for who, places in self.students.items()
            if len(places) > 1 or len(self.folders.get(who, set()) - usual) > 1
        }


@st.composite
def names(draw):
    word = st.text(LETTERS, min_size=4, max_size=12)
    name = draw(
        st.sampled_from(USUAL) | st.lists(word, min_size=1, max_size=3).map(" ".join)
    )
    return CHANGES[draw(st.sampled_from(list(CHANGES)))](name)


@st.composite
def classes(draw):
    """Draw a class on one platform: one to four names, each spelled in one or two ways."""
    layout = draw(st.sampled_from(list(LAYOUTS)))
    some = names() if layout == "flat" else names() | st.sampled_from(DOTTED)
    people = draw(st.lists(some, min_size=1, max_size=4, unique_by=_same))
    files: dict[str, bytes | None] = {}
    students: dict[tuple[str, str], set[str]] = {}
    folders: dict[tuple[str, str], set[str]] = {}
    readable = set()
    kinds = PLAIN if layout.endswith(("flat", "canvas")) else PLAIN | DEEPER
    kinds = kinds if layout == "flat" else kinds | TABLES
    for number, person in enumerate(people, 1):
        for _ in range(draw(st.integers(1, 2))):
            written = SPELLINGS[draw(st.sampled_from(list(SPELLINGS)))](person)
            if layout == "canvas":
                written = "".join(filter(str.isalnum, written.lower())) or "x"
            place = written
            if layout == "flat":
                place += draw(st.sampled_from(("_", "-", "-_", " - ")))
            elif layout.startswith("sections"):
                place = f"Section {draw(st.sampled_from('AB'))}/{written}"
            who = _same(written), str(number) if layout in NUMBERED else ""
            chosen = draw(
                st.lists(st.sampled_from(list(kinds)), min_size=1, max_size=4)
            )
            for file in dict.fromkeys(chosen):
                path = LAYOUTS[layout](place, number, file)
                if max(len(part.encode()) for part in path.split("/")) > 250:
                    continue
                files[path] = kinds[file]
                students.setdefault(who, set()).add(place)
                top, slash, _ = file.partition("/")
                if slash and layout == "folder" and top in ("a", "bo", "copy", "deep"):
                    folders.setdefault(who, set()).add(top)
                data = kinds[file] or b""
                told = file.endswith(READABLE) and not file.startswith((".", "deep/"))
                if told and data.startswith(b'{"metadata'):
                    readable.add(who)
    assume(students)  # at least one path is short enough
    return Model(files, students, folders, readable)


LAYOUTS = {
    "folder": lambda name, number, file: f"{name}/{file}",
    "moodle flat": lambda name, number, file: (
        f"{name}_{number}_assignsubmission_file_{file}"
    ),
    "moodle folders": lambda name, number, file: (
        f"{name}_{number}_assignsubmission_file_/{file}"
    ),
    "canvas": lambda name, number, file: f"{name}_{number}_{number}77_{file}",
    "flat": lambda name, number, file: f"{name}{file}",
}
LAYOUTS["sections flat"] = LAYOUTS["moodle flat"]
LAYOUTS["sections"] = LAYOUTS["moodle folders"]
NUMBERED = ("moodle flat", "moodle folders", "canvas", "sections", "sections flat")


def _same(name):
    return " ".join(unicodedata.normalize("NFC", name).split())


def laid_out(files, form, root):
    """Write the class to disk in one of the ``FORMS``; return the path of its folder or zip."""
    if form.startswith("wrapped"):
        files = {f"class/{name}": data for name, data in files.items()}
        files["__MACOSX/._x"] = b"\0"
    if form.endswith("zip"):
        path = root / "class.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data or b"")
        return path
    for name, data in files.items():
        place = root / "in" / name
        (place if data is None else place.parent).mkdir(parents=True, exist_ok=True)
        if data is not None:
            place.write_bytes(data)
    return root / "in"
