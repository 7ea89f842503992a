"""Find each task's answer, in whichever cell of the notebook the student wrote it.

The task's own cell comes first, unless nothing is written there. Otherwise any cell that binds
the name of the answer counts, the last one as in a notebook that is run from top to bottom.
Definitions that an answer needs, and that would come too late, are put in front of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from grading.submissions.sources import BUILT_IN, MAX_SOURCE
from grading.submissions.statements import Rank, Release, Statement, split
from project.practicals import cell_id

MAX_SPLIT = 200_000  # characters of all cells of a notebook that are split


@dataclass(eq=False)
class Draft:
    """The student's code in the place of a released cell, or in a cell of their own.

    Args:
        home: the id of the released cell, or empty.
        role: the role of that cell.
        at: the index in the notebook as submitted.
        place: the index in the release of the cell, or of the cell that follows it.
        source: the code.
        untouched: whether it is as released.
        statements: the code, split; None if it cannot be split.
        taken: the statements that are no longer part of it.
    """

    home: str
    role: str
    at: int
    place: int
    source: str
    untouched: bool = False
    statements: list[Statement] | None = None
    taken: set[Statement] = field(default_factory=set)

    def left(self) -> list[Statement]:
        """The statements that remain, without those that are not run."""
        # Only definitions of an edited cell that trains or draws are run anyway.
        idle = self.home and not self.role
        return [
            one
            for one in self.statements or ()
            if one not in self.taken and (idle or not one.idle)
        ]

    def text(self) -> str:
        """The remaining code."""
        left = self.left()
        if self.statements is None or len(left) == len(self.statements):
            return self.source
        return _joined(left)


def recover(
    drafts: Iterable[Draft],
    release: Release,
    place: Mapping[str, int],
    flag: Callable[..., None],
) -> dict[str, str]:
    """Return the source of each task's answer, by task, without missing ones.

    Statements that are taken from other cells are removed from their drafts.

    Args:
        drafts: all of the student's code, in the order of the notebook.
        release: the release's code.
        place: the index of each task's cell, by task.
        flag: called with the code of the flag for every oddity, and the cell's id.
    """
    left, read = MAX_SPLIT, []
    for draft in drafts:
        left -= 0 if draft.untouched else len(draft.source)
        if not draft.untouched and left >= 0:
            draft.statements = split(draft.source, release)
        if draft.role == "task" or left >= 0:
            read.append(draft)
    search = _Search(read, release, place, flag)
    chosen = {task: search.choose(task) for task in release.names}
    for task, draft in chosen.items():
        if draft is not None:
            search.clear(task, draft)
    return {
        task: search.source(task, draft)
        for task, draft in chosen.items()
        if draft is not None
    }


class _Search:
    """The search for the answers of one notebook."""

    def __init__(
        self,
        drafts: Iterable[Draft],
        release: Release,
        place: Mapping[str, int],
        flag: Callable[..., None],
    ) -> None:
        self.release, self.place, self.flag = release, place, flag
        self.own: dict[str, Draft] = {}  # by id of the task's cell
        self.answers: dict[str, dict[Draft, list[Statement]]] = {}
        self.binding: dict[str, dict[Draft, list[Statement]]] = {}
        self.changing: dict[tuple[str, Draft], list[Statement]] = {}
        self.order: dict[Statement, tuple[int, int]] = {}
        self.unreadable: list[Draft] = []  # cells of the student's own
        for draft in drafts:
            if draft.role == "task":
                self.own[draft.home] = draft
            elif draft.statements is None and not draft.home:
                self.unreadable.append(draft)
            for index, one in enumerate(draft.statements or ()):
                self.order[one] = (draft.at, index)
                for name in one.answers:
                    self.answers.setdefault(name, {}).setdefault(draft, []).append(one)
                for name in one.binds:
                    self.binding.setdefault(name, {}).setdefault(draft, []).append(one)
                for name in one.changes:
                    self.changing.setdefault((name, draft), []).append(one)

    def choose(self, task: str) -> Draft | None:
        """Choose the draft that contains the answer; flag it if it is not the task's cell."""
        name, id_ = self.release.names[task], cell_id(task)
        own = self.own.get(id_)
        others = [draft for draft in self.answers.get(name, ()) if draft is not own]
        if own and self.rank(own, name) > Rank.BLANK:
            again = [d for d in others if d.at > own.at and self._alike(d, name)]
            if again:
                self.flag("redefined", id_)
                return again[-1]
            return own
        best = max(others, key=lambda d: (self.rank(d, name), d.at), default=None)
        rank = self.rank(best, name) if best else Rank.NONE
        written = own is not None and bool(own.text().strip())
        broken = bool(own and own.statements is None and not own.untouched)
        if best and (not written or rank > (Rank.WEAK if broken else Rank.BLANK)):
            self.flag("recovered", id_)
            return best
        if not written:
            # A cell that cannot be parsed is judged too, so that feedback names its problem.
            define = re.compile(rf"^(?:(?:async +)?def|class) +{name}\b", re.MULTILINE)
            texts = [d for d in self.unreadable if define.search(d.source)]
            if texts:
                self.flag("recovered", id_)
                return texts[-1]
        return own if written else None

    def clear(self, task: str, chosen: Draft) -> None:
        """Remove the answer from any cell but its own, and statements that undo it from all."""
        name, place = self.release.names[task], self.place[task]
        if chosen.home != cell_id(task):
            answer = {*self.answer(chosen, name)}
            rest = [one for one in chosen.left() if one not in answer]
            if chosen.place > place or not any(name in one.uses for one in rest):
                chosen.taken |= answer
        if self.rank(chosen, name) == Rank.BLANK:
            return
        for draft, statements in self.answers.get(name, {}).items():
            if draft is not chosen and draft.place <= place:
                continue
            before = draft is not chosen and draft.at < chosen.at
            for one in statements:
                rank = one.answers[name]
                if rank == Rank.BLANK or (rank == Rank.WRITTEN and before):
                    draft.taken.add(one)

    def source(self, task: str, chosen: Draft) -> str:
        """Return the answer, preceded by the definitions that it needs."""
        name, own = self.release.names[task], self.own.get(cell_id(task))
        if chosen.statements is None:
            text = chosen.source
            chosen.source = text if chosen.home else ""
            return text
        if chosen is own:
            kept, text = own.left(), own.text()
        else:
            rest = own.left() if own else []
            kept = [one for one in rest if name not in one.answers]
            kept += self.answer(chosen, name)
            text = _joined(kept)
        needed = self._needed(kept, chosen, self.place[task])
        return f"{_joined(needed)}\n\n{text}" if needed else text

    def rank(self, draft: Draft, name: str) -> Rank:
        """The degree to which a draft looks like the answer of that name."""
        found = self.answers.get(name, {}).get(draft, ())
        return max((one.answers[name] for one in found), default=Rank.NONE)

    def answer(self, draft: Draft, name: str) -> list[Statement]:
        """The statements of a draft that are the answer."""
        best = self.rank(draft, name)
        found = self.answers.get(name, {}).get(draft, ())
        return [one for one in found if one.answers[name] == best]

    @staticmethod
    def _alike(draft: Draft, name: str) -> bool:
        """Does it redefine the name, with the stub's parameters and a body?"""
        return any(
            name in one.alike and one.answers[name] == Rank.WRITTEN
            for one in draft.statements or ()
        )

    def _needed(
        self, statements: list[Statement], chosen: Draft, place: int
    ) -> list[Statement]:
        """The statements of other cells that these need and that would not run in time."""
        there = {name for one in statements for name in one.binds}
        seen = there | BUILT_IN | {*self.release.stubs}
        waiting = [name for one in statements for name in one.uses - seen]
        found: set[Statement] = set()
        length = 0
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            definition, is_above = self._definition(name, chosen, place)
            for one in definition:
                # Code above the answer runs there, but may need names from below.
                waiting += one.uses - seen
                if not is_above and one not in found:
                    found.add(one)
                    length += len(one.text)
        if length > MAX_SOURCE:
            return []
        return sorted(found - {*statements}, key=self.order.__getitem__)

    def _definition(
        self, name: str, chosen: Draft, place: int
    ) -> tuple[list[Statement], bool]:
        """The statements that bind a name, in the cell that Jupyter would have run last.

        And whether that cell is above the answer, so that they run in time.
        """
        drafts = self.binding.get(name, {})
        draft = chosen if chosen in drafts else None
        if draft is None:
            if self.release.bound.get(name, place) < place:
                return [], True
            before = [draft for draft in drafts if draft.at < chosen.at]
            after = [draft for draft in drafts if draft.at >= chosen.at]
            draft = before[-1] if before else after[0] if after else None
        if draft is None:
            return [], True
        is_above = draft.role not in ("task", "check") and draft.place <= place
        found = drafts[draft]
        if not any(one.fixed for one in found):
            found = [*found, *self.changing.get((name, draft), ())]
        return [one for one in found if not one.idle and not one.answers], is_above


def _joined(statements: Iterable[Statement]) -> str:
    return "\n".join(one.text for one in statements).strip("\n")
