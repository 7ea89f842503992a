"""Static analysis of a submission's code.

All code is analysed once, before the first pass. ``analyse`` is called in a process with
limits, because hostile code can take long to analyse.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from nbformat import NotebookNode

from grading.execution.assemble import assemble, differing
from grading.submissions.answers import Answers
from grading.submissions.effects import Effects
from grading.submissions.excerpts import definitions_of
from grading.submissions.forms import without_shows
from grading.submissions.sources import acts, reached
from project.practicals import cell_id

FEW = 4  # cells that a flag names


@dataclass(frozen=True)
class Analysis:
    """The result of a static analysis.

    Args:
        effects: the origins of its names.
        acting: the ids of the student's cells that contain more than definitions.
        showing: the ids of others, with statements that only show values.
        loud: the ids of the student's own cells that may change what is not theirs.
        reaching: the tasks whose answers may change what is not theirs.
        needs: for each task the others whose names its answer uses, directly, or through
            others and given code.
        blamed: for each task the ids of cells to look at first if it needs code that acts.
    """

    effects: Effects
    acting: tuple[str, ...]
    showing: frozenset[str]
    loud: frozenset[str]
    reaching: frozenset[str]
    needs: Mapping[str, frozenset[str]]
    blamed: Mapping[str, frozenset[str]]

    def may_help(self, task: str) -> bool:
        """May the verdict on a task be another one with the statements that were left out?

        Those that only show values may raise an exception, which says more in its own cell.
        """
        return bool(self.acting) or cell_id(task) in self.showing

    def named(self, task: str) -> str:
        """The cells to look at if a task is right only with code that acts."""
        number = re.compile(r"added--(\d+)")
        cells = [cell for cell in self.acting if cell in self.blamed[task]]
        cells = cells or list(self.acting)
        found = [(number.fullmatch(cell), cell) for cell in cells[:FEW]]
        named = [f"own cell {int(own[1]) + 1}" if own else cell for own, cell in found]
        more = len(cells) - FEW
        return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def analyse(
    answers: Answers,
    released: NotebookNode,
    todo: Collection[str],
    names: Mapping[str, str],
    given: Mapping[str, str],
) -> Analysis:
    """Analyse all code of a submission.

    Args:
        answers: the contents of the submission.
        released: the release.
        todo: the tasks whose answers can run.
        names: the name of each task's answer, by task.
        given: the sources of given definitions, by name.
    """
    effects = _effects(answers, released)
    cells = {cell_id(task) for task in todo} | answers.around.keys()
    cells |= {added.id for added in answers.added}
    blank, written = dict.fromkeys(todo, ""), as_written(answers)
    both = (
        assemble(released, answers, set(todo), written, blank, effects=known)
        for known in (effects, None)
    )
    left_out, texts = differing(*both) & cells, _cells(answers)
    showing = frozenset(
        id_
        for id_ in left_out - answers.around.keys()
        if effects.quiet(without_shows(texts[id_], effects.own))
    )
    acting = tuple(sorted(left_out - showing))
    sources = _sources(answers, names, given)
    return Analysis(
        effects,
        acting,
        showing,
        frozenset(added.id for added in answers.added if acts(added.source)),
        frozenset(id_ for id_, one in answers.tasks.items() if acts(one.source)),
        needs_of(sources, names),
        _blamed(answers, names, sources, effects, acting),
    )


def as_written(answers: Answers) -> dict[str, str]:
    """The student's sources for tasks that are not judged, where no reference stands in."""
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


def _cells(answers: Answers) -> dict[str, str]:
    """The sources of all cells that a student wrote, by id."""
    cells = dict(answers.around)
    cells |= {added.id: added.source for added in answers.added}
    return cells | {cell_id(t): answer.source for t, answer in answers.tasks.items()}


def _sources(
    answers: Answers, names: Mapping[str, str], given: Mapping[str, str]
) -> dict[str, str]:
    """The statements that bind each name; for the name of an answer, its whole cell."""
    texts = {name: [text] for name, text in given.items()}
    for source in _cells(answers).values():
        for name, text in definitions_of(source):
            texts.setdefault(name, []).append(text)
    sources = {name: "\n".join(found) for name, found in texts.items()}
    for task, name in names.items():
        answer = answers.tasks.get(task)
        sources[name] = answer.source if answer else ""
    return sources


def _blamed(
    answers: Answers,
    names: Mapping[str, str],
    sources: Mapping[str, str],
    effects: Effects,
    acting: Collection[str],
) -> dict[str, frozenset[str]]:
    cells = {id_: text for id_, text in _cells(answers).items() if id_ in acting}
    touching = {id_ for id_, text in cells.items() if effects.touches(text)}
    binding = {
        id_: {name for name, _ in definitions_of(text)} for id_, text in cells.items()
    }
    blamed = {}
    for task, name in names.items():
        used = reached(name, sources)
        needed = {id_ for id_ in cells if binding[id_] & used}
        blamed[task] = frozenset({cell_id(task), *touching, *needed})
    return blamed


def needs_of(
    sources: Mapping[str, str], names: Mapping[str, str]
) -> dict[str, frozenset[str]]:
    """For each task the others whose names its answer uses, directly or through others.

    Args:
        sources: definitions by name, including those of the answers.
        names: the name of each task's answer, by task.
    """
    by_name = {name: task for task, name in names.items()}
    return {
        task: frozenset(
            by_name[found] for found in reached(name, sources) if found in by_name
        )
        for task, name in names.items()
    }
