"""Choose which notebook counts if a student submitted several for one lab."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from grading.flags import flag
from grading.submissions.cells import NotGradable
from grading.submissions.names import Name, shown
from grading.submissions.reading import ANSWERED, UNTOUCHED, ReadingBudget, written
from grading.submissions.submission import Submission
from project.practicals import Course

Several = Literal["last", "best"]
MANY = 10  # notebooks of one student and lab that are considered: the last ones
APART = 2.0  # seconds: the time resolution of a zip


@dataclass(frozen=True)
class FoundNotebook:
    """A notebook that was found, with what its path says and when it was modified."""

    name: Name
    submission: Submission
    parts: tuple[str, ...]
    modified: float = 0.0


@dataclass(frozen=True)
class Chosen:
    """The notebooks to grade, those set aside, and a sentence if a choice was made."""

    taken: tuple[FoundNotebook, ...]
    aside: tuple[FoundNotebook, ...] = ()
    note: str = ""


def choose(
    group: Sequence[FoundNotebook],
    budget: ReadingBudget,
    *,
    several: Several,
    course: Course | None,
    labs: Collection[str] | None = None,
) -> Chosen:
    """Choose among a student's notebooks of one lab.

    Args:
        group: any number of them.
        budget: the student's budget for reading them.
        several: ``last`` takes the last one with answers, ``best`` all with answers.
        course: the checkout, whose exercises show which notebooks contain answers. If it is
            None, every readable notebook is assumed to contain some.
        labs: the names of the labs that are graded; all if it is None.
    """
    lab = group[0].submission.lab
    if labs is not None and lab not in labs:
        files = ", ".join(map(_path, group[:MANY]))
        note = f"{lab}: {files} was left out, because --practical names other labs."
        return Chosen((), tuple(group), note)
    ordered, by = _in_order(group)
    by_digest: dict[Hashable, FoundNotebook] = {}
    for one in ordered:  # a version handed in again is as late as its last copy
        key = one.submission.digest or one.parts
        by_digest.pop(key, None)
        by_digest[key] = one
    different = list(by_digest.values())
    if len(different) == 1:
        (one,) = different
        return Chosen((one,), tuple(other for other in group if other is not one))
    late = different[-MANY:]
    # Read the last one first, in case the budget runs out.
    levels = [_level(one, course, budget) for one in reversed(late)][::-1]
    best = max(levels)
    if several == "best" and best > UNTOUCHED:
        taken = [
            one for one, level in zip(late, levels, strict=True) if level > UNTOUCHED
        ]
    else:
        taken = [one for one, level in zip(late, levels, strict=True) if level == best]
        taken = taken[-1:]
    code = "best-of-several" if several == "best" else "resubmitted"
    marked = tuple(
        replace(one, submission=_flagged(one.submission, code, len(group)))
        for one in taken
    )
    aside = tuple(one for one in group if not any(one is other for other in taken))
    by = f"with answers by {by}" if best == ANSWERED else f"by {by}"
    unread = [one for one, level in zip(late, levels, strict=True) if level < 0]
    return Chosen(marked, aside, _note(marked, aside, unread, several, by))


def _in_order(group: Sequence[FoundNotebook]) -> tuple[list[FoundNotebook], str]:
    """Sort the notebooks from first to last; also return what determines the order."""
    times = sorted({one.modified for one in group})
    rank, place = {}, 0
    for before, time in zip([times[0], *times], times, strict=False):
        place += time - before > APART
        rank[time] = place

    def key(one: FoundNotebook) -> tuple:
        name = one.name
        sent = (name.upload, name.copy) if name.upload else (0, 0)
        return *sent, rank[one.modified], name.copy, name.notebook, one.parts

    if len({one.name.upload for one in group}) > 1:
        by = "the number of the upload"
    else:
        by = "time" if place and not group[0].name.upload else "name"
    return sorted(group, key=key), by


def _level(one: FoundNotebook, course: Course | None, budget: ReadingBudget) -> int:
    """A rank that is higher if a notebook contains more of what can count."""
    submission = one.submission
    if submission.problem:
        return -2
    if course is None or not submission.lab:
        return ANSWERED
    try:
        exercise = course.lab(submission.lab).exercise
        return written(submission.read(), exercise, budget)
    except NotGradable:  # reported when it is graded
        return -1


def _flagged(submission: Submission, code: str, many: int) -> Submission:
    new = flag(code, submission.notebook, detail=f"of {many}")
    return replace(submission, flags=(*submission.flags, new))


def _note(
    taken: tuple[FoundNotebook, ...],
    aside: tuple[FoundNotebook, ...],
    unread: Sequence[FoundNotebook],
    several: Several,
    by: str,
) -> str:
    one = taken[-1].submission
    names = [_path(found) for found in taken]
    if several == "best" and len(taken) > 1:
        text = f"each task counts where it is right, of {', '.join(names)}"
    else:
        text = f"{names[-1]} counts, the last {by}"
    left = [
        _path(found) + " (cannot be read)" * any(found is one for one in unread)
        for found in aside
    ]
    if left:
        more = f" and {len(left) - MANY} more" if len(left) > MANY else ""
        text += f"; not {', '.join(left[:MANY])}{more}"
    return f"{one.lab}: {text}."


def _path(found: FoundNotebook) -> str:
    return "/".join(shown(part) for part in found.parts)
