"""Write a course folder for nbgrader: source notebooks with solutions, and settings.

nbgrader generates its own stubs between the markers. They equal the stubs of the exercises:
those use nbgrader's default text for code, and the settings here give it ours for written
answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import nbformat

from authoring.exercises import generate
from authoring.questions import questions
from project.errors import CourseError
from project.files import all_or_none, write_whole
from project.practicals import ANSWER_HERE, Course, Lab

CONFIG = f'''"""nbgrader's settings for the course; this file is yours to change."""

c = get_config()

c.CourseDirectory.course_id = "known-unknowns"
# As in the exercises that are handed out without nbgrader.
c.ClearSolutions.text_stub = "{ANSWER_HERE}"
# Cells that train take up to a minute, and longer where several are graded at a time.
c.ExecutePreprocessor.timeout = 600
'''


def write_course(course: Course, folder: Path, names: Iterable[str] = ()) -> list[Path]:
    """Write ``source/<assignment>/<notebook>.ipynb`` for each lab, and the settings.

    Args:
        course: with the labs.
        folder: nbgrader's course folder; created if it does not exist.
        names: the stems of practicals or names of labs; all if empty.

    Returns:
        The files written. Existing settings are kept, because instructors edit them.

    Raises:
        CourseError: there is no such practical, or ``folder`` is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise CourseError(folder, None, "This is a file.", "Name a folder.")
    texts = {
        folder / "source" / lab.exercise.stem / lab.exercise.name: source(lab)
        for lab in course.labs(*names)
    }
    config = folder / "nbgrader_config.py"
    if not config.exists():
        texts[config] = CONFIG
    with all_or_none():
        for path, text in texts.items():
            write_whole(path, text)
    return list(texts)


def source(lab: Lab) -> str:
    """Generate nbgrader's source notebook: marked solutions, model answers and rubrics."""
    notebook = nbformat.reads(generate(lab, marked=True), as_version=4)
    models = {question.id: question for question in questions(lab)}
    for cell in notebook.cells:
        course = cell.metadata.get("course", {})
        if course.get("role") == "written":
            question = models[course["task"]]
            rubric = "\n".join(f"- {point}" for point in question.rubric)
            parts = [question.model_answer, f"*Rubric.*\n\n{rubric}" if rubric else ""]
            cell.source = "\n\n".join(filter(None, parts)) or ANSWER_HERE
    return nbformat.writes(notebook) + "\n"
