"""Code that a limit stopped: what it was, which limit it exceeded, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grading.record import Result
from grading.reports.pages import place, short
from grading.reports.roster import Roster
from grading.reports.unnamed import LONGEST

# Words of the reason for which code was stopped, and what an instructor can do.
ADVICE = {
    ("ran for more than", "time for the whole notebook", "did not arrive"): (
        "Read the code for a loop that does not end, or for training; if the machine was "
        "busy, grade again with `--retry`."
    ),
    ("of memory",): (
        "Read the code for an array that is far too large, such as shape (n, n) where (n,) "
        "is meant: with `--retry` it would be stopped again."
    ),
    ("processes", "threads"): (
        "Read the code for a call that starts processes or threads, such as "
        "multiprocessing or n_jobs, and ask the student to remove it: no task needs one."
    ),
    ("of output",): (
        "Read the code for a print in a loop, and ask the student to remove it."
    ),
    ("files", "sockets"): (
        "Read the code for files that it writes or connections that it opens, and ask the "
        "student to remove them: no task needs any."
    ),
    ("kernel died",): (
        "Read the code for exit() or for recursion that does not end, and ask the student "
        "to run the notebook from the top."
    ),
}
OTHERWISE = "Grade again with `--retry`; if it is stopped again, read the code."


@dataclass(frozen=True)
class StoppedCode:
    """An answer, or another cell of a student, that was stopped.

    ``code`` is empty if it is not known, and ``cut`` says whether it is only the beginning.
    """

    result: Result
    where: str
    title: str
    reason: str
    code: str
    cut: bool

    @property
    def advice(self) -> str:
        """What an instructor can do."""
        return advice(self.reason)


def advice(reason: str) -> str:
    """Say what an instructor can do about code that was stopped for this reason."""
    for words, text in ADVICE.items():
        if any(word in reason for word in words):
            return text
    return OTHERWISE


def stopped(
    roster: Roster, titles: Mapping[str, str] | None = None
) -> list[StoppedCode]:
    """List the code of a class that was stopped, by student."""
    found = []
    for result in roster.results:
        for verdict in result.verdicts:
            if verdict.stopped:
                title = (titles or {}).get(verdict.task) or short(verdict.task)
                found.append(_stopped(result, verdict.task, title, verdict.reason))
        for flag in result.flags:
            if flag.code == "added-stopped":
                title = (titles or {}).get(flag.where) or place(flag.where)
                found.append(_stopped(result, flag.where, title, flag.message))
    return found


def _stopped(result: Result, where: str, title: str, reason: str) -> StoppedCode:
    code = next((code.text for code in result.code if code.where == where), "")
    return StoppedCode(
        result, where, title, reason, code[:LONGEST], len(code) > LONGEST
    )
