"""The proof, before anything is graded, that the reference solution gets full marks."""

from __future__ import annotations

from grading.execution.grader import grade
from grading.execution.material import LabMaterial
from grading.execution.runner import Environment
from grading.submissions.answers import Answer, Answers
from project.errors import CourseError


def canary(material: LabMaterial, environment: Environment) -> None:
    """Grade the reference solution like a submission.

    Raises:
        CourseError: it does not get full marks, so nothing can be graded.
    """
    answers = Answers(
        {task: Answer(task, source) for task, source in material.reference.items()}, {}
    )
    graded = grade(answers, material, environment)
    failed = [verdict for verdict in graded.verdicts if verdict.status != "right"]
    if failed or graded.problem:
        said = graded.problem or f"{failed[0].task}: {failed[0].reason}"
        raise CourseError(
            f"solutions.{material.lab.stem}",
            None,
            f"The reference solution does not get full marks here ({said})",
            "Nothing was graded. Run `course check-notebooks`, and check that the "
            "environment has the versions in constraints.txt.",
        )
