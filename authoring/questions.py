"""The written questions of the chapters, with model answers and rubrics.

A question is an ``exercise`` of the class ``question``; its model answer is the ``solution``
with the same label, whose last paragraph begins with ``*Rubric.*``. The numbers in a model
answer are computed when the page is built. Nothing is run here, so each is replaced with its
glue name in brackets, such as ``⟨spirals-plain-nll⟩``; the built chapter shows the number.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pybtex.database import BibliographyData, parse_file

from authoring.chapter import Chapter, read_chapter
from authoring.exercises import macros
from authoring.markdown import PARSER, Translator, options_of
from project.errors import CourseError
from project.practicals import chapters, stem_of

GLUED = re.compile(r"\{glue:?[a-z]*\}`([^`:]+)(?::[^`]*)?`")
RUBRIC = re.compile(r"^\*Rubric\.\*\s*", re.MULTILINE)
POINT = re.compile(r"(?=\b\d+ points?: )")


@dataclass(frozen=True)
class Question:
    """A written question of a chapter; all fields but ``id`` are Markdown.

    ``rubric`` has one entry for each criterion; a survey has neither rubric nor model answer.
    """

    id: str
    title: str
    prompt: str
    model_answer: str
    rubric: tuple[str, ...]


def questions(root: Path, stem: str) -> list[Question]:
    """Read the questions of a practical, in order.

    Args:
        root: the project's folder.
        stem: the practical's stem, such as ``deep_ensembles``.

    Raises:
        CourseError: there is no such chapter, or it cannot be read.
    """
    chapter = _chapter(root, stem)
    path = root / "book" / "references.bib"
    references = parse_file(str(path)) if path.exists() else BibliographyData()
    translator = Translator(chapter.path, references, macros(root))
    prompts, answers = {}, {}
    for cell in chapter.cells:
        if cell.kind != "markdown":
            continue
        source = GLUED.sub(r"⟨\1⟩", cell.source)
        translator.number(source)
        for name, title, label, body in _directives(source):
            if name == "solution":
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
            )
        )
    return found


def titles(root: Path, stems: Collection[str]) -> dict[str, str]:
    """Map the id of every task and question of these practicals to its title."""
    return {
        label: title
        for path in chapters(root)
        if stem_of(path) in stems
        for cell in read_chapter(path).cells
        if cell.kind == "markdown"
        for name, title, label, _ in _directives(cell.source)
        if name == "exercise"
    }


def _chapter(root: Path, stem: str) -> Chapter:
    for path in chapters(root):
        if stem_of(path) == stem:
            return read_chapter(path)
    raise CourseError(
        root / "book",
        None,
        f"There is no chapter of the practical {stem!r}.",
        "Grade from a checkout that holds the chapters.",
    )


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


def _split(text: str) -> tuple[str, list[str]]:
    """Split the text of a solution into its model answer and the criteria of its rubric."""
    if not (match := RUBRIC.search(text)):
        return text, []
    points = [point.strip() for point in POINT.split(text[match.end() :])]
    return text[: match.start()].strip(), [point for point in points if point]
