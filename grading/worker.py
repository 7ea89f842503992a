"""Grade in one process, with its library, its zygotes and a check of the references."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

from nbformat import NotebookNode

from grading.bounded import TooCostly, bounded
from grading.execution.canary import canary
from grading.execution.grader import grade
from grading.execution.material import LabMaterial
from grading.execution.runner import Environment, new_folder, prepare_passes
from grading.record import NOT_RUN, TOO_COSTLY, Code, Result, Verdict, Written
from grading.sandbox.bubblewrap import Sandbox, stage_fonts, stage_library
from grading.sandbox.warm import Zygote
from grading.settings import Settings
from grading.submissions.answers import Answers, read_answers
from grading.submissions.cells import NotGradable
from grading.submissions.intake import Submission
from project.errors import CourseError

KEPT = 100_000  # characters of a student's code that are kept; an exercise has 50,000


class Worker:
    """The grader of one process, for the submissions of some labs.

    Args:
        settings: how to grade.
        library: a new folder, for the modules that notebooks may import.
        say: called with a sentence if a lab cannot have warm starts.
    """

    def __init__(
        self,
        settings: Settings,
        library: Path,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.settings, self.say = settings, say or (lambda text: None)
        stage_library(library)
        self.materials: Mapping[str, LabMaterial] = {}
        self.refused: dict[str, CourseError] = {}
        self.zygotes: dict[str, Zygote] = {}
        self.runtime_dirs: dict[str, Path] = {}
        self.environment = Environment(library, settings, self.runtime_dirs)

    def warm_up(self, releases: Mapping[str, NotebookNode]) -> None:
        """Start the fork server and the zygotes, which take seconds, without waiting.

        Args:
            releases: the releases, by lab. Their zygotes end with the thread that
                calls this.
        """
        prepare_passes()
        settings, library = self.settings, self.environment.library
        if settings.sandboxed and settings.warm:
            for lab, notebook in releases.items():
                box = Sandbox(
                    new_folder(), library, settings.limits, hidden=settings.hidden
                )
                self.zygotes[lab] = Zygote(notebook, box)
        else:
            stage_fonts(library)

    def open(self, materials: Mapping[str, LabMaterial]) -> None:
        """Set the labs' materials, and wait until the zygotes are ready."""
        self.materials = materials
        for lab, zygote in list(self.zygotes.items()):
            trouble = zygote.trouble()
            if trouble:
                self._start_cold(lab, trouble)
            else:
                self.runtime_dirs[lab] = zygote.runtime_dirs

    def prove(self, lab: str) -> bool:
        """Check whether the reference of a lab gets full marks.

        If it does not, the lab is refused: none of its notebooks is graded.
        """
        try:
            self._prove(lab)
        except CourseError as problem:
            self.refused[lab] = problem
        return lab not in self.refused

    def _prove(self, lab: str) -> None:
        material = self.materials[lab]
        if lab in self.runtime_dirs:
            try:
                return canary(material, self.environment)
            except CourseError:
                self._start_cold(lab, "the reference does not get full marks with them")
        return canary(material, self.environment)

    def grade(self, submission: Submission, data: bytes | None = None) -> Result:
        """Grade one submission, which is read from its file unless its content is given."""
        began = time.monotonic()
        material = self.materials.get(submission.lab)
        if submission.lab in self.refused:
            return refused(submission, self.refused[submission.lab], material)
        try:
            if data is None:
                data = content(submission, material)
            answers = bounded(read_answers, data, material.released)
        except NotGradable as problem:
            return not_graded(submission, material, problem.reason)
        except TooCostly:
            return not_graded(submission, material, TOO_COSTLY)
        graded = grade(answers, material, self.environment)
        return replace(
            blank(submission),
            graded=not graded.problem,
            problem=graded.problem,
            verdicts=graded.verdicts,
            written=tuple(in_words(material.released, answers.written)),
            flags=(*submission.flags, *answers.flags, *graded.flags),
            seconds=round(time.monotonic() - began, 3),
            code=tuple(code_of(answers)),
        )

    def grade_proved(self, submission: Submission, proof: Future[None]) -> Result:
        """Grade one submission while the references are checked; return the result after that.

        Raises:
            CourseError: no lab can be graded.
        """
        warm = submission.lab in self.runtime_dirs
        result = self.grade(submission)
        proof.result()
        # It is graded again if its lab starts cold since, and refused if its lab is.
        if submission.lab in self.refused or warm != (
            submission.lab in self.runtime_dirs
        ):
            result = self.grade(submission)
        return result

    def close(self) -> None:
        """Stop the zygotes."""
        for lab in list(self.zygotes):
            self._close(lab)

    def _start_cold(self, lab: str, trouble: str) -> None:
        self.say(f"{lab}: no warm starts ({trouble}); every kernel starts on its own.")
        self._close(lab)
        stage_fonts(self.environment.library)

    def _close(self, lab: str) -> None:
        self.runtime_dirs.pop(lab, None)
        self.zygotes.pop(lab).close()


def code_of(answers: Answers) -> Iterator[Code]:
    """Yield what a student wrote, answers first, up to a total length."""
    cells = {
        one.task: one.source for one in answers.tasks.values() if not one.untouched
    }
    cells |= dict(answers.around) | {one.id: one.source for one in answers.added}
    left = KEPT
    for where, text in cells.items():
        left -= len(text)
        if left < 0:
            break
        yield Code(where, text)


@dataclass(frozen=True)
class Workers:
    """A pool of workers.

    Args:
        many: the number of submissions that they grade at a time.
        submit: gives one of them a submission.
    """

    many: int
    submit: Callable[[Submission], Future[Result]]


def content(submission: Submission, material: LabMaterial | None) -> bytes:
    """Return the content of a submission.

    Raises:
        NotGradable: it cannot be read, or its practical is unknown.
    """
    if material is None:
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
        part=submission.part,
        notebook=submission.notebook,
        digest=submission.digest,
        identifier=submission.identifier,
        flags=submission.flags,
    )


def not_graded(
    submission: Submission, material: LabMaterial | None, problem: str
) -> Result:
    """The result of a submission that cannot be graded."""
    verdicts = tuple(
        Verdict(task, key.points, "not-graded", reason=problem)
        for task, key in (material.keys if material else {}).items()
    )
    return replace(blank(submission), graded=False, problem=problem, verdicts=verdicts)


def refused(
    submission: Submission, problem: CourseError, material: LabMaterial | None = None
) -> Result:
    """The result of a submission to a lab of which nothing can be graded here."""
    return not_graded(submission, material, f"{NOT_RUN}: {problem}")


def in_words(notebook: NotebookNode, texts: Mapping[str, str]) -> Iterator[Written]:
    """Yield the answers in words to a lab's questions.

    Args:
        notebook: the release.
        texts: the texts of the answers, by question.
    """
    for cell in notebook.cells:
        course = cell.metadata.get("course", {})
        if course.get("role") == "written":
            points = cell.metadata["nbgrader"]["points"]
            yield Written(course["task"], points, texts.get(course["task"], ""))
