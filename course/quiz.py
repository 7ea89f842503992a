"""Quizzes: questions with choices, each of which says why it is right or what it mistakes.

A practical's quizzes, one per lab, are in ``course.checks.<stem>`` as ``QUIZZES``, a dictionary
by id.
"""

from __future__ import annotations

import contextlib
import html
import importlib
import textwrap
from dataclasses import dataclass

from course.task import UnknownTask, closest, stem_of, stems, task_id

LETTERS = "abcdef"


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
        f"<li><details><summary>{html.escape(choice.text)}</summary>"
        f"<p>{_verdict(choice)}</p></details></li>"
        for choice in question.choices
    )
    return f'<li><p>{html.escape(question.text)}</p><ol type="a">{choices}</ol></li>'


def _verdict(choice: Choice) -> str:
    sign = "✓ Right." if choice.right else "✗ No."
    return f"<strong>{sign}</strong> {html.escape(choice.why)}"


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


def find_quiz(quiz_id: str) -> Quiz:
    """Return the quiz with this id.

    Raises:
        UnknownTask: there is none; the message names the closest ids.
    """
    stem = stem_of(quiz_id)
    known = quizzes_of(stem) if stem in stems() else {}
    if quiz_id not in known:
        every = list(known) or [id_ for one in stems() for id_ in quizzes_of(one)]
        raise UnknownTask(f"There is no quiz {quiz_id!r}.{closest(quiz_id, every)}")
    return known[quiz_id]
