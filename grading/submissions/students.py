"""Decide which names are one student, and report where a person might decide otherwise."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grading.flags import flag
from grading.record import Flag
from grading.submissions.names import Name, alike, digest, shown

Key = tuple[str, str, bool]
MANY = 5  # spellings or students that a sentence names


@dataclass(frozen=True)
class Students:
    """The students of a class.

    Args:
        called: their names, by ``Name.key``; all different with the platform's number.
        labels: the same names for sentences, with the number only where two are equal.
        flags: what a person should look at, by ``Name.key``.
        notes: the same, one sentence each, with the names concerned.
    """

    called: Mapping[Key, str]
    labels: Mapping[Key, str]
    flags: Mapping[Key, tuple[Flag, ...]]
    notes: tuple[str, ...]


def students_of(
    names: Iterable[Name],
    inside: Mapping[Key, Iterable[tuple[str, str]]] | None = None,
) -> Students:
    """Decide which names belong to the same student.

    Args:
        names: those in the paths of all files and folders.
        inside: other names in a student's path that may be another student's, and where.

    Two spellings of one name that differ only in blanks or in how Unicode composes letters
    are one student, unless the platform's numbers differ. Names that differ in case, accents
    or punctuation are two. Files of one student whose names begin differently, or that are
    in different folders, may be two students'. Each such case gets a flag and a note.
    """
    spellings: dict[Key, set[tuple[str, str]]] = defaultdict(set)
    students: dict[Key, set[str]] = defaultdict(set)
    for name in names:
        spellings[name.key].add((name.written or name.student, name.origin))
        students[name.key].add(name.student)
    for key, told in (inside or {}).items():
        spellings[key] |= set(told)
    called = _called(students)
    many = Counter(called.values())
    labels = {
        key: f"{name} ({key[1]})" if key[1] and many[name] > 1 else name
        for key, name in called.items()
    }
    flags: dict[Key, list[Flag]] = defaultdict(list)
    notes = []
    for key, written in sorted(spellings.items()):
        if len(written) > 1:
            several = _listed(
                ascii(f"{name[:60]}") + f" ({origin})" for name, origin in written
            )
            detail = f"{len(written)} spellings or places"
            flags[key].append(flag("same-name", labels[key], detail=detail))
            notes.append(f"{labels[key]}: taken as one student: {several}.")
    near: dict[str, list[Key]] = defaultdict(list)
    for key in sorted(spellings):
        if not key[2]:
            near[alike(key[0])].append(key)
    for keys in near.values():
        # The platform's numbers distinguish these.
        numbered = len({key[0] for key in keys}) == 1 and all(key[1] for key in keys)
        if len(keys) > 1 and not numbered:
            for key in keys:
                others = _listed(labels[other] for other in keys if other != key)
                flags[key].append(flag("alike-name", others))
            notes.append(
                f"Taken as {len(keys)} students, with names that are nearly the same: "
                f"{_listed(labels[key] for key in keys)}."
            )
    return Students(
        called, labels, {key: tuple(own) for key, own in flags.items()}, tuple(notes)
    )


def _first(spellings: Iterable[str]) -> str:
    """The shortest spelling of a name, which is displayed."""
    name = shown(min(spellings, key=lambda one: (len(one), one)).strip())
    return "\ufffd" if name in ("", ".", "..") else name


def _called(spellings: Mapping[Key, set[str]]) -> dict[Key, str]:
    called: dict[Key, str] = {}
    taken: set[str] = set()
    for key in sorted(spellings):
        _, number, outside = key
        name = _first(spellings[key])
        name += " (outside)" if outside else ""
        # In reports the number follows the name.
        if f"{name}_{number}".rstrip("_") in taken:
            name = f"{name} ({digest(repr(key))})"
        taken.add(f"{name}_{number}".rstrip("_"))
        called[key] = name
    return called


def _listed(texts: Iterable[str]) -> str:
    texts = sorted(texts)
    more = f" and {len(texts) - MANY} more" if len(texts) > MANY else ""
    return ", ".join(texts[:MANY]) + more
