"""Feedback for students: one line for a right answer, an explanation for a wrong one."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from course.differences import Comparison, a, block, example, headline
from course.errors import CheckFailed, NoSuchHint, WrongUse
from course.exceptions import explained
from course.judge import (
    Draw,
    Mismatch,
    Values,
    answered,
    compare,
    related,
    usual_modes,
)
from course.quiz import LETTERS, NO_GUESS, Choice, Quiz, find_guess, find_quiz
from course.side_effects import sentences
from course.task import Case, Close, Task, find
from course.wording import is_property, wrapped

SEEDS = (0, 1)
EXAMPLE = "deep-ensembles/entropy"  # an id of a task

CODE = re.compile(r"`([^`]+)`")


class Check:
    """Check answers with ``check(…)``, and give hints with ``check.hint(…)``."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}  # the last hint that was given, by task
        self._draws: dict[tuple[str, int], Draw] = {}  # by task and seed

    def __call__(self, task_id: str = "", answer: Any = ...) -> None:
        """Print one line if the answer is right.

        Args:
            task_id: for example ``deep-ensembles/gaussian-nll``.
            answer: the function or class that answers the task.

        Raises:
            CheckFailed: it is not right; the message says what was expected on which input.
            UnknownTask: there is no such task.
            WrongUse: the arguments are no id and no answer.
        """
        if not isinstance(task_id, str):
            raise WrongUse(_no_id(task_id, answer))
        if not task_id:
            raise WrongUse(
                "Pass the id of a task and your answer, as in "
                f'check("{EXAMPLE}", {EXAMPLE.rpartition("/")[2]}).'
            )
        task = find(task_id)
        if answer is ...:
            raise WrongUse(f'Pass your answer, too: check("{task.id}", {task.name}).')
        with usual_modes():
            problem = self._first_problem(task, answer)
        if problem is not None:
            error = _report(task, problem)
            error.show()
            raise error from None
        word = "point" if task.points == 1 else "points"
        points = f"·\N{NO-BREAK SPACE}{task.points}\N{NO-BREAK SPACE}{word}"
        print(f"✓ {task.id} {points}")

    def _first_problem(self, task: Task, answer: Any) -> list[str | Comparison] | None:
        for seed in SEEDS:
            problem = _problem(answer, self._drawn(task, seed))
            if problem is not None:
                return problem
        unproved = task.proof(answer) if task.proof is not None else None
        return [unproved] if unproved is not None else None

    def _drawn(self, task: Task, seed: int) -> Draw:
        """Return the inputs that a seed draws; they are kept for the next attempt."""
        draw = self._draws.get((task.id, seed))
        if draw is None or draw.task is not task:
            draw = Draw(task, task.cases(np.random.default_rng(seed)))
            self._draws[task.id, seed] = draw
        return draw

    def hint(self, task_id: str = "", level: int | None = None) -> None:
        """Print a hint for a task; every call gives the next one, until the last.

        Args:
            task_id: for example ``deep-ensembles/gaussian-nll``.
            level: which hint, 1 to 3; by default the one after the last that was printed.

        Raises:
            NoSuchHint: there is no such hint.
            UnknownTask: there is no such task.
            WrongUse: the id is no text, or the level no whole number.
        """
        if not isinstance(task_id, str):
            raise WrongUse(_no_id(task_id, None))
        if not task_id:
            raise WrongUse(f'Pass the id of a task, as in check.hint("{EXAMPLE}").')
        if level is not None and type(level) is not int:
            raise WrongUse(
                f"The level of a hint is a whole number, as in check.hint({task_id!r}, 2); "
                f"{level!r} is {a(type(level).__name__)}."
            )
        task = find(task_id)
        count, seen = len(task.hints), self._seen.get(task_id, 0)
        wanted = min(seen + 1, count) if level is None else level
        if not 1 <= wanted <= count:
            there = f"hints 1 to {count}; there is no hint {wanted}"
            raise NoSuchHint(f"{task_id} has {there if count else 'no hints'}.")
        self._seen[task_id] = wanted
        hint = f"Hint {wanted} of {count}: {task.hints[wanted - 1]}"
        print(wrapped(hint))
        if wanted < count:
            print(f"(More: check.hint({task_id!r}))")
        elif level is None and seen == count:
            print("(This is the last hint; there are no more.)")

    def quiz(
        self,
        quiz_id: str,
        question: int | None = None,
        answer: str | float | None = None,
    ) -> Quiz | None:
        """Return a quiz, which Jupyter shows, or judge an answer to one of its questions.

        Args:
            quiz_id: for example ``deep-ensembles/regression``.
            question: the number of a question, from 1; by default the quiz is returned.
            answer: a choice's letter, or its number.

        Raises:
            CheckFailed: the answer is wrong; the message says what it mistakes.
            UnknownTask: there is no such quiz.
            WrongUse: there is no such question or choice.
        """
        quiz = find_quiz(quiz_id)
        if question is None:
            return quiz
        if question not in range(1, len(quiz.questions) + 1):
            last = len(quiz.questions)
            raise WrongUse(f"{quiz_id} has questions 1 to {last}, but no {question!r}.")
        choice = quiz.questions[question - 1].choice(answer)
        if choice is None:
            raise WrongUse(f"Question {question} has no choice {answer!r}.")
        if not choice.right:
            raise CheckFailed(_said(choice))
        print(_said(choice))

    def guess(self, guess_id: str, answer: str) -> None:
        """Say what is right or wrong about a guess; a wrong one is no error.

        Args:
            guess_id: for example ``deep-ensembles/linear-score``.
            answer: a choice's letter, or dots, which stand for no guess yet.

        Raises:
            UnknownTask: there is no such guess.
            WrongUse: there is no such choice.
        """
        question = find_guess(guess_id)
        last = LETTERS[len(question.choices) - 1]
        choice = question.choice(answer)
        if choice is not None:
            print(_said(choice))
        elif answer == NO_GUESS:
            print(f"No guess yet: put a letter, a to {last}, in place of the dots.")
        else:
            raise WrongUse(f"{guess_id} has choices a to {last}, but no {answer!r}.")


check = Check()


def _said(choice: Choice) -> str:
    return f"{'✓' if choice.right else '✗'} {choice.text}\n\n{wrapped(choice.why)}"


def _problem(answer: Any, draw: Draw) -> list[str | Comparison] | None:
    """Return the paragraphs that say what is wrong."""
    task, cases = draw.task, draw.cases
    problem = _not_asked_for(task, answer)
    if problem is not None:
        return [problem]
    values, left = [], []
    for case in cases:
        try:
            values += answered(task, answer, [case], left)
        # A student's code may raise anything; report it to the student.
        except Exception as error:
            return [explained(task, answer, error, case)]
    right = draw.right
    mismatch = compare(values, right)
    side_effects = wrapped(sentences(left))
    if mismatch is None:
        return [side_effects] if side_effects else None
    mismatch = _smallest(mismatch, values, cases, right)
    told = [headline(task, mismatch, values[mismatch.case])]
    misconception = draw.recognise(values)
    if misconception is not None:
        told.append(f"You get this if {misconception.hint}")
    elif mismatch.kind in ("shape", "nan", "value") and not is_property(mismatch.key):
        told.append(related(values, right, cases))
    at = mismatch.case
    known = misconception is not None
    shown = example(
        task, answer, mismatch, cases[at], values[at], right[at], known=known
    )
    parts = [wrapped(" ".join(told).strip()), side_effects, shown]
    return [part for part in parts if part]


def _smallest(
    mismatch: Mismatch,
    values: Sequence[Values],
    cases: Sequence[Case],
    right: Sequence[Mapping[str, Close]],
) -> Mismatch:
    """Return the same mismatch on the smallest input that shows it, an ordinary one first."""
    for index in sorted(range(len(cases)), key=lambda index: effort(cases[index])):
        found = compare([values[index]], [right[index]])
        if found and (found.kind, found.key) == (mismatch.kind, mismatch.key):
            return replace(found, case=index)
    return mismatch


def effort(case: Case) -> tuple[bool, int]:
    """Return whether an input has extreme numbers, and its size: what is small is easy to check."""
    values = case.values()
    return any(map(_extreme, values)), sum(map(np.size, values))


def _extreme(value: Any) -> bool:
    """Are there numbers so large or so small that they are hard to check by hand?"""
    numbers = np.asarray(value)
    if not np.issubdtype(numbers.dtype, np.floating):
        return False
    sizes = np.abs(numbers[numbers != 0])
    return bool(np.any((sizes < 1e-3) | (sizes > 1e2)))


def _no_id(task_id: Any, answer: Any) -> str:
    name = getattr(task_id, "__name__", "answer")
    if isinstance(answer, str):
        return f'The arguments are in the wrong order. Write check("{answer}", {name}).'
    return (
        f'The first argument is the id of a task, a text such as "{EXAMPLE}", '
        f"and not {a(type(task_id).__name__)}."
    )


def _not_asked_for(task: Task, answer: Any) -> str | None:
    """Return what is wrong with the kind of an answer."""
    name, is_class = task.name, task.name[:1].isupper()
    if answer is None:
        return f"`{name}` is None. Run the cell that defines it, and let it define a function or class."
    if is_class and type(answer).__name__ == name:
        return f'Pass the class `{name}` itself, not an instance of it: write check("{task.id}", {name}).'
    if not is_class and isinstance(answer, type):
        return f"`{name}` is a class; a function is asked for."
    if not callable(answer):
        return f"`{name}` is {a(type(answer).__name__)}, not a function or class."
    return None


def _report(task: Task, parts: Sequence[str | Comparison]) -> CheckFailed:
    """Return the error with the message, as text and as HTML."""
    if task.hints:
        parts = [*parts, f'Stuck? `check.hint("{task.id}")`']
    text = "\n\n".join([f"✗ {task.id}", *map(str, parts)])
    return CheckFailed(text, "".join(map(_as_html, parts)))


def _as_html(part: str | Comparison) -> str:
    if isinstance(part, Comparison):
        return part._repr_html_()
    # Arrays of three dimensions are printed with blank lines.
    return "".join(map(_paragraph, re.split("\n\n(?! )", part)))


def _paragraph(text: str) -> str:
    """Return a paragraph as HTML, with its indented lines as they are."""
    shown = []
    for indented, lines in groupby(
        text.splitlines(), lambda line: line[:4].strip() == ""
    ):
        markup = html.escape("\n".join(lines))
        if indented:
            shown.append(block(markup))
        else:
            markup = CODE.sub(r"<code>\1</code>", markup)
            shown.append(f'<p style="margin: 0.5em 0">{markup}</p>')
    return "".join(shown)
