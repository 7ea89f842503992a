"""What is known of a submission and of its grade: plain data that goes to JSON and back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Status = Literal["right", "wrong", "not-reached", "not-graded"]
NOT_RUN = "The notebook could not be run"  # a fault of the machine, or of ours
STOPPED = (
    "Its code was stopped"  # how the reason begins where a clock or a limit ended it
)


@dataclass(frozen=True)
class Flag:
    """Something about a submission that a person should know.

    Args:
        code: a short name, such as ``check-edited``; ``grading.flags`` lists them.
        where: the task, the cell's id or the file that it is about, or the empty string.
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
        points: what it is worth.
        status: ``right`` alone earns the points. It starts as ``not-reached``: a probe that
            never ran is not a pass.
        attempt: the pass in which it was judged, from 1; in later ones the reference stands
            in for tasks that are not judged.
        reason: what went wrong, in one sentence or two; empty if it is right.
        hint: the misconception that gives just these values, as it goes on after "this is
            what comes out when"; or the empty string.
        key: the name of the misconception for counting, ``<task>#<number>``, or empty.
        seconds: wall clock of its answer and its probe.
    """

    task: str
    points: int
    status: Status = "not-reached"
    attempt: int = 1
    reason: str = ""
    hint: str = ""
    key: str = ""
    seconds: float = 0.0

    @property
    def earned(self) -> int:
        """The points that it gives."""
        return self.points if self.status == "right" else 0

    @property
    def stopped(self) -> bool:
        """Was its code ended, and not judged by what it returned?"""
        return self.reason.startswith(STOPPED)


@dataclass(frozen=True)
class Written:
    """An answer in words; ``marks`` are a person's, None until given, at most ``points``."""

    task: str
    points: int
    text: str
    marks: float | None = None


@dataclass(frozen=True)
class Result:
    """The grade of one notebook of one student.

    Args:
        student: the name that the platform gives, with its number if it gives one.
        practical: the stem, such as ``deep_ensembles``; empty if it cannot be told.
        notebook: the file's name as handed in.
        digest: SHA-256 of the file's content, hexadecimal.
        identifier: the platform's number for the student, or the empty string.
        graded: False if no task of it could be judged.
        problem: why not, in one sentence; empty if it was graded.
        verdicts: one for each task, in the order of the practical.
        written: one for each question.
        flags: what a person should know.
        seconds: wall clock of the whole.
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

    @property
    def earned(self) -> int:
        """Points for the tasks, without the answers in words."""
        return sum(verdict.earned for verdict in self.verdicts)

    @property
    def points(self) -> int:
        """What all tasks together are worth."""
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def cut_short(self) -> bool:
        """Was a task stopped or not reached? A machine that was busy may be the cause."""
        late = any(v.stopped or v.status == "not-reached" for v in self.verdicts)
        return late or self.problem.startswith(NOT_RUN)
