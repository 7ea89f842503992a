"""The class as rows and columns: who submitted what, and which notebook counts.

All sheets and pages read the class through this module, so that no two of them can disagree
about a total.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from grading.record import Late, Result, Verdict, Written
from project.practicals import ANSWER_HERE, title_of

# Texts that are not answers: the placeholders of the course and of nbgrader.
PLACEHOLDERS = ("", ANSWER_HERE, "YOUR ANSWER HERE")
# Letters that Unicode does not decompose, and how they are sorted.
LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)


@dataclass(frozen=True)
class Item:
    """A column: one task or one question, and the points it is worth."""

    id: str
    points: int


@dataclass(frozen=True)
class ColumnGroup:
    """The columns of a practical: the tasks and questions in the results of the class.

    ``tasks`` and ``questions`` are in the order of the practical; ``parts`` are the letters of
    its labs that were submitted.
    """

    stem: str
    tasks: tuple[Item, ...]
    questions: tuple[Item, ...]
    parts: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name of the lab, or of the practical if the class submitted several labs of it."""
        return title_of(self.stem, self.parts[0] if len(self.parts) == 1 else "")

    @property
    def points(self) -> int:
        """The points that the tasks and questions together are worth."""
        return sum(item.points for item in self.tasks + self.questions)


@dataclass(frozen=True)
class Score:
    """A student's points for the tasks and marks for the answers in words.

    ``possible`` is the worth of the labs that were graded; ``unmarked`` is the number of
    answers that a person has not marked yet; ``deducted`` is deducted for lateness.
    """

    points: int
    written: float
    possible: int
    unmarked: int
    deducted: float = 0.0

    @property
    def total(self) -> float:
        """Points and marks together."""
        return self.points + self.written

    @property
    def final(self) -> float:
        """The total less the deduction for lateness; at least 0, because deductions are rounded."""
        return max(0.0, self.total - self.deducted)

    @property
    def share(self) -> float:
        """The total as a share of what was possible; 0 if nothing was."""
        return self.total / self.possible if self.possible else 0.0


class Roster:
    """All results of a class, in an order that depends only on the results.

    Args:
        results: any number of them, in any order.
        order: stems of all practicals, first to last; others follow by name.

    If a student submitted several notebooks of one lab, the one that is not
    ``Result.spare`` counts; failing that, the one with the most points for its tasks,
    and among equals the first by file name and content. The others are in ``results``
    and in ``spare``.
    """

    def __init__(self, results: Iterable[Result], order: Sequence[str] = ()) -> None:
        self.results, self.order = sorted(results, key=_key), tuple(order)
        self.students = sorted({result.student for result in self.results}, key=by_name)
        stems = {result.practical for result in self.results if result.practical}
        rank = {stem: index for index, stem in enumerate(order)}
        ordered = sorted(stems, key=lambda stem: (rank.get(stem, len(rank)), stem))
        self._identifiers = {
            r.student: r.identifier for r in self.results if r.identifier
        }
        self._counting: dict[tuple[str, str], dict[str, Result]] = {}
        self.spare: list[Result] = []
        for result in self.results:
            if not result.practical:
                continue
            labs = self._counting.setdefault((result.student, result.practical), {})
            best = labs.get(result.part)
            if best is None or _worth(result) > _worth(best):
                labs[result.part] = result
                result = best
            if result is not None:
                self.spare.append(result)
        self.spare.sort(key=_key)
        self.practicals = [self._columns(stem) for stem in ordered]

    def counting(self, student: str, practical: str) -> Result | None:
        """What counts for a student in a practical, graded or not: all labs as one."""
        found = self.labs(student, practical)
        return _as_one(found) if found else None

    def by_lab(self) -> list[ColumnGroup]:
        """The columns of each lab that was submitted, in the order of the practicals."""
        return [
            lab
            for practical in self.practicals
            for lab in [self._columns(practical.stem, part) for part in practical.parts]
            or [practical]
        ]

    def counting_in(self, student: str, lab: ColumnGroup) -> Result | None:
        """What counts for a student in a lab, as ``by_lab`` returns it, graded or not.

        This may be a notebook that is so damaged that its lab is unknown.
        """
        found = self._counting.get((student, lab.stem), {})
        return found.get("".join(lab.parts)) or found.get("")

    def labs(self, student: str, practical: str) -> list[Result]:
        """The notebooks that count for a student in a practical, one for each lab."""
        return [
            one
            for _, one in sorted(self._counting.get((student, practical), {}).items())
        ]

    def counts(self, result: Result) -> bool:
        """Is it the notebook of its lab that counts for its student?"""
        labs = self._counting.get((result.student, result.practical), {})
        return labs.get(result.part) is result

    @property
    def adjusted(self) -> bool:
        """Was a late policy applied?"""
        return any(result.late for result in self.results)

    def identifier(self, student: str) -> str:
        """The platform's number for a student, or the empty string."""
        return self._identifiers.get(student, "")

    def graded(self, practical: str) -> list[Result]:
        """What counts of a practical and could be graded, by student."""
        found = [self.counting(student, practical) for student in self.students]
        return [result for result in found if result is not None and result.graded]

    def score(self, student: str) -> Score:
        """The score of a student over all practicals."""
        results = [
            result
            for practical in self.practicals
            if (result := self.counting(student, practical.stem)) and result.graded
        ]
        return score_of(*results)

    def _columns(self, stem: str, part: str | None = None) -> ColumnGroup:
        # Every notebook of a lab has all its tasks. In case one does not, those with the
        # most come first, and items that only others have follow.
        results = [
            result
            for result in self.results
            if result.practical == stem and part in (None, result.part)
        ]
        results.sort(key=lambda one: (one.part, -len(one.verdicts) - len(one.written)))
        tasks: dict[str, Item] = {}
        questions: dict[str, Item] = {}
        for result in results:
            for verdict in result.verdicts:
                tasks.setdefault(verdict.task, Item(verdict.task, verdict.points))
            for answer in result.written:
                questions.setdefault(answer.task, Item(answer.task, answer.points))
        # The lab of a notebook that could not be read may be unknown.
        parts = sorted({result.part for result in results} - {""})
        return ColumnGroup(
            stem, tuple(tasks.values()), tuple(questions.values()), tuple(parts)
        )


def by_name(name: str) -> tuple[str, str, str]:
    """The sort key of a name: É is next to E; case and accents only order equal names."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(one for one in letters if not unicodedata.combining(one))
    return plain.casefold().translate(LETTERS), name.casefold(), name


def unanswered(answer: Written) -> bool:
    """Is there no answer to mark?"""
    return answer.text.strip() in PLACEHOLDERS


def score_of(*results: Result) -> Score:
    """The score over some notebooks."""
    answers = [answer for result in results for answer in result.written]
    return Score(
        points=sum(result.earned for result in results),
        written=sum(answer.marks or 0 for answer in answers),
        possible=sum(result.possible for result in results)
        + sum(answer.points for answer in answers),
        unmarked=sum(
            answer.marks is None and not unanswered(answer) for answer in answers
        ),
        deducted=sum(result.late.deducted for result in results if result.late),
    )


def verdicts_of(result: Result) -> dict[str, Verdict]:
    """A notebook's verdicts by task."""
    return {verdict.task: verdict for verdict in result.verdicts}


def _as_one(labs: Sequence[Result]) -> Result:
    """Join a student's notebooks of different labs of one practical."""
    if len(labs) == 1:
        return labs[0]
    graded = [one for one in labs if one.graded]
    return replace(
        labs[0],
        part="",
        notebook=", ".join(one.notebook for one in labs),
        digest="",
        graded=bool(graded),
        problem="" if graded else labs[0].problem,
        verdicts=tuple(verdict for one in labs for verdict in one.verdicts),
        written=tuple(answer for one in labs for answer in one.written),
        flags=tuple(dict.fromkeys(flag for one in labs for flag in one.flags)),
        seconds=sum(one.seconds for one in labs),
        late=_joined([one.late for one in labs if one.late]),
    )


def _joined(late: Sequence[Late]) -> Late | None:
    if not late:
        return None
    return Late(max(one.seconds for one in late), sum(one.deducted for one in late))


def _worth(result: Result) -> tuple[bool, bool, int]:
    return result.graded, not result.spare, result.earned


def _key(result: Result) -> tuple:
    return (
        by_name(result.student),
        result.practical,
        result.part,
        (result.notebook.casefold(), result.notebook),
        result.digest,
    )
