"""Unnamed mistakes: groups of students whose wrong numbers are equal, though no check names why.

Equal numbers on the same inputs mean equal mistakes. Each group that has two students or more
comes with what the checks found out about its numbers, one student's code, and a draft of a
misconception for the course, so that the next class gets a sentence.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grading.execution.sketch import groups
from grading.record import Result, Verdict
from grading.reports.pages import render, short
from grading.reports.roster import Roster, by_name
from grading.submissions.forms import parsed
from grading.submissions.sources import free
from project.files import write_whole

LEAST = 2  # students of a group
LONGEST = 6_000  # characters of code on the page
TODO = "you TODO: describe the mistake, and say what to do instead."


@dataclass(frozen=True)
class Unnamed:
    """A group of students with the same wrong numbers in a task.

    ``attempted`` counts the students who wrote an answer to it; ``code`` is the shortest answer
    of the group, and ``draft`` a misconception made from it.
    """

    task: str
    title: str
    reason: str
    students: tuple[str, ...]
    attempted: int
    code: str
    draft: str


def unnamed(roster: Roster, titles: Mapping[str, str] | None = None) -> list[Unnamed]:
    """Find the groups, the largest first."""
    found = []
    for practical in roster.practicals:
        labs = [
            one
            for student in roster.students
            for one in roster.labs(student, practical.stem)
            if one.graded
        ]
        for item in practical.tasks:
            rows = [
                (one, verdict)
                for one in labs
                for verdict in one.verdicts
                if verdict.task == item.id
                and verdict.status not in ("not-attempted", "not-graded")
            ]
            title = (titles or {}).get(item.id) or short(item.id)
            for group in groups([_sketch(verdict) for _, verdict in rows]):
                if len(group) >= LEAST:
                    those = [rows[index] for index in group]
                    found.append(_unnamed(title, those, len(rows)))
    return sorted(
        found,
        key=lambda one: (-len(one.students), one.task, *map(by_name, one.students)),
    )


def write_unnamed(found: Sequence[Unnamed], out: Path) -> Path:
    """Write ``unnamed.html``; return its path."""
    write_whole(out / "unnamed.html", render("unnamed.html.j2", groups=found))
    return out / "unnamed.html"


def draft(task: str, code: str) -> str:
    """A misconception made from an answer: its code with another name, and a sentence to write."""
    name = short(task).replace("-", "_")
    wrong = f"_wrong_{name}"
    tree = parsed(code)
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            lines = code.split("\n")
            kind = "def" if isinstance(node, ast.FunctionDef) else "class"
            head = lines[node.lineno - 1]
            lines[node.lineno - 1] = head.replace(
                f"{kind} {name}", f"{kind} {wrong}", 1
            )
            code = "\n".join(lines)
    if needed := sorted(free(code) - {*dir(builtins), name}):
        code = f"# TODO: this needs {', '.join(needed)}.\n{code}"
    return f'{code.rstrip()}\n\n\nMisconception(\n    {wrong},\n    "{TODO}",\n),'


def _sketch(verdict: Verdict) -> str:
    return verdict.sketch if verdict.status == "wrong" and not verdict.hint else ""


def _unnamed(title: str, rows: list[tuple[Result, Verdict]], attempted: int) -> Unnamed:
    task = rows[0][1].task
    texts = [code.text for one, _ in rows for code in one.code if code.where == task]
    code = min(texts, key=lambda text: (len(text), text), default="")
    reasons = sorted({verdict.reason for _, verdict in rows})
    return Unnamed(
        task=task,
        title=title,
        # Rounding may change the numbers that a reason contains, but not their number.
        reason=reasons[0],
        students=tuple(one.student for one, _ in rows),
        attempted=attempted,
        code=code[:LONGEST],
        draft=draft(task, code) if 0 < len(code) <= LONGEST else "",
    )
