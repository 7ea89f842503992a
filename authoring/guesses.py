"""Guesses before figures: a figure and its discussion open when the reader has guessed.

``{guess} <id>`` ends a Markdown cell. It shows the question and its choices from
``course/checks/<stem>/guesses.py``. What follows it, up to the next heading, exercise, guess or
``{end-guess}``, is hidden by ``book/_static/course.css`` until one of the radio buttons is chosen:
without scripts, on screens only.
"""

from __future__ import annotations

import importlib.util

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node

from authoring.typography import with_numbers_kept_in
from course.quiz import find_guess, guess_html
from course.task import UnknownTask, stem_of


class Guess(nodes.General, nodes.Element):
    """The place of a guess; ``html`` has its question and choices."""


class EndGuess(nodes.General, nodes.Element):
    """The place before which a guess's figure and discussion end."""


ENDS = (Guess, EndGuess, nodes.section, exercise_node, exercise_enumerable_node)
# These belong to what comes after them.
BEFORE = (nodes.target, nodes.comment, addnodes.index)


class GuessDirective(SphinxDirective):
    """``{guess} <id>``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the guess; the page is read again when the practical's guesses change."""
        id_ = self.arguments[0]
        try:
            question = find_guess(id_)
        except UnknownTask as error:
            raise self.error(str(error)) from None
        name = f"course.checks.{stem_of(id_)}.guesses"
        self.env.note_dependency(importlib.util.find_spec(name).origin)
        return [Guess(html=with_numbers_kept_in(guess_html(id_, question)))]


class EndGuessDirective(SphinxDirective):
    """``{end-guess}``."""

    def run(self) -> list[nodes.Node]:
        """Return the mark."""
        return [EndGuess()]


def enclose(app: Sphinx, doctree: nodes.document) -> None:
    """Put what each guess opens into a container after it."""
    for guess in list(doctree.findall(Guess)):
        parent, start = guess.parent, guess.parent.index(guess) + 1
        opened = []
        for node in parent[start:]:
            if isinstance(node, ENDS):
                break
            opened.append(node)
        while opened and isinstance(opened[-1], BEFORE):
            opened.pop()
        parent[start : start + len(opened)] = [
            nodes.container("", *opened, classes=["guessed"])
        ]
        guess.replace_self(nodes.raw("", guess["html"], format="html"))
    for mark in list(doctree.findall(EndGuess)):
        mark.parent.remove(mark)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("guess", GuessDirective)
    app.add_directive("end-guess", EndGuessDirective)
    app.connect("doctree-read", enclose)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
