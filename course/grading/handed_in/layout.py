"""Tells the folder of a class, and folders that only stand around it, from a student's."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Protocol

from course.grading.handed_in.flat import split
from course.grading.handed_in.names import MOODLE, TOOLS, student_of
from course.task import stems

# Files that lie about in a download and are no submission.
STRAY = re.compile(
    r"\..*|read.?me.*|thumbs\.db|desktop\.ini|index\.html?|manifest.*|.*\.(csv|xlsx?|ods)",
    re.IGNORECASE,
)
DOCUMENT = re.compile(r".*\.(txt|md|pdf|html?|docx?|odt)", re.IGNORECASE)
# Folders that one student makes.
OWN = re.compile(
    r"(week|part|practical|exercise|ex|lab|hw|homework|sheet|task|chapter|day|unit|version|v"
    r"|attempt|try)[-_ ]?\d*|\d\d?|work|data|datasets?|figures?|figs?|images?|img|plots?"
    r"|outputs?|results?|code|src|notes?|docs?|copy|old|new|backup|archive|more|misc|final"
    r"|drafts?|submission|notebooks?|checkpoints?|models?|logs?|runs?|tests?|assets|lib"
    r"|venv|env|utils|course|shared|__pycache__|.* ?\(\d+\)|\..*|[a-z]",
    re.IGNORECASE,
)


NOTEBOOK = re.compile(
    r"\.ipynb( ?\(\d+\))?(\.(?!pdf|html?|py|png|zip|md|docx?)\w{1,10})?$", re.IGNORECASE
)


class Found(Protocol):
    """What is known of an entry here."""

    parts: tuple[str, ...]
    folder: bool


def notebookish(name: str) -> bool:
    """Is a file of this name meant as a notebook, whatever was put behind it?"""
    return bool(NOTEBOOK.search(name.strip()))


def only_folder(folders: Collection[str], others: Collection[str]) -> str:
    """The one folder that holds everything, if there is such; otherwise empty."""
    visible = [name for name in folders if not TOOLS.fullmatch(name)]
    beside = [n for n in others if not STRAY.fullmatch(n) and not DOCUMENT.fullmatch(n)]
    documents = any(notebookish(name) for name in others)
    return visible[0] if len(visible) == 1 and not beside and not documents else ""


def around(chain: Sequence[str], below: Collection[Found], archive: str = "") -> int:
    """How many folders, of some that each hold nothing but the next, are no student's.

    Args:
        chain: the folders, outermost first.
        below: what lies in the last one, with paths below that.
        archive: the name of the zip without its ending, or the empty string. A folder of
            that name is the zip's.
    """
    for depth, name in enumerate(chain):
        if MOODLE.fullmatch(name):
            return depth
    if _is_class(below):
        return len(chain)
    if archive and chain and chain[0] == archive:
        flat, _ = split(_files(below), "", stems())
        if len(chain) > 1 or any(student for student, _ in flat.values()):
            return 1
    return 0


def _files(below: Collection[Found], *suffixes: str) -> list[str]:
    """Notebooks side by side, and files with these endings."""
    names = {one.parts[0] for one in below if len(one.parts) == 1 and not one.folder}
    return sorted(n for n in names if notebookish(n) or n.lower().endswith(suffixes))


def _is_class(below: Collection[Found]) -> bool:
    """Do several students have their files here?"""
    # One student who names a file as a platform would does not become another one.
    if len({student_of(one.parts[0]) for one in below} - {""}) > 1:
        return True
    files = _files(below)
    flat, _ = split(files, "", stems())
    _, several = split(_files(below, ".json", ".py", ".pdf", ".zip"), "", stems())
    if several:
        return True
    if files and not any(student for student, _ in flat.values()):
        return False
    folders = {one.parts[0] for one in below if len(one.parts) > 1 or one.folder}
    practicals, _ = split(folders, "", stems())
    return (
        sum(
            bool(practicals[name][0]) and not OWN.fullmatch(name) and name != "__MACOSX"
            for name in folders
        )
        > 1
    )
