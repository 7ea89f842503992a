"""Static analysis of a submission's code.

All of it is read once, before the first run: ``analyse`` is called in a process with limits,
since code can be made to take long to read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from nbformat import NotebookNode

from course.grading.handed_in.answers import Answers
from course.grading.handed_in.effects import Effects
from course.grading.handed_in.sources import acts, reached
from course.grading.judging.assemble import assemble, cell_id, differing

FEW = 4  # cells that a flag names


@dataclass(frozen=True)
class Analysis:
    """The result of a static analysis.

    Args:
        effects: where its names come from.
        acting: the ids of the student's cells that hold more than definitions.
        loud: the ids of own cells that may touch what is not theirs.
        reaching: the tasks whose answers may.
        needs: for each task the others whose names its answer uses, directly, or through
            others and given code.
    """

    effects: Effects
    acting: tuple[str, ...]
    loud: frozenset[str]
    reaching: frozenset[str]
    needs: Mapping[str, frozenset[str]]

    @property
    def named(self) -> str:
        """The first of the cells that act, to look at."""
        number = re.compile(r"added--(\d+)")
        found = [(number.fullmatch(cell), cell) for cell in self.acting[:FEW]]
        named = [f"own cell {int(own[1]) + 1}" if own else cell for own, cell in found]
        more = len(self.acting) - FEW
        return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def analyse(
    answers: Answers,
    released: NotebookNode,
    todo: Collection[str],
    names: Mapping[str, str],
    given: Mapping[str, str],
) -> Analysis:
    """Read all code of a submission.

    Args:
        answers: what was handed in.
        released: the exercise as it was handed out.
        todo: the tasks whose answers can run.
        names: the name of each task's answer, by task.
        given: the source of what is given, by name.
    """
    effects = _effects(answers, released)
    cells = {cell_id(task) for task in todo} | answers.around.keys()
    cells |= {added.id for added in answers.added}
    blank, written = dict.fromkeys(todo, ""), as_written(answers)
    both = (
        assemble(released, answers, set(todo), written, blank, effects=known)
        for known in (effects, None)
    )
    return Analysis(
        effects,
        tuple(sorted(differing(*both) & cells)),
        frozenset(added.id for added in answers.added if acts(added.source)),
        frozenset(id_ for id_, one in answers.tasks.items() if acts(one.source)),
        _needs(answers, names, given),
    )


def as_written(answers: Answers) -> dict[str, str]:
    """The sources that can stand for tasks that are not judged, where no reference does."""
    return {id_: one.source for id_, one in answers.tasks.items() if not one.problem}


def _effects(answers: Answers, released: NotebookNode) -> Effects:
    return Effects(
        [
            *(cell.source for cell in released.cells if cell.cell_type == "code"),
            *(answer.source for answer in answers.tasks.values()),
            *(added.source for added in answers.added),
            *answers.around.values(),
        ]
    )


def _needs(
    answers: Answers, names: Mapping[str, str], given: Mapping[str, str]
) -> dict[str, frozenset[str]]:
    by_name = {name: task for task, name in names.items()}
    sources = dict.fromkeys(by_name, "") | dict(given)
    for task, answer in answers.tasks.items():
        sources[names[task]] = answer.source
    return {
        task: frozenset(
            by_name[found] for found in reached(name, sources) if found in by_name
        )
        for task, name in names.items()
    }
