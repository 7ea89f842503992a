"""Grade one submission, in as many passes as it needs.

In the first pass all answers are judged together, each with the student's other answers, and
statements of the student's cells that do more than define are left out. Tasks that are not
right then are judged again with all statements, if any of these may matter. A task that a
wrong, crashed or hanging answer may have affected is judged again, with the reference in place
of the tasks that it uses; only its verdicts are kept. The same holds for a task that may have
been affected by code that does more than define, such as a thread or a patch.
"""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass

from nbformat import NotebookNode

from grading.bounded import TooCostly, bounded
from grading.execution.analysis import Analysis, analyse, as_written, needs_of
from grading.execution.assemble import assemble, origin
from grading.execution.material import LabMaterial
from grading.execution.passes import PassResult
from grading.execution.runner import Environment, run_pass
from grading.execution.verdicts import LOST
from grading.flags import flag
from grading.record import NOT_RUN, STOPPED, TOO_COSTLY, Flag, Verdict
from grading.submissions.answers import Answers
from grading.submissions.effects import Effects
from grading.submissions.forms import parsed
from project.practicals import cell_id

ALONE = 3  # passes of one submission that are repeated, with no other pass beside them
MANY = 3  # own cells of the student that end the kernel, after which none is run
STOOD_IN = "It was judged with reference solutions in the place of other tasks."


@dataclass(frozen=True)
class Graded:
    """A verdict for each task, flags, and the reason if nothing could be judged."""

    verdicts: tuple[Verdict, ...]
    flags: tuple[Flag, ...] = ()
    problem: str = ""


def grade(answers: Answers, material: LabMaterial, environment: Environment) -> Graded:
    """Judge every task of a submission."""
    try:
        verdicts, flags, problem = _Passes(answers, material, environment).run()
    except TooCostly:
        verdicts, flags, problem = _unread(material), [], TOO_COSTLY
    return Graded(
        tuple(verdicts[task] for task in material.keys), tuple(flags), problem
    )


class _Passes:
    """The passes over one submission."""

    def __init__(
        self, answers: Answers, material: LabMaterial, environment: Environment
    ):
        self.answers, self.material, self.environment = answers, material, environment
        limits = environment.settings.limits
        self.until = time.monotonic() + limits.submission  # plus excused time
        self.last = time.monotonic() + limits.submission * limits.patience
        self.again = ALONE
        self.verdicts = {
            task: Verdict(task, key.points) for task, key in material.keys.items()
        }
        self.flags: list[Flag] = []
        self.left_out: set[str] = set()
        self.reduced: set[str] = set()
        self.apart: list[list[str]] = []  # groups to judge without loud cells
        self.is_apart = False
        self.spoilt: list[str] = []  # by another answer; not yet judged without it
        self.number = 0
        self.known: Analysis
        self.names = {task: key.name for task, key in material.keys.items()}
        sources = {self.names[task]: text for task, text in material.reference.items()}
        # The other tasks that the reference solution of each task needs.
        self.declared = needs_of(dict(material.given) | sources, self.names)
        self.effects: Effects | None = None  # set while acting statements are left out
        self.is_second = False  # True in the passes with acting statements
        self.whole = True  # are cells that only define run as they are?

    def run(self) -> tuple[dict[str, Verdict], list[Flag], str]:
        """Judge all; say which are right only with a reference, and flag undeclared ones."""
        result = self._all()
        for task, verdict in self.verdicts.items():
            if verdict.status == "right" and verdict.reason == STOOD_IN:
                wrong = {t for t in self.known.needs[task] if not self._is_right(t)}
                reason = STOOD_IN if wrong or self._acts(task) else ""
                self._settle(task, "right", reason)
                if helped := sorted(wrong - self.declared[task]):
                    named = ", ".join(one.partition("/")[2] for one in helped)
                    self.flags.append(flag("stood-in", task, detail=named))
        return result

    def _all(self) -> tuple[dict[str, Verdict], list[Flag], str]:
        todo = self._written()
        material = self.material
        self.known = bounded(
            analyse, self.answers, material.released, todo, self.names, material.given
        )
        acting = self.known.acting or self.known.showing
        if acting:
            self.effects = self.known.effects
        result = self._run(todo)
        lost = [task for task in todo if LOST.match(self.verdicts[task].reason)]
        if lost and not result[2] and self._come_apart(lost):
            first = dict(self.verdicts)
            result = self._once_more(lost, self.known.effects, whole=False)
            others = [task for task in lost if not self._is_right(task)]
            self.verdicts |= {task: first[task] for task in others}
        may_help = self.known.may_help
        again = [task for task in todo if not self._is_right(task) and may_help(task)]
        if not acting or not again or result[2]:
            return result
        first, self.is_second = dict(self.verdicts), True
        result = self._once_more(again, None)
        for task in again:
            if self._is_right(task):
                cells = self.known.named(task)
                self.flags.append(flag("acting-code", task, detail=cells))
            elif first[task].hint and not self.verdicts[task].hint:
                self.verdicts[task] = first[task]
        return result

    def _come_apart(self, tasks: list[str]) -> bool:
        """Would statements, one of which may have raised, be left out as not needed?"""
        self.effects, self.number, counts = self.known.effects, 0, set()
        for self.whole in (False, True):
            cells = [parsed(cell.source) for cell in self._assembled(tasks).cells]
            counts.add(sum(len(cell.body) for cell in cells if cell))
        return len(counts) > 1

    def _once_more(
        self, todo: list[str], effects: Effects | None, *, whole: bool = True
    ) -> tuple[dict[str, Verdict], list[Flag], str]:
        """Judge some tasks again, as in ``assemble`` with these arguments."""
        self.effects, self.whole, self.number = effects, whole, 0
        self.spoilt, self.apart, self.is_apart = [], [], False
        for task in todo:
            self._settle(task, "not-reached", "")
        return self._run(todo)

    def _run(self, todo: list[str]) -> tuple[dict[str, Verdict], list[Flag], str]:
        failures = 0
        while todo and self._left() > 0:
            result = self._one(todo)
            # A pass that was not stopped has judged all tasks, or the grader is at fault.
            began = result.started and result.running
            began = began and (result.stopped or self._judged(result))
            self.number += bool(began)
            # If it ended in a cell of the grader's, code that outlived its own cell ended it.
            lost = not began or (result.stopped and not self._culprit(result))
            if lost and (self.is_apart or not began):
                failures += 1
                if failures > 1:
                    return self.verdicts, self.flags, self._broken(result)
                continue
            self._take(result, todo)
            if lost:
                self._set_apart(
                    [t for t in todo if self.verdicts[t].status == "not-reached"]
                )
            todo = self._again([] if lost else todo)
            while not todo and self.apart:
                self.is_apart = True
                todo = [t for t in self.apart.pop(0) if not self._is_right(t)]
        waiting = {
            *todo,
            *self.spoilt,
            *(task for group in self.apart for task in group),
        }
        for task, verdict in self.verdicts.items():
            # A task that was to be judged without the faults of others is not yet wrong.
            if verdict.status == "not-reached" or (
                verdict.status == "wrong" and task in waiting
            ):
                reason = "The time for the whole notebook was used up."
                self._settle(task, "not-reached", reason)
        return self.verdicts, self.flags, ""

    def _written(self) -> list[str]:
        """Return the tasks whose answers can run, and settle the others."""
        todo = []
        for task in self.verdicts:
            answer = self.answers.tasks.get(task)
            if answer is None:
                self._settle(task, "not-attempted", "Its cell is missing.")
            elif answer.untouched or not answer.source.strip():
                self._settle(task, "not-attempted", answer.problem)
            elif answer.problem:
                self._settle(task, "wrong", answer.problem)
            else:
                todo.append(task)
        return todo

    def _assembled(self, todo: list[str]) -> NotebookNode:
        material = self.material
        return bounded(
            assemble,
            material.released,
            self.answers,
            set(todo),
            self._standing_in(todo) if self.number else as_written(self.answers),
            {task: material.keys[task].probe for task in todo},
            self.left_out,
            self.reduced | (self.known.loud if self.is_apart else set()),
            self.effects,
            not self.is_second,
            self.whole,
        )

    def _standing_in(self, todo: list[str]) -> dict[str, str]:
        """The references that the judged answers use, of tasks that were tried, or declared.

        The reference of a task that was not tried would solve any other task that calls it.
        """
        tried = {
            task
            for task, answer in self.answers.tasks.items()
            if not answer.untouched and answer.source.strip()
        }
        if not any(map(self._acts, todo)):  # names that such code uses are not known
            tried &= {one for task in todo for one in self.known.needs[task]}
        standing = tried | {one for task in todo for one in self.declared[task]}
        standing |= {one for task in standing for one in self.declared[task]}
        reference = self.material.reference
        return {task: text for task, text in reference.items() if task in standing}

    def _one(self, todo: list[str]) -> PassResult:
        notebook = self._assembled(todo)
        result = self._pass(notebook, todo)
        if result.unsure and self.again and self._left() > 0:
            # The machine may be to blame; this result says nothing about the answer.
            self.again -= 1
            result = self._pass(notebook, todo, alone=True)
        if result.running and not result.finished and not result.stopped:
            result.stopped = result.running
            result.because = "nbval itself had to be killed"
            task = _task_of(result.running)
            # If the time is up, the task is not reached rather than wrong.
            if task in result.verdicts and self._left() > 0:
                reason = f"{STOPPED}: {result.because}."
                result.verdicts[task] = dataclasses.replace(
                    result.verdicts[task], status="wrong", reason=reason
                )
        return result

    def _pass(
        self, notebook: NotebookNode, todo: list[str], *, alone: bool = False
    ) -> PassResult:
        result = run_pass(
            notebook,
            self.number + 1,
            todo,
            self.material.expected,
            self.environment,
            max(1.0, self._left()),
            self.material.lab.name,
            alone=alone,
        )
        self.until += result.excused
        return result

    def _left(self) -> float:
        """The seconds that the submission still has."""
        return min(self.until, self.last) - time.monotonic()

    def _culprit(self, result: PassResult) -> bool:
        """Handle the cell in which the kernel ended; False if it is one of the grader's."""
        if _task_of(result.stopped) in result.verdicts:
            return True
        added = {added.id for added in self.answers.added}
        cell = origin(result.stopped)
        if _task_of(cell) in self.verdicts and cell != result.stopped:
            self.left_out.add(result.stopped)  # lent from the cell of another task
            return True
        if cell not in added | self.answers.around.keys():
            return False
        if cell in added - self.reduced and not self.is_apart:
            # It may have trained or drawn; what it defines can still be used.
            self.reduced.add(cell)
            if len(self.reduced) == MANY:
                self.reduced |= added
        else:
            self.left_out.add(cell)
            if len(self.left_out) == MANY:
                self.left_out |= added | self.answers.around.keys()
        told = flag("added-stopped", cell, detail=result.because)
        if (told.code, cell) not in {(f.code, f.where) for f in self.flags}:
            self.flags.append(told)
        return True

    @staticmethod
    def _judged(result: PassResult) -> bool:
        return all(v.status != "not-reached" for v in result.verdicts.values())

    def _take(self, result: PassResult, todo: list[str]) -> None:
        for task in todo:
            verdict = result.verdicts[task]
            if verdict.status == "right" and self.number > 1:
                verdict = dataclasses.replace(verdict, reason=STOOD_IN)
            again = self.is_apart and self.verdicts[task].status == "wrong"
            if verdict.status == "right" or not again:
                self.verdicts[task] = verdict
        if not self.is_apart:
            self._set_apart([t for t in todo if self._disturbed(t, todo)])
        # The student's own slow cells would use up the time of later passes.
        self.reduced |= {a.id for a in self.answers.added} & set(result.slow)
        if self.number == 1:  # of passes with references, only verdicts are kept
            self.flags += [one for one in result.flags if self._holds(one)]

    def _holds(self, told: Flag) -> bool:
        """Is the flag new, and not the fault of statements that were left out?"""
        fault = self.effects is not None and told.code == "added-raised"
        return not fault and told not in self.flags

    def _again(self, todo: list[str]) -> list[str]:
        """The tasks for the next pass: those not reached, else those affected by others."""
        self.spoilt += [
            task
            for task in todo
            if self.verdicts[task].status == "wrong" and self._leans(task)
        ]
        left = [t for t in todo if self.verdicts[t].status == "not-reached"]
        if left:
            return left
        chosen: list[str] = []
        for task in self.spoilt:
            needs = self.known.needs[task] & set(chosen)
            if not needs and not any(
                task in self.known.needs[other] for other in chosen
            ):
                chosen.append(task)
        # Of two tasks that use each other's names, the second gets a pass of its own.
        self.spoilt = [task for task in self.spoilt if task not in chosen]
        return chosen

    def _disturbed(self, task: str, todo: list[str]) -> bool:
        """Is it wrong in no known way, judged beside code that does more than define?"""
        verdict = self.verdicts[task]
        if verdict.status != "wrong" or verdict.hint or self._acts(task):
            return False
        if self.is_second:  # it was judged without such code already
            return False
        left_out = {*self.known.acting, *self.known.showing}
        others = [t for t in todo[: todo.index(task)] if cell_id(t) not in left_out]
        loud = self.known.loud if self.effects is None else ()
        return bool(loud) or any(self._acts(other) for other in others)

    def _is_right(self, task: str) -> bool:
        return self.verdicts[task].status == "right"

    def _acts(self, task: str) -> bool:
        return task in self.known.reaching

    def _set_apart(self, tasks: list[str]) -> None:
        """Schedule these tasks again: the quiet ones together, each of the others alone."""
        quiet = [task for task in tasks if not self._acts(task)]
        alone = [[task] for task in tasks if self._acts(task)]
        self.apart += [group for group in [quiet, *alone] if group]

    def _leans(self, task: str) -> bool:
        """Was it judged beside a wrong answer that it uses?"""
        now = self.verdicts[task].attempt
        return any(
            self.verdicts[other].status != "right"
            and (now == 1 or self.verdicts[other].attempt == now)
            for other in self.known.needs[task]
        )

    def _settle(self, task: str, status: str, reason: str) -> None:
        self.verdicts[task] = dataclasses.replace(
            self.verdicts[task], status=status, reason=reason
        )

    def _broken(self, result: PassResult) -> str:
        for task, verdict in self.verdicts.items():
            if verdict.status == "not-reached":
                self._settle(task, "not-graded", "The notebook could not be run.")
        return f"{NOT_RUN}: {result.because or 'no kernel started'}."


def _unread(material: LabMaterial) -> dict[str, Verdict]:
    return {
        task: Verdict(task, key.points, "not-graded", reason=TOO_COSTLY)
        for task, key in material.keys.items()
    }


def _task_of(cell: str) -> str:
    """The task of a cell's id, if it is that of an answer or of a probe."""
    return cell.removesuffix("--probe").replace("--", "/", 1)
