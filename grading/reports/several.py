"""Join a student's graded notebooks of one lab: a task counts if one has it right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from grading.record import Result
from grading.reports.roster import unanswered


def best_by_task(results: Iterable[Result]) -> list[Result]:
    """Return the results; in each group, add the others' right answers to the one that counts.

    The notebook with the most points counts, and among equals the first by name. It takes over
    verdicts that are right in another one, and answers in words that it lacks. Its flag
    ``best-of-several`` names the notebooks that they come from.
    """
    results = list(results)
    groups: dict[tuple[str, str, str], list[Result]] = defaultdict(list)
    for result in results:
        if result.practical and result.graded:
            groups[result.student, result.practical, result.part].append(result)
    joined = {}
    for group in groups.values():
        if len(group) > 1:
            # The same choice as in ``Roster``.
            group.sort(key=lambda one: (-one.earned, one.notebook.casefold()))
            joined[group[0].key] = _join(group)
    return [joined.get(result.key, result) for result in results]


def _join(group: list[Result]) -> Result:
    best, others = group[0], group[1:]
    taken: dict[str, str] = {}
    verdicts, written = list(best.verdicts), list(best.written)
    for other in others:
        right = {v.task: v for v in other.verdicts if v.status == "right"}
        for index, verdict in enumerate(verdicts):
            if verdict.status != "right" and verdict.task in right:
                verdicts[index] = right[verdict.task]
                taken[verdict.task] = other.notebook
        texts = {answer.task: answer for answer in other.written}
        for index, answer in enumerate(written):
            new = texts.get(answer.task)
            if unanswered(answer) and new is not None and not unanswered(new):
                written[index] = new
                taken[answer.task] = other.notebook
    said = "; ".join(f"{task} from {name}" for task, name in taken.items())
    flags = tuple(
        replace(flag, message=f"{flag.message[:-1]}; {said}.")
        if said and flag.code == "best-of-several"
        else flag
        for flag in best.flags
    )
    return replace(best, verdicts=tuple(verdicts), written=tuple(written), flags=flags)
