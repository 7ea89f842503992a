"""Find the submissions in a learning platform's download: a folder, or a zip of one.

The layouts that are read are ``<student>/<notebook>.ipynb``, also some folders deeper; Moodle's
``Family Given_12345_assignsubmission_file_x.ipynb``, or a folder of that name; Canvas's
``familygiven_LATE_12345_67890_x-1.ipynb``; and ``<student>_x.ipynb`` or
``<exercise>_<student>.ipynb``. Nothing is ever extracted, no link is followed, and no file
is read beyond a limit. Every student with at least one file has a submission, and every file
has a ``Fate``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Literal

from course.task import stems
from grading.flags import flag
from grading.record import Flag
from grading.submissions.files import Entry, entries
from grading.submissions.flat import split
from grading.submissions.labs import known_labs
from grading.submissions.layout import STRAY, notebookish, several_inside
from grading.submissions.names import (
    TOOLS,
    Name,
    hidden,
    read_name,
    shown,
    students_in,
)
from grading.submissions.reading import (
    Content,
    LoadedFile,
    ReadingBudget,
    read,
    with_labs,
)
from grading.submissions.several import Chosen, FoundNotebook, Several, choose
from grading.submissions.students import Key, students_of
from grading.submissions.submission import (
    Submission,
    with_flags,
    with_problem,
    with_unique_names,
)
from project.errors import CourseError
from project.practicals import Course

# Limits for each student, so that nobody can use up what others need.
MAX_ROWS_EACH = 10  # notebooks of an unknown lab
MAX_OTHERS_EACH = 20  # files that may be a notebook by another name
MAX_FLAGS_EACH = 5  # of one kind
# Reasons why there is no notebook, the most informative first.
REASONS = (
    "too-many-files",
    "encrypted",
    "link",
    "unreadable",
    "nested-zip",
    "too-deep",
    "empty-folder",
)

Place = tuple[Path, int | None]
Fate = Literal["submission", "copy", "aside", "odd", "other", "hidden", "beside"]


@dataclass(frozen=True)
class Intake:
    """Everything that was found.

    Args:
        submissions: in order of student and lab.
        skipped: the files that are not notebooks, those of students first.
        notes: what a person should know about names and about several notebooks, one
            sentence each.
        fates: the fate of each file, and of each folder that cannot be read, by its path
            and its index in the zip: a ``submission``; a ``copy`` of one; a notebook that
            was set ``aside`` for another; something ``odd``, which a flag reports; an
            ``other`` file; a ``hidden`` one; or one ``beside`` the folder of the class.
    """

    submissions: tuple[Submission, ...]
    skipped: tuple[str, ...]
    notes: tuple[str, ...] = ()
    fates: Mapping[Place, Fate] = field(default_factory=dict)


def take_in(
    path: Path,
    course: Course | None = None,
    several: Several = "last",
    labs: Collection[str] | None = None,
) -> Intake:
    """Find the submissions, and report what became of everything else.

    Of several notebooks by one student for one lab, the last with answers is taken: the
    latest upload, then the latest time, then the highest number that is appended to a name,
    then the last name.

    Args:
        path: a folder, a zip or a notebook.
        course: the checkout, whose exercises show which notebooks contain answers.
        several: ``best`` takes all with answers instead of the last one.
        labs: the names of the labs that are graded; all by default. Notebooks of others are
            set aside.

    Raises:
        CourseError: there is no such path, or nothing in it that somebody submitted.
    """
    listing = entries(path)
    named = list(_named(listing.entries, listing.around))
    people = students_of((name for _, name in named if name), _inside(named))
    by_student = {key: _StudentFiles(called) for key, called in people.called.items()}
    fates: dict[Place, Fate] = {}
    wanted = []
    for entry, name in named:
        if name is None:
            fates[_place(entry)] = "beside"
            continue
        fate = by_student[name.key].sort(entry, name)
        if fate is None:
            wanted.append((entry, name))
        else:
            fates[_place(entry)] = fate
    # Files named like notebooks come first, before data uses up the student's budget.
    wanted.sort(key=lambda pair: not notebookish(pair[0].parts[-1]))

    def loaded() -> Iterator[LoadedFile]:
        for entry, name in wanted:
            budget = by_student[name.key].budget
            called = name.notebook if _called_one(entry) else ""
            yield LoadedFile(*read(entry, budget), called, budget)

    contents = with_labs(loaded(), known_labs(course))
    for (entry, name), content in zip(wanted, contents, strict=True):
        by_student[name.key].add(entry, name, content, fates)
    submissions, notes = [], [*people.notes, *_nobodys(named)]
    choosing = partial(choose, several=several, course=course, labs=labs)
    for key, one in by_student.items():
        taken, said = one.settle(choosing, fates)
        submissions += [with_flags(sub, *people.flags.get(key, ())) for sub in taken]
        notes += [f"{people.labels[key]}{note}" for note in said]
    if not submissions:
        raise CourseError(
            path,
            None,
            "There is no notebook in it.",
            "Give the folder or the zip that the learning platform downloads, or a folder "
            "that holds <student>/<notebook>.ipynb.",
        )
    submissions.sort(key=attrgetter("student", "identifier", "practical", "part"))
    skipped = [
        "/".join(map(shown, entry.parts))
        for kind in ("other", "hidden", "beside")
        for entry, _ in named
        if fates[_place(entry)] == kind
    ]
    return Intake(with_unique_names(submissions), tuple(skipped), tuple(notes), fates)


def _named(found: Sequence[Entry], around: str) -> Iterator[tuple[Entry, Name | None]]:
    """Yield each entry with the name of its student and notebook, or None if it has none."""
    there = {entry.parts for entry in found}
    platforms = students_in(e.parts[0] for e in found if len(e.parts) == 1)
    parts_of_class = {e.parts[: depth + 1] for e in found for depth in range(e.depth)}

    def somebodys(entry: Entry) -> bool:
        if entry.beside or not entry.parts or TOOLS.fullmatch(entry.parts[0]):
            return False
        *above, last = entry.parts
        if last.startswith("._") and (*above, last[2:]) in there:  # added by a Mac
            return False
        stray = STRAY.fullmatch(last) and not notebookish(last) and not entry.folder
        if entry.parts[:1] in parts_of_class and not entry.depth:
            return not (stray or any(hidden(part) for part in entry.parts[1:]))
        return not (stray and len(entry.parts) == 1 and last not in platforms)

    def is_flat(entry: Entry) -> bool:
        """Is it a file directly in the folder of the class, without a platform's name?"""
        return (
            len(entry.parts) == 1
            and not (entry.folder or entry.outside or entry.beside)
            and entry.parts[0] not in platforms
        )

    flat = [e.parts[0] for e in found if is_flat(e) and somebodys(e)]
    splits, _ = split(flat, around, stems())
    for entry in found:
        if not somebodys(entry):
            yield entry, None
        elif is_flat(entry):
            student, notebook, written = splits[entry.parts[0]]
            yield entry, Name(student, notebook, origin="file", written=written)
        else:
            section, own = "/".join(entry.parts[: entry.depth]), _below(entry)
            own = own * 2 if entry.folder and len(own) == 1 else own
            yield entry, read_name(own, outside=entry.outside, section=section)


def _below(entry: Entry) -> tuple[str, ...]:
    """Its path, starting at the part that names the student."""
    return entry.parts[entry.depth :]


def _inside(
    named: Sequence[tuple[Entry, Name | None]],
) -> dict[Key, set[tuple[str, str]]]:
    """Names in a student's paths that may be another student's, and where they occur.

    These are folders and files in one student's folder that look like several students'; and,
    if some students have no platform's name, a folder that contains one platform's name.
    """
    paths: dict[Key, set[tuple[str, ...]]] = defaultdict(set)
    sections: dict[str, set[Key]] = defaultdict(set)
    keys = {name.key for _, name in named if name}
    for entry, name in named:
        own = _below(entry)[1:]
        if name and entry.depth:
            sections["/".join(entry.parts[: entry.depth])].add(name.key)
        elif (
            name
            and name.origin == "folder"
            and own
            and _called_one(entry)
            and not any(hidden(part) for part in own)
        ):
            paths[name.key].add(own)
    told: dict[Key, set[tuple[str, str]]] = defaultdict(set)
    for key, own in paths.items():
        names = several_inside(own, alone=len(keys) == 1)
        told[key] = {(one, f"in {shown(key[0])}") for one in names}
    if not all(number for _, number, _ in keys):
        for section, within in sections.items():
            if len(within) == 1:
                told[within.pop()].add((section, "folder"))
    return told


def _nobodys(named: Sequence[tuple[Entry, Name | None]]) -> Iterator[str]:
    """Yield a sentence that lists the files in the class's folder that belong to nobody."""
    names = sorted(
        shown(entry.parts[0])
        for entry, name in named
        if name is None
        and len(entry.parts) == 1
        and not (entry.beside or entry.folder)
        and "." in entry.parts[0][1:]  # not .DS_Store
        and not entry.parts[0].startswith("._")
    )
    if names:
        more = f" and {len(names) - MAX_FLAGS_EACH} more" * (
            len(names) > MAX_FLAGS_EACH
        )
        yield f"Files that belong to no student: {', '.join(names[:MAX_FLAGS_EACH])}{more}."


def _called_one(entry: Entry) -> bool:
    return notebookish(entry.parts[-1])


def _place(entry: Entry) -> Place:
    return entry.path, entry.member


class _StudentFiles:
    """All files of one student, by kind."""

    def __init__(self, student: str) -> None:
        self.student = student
        self.found: list[FoundNotebook] = []
        self.odd: list[tuple[Entry, Name, str]] = []
        self.others: list[tuple[Entry, Name]] = []
        self.hidden: list[tuple[Entry, Name]] = []
        self.tried = 0
        self.budget = ReadingBudget()

    def sort(self, entry: Entry, name: Name) -> Fate | None:
        """Return the fate of an entry, or None if it depends on the content."""
        _, dot, suffix = entry.parts[-1].strip().lower().rpartition(".")
        if any(hidden(part) for part in _below(entry)[1:]) and not entry.folder:
            self.hidden.append((entry, name))
            return "hidden"
        odd = entry.odd or ("nested-zip" if suffix == "zip" else "")
        if odd and not (
            odd == "unreadable" and _called_one(entry) and not entry.folder
        ):
            self.odd.append((entry, name, odd))
            return "odd"
        if not _called_one(entry):
            likely = not dot or suffix in ("json", "txt")
            self.tried += likely
            if not likely or self.tried > MAX_OTHERS_EACH:
                self.others.append((entry, name))
                return "other"
        return None

    def add(
        self, entry: Entry, name: Name, content: Content, fates: dict[Place, Fate]
    ) -> None:
        """Add a file that has been read."""
        called = _called_one(entry)
        if not called and (content.problem or not content.practical):
            self.others.append((entry, name))
            fates[_place(entry)] = "other"
            return
        one = replace(
            self._blank(entry, name),
            practical=content.practical,
            part=content.part,
            size=content.size,
            digest=content.digest,
        )
        problem = content.problem or ("" if content.practical else "unknown-practical")
        one = with_problem(one, problem, content.detail) if problem else one
        if not entry.parts[-1].endswith(".ipynb"):
            one = with_flags(one, flag("other-suffix", one.notebook))
        if name.late:
            one = with_flags(one, flag("late"))
        self.found.append(FoundNotebook(name, one, entry.parts, content.modified))

    def settle(
        self,
        choosing: Callable[[list[FoundNotebook], ReadingBudget], Chosen],
        fates: dict[Place, Fate],
    ) -> tuple[list[Submission], list[str]]:
        """Return the submissions, or one that says why there is none, and notes.

        ``choosing`` chooses among the notebooks of one lab. Each note continues the student's
        name.
        """
        groups: dict[str, list[FoundNotebook]] = defaultdict(list)
        for one in self.found:
            groups[one.submission.lab].append(one)
        unknown = groups.pop("", [])
        taken, aside, notes = unknown[:MAX_ROWS_EACH], unknown[MAX_ROWS_EACH:], []
        if aside:
            notes.append(
                f": {len(unknown)} notebooks are of no known practical; "
                f"{MAX_ROWS_EACH} of them are listed."
            )
        for _, group in sorted(groups.items()):
            chosen = choosing(group, self.budget)
            taken += chosen.taken
            aside += chosen.aside
            notes += [f" · {chosen.note}"] if chosen.note else []
        digests = {one.submission.digest for one in taken}
        for one in aside:
            place = one.submission.path, one.submission.member
            fates[place] = "copy" if one.submission.digest in digests else "aside"
        for one in taken:
            fates[one.submission.path, one.submission.member] = "submission"
        submissions = [one.submission for one in taken] or [self._nothing()]
        return [with_flags(one, *self._oddities()) for one in submissions], notes

    def _nothing(self) -> Submission:
        """The submission of a student without a notebook that is graded."""
        if self.found:
            left = self.found[0].submission
            blank = replace(left, practical="", part="")
            return with_problem(blank, "not-chosen", left.lab)
        if self.odd:
            odd = min(self.odd, key=lambda odd: REASONS.index(odd[2]))
            return with_problem(self._blank(*odd[:2]), odd[2])
        entry, name = [*self.others, *self.hidden][0]
        detail = "only hidden files, such as Jupyter's checkpoints"
        if self.others:
            suffixes = Counter(shown(Path(e.parts[-1]).suffix) for e, _ in self.others)
            most = [one for one, _ in suffixes.most_common(3) if one != "\ufffd"]
            count = len(self.others)
            detail = f"{count} {'file' if count == 1 else 'files'}"
            detail += f": {', '.join(most)}" if most else ""
        return with_problem(self._blank(entry, name), "no-notebook", detail)

    def _oddities(self) -> Iterator[Flag]:
        told: Counter[str] = Counter()
        for _, name, code in self.odd:
            told[code] += 1
            if told[code] <= MAX_FLAGS_EACH:
                yield flag(code, shown(name.notebook))

    def _blank(self, entry: Entry, name: Name) -> Submission:
        unsafe = (flag("unsafe-name", shown(entry.parts[-1])),) if entry.outside else ()
        return Submission(
            self.student,
            name.identifier,
            "",
            shown(name.notebook),
            entry.path,
            entry.member,
            flags=unsafe,
        )
