"""Quizzes: questions with choices, each of which says why it is right or what it mistakes.

A practical's quizzes, one per lab, are in ``course.checks.<stem>`` as ``QUIZZES``, a dictionary
by id. Its guesses, questions that stand before a figure, are in ``course.checks.<stem>.guesses``
as ``GUESSES``, also by id. No check imports that module, so a new sentence in it outdates neither
grades nor the outputs of pages.
"""

from __future__ import annotations

import contextlib
import html
import importlib
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from course.task import UnknownTask, closest, every_id, stem_of, stems, task_id

LETTERS = "abcdef"
CODE = re.compile("`([^`]+)`")
NO_GUESS = "…"  # stands in a notebook until the student guesses
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Choice:
    """An answer that one can choose.

    Args:
        text: the answer; a number may be typed instead of the choice's letter.
        why: why it is right, or the misconception behind it.
        right: whether it is the right one.
    """

    text: str
    why: str
    right: bool = False

    @classmethod
    def number(
        cls, value: float, why: str, right: bool = False, digits: int = 3
    ) -> Choice:
        """Return a choice whose text is a number with so many decimals."""
        return cls(f"{value:,.{digits}f}".replace("-", "−"), why, right)


@dataclass(frozen=True)
class QuizQuestion:
    """A question and its choices, of which exactly one is right."""

    text: str
    choices: tuple[Choice, ...]

    def __post_init__(self) -> None:
        if sum(choice.right for choice in self.choices) != 1:
            raise ValueError(f"exactly one choice must be right: {self.text}")
        if not 2 <= len(self.choices) <= len(LETTERS):
            raise ValueError(f"2 to {len(LETTERS)} choices are needed: {self.text}")

    def choice(self, answer: str | float) -> Choice | None:
        """Return the choice with this letter, or with this number to all digits shown."""
        if isinstance(answer, str):
            by_letter = dict(zip(LETTERS, self.choices, strict=False))
            return by_letter.get(answer.strip().lower())
        for choice in self.choices:
            shown = choice.text.replace("−", "-").replace(",", "")
            half = 0.5 * 10 ** -len(shown.partition(".")[2])
            with contextlib.suppress(TypeError, ValueError):
                if abs(float(shown) - float(answer)) <= half:
                    return choice
        return None


@dataclass(frozen=True)
class Quiz:
    """The questions of a lab; Jupyter shows each choice with an explanation that unfolds."""

    id: str
    questions: tuple[QuizQuestion, ...]

    def __repr__(self) -> str:
        lines = []
        for number, question in enumerate(self.questions, 1):
            lines += textwrap.wrap(f"{number}. {question.text}", width=88)
            for letter, choice in zip(LETTERS, question.choices, strict=False):
                lines += textwrap.wrap(
                    f"({letter}) {choice.text}",
                    width=88,
                    initial_indent="   ",
                    subsequent_indent="       ",
                )
        lines.append(f'To answer question 1 with (a): check.quiz("{self.id}", 1, "a")')
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        questions = "".join(map(_question, self.questions))
        # Folded: to the keyboard a closed fold is one stop, however many are inside.
        return (
            '<details class="hint"><summary>Questions</summary>'
            f'<ol class="quiz">{questions}</ol></details>'
        )


def _question(question: QuizQuestion) -> str:
    choices = "".join(
        f"<li><details><summary>{_html(choice.text)}</summary>"
        f"<p>{_verdict(choice)}</p></details></li>"
        for choice in question.choices
    )
    return f'<li><p>{_html(question.text)}</p><ol type="a">{choices}</ol></li>'


def _html(text: str) -> str:
    """Escape a text, and set as code what stands between backticks."""
    return CODE.sub(r"<code>\1</code>", html.escape(text))


def _verdict(choice: Choice) -> str:
    sign = "✓ Right." if choice.right else "✗ No."
    return f"<strong>{sign}</strong> {_html(choice.why)}"


def guess_html(id_: str, question: QuizQuestion) -> str:
    """Return a guess as a group of radio buttons, each followed by what its choice deserves.

    The last button is for readers who do not want to guess.
    """
    name = html.escape(id_)
    button = '<label><input type="radio" name="{}" value="{}"> <span>{}</span></label>'
    choices = "".join(
        f"<li>{button.format(name, letter, _html(choice.text))}"
        f"<p>{_verdict(choice)}</p></li>"
        for letter, choice in zip(LETTERS, question.choices, strict=False)
    )
    skip = f"<li>{button.format(name, 'show', 'Show without a guess')}</li>"
    return (
        f'<fieldset class="guess"><legend><strong>Guess first.</strong> '
        f"{_html(question.text)}</legend><ul>{choices}{skip}</ul></fieldset>"
    )


def guess_cell(id_: str, question: QuizQuestion) -> str:
    """Return the source of a notebook's cell in which a student guesses."""
    lines = ["# Put the letter of your guess in place of the dots, then run the cell."]
    for letter, choice in zip(LETTERS, question.choices, strict=False):
        lines += textwrap.wrap(
            f"{letter}: {choice.text}",
            width=79,
            initial_indent="# ",
            subsequent_indent="#    ",
        )
    return "\n".join([*lines, f'check.guess("{id_}", "{NO_GUESS}")'])


def quizzes_of(stem: str) -> dict[str, Quiz]:
    """Return the quizzes of one practical, by id, in order."""
    return getattr(importlib.import_module(f"course.checks.{stem}"), "QUIZZES", {})


def quizzes(package: str, **questions: tuple[QuizQuestion, ...]) -> dict[str, Quiz]:
    """Return the quizzes of a practical by id, ``<stem>/<name>`` with hyphens.

    Args:
        package: the practical's package of checks; its last part is the stem.
        questions: the questions of each quiz by its name.
    """
    stem = package.rpartition(".")[2]
    named = {task_id(stem, name): row for name, row in questions.items()}
    return {id_: Quiz(id_, row) for id_, row in named.items()}


def guesses(module: str, **questions: QuizQuestion) -> dict[str, QuizQuestion]:
    """Return the guesses of a practical by id, ``<stem>/<name>`` with hyphens.

    Args:
        module: ``course.checks.<stem>.guesses``.
        questions: each guess by its name.
    """
    stem = module.split(".")[-2]
    return {task_id(stem, name): question for name, question in questions.items()}


def guesses_of(stem: str) -> dict[str, QuizQuestion]:
    """Return the guesses of one practical, by id, in order."""
    return importlib.import_module(f"course.checks.{stem}.guesses").GUESSES


def find_guess(guess_id: str) -> QuizQuestion:
    """Return the guess with this id.

    Raises:
        UnknownTask: there is none; the message names the closest ids.
    """
    return _find(guess_id, "guess", guesses_of)


def find_quiz(quiz_id: str) -> Quiz:
    """Return the quiz with this id.

    Raises:
        UnknownTask: there is none; the message names the closest ids.
    """
    return _find(quiz_id, "quiz", quizzes_of)


def _find(id_: str, kind: str, of: Callable[[str], dict[str, _Found]]) -> _Found:
    stem = stem_of(id_)
    known = of(stem) if stem in stems() else {}
    if id_ not in known:
        every = list(known) or every_id(of)
        raise UnknownTask(f"There is no {kind} {id_!r}.{closest(id_, every)}")
    return known[id_]
