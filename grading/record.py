"""The data about a submission and its grade, which can be written to JSON and read back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from project.practicals import lab_name

Status = Literal["right", "wrong", "not-attempted", "not-reached", "not-graded"]
NOT_RUN = "The notebook could not be run"  # a fault of the machine or the grader
CHANGED = "The file was changed while it was being graded."
TOO_COSTLY = "Reading the notebook takes too much time or memory."
PASSING = NOT_RUN, CHANGED  # problems that are not kept: the next run may not have them
STOPPED = "Its code was stopped"  # beginning of the reason if a time or resource limit ended it


@dataclass(frozen=True)
class Flag:
    """Something about a submission that a person should know.

    Args:
        code: a short name, such as ``check-edited``; ``grading.flags`` lists them.
        where: the task, the cell's id or the file concerned, or the empty string.
        message: one sentence.
    """

    code: str
    where: str
    message: str


@dataclass(frozen=True)
class Verdict:
    """The grade of one task.

    Args:
        task: its id.
        points: the points that the task is worth.
        status: only ``right`` earns the points. It is ``not-reached`` at first, so that a
            task whose probe never ran earns none. It is ``not-attempted`` if the answer's
            cell is as released, empty or missing.
        attempt: the number of the pass that judged it, from 1 (``grades.json`` has this
            name); in later passes the reference stands in for tasks that are not judged.
        reason: what went wrong, in one sentence or two; empty if it is right.
        hint: the misconception that gives exactly these values, as it continues "you get
            this if"; or the empty string.
        key: the name of the misconception for counting, ``<task>#<number>``, or empty.
        seconds: wall time of its answer and its probe.
        sketch: of its numbers if they are wrong in no known way; see ``execution.sketch``.
    """

    task: str
    points: int
    status: Status = "not-reached"
    attempt: int = 1
    reason: str = ""
    hint: str = ""
    key: str = ""
    seconds: float = 0.0
    sketch: str = field(default="", compare=False)

    @property
    def earned(self) -> int:
        """The points that the answer earns."""
        return self.points if self.status == "right" else 0

    @property
    def stopped(self) -> bool:
        """Was its code stopped, instead of being judged by what it returned?"""
        return self.reason.startswith(STOPPED)


@dataclass(frozen=True)
class Written:
    """An answer in words; a person gives ``marks``, None until then, at most ``points``.

    ``version`` identifies the text that they were given to, None if that is not known.
    """

    task: str
    points: int
    text: str
    marks: float | None = None
    version: str | None = None


@dataclass(frozen=True)
class Late:
    """How late a notebook is, in seconds after the due time, and the points deducted for it."""

    seconds: int
    deducted: float


@dataclass(frozen=True)
class Code:
    """Code that a student wrote; ``where`` is the task, or the id of another cell."""

    where: str
    text: str


@dataclass(frozen=True)
class Result:
    """The grade of one notebook of one student.

    Args:
        student: the name that the platform gives, with its number if it gives one.
        practical: the stem, such as ``deep_ensembles``; empty if it is unknown.
        notebook: the file's name as submitted.
        digest: SHA-256 of the file's content, hexadecimal.
        identifier: the platform's number for the student, or the empty string.
        graded: False if no task of it could be judged.
        problem: why not, in one sentence; empty if it was graded.
        verdicts: one for each task, in the order of the lab.
        written: one for each question.
        flags: what a person should know.
        seconds: wall time of grading it.
        part: the lab's letter, or the empty string if its practical has only one.
        code: what the student wrote, for comparisons within the class.
        late: the deduction for lateness; None if no late policy was applied.
        spare: True if another notebook of the same student and lab was chosen to count.
    """

    student: str
    practical: str
    notebook: str
    digest: str
    identifier: str = ""
    graded: bool = True
    problem: str = ""
    verdicts: tuple[Verdict, ...] = ()
    written: tuple[Written, ...] = ()
    flags: tuple[Flag, ...] = field(default=())
    seconds: float = 0.0
    part: str = ""
    code: tuple[Code, ...] = ()
    late: Late | None = None
    spare: bool = False

    @property
    def lab(self) -> str:
        """The name of the lab, or the empty string if it is unknown."""
        return lab_name(self.practical, self.part)

    @property
    def key(self) -> tuple[str, ...]:
        """What distinguishes it from all other results of a class."""
        return self.student, self.practical, self.part, self.notebook, self.digest

    @property
    def earned(self) -> int:
        """The points for the tasks, without the answers in words."""
        return sum(verdict.earned for verdict in self.verdicts)

    @property
    def points(self) -> int:
        """The points that all tasks together are worth."""
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def possible(self) -> int:
        """The points that the tasks that could be judged are worth."""
        return sum(v.points for v in self.verdicts if v.status != "not-graded")

    @property
    def cut_short(self) -> bool:
        """Was a task stopped or not reached, or reading too costly? A busy machine may be why."""
        stopped = any(v.stopped or v.status == "not-reached" for v in self.verdicts)
        return stopped or self.problem == TOO_COSTLY
