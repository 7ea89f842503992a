"""Determine the lab that a submitted notebook belongs to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from course.task import stem_of, stems
from grading.submissions.cells import NotGradable, cells_of, load, mapping
from grading.submissions.sources import MAX_SOURCE
from project.practicals import Course, cell_id

CHECK = re.compile(r"""^check\(\s*["']([\w-]{1,80}/[\w-]{0,80})""", re.MULTILINE)


@dataclass(frozen=True)
class KnownLab:
    """The practical's stem, the lab's letter, and the ids of the cells of its tasks."""

    stem: str
    part: str = ""
    cells: frozenset[str] = frozenset()


def known_labs(course: Course | None) -> dict[str, KnownLab]:
    """Return all labs by name; without a checkout, one for each practical that has checks."""
    if course is None:
        return {stem: KnownLab(stem) for stem in stems()}
    return {
        lab.name: KnownLab(
            lab.stem, lab.part, frozenset(map(cell_id, lab.tasks() if lab.part else ()))
        )
        for lab in course.labs()
    }


def lab_of(data: bytes, name: str, known: Mapping[str, KnownLab]) -> tuple[str, str]:
    """The name of the lab that a notebook belongs to, and what is wrong with the file.

    Both may be empty. The name is taken from the notebook's metadata, else from its cells'
    ids, metadata and checks, else from the file's name.

    Args:
        data: the content of the file; it may be anything.
        name: the file's name.
        known: all labs by name.
    """
    problem = ""
    try:
        notebook = load(data)
        course = mapping(mapping(notebook, "metadata"), "course")
        told = course.get("practical"), course.get("lab", "")
        for lab, one in known.items():
            if told == (one.stem, one.part):
                return lab, ""
        cells = list(cells_of(notebook, _ignore))
    except NotGradable as error:
        cells, problem = [], str(error)
    ids = [
        {
            cell.id,
            cell.other_id,
            cell_id(cell.task),
            *map(cell_id, CHECK.findall(cell.source[:MAX_SOURCE])),
        }
        for cell in cells
    ]
    counts = Counter(
        stem for them in ids for stem in {stem_of(i.partition("--")[0]) for i in them}
    )
    labs = max(_by_stem(known).items(), key=lambda item: counts[item[0]], default=None)
    if labs and counts[labs[0]]:
        theirs = {id_ for them in ids for id_ in them}
        return max(labs[1], key=lambda lab: len(known[lab].cells & theirs)), problem
    plain = re.sub(r"[^a-z0-9]+", "_", PurePath(name).name.lower())
    for stem, labs in _by_stem(known).items():
        if stem in plain:
            number = re.search(rf"\d([a-z])_{stem}", plain)
            part = number[1] if number else ""
            lab = next((lab for lab in labs if known[lab].part == part), labs[0])
            return lab, problem
    return "", problem


def _by_stem(known: Mapping[str, KnownLab]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for lab, one in known.items():
        found.setdefault(one.stem, []).append(lab)
    return found


def _ignore(code: str, where: str = "", detail: str = "") -> None:
    """Take a flag and do nothing with it."""
