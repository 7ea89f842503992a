"""Join a student's graded notebooks of one lab: a task counts if one has it right.

With a late policy, the result is as late as the latest notebook that it takes an
answer from, and a later notebook joins only if that raises the points for tasks after
the deduction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from grading.record import Result
from grading.reports.late import Policy
from grading.reports.roster import score_of, unanswered


def best_by_task(
    results: Iterable[Result], policy: Policy | None = None
) -> list[Result]:
    """Return the results; in each group, add the others' right answers to the one that counts.

    The notebook with the most points counts, and among equals the last one. It takes over
    verdicts that are right in another one, and of each answer in words the last version. Its
    flag ``best-of-several`` names the notebooks that they come from, and those that are left
    out because they are late.

    Args:
        results: of a class, those of one student and lab from the first to the last; with a
            policy, as ``late.timed`` returns them.
        policy: deducts points from late notebooks.
    """
    results = list(results)
    groups: dict[tuple[str, str, str], list[Result]] = defaultdict(list)
    for result in results:
        if result.practical and result.graded:
            groups[result.student, result.practical, result.part].append(result)
    chosen: dict[tuple[str, ...], Result] = {}
    for group in groups.values():
        if len(group) > 1:
            best = _best(group, policy)
            chosen |= {one.key: replace(one, spare=True) for one in group}
            chosen[best.key] = best
    return [chosen.get(result.key, result) for result in results]


def _best(group: Sequence[Result], policy: Policy | None) -> Result:
    """The join with the most points after the deduction; of equals, the least late.

    Args:
        group: from the first to the last.
        policy: deducts points from late notebooks.
    """

    def share(one: Result) -> float:
        return policy.share(one.late.seconds) if policy and one.late else 0.0

    def points(one: Result) -> float:
        score = score_of(one)
        return round(score.total - share(one) * score.possible, 2)

    joins = [
        _join(
            [one for one in group if share(one) <= limit],
            [one.notebook for one in group if share(one) > limit],
        )
        for limit in sorted(set(map(share, group)))
    ]
    return max(joins, key=points)


def _join(group: Sequence[Result], left_out: Sequence[str]) -> Result:
    ranked = sorted(group, key=lambda one: one.earned)[::-1]
    best, others = ranked[0], ranked[1:]
    sources = [best]
    taken: dict[str, str] = {}
    verdicts, written = list(best.verdicts), list(best.written)
    for other in others:
        right = {v.task: v for v in other.verdicts if v.status == "right"}
        for index, verdict in enumerate(verdicts):
            if verdict.status != "right" and verdict.task in right:
                verdicts[index] = right[verdict.task]
                taken[verdict.task] = other.notebook
                sources.append(other)
    for index, answer in enumerate(written):
        new, last = answer, best
        for other in group:
            texts = {text.task: text for text in other.written}
            text = texts.get(answer.task)
            if text is not None and not unanswered(text):
                new, last = text, other
        if new.text != answer.text:
            written[index] = new
            taken[answer.task] = last.notebook
            sources.append(last)
    said = [f"{task} from {name}" for task, name in taken.items()]
    said += [
        f"{name} is left out, with its answers in words: it is late, and no points for tasks would "
        "be gained"
        for name in left_out
    ]
    flags = tuple(
        replace(flag, message=f"{flag.message[:-1]}; {'; '.join(said)}.")
        if said and flag.code == "best-of-several"
        else flag
        for flag in best.flags
    )
    late = max(
        (one.late for one in sources if one.late),
        key=lambda late: late.seconds,
        default=None,
    )
    return replace(
        best,
        verdicts=tuple(verdicts),
        written=tuple(written),
        flags=flags,
        late=late,
    )
