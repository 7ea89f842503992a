"""Distinguish the folder of a class, and folders that merely contain it, from a student's."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from course.task import stems
from grading.submissions.flat import split
from grading.submissions.names import CANVAS, MOODLE, TOOLS, students_in

# Files in a download that are not submissions.
STRAY = re.compile(
    r"\..*|~\$.*|.*:Zone\.Identifier|Icon\s*|read.?me(\.\w+)?|thumbs\.db|desktop\.ini"
    r"|index\.html?|manifest(\.\w+)?|.*\.(csv|xlsx?|ods)"
    r"|(report|essay|summary|notes?|instructions?|assignment|exercises?|homework|answers?"
    r"|questions?|solutions?|syllabus|write-?up|cover)[-_ ]?\d*\.(pdf|docx?|odt|txt|md|html?)",
    re.IGNORECASE,
)
DOCUMENT = re.compile(r".*\.(txt|md|pdf|html?|docx?|odt)", re.IGNORECASE)
PAPERS = (
    ".json",
    ".py",
    ".zip",
    ".pdf",
    ".doc",
    ".docx",
    ".odt",
    ".txt",
    ".md",
    ".html",
)
# Folders that a single student creates.
OWN = re.compile(
    r"(week|part|practical|exercise|ex|lab|hw|homework|sheet|task|chapter|day|unit|version|v"
    r"|attempt|try)[-_ ]?\d*|\d\d?|work|data|datasets?|figures?|figs?|images?|img|plots?"
    r"|outputs?|results?|code|src|notes?|docs?|copy|old|new|backup|archive|more|misc|final"
    r"|drafts?|submission|notebooks?|checkpoints?|models?|logs?|runs?|tests?|assets|lib"
    r"|venv|env|utils|course|shared|__pycache__|.* ?\(\d+\)|[a-z]",
    re.IGNORECASE,
)


NOTEBOOK = re.compile(
    r"\.ipynb( ?\(\d+\))?(\.(?!pdf|html?|py|png|zip|md|docx?)\w{1,10})?$", re.IGNORECASE
)


class PathEntry(Protocol):
    """The fields of an entry that are used here."""

    parts: tuple[str, ...]
    folder: bool


def notebookish(name: str) -> bool:
    """Is a file of this name meant as a notebook, whatever was appended to it?"""
    return bool(NOTEBOOK.search(name.strip()))


def only_folder(folders: Collection[str], others: Collection[str]) -> str:
    """The one folder that contains everything, if there is one; otherwise empty."""
    visible = [name for name in folders if not TOOLS.fullmatch(name)]
    beside = [n for n in others if not STRAY.fullmatch(n) and not DOCUMENT.fullmatch(n)]
    documents = any(notebookish(name) for name in others)
    return visible[0] if len(visible) == 1 and not beside and not documents else ""


def around(
    chain: Sequence[str], below: Collection[PathEntry], archive: str = ""
) -> int:
    """Of folders that each contain nothing but the next, the number that are not a student's.

    Args:
        chain: the folders, outermost first.
        below: the entries in the last one, with paths below that.
        archive: the name of the zip without its suffix, or the empty string. A folder of
            that name is the zip's.
    """
    for depth, name in enumerate(chain):
        if MOODLE.fullmatch(name):
            return depth
    if _is_class(below):
        return len(chain)
    if archive and chain and chain[0] == archive:
        flat, _ = split(_files(below), "", stems())
        if len(chain) > 1 or any(one.student for one in flat.values()):
            return 1
    return 0


def _files(below: Collection[PathEntry], *suffixes: str) -> list[str]:
    """The names of notebooks, and of files with these suffixes, outside subfolders."""
    names = {one.parts[0] for one in below if len(one.parts) == 1 and not one.folder}
    return sorted(n for n in names if notebookish(n) or n.lower().endswith(suffixes))


def _is_class(below: Collection[PathEntry]) -> bool:
    """Do several students have their files here?"""
    # A student who names one file as a platform would must not count as two.
    if len({*students_in(one.parts[0] for one in below).values()}) > 1:
        return True
    files = _files(below)
    flat, several = split(files, "", stems())
    folders = {one.parts[0] for one in below if len(one.parts) > 1 or one.folder}
    folders = {name for name in folders if not TOOLS.fullmatch(name)}
    others = {name for name in folders if not _own(name)}
    if (
        not folders or others
    ):  # documents beside the folders of one student are that student's
        _, documents = split(_files(below, *PAPERS), "", stems())
        several = several or documents
    if several:
        return True
    if files and not any(one.student for one in flat.values()):
        return False
    return bool(others) and len(folders) > 1


def _own(folder: str) -> bool:
    """Is it a name that a student gives one of several folders, after a practical or a part?"""
    (named,) = split([folder], "", stems())[0].values()
    return not named.student or bool(OWN.fullmatch(folder))


def sections(found: Iterable[PathEntry]) -> dict[tuple[str, ...], int]:
    """The position of the platform's name in each path: the number of folders around it.

    Moodle's name identifies the student wherever it occurs; if there are several, the outermost
    counts. A name like Canvas's may be a student's own file, such as ``hw_1_2_x.ipynb``.
    Therefore it counts in folders only if one folder contains such files of several students
    and no other notebook, and no upload has a short number or occurs in two folders; then it
    counts in all folders that contain no other notebook.
    """
    depths: dict[tuple[str, ...], int] = {}
    inside: dict[tuple[str, ...], list[tuple[str, ...]]] = defaultdict(list)
    for one in found:
        for depth, part in enumerate(one.parts):
            if TOOLS.fullmatch(part):
                break
            if MOODLE.fullmatch(part):
                depths[one.parts] = depth
                break
        else:
            if len(one.parts) > 1 and not one.folder:
                inside[one.parts[:-1]].append(one.parts)
    canvas: dict[tuple[str, ...], set[str]] = {}
    uploads: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for folder, paths in inside.items():
        matches = [CANVAS.fullmatch(path[-1]) for path in paths]
        if all(
            match or not notebookish(path[-1])
            for match, path in zip(matches, paths, strict=True)
        ):
            canvas[folder] = {match["student"] for match in matches if match}
            for match in filter(None, matches):
                uploads[match["upload"]].add(folder)
    real = all(len(u) > 2 and len(folders) == 1 for u, folders in uploads.items())
    if real and any(len(students) > 1 for students in canvas.values()):
        for folder in canvas:
            for path in inside[folder]:
                if CANVAS.fullmatch(path[-1]):
                    depths[path] = len(folder)
    return depths


def several_inside(paths: Collection[tuple[str, ...]], alone: bool) -> set[str]:
    """The names in one student's folder that look as if they were several students'.

    Args:
        paths: of the student's notebooks, below the student's folder.
        alone: whether there is no other student; then any two folders may be two students'.
    """
    folders: dict[tuple[str, ...], set[str]] = defaultdict(set)
    files: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for path in paths:
        files[path[:-1]].add(path[-1])
        for depth, part in enumerate(path[:-1]):
            if alone or len(part) < 3 or not _own(part):
                folders[path[:depth]].add(part)
    told: set[str] = set()
    for parts in folders.values():
        told |= parts if len(parts) > 1 else set()
    for names in files.values():
        splits, several = split(names, "", stems())
        told |= {one.written for one in splits.values()} if several else set()
    return told
