"""Split the names of files in one folder, ``<student>_<name>.ipynb``, for a whole class.

A single name does not show where the student's part ends. It is split where the rest is an
exercise, or is shared by files of several students. If neither applies, the longer name is
the student's: one student in two rows is noticed and fixed, two in one row are not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

SUFFIX = re.compile(
    r"(\.ipynb)?(\.(ipynb|txt|json|py|md|html?|pdf|zip|tar|gz|docx?|odt|png|jpe?g))?$",
    re.IGNORECASE,
)
BROWSERS = re.compile(r"( ?\(\d{1,3}\)| - Copy| - Kopie)+$")  # name (1)
# Words in a file's name that belong to no student's name.
VERSION = re.compile(
    r"\(?(v?\d|v\d\d|final|copy|kopie|draft|old|new|solved?|solutions?|done|finished|complete"
    r"|completed|submission|submitted|answers?|colab|checkpoint|version|edited|fixed|of|my"
    r"|the)\d?\)?",
    re.IGNORECASE,
)
# Words that denote a version, not a person; numbers are not among them: one may be a team's.
VERSIONS = re.compile(
    r"[-_ .(]+(final|copy|kopie|draft|old|new|solved|solutions?|done|finished|completed?"
    r"|submission|submitted|answers?|colab|checkpoint|edited|fixed)\)?(?![^\W_])",
    re.IGNORECASE,
)
KINDS = re.compile(
    r"(homework|hw|exercises?|assignments?|practicals?|labs?|notebooks?|sheet|week|ex|task)"
    r"\d*|\d\d?",
    re.IGNORECASE,
)


class Split(NamedTuple):
    """The parts of a file's name.

    Args:
        student: may be the empty string.
        notebook: the name without the student's.
        written: all of the name that may be a student's; a star replaces the rest. Files
            of one student that differ here may be two students'.
    """

    student: str
    notebook: str
    written: str


def split(
    names: Iterable[str], around: str, known: Iterable[str]
) -> tuple[dict[str, Split], bool]:
    """Split each file's name into student and notebook.

    Args:
        names: of all files in one folder.
        around: the student of a file that has the name of an exercise and no other.
        known: the stems of the practicals.

    Returns:
        The splits, by name, and whether they show several students: names next to an
        exercise's, or before an ending that files share.
    """
    exercise = "|".join(stem.replace("_", "[-_ ]?") for stem in known)
    pattern = re.compile(
        rf"(?P<before>.*?)(?<![^\W\d_])(?P<number>(?:^\d\d[a-z]?[-_ ]|(?<!\d)\d\d[a-z]?-))?"
        rf"(?P<exercise>{exercise})(?![^\W\d_])(?P<after>.*)",
        re.IGNORECASE | re.DOTALL,
    )
    stems = {name: BROWSERS.sub("", SUFFIX.sub("", name)) for name in names}
    found: dict[str, tuple[str, str]] = {}
    named: dict[str, str] = {}  # files with a student next to the exercise's name
    rest: dict[str, str] = {}
    written: dict[str, str] = {}
    for name, stem in stems.items():
        match = pattern.fullmatch(stem)
        if match is None:
            rest[name] = stem
            continue
        before, after = _own(match["before"], KINDS), _own(match["after"])
        words = VERSIONS.sub("", match["after"])
        written[name] = f"{match['before']}*{words}"
        if before:
            # Keep blanks: they distinguish two spellings of a name.
            student = re.sub(r"( - |[-_.]+)$", "", match["before"])
            named[name] = student
            found[name] = student, re.sub(r"^[-_ ]+", "", name[len(student) :])
        elif after:
            named[name] = after
            found[name] = after, name
        else:
            found[name] = around, name
    _several_beside(found, pattern, stems)
    plain, shared = _by_ending(rest, {student for student, _ in found.values()})
    found |= plain
    students = set(named.values()) | {plain[name][0] for name in shared}
    for name, (student, _) in plain.items():
        written[name] = student + "_*" * (student != rest[name])
    splits = {name: Split(*pair, written[name]) for name, pair in found.items()}
    return splits, len(students) > 1


def _own(text: str, others: re.Pattern[str] = VERSION) -> str:
    """The text if it can be a student's name; empty if it only names a version or homework."""
    text = text.strip(" -_.")
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    words = [word for word in re.split(r"[-_ .]+", text) if word]
    if all(VERSION.fullmatch(word) or others.fullmatch(word) for word in words):
        return ""
    return text


def _several_beside(
    found: dict[str, tuple[str, str]],
    pattern: re.Pattern[str],
    stems: Mapping[str, str],
) -> None:
    """Add to the student's name what else distinguishes files of one student and practical."""
    groups: dict[tuple[str, str], dict[str, tuple[str, str]]] = defaultdict(dict)
    for name, (student, _) in found.items():
        match = pattern.fullmatch(stems[name])
        before, after = _own(match["before"], KINDS), _own(match["after"])
        if before or not after:
            stem = re.sub(r"[-_ ]", "", match["exercise"]).casefold()
            more = (match["number"] or "").rstrip("-_ "), after
            groups[stem, student if before else ""][name] = more
    for (_, student), differing in groups.items():
        numbers = {number for number, _ in differing.values()} - {""}
        endings = {ending for _, ending in differing.values()}
        for name, (number, ending) in differing.items():
            parts = [
                student,
                number if len(numbers) > 1 else "",
                ending if len(endings) > 1 else "",
            ]
            whole = "_".join(part for part in parts if part)
            if whole != student:
                found[name] = whole, name


def _by_ending(
    rest: Mapping[str, str], others: set[str]
) -> tuple[dict[str, tuple[str, str]], set[str]]:
    """Split names that contain no exercise's, at endings shared by several students' files."""
    before: dict[str, set[str]] = defaultdict(set)
    cuts = {
        name: [match.start() for match in re.finditer(r"(?<=[^_])_(?=[^_])", stem)]
        for name, stem in rest.items()
    }
    for name, stem in rest.items():
        for cut in cuts[name]:
            before[stem[cut + 1 :].casefold()].add(stem[:cut].casefold())
    found, shared = {}, set()
    endings_of: dict[str, set[str]] = defaultdict(set)
    for name, stem in rest.items():
        endings = [(len(before[stem[c + 1 :].casefold()]), -c) for c in cuts[name]]
        many, place = max(endings, default=(0, 0))
        if many > 1:
            found[name] = stem[:-place], name[1 - place :]
            endings_of[stem[:-place].casefold()].add(stem[1 - place :].casefold())
            shared.add(name)
    for name in list(shared):  # anna_lena and anna_maria, beside bo_lena and bo_maria
        endings = endings_of[found[name][0].casefold()]
        if len(endings) > 1 and any(_own(ending, KINDS) for ending in endings):
            found[name] = rest[name], name
    taken = {student.casefold() for student, _ in found.values()}
    taken |= {student.casefold() for student in others}
    left = {name: rest[name] for name in rest if name not in found}
    guess = {
        name: (stem[: cuts[name][-1]] if cuts[name] else stem)
        for name, stem in left.items()
    }
    guessed: dict[str, set[str]] = defaultdict(set)
    for name, student in guess.items():
        guessed[student.casefold()].add(left[name].casefold())
    for name, stem in left.items():
        student = guess[name].casefold()
        if student in taken or len(guessed[student]) > 1:
            found[name] = stem, name
        else:
            notebook = name[len(guess[name]) + 1 :] if cuts[name] else name
            found[name] = guess[name], notebook
    return found, shared
