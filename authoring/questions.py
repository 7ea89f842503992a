"""The written questions of the chapters, with model answers and rubrics.

A question is an ``exercise`` of the class ``question``; its model answer is the ``solution``
with the same label, whose last paragraph begins with ``*Rubric.*``. The numbers in a model
answer are computed when the page is built. Nothing is run here: they come from
``model_answers.json``, which is stored with the project, as do the typeset formulas. A number
that it lacks is shown by its glue name in brackets, such as ``⟨spirals-plain-nll⟩``.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from authoring.chapter import TASK_INFO, read_chapter
from authoring.exercises import translator_of
from authoring.markdown import PARSER, options_of
from course.task import task_id
from project.practicals import Lab

STORED = Path(__file__).with_name("model_answers.json")
GLUED = re.compile(r"\{glue:?[a-z]*\}`([^`:]+)(?::([^`]*))?`")
RUBRIC = re.compile(r"^\*Rubric\.\*\s*", re.MULTILINE)
HONEST = "Any honest answer gets full marks."
INFO = re.compile(r"^```\{task-info\}[^`]*^```[^\S\n]*$", re.MULTILINE)
POINT = re.compile(r"(?=\b\d+ points?: )")


@dataclass(frozen=True)
class Question:
    """A written question of a chapter; all fields but ``id`` are Markdown.

    ``rubric`` has one entry for each criterion; a survey has neither rubric nor model answer.
    ``lab`` is the title of the lab that asks it.
    """

    id: str
    title: str
    prompt: str
    model_answer: str
    rubric: tuple[str, ...]
    lab: str = ""

    @property
    def honest(self) -> bool:
        """Does every answer that is not blank get full marks?"""
        return HONEST in self.prompt


def questions(lab: Lab) -> list[Question]:
    """Read the questions of a lab, in order.

    Raises:
        CourseError: its chapter cannot be read.
    """
    chapter = read_chapter(lab.chapter)
    translator = translator_of(lab, chapter, whole=True)
    known = _stored().get("numbers", {}).get(lab.name, {})
    prompts, answers = {}, {}
    for cell in chapter.cells:
        if cell.kind != "markdown":
            continue
        source = GLUED.sub(lambda match: _number(match, known), cell.source)
        for name, title, label, body in _directives(source):
            if name == "solution":  # its title is the label of its question
                answers[title] = body, cell.line
            elif name == "exercise" and cell.role == "written":
                prompts[label] = title, body, cell.line
    found = []
    for label, (title, body, line) in prompts.items():
        text, at = answers.get(label, ("", line))
        answer, rubric = _split(text)
        found.append(
            Question(
                id=label,
                title=title,
                prompt=translator.translate(body, line),
                model_answer=translator.translate(answer, at),
                rubric=tuple(translator.translate(point, at) for point in rubric),
                lab=lab.title,
            )
        )
    return found


def prompts(lab: Lab) -> dict[str, str]:
    """Map the id of every task of a lab to its prompt, which is Markdown.

    Raises:
        CourseError: its chapter cannot be read.
    """
    chapter, found = read_chapter(lab.chapter), {}
    translator = translator_of(lab, chapter)
    for cell in chapter.cells:
        if cell.kind != "markdown":
            continue
        for name, _, _, body in _directives(cell.source):
            tasks = TASK_INFO.findall(body) if name == "exercise" else []
            if tasks:
                text = translator.translate(INFO.sub("", body), cell.line)
                found |= dict.fromkeys(tasks, text.strip())
    return found


def glued(lab: Lab) -> set[str]:
    """Return the names of the numbers in a lab's questions, model answers and rubrics."""
    found = set()
    for cell in read_chapter(lab.chapter).cells:
        if cell.kind == "markdown":
            for name, _, label, body in _directives(cell.source):
                if name == "solution" or (label and cell.role == "written"):
                    found |= {match[1] for match in GLUED.finditer(body)}
    return found


def formula(tex: str, *, display: bool) -> str | None:
    """Return a formula of the questions as MathML; None if it is not stored."""
    return _stored().get("formulas", {}).get(formula_key(tex, display=display))


def formula_key(tex: str, *, display: bool) -> str:
    """Return the name under which a formula is stored: itself, as in Markdown."""
    return f"$${tex}$$" if display else f"${tex}$"


def titles(labs: Iterable[Lab]) -> dict[str, str]:
    """Map the id of every task and question of these labs to its title.

    Of several tasks in one exercise, each has its name after the exercise's title.
    """
    found = {}
    for lab in labs:
        names = {task_id(lab.stem, name): name for name in lab.solutions().definitions}
        for cell in read_chapter(lab.chapter).cells:
            if cell.kind == "markdown":
                for name, title, label, body in _directives(cell.source):
                    tasks = TASK_INFO.findall(body)
                    if name == "exercise" and len(tasks) > 1:
                        found |= {task: f"{title}: {names[task]}" for task in tasks}
                    elif name == "exercise":
                        found[label] = title
    return found


def places(labs: Iterable[Lab]) -> dict[str, str]:
    """Map the id of every task to the lab and the section of the book that treat it."""
    found = {}
    for lab in labs:
        section, before = "", ""
        for cell in read_chapter(lab.chapter).cells:
            if cell.kind != "markdown":
                continue
            for token in PARSER.parse(cell.source):
                if before == "heading_open":
                    section = token.content
                before = token.type
                if token.type in ("fence", "colon_fence"):
                    options, body = options_of(token.content)
                    ids = {*TASK_INFO.findall(body), options.get("label", "")} - {""}
                    for id_ in ids:
                        found[id_] = f"lab {lab.label}, “{section}”"
    return found


def _directives(source: str) -> list[tuple[str, str, str, str]]:
    """List name, title, label and body of the directives in a cell, nested ones included."""
    found = []
    for token in PARSER.parse(source):
        if token.type in ("fence", "colon_fence") and token.info.startswith("{"):
            name, _, title = token.info.strip().removeprefix("{").partition("}")
            options, body = options_of(token.content)
            entry = name, title.strip(), options.get("label", ""), body.strip()
            found += [entry, *_directives(body)]
    return found


@cache
def _stored() -> Mapping[str, Mapping]:
    return json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}


def _number(match: re.Match[str], known: Mapping[str, str]) -> str:
    """Format a number as the built page does; its name in brackets if it is not known."""
    name, form = match[1], match[2] or ""
    if name not in known:
        return f"⟨{name}⟩"
    value = ast.literal_eval(known[name])
    return format(value, form).replace("-", "−")


def _split(text: str) -> tuple[str, list[str]]:
    """Split the text of a solution into its model answer and the criteria of its rubric."""
    if not (match := RUBRIC.search(text)):
        return text, []
    points = [point.strip() for point in POINT.split(text[match.end() :])]
    return text[: match.start()].strip(), [point for point in points if point]
