"""Grade in one process, with its library, its zygotes and a check of the references."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

from nbformat import NotebookNode

from grading.bounded import TooCostly, bounded
from grading.execution.grader import TOO_COSTLY, canary, grade
from grading.execution.practical import Practical
from grading.execution.runner import Environment, new_folder, prepare_passes
from grading.record import NOT_RUN, Result, Verdict, Written
from grading.sandbox.bubblewrap import Sandbox, stage_library
from grading.sandbox.warm import Zygote
from grading.settings import Settings
from grading.submissions.answers import read_answers
from grading.submissions.cells import NotGradable
from grading.submissions.intake import Submission
from project.errors import CourseError


class Worker:
    """The grader of one process, for the submissions of some practicals.

    Args:
        settings: how to grade.
        library: a new folder, for the modules that notebooks may import.
        say: called with a sentence if a practical cannot have warm starts.
    """

    def __init__(
        self,
        settings: Settings,
        library: Path,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.settings, self.say = settings, say or (lambda text: None)
        stage_library(library)
        self.practicals: Mapping[str, Practical] = {}
        self.refused: dict[str, CourseError] = {}
        self.zygotes: dict[str, Zygote] = {}
        self.runtime_dirs: dict[str, Path] = {}
        self.environment = Environment(library, settings, self.runtime_dirs)

    def warm_up(self, releases: Mapping[str, NotebookNode]) -> None:
        """Start the fork server and the zygotes, which take seconds, without waiting.

        Args:
            releases: the releases, by practical. Their zygotes end with the thread that
                calls this.
        """
        prepare_passes()
        settings, library = self.settings, self.environment.library
        if settings.sandboxed and settings.warm:
            for stem, notebook in releases.items():
                box = Sandbox(
                    new_folder(), library, settings.limits, hidden=settings.hidden
                )
                self.zygotes[stem] = Zygote(notebook, box)

    def open(self, practicals: Mapping[str, Practical]) -> None:
        """Set the practicals, and wait until the zygotes are ready."""
        self.practicals = practicals
        for stem, zygote in list(self.zygotes.items()):
            trouble = zygote.trouble()
            if trouble:
                self._start_cold(stem, trouble)
            else:
                self.runtime_dirs[stem] = zygote.runtime_dirs

    def prove(self, stem: str) -> bool:
        """Check whether the reference of a practical gets full marks.

        If it does not, the practical is refused: none of its notebooks is graded.
        """
        try:
            self._prove(stem)
        except CourseError as problem:
            self.refused[stem] = problem
        return stem not in self.refused

    def _prove(self, stem: str) -> None:
        practical = self.practicals[stem]
        if stem in self.runtime_dirs:
            try:
                return canary(practical, self.environment)
            except CourseError:
                self._start_cold(
                    stem, "the reference does not get full marks with them"
                )
        return canary(practical, self.environment)

    def grade(self, submission: Submission, data: bytes | None = None) -> Result:
        """Grade one submission, which is read from its file unless its content is given."""
        began = time.monotonic()
        practical = self.practicals.get(submission.practical)
        if submission.practical in self.refused:
            return refused(submission, self.refused[submission.practical], practical)
        try:
            if data is None:
                data = content(submission, practical)
            answers = bounded(read_answers, data, practical.released)
        except NotGradable as problem:
            return not_graded(submission, practical, problem.reason)
        except TooCostly:
            return not_graded(submission, practical, TOO_COSTLY)
        graded = grade(answers, practical, self.environment)
        return replace(
            blank(submission),
            graded=not graded.problem,
            problem=graded.problem,
            verdicts=graded.verdicts,
            written=tuple(in_words(practical.released, answers.written)),
            flags=(*submission.flags, *answers.flags, *graded.flags),
            seconds=round(time.monotonic() - began, 3),
        )

    def close(self) -> None:
        """Stop the zygotes."""
        for stem in list(self.zygotes):
            self._close(stem)

    def _start_cold(self, stem: str, trouble: str) -> None:
        self.say(f"{stem}: no warm starts ({trouble}); every kernel starts on its own.")
        self._close(stem)

    def _close(self, stem: str) -> None:
        self.runtime_dirs.pop(stem, None)
        self.zygotes.pop(stem).close()


@dataclass(frozen=True)
class Workers:
    """A pool of workers.

    Args:
        many: the number of submissions that they grade at a time.
        submit: gives one of them a submission.
    """

    many: int
    submit: Callable[[Submission], Future[Result]]


def content(submission: Submission, practical: Practical | None) -> bytes:
    """Return the content of a submission.

    Raises:
        NotGradable: it cannot be read, or its practical is unknown.
    """
    if practical is None:
        problem = "It is not clear which practical the notebook belongs to."
        raise NotGradable(submission.problem or problem)
    return submission.read()


def blank(submission: Submission) -> Result:
    """The result of a submission before anything is known."""
    parts = [submission.student, submission.identifier]
    return Result(
        # With the platform's number, because two students may have the same name.
        student="_".join(part for part in parts if part),
        practical=submission.practical,
        notebook=submission.notebook,
        digest=submission.digest,
        identifier=submission.identifier,
        flags=submission.flags,
    )


def not_graded(
    submission: Submission, practical: Practical | None, problem: str
) -> Result:
    """The result of a submission that cannot be graded."""
    verdicts = tuple(
        Verdict(task, key.points, "not-graded", reason=problem)
        for task, key in (practical.keys if practical else {}).items()
    )
    return replace(blank(submission), graded=False, problem=problem, verdicts=verdicts)


def refused(
    submission: Submission, problem: CourseError, practical: Practical | None = None
) -> Result:
    """The result of a submission to a practical of which nothing can be graded here."""
    return not_graded(submission, practical, f"{NOT_RUN}: {problem}")


def in_words(notebook: NotebookNode, texts: Mapping[str, str]) -> Iterator[Written]:
    """Yield the answers in words to a practical's questions.

    Args:
        notebook: the release.
        texts: the texts of the answers, by question.
    """
    for cell in notebook.cells:
        course = cell.metadata.get("course", {})
        if course.get("role") == "written":
            points = cell.metadata["nbgrader"]["points"]
            yield Written(course["task"], points, texts.get(course["task"], ""))
