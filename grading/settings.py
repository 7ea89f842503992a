"""The settings of a run of the grader."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from grading.sandbox.bubblewrap import Limits

STATE = ".grading"  # the hidden folder in the output folder


@dataclass(frozen=True)
class Settings:
    """The settings for grading a class.

    Args:
        root: the checkout, with ``exercises`` and ``solutions``.
        out: the folder that everything is written to.
        jobs: the number of submissions that are graded at a time.
        sandboxed: use bubblewrap.
        retry: grade again if code was stopped or a task was not reached.
        warm: fork kernels from processes that have imported what notebooks import.
        dask: the address of a cluster's scheduler, or the empty string.
        submissions: what is graded.
        limits: the resource limits of one submission.
    """

    root: Path
    out: Path
    jobs: int = 1
    sandboxed: bool = True
    retry: bool = False
    warm: bool = True
    dask: str = ""
    submissions: Path | None = None
    limits: Limits = field(default_factory=Limits)

    @property
    def hidden(self) -> tuple[Path, ...]:
        """The folders that no submission may see."""
        named = [self.root, self.out]
        if self.submissions and self.submissions.is_dir():
            named.append(self.submissions)
        return tuple(path.resolve() for path in named)
