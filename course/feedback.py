"""Feedback for students: one line for a right answer, an explanation for a wrong one."""

from __future__ import annotations

import inspect
import textwrap
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from course.errors import CheckFailed, NoSuchHint, WrongUse
from course.judge import (
    Mismatch,
    answered,
    as_numbers,
    compare,
    expected,
    recognise,
    related,
)
from course.quiz import Quiz, find_quiz
from course.side_effects import WrongCall, sentences, watched
from course.task import Case, Close, Task, find

SEEDS = (0, 1)
HERE = Path(__file__).parent
WATCH = watched.__code__.co_filename

# Advice for exceptions, by the name of their type.
SINGULAR = "The matrix has no inverse. Is a term missing that gives it one, such as the prior's?"
ADVICE = {
    "NameError": "Run the cells above that define it; if you have, compare the spelling.",
    "LinAlgError": SINGULAR,
    "_LinAlgError": SINGULAR,
    "TracerArrayConversionError": "Use functions of jax and jnp: JAX cannot look inside NumPy's or SciPy's.",
    "TracerBoolConversionError": "Use jnp.where in place of if and assert: JAX traces before values are known.",
    "ConcretizationTypeError": "Use jnp in place of Python's own functions: JAX traces before values are known.",
}

HUGE = (
    "    (So large a number comes from dividing by nearly 0, or from inverting a matrix that hardly has "
    "an inverse: is a term missing?)"
)
SHOWN = 24  # how many entries of an array are printed at most
NO_GRAPH = (
    "Its graph is lost: something is detached, computed under no_grad, or is a derivative that was taken "
    "without create_graph=True."
)


class Check:
    """Check answers with ``check(…)``, and give hints with ``check.hint(…)``."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}  # the last hint that was given, by task

    def __call__(self, task_id: str, answer: Any) -> None:
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
        task = find(task_id)
        problem = None
        for seed in SEEDS:
            problem = _problem(task, answer, task.cases(np.random.default_rng(seed)))
            if problem is not None:
                raise CheckFailed(_report(task, problem)) from None
        if task.proof is not None:
            problem = task.proof(answer)
            if problem is not None:
                raise CheckFailed(_report(task, problem)) from None
        points = "1 point" if task.points == 1 else f"{task.points} points"
        print(f"✓ {task.id} · {points}")

    def hint(self, task_id: str, level: int | None = None) -> None:
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
        if level is not None and type(level) is not int:
            raise WrongUse(
                f"The level of a hint is a whole number, as in check.hint({task_id!r}, 2); "
                f"{level!r} is {_a(type(level).__name__)}."
            )
        task = find(task_id)
        count, seen = len(task.hints), self._seen.get(task_id, 0)
        wanted = min(seen + 1, count) if level is None else level
        if not 1 <= wanted <= count:
            there = f"the hints 1 to {count}; there is no hint {wanted}"
            raise NoSuchHint(f"{task_id} has {there if count else 'no hints'}.")
        self._seen[task_id] = wanted
        hint = f"Hint {wanted} of {count}: {task.hints[wanted - 1]}"
        print(textwrap.fill(hint, width=88))
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
            raise WrongUse(f"{quiz_id} has the questions 1 to {last}, no {question!r}.")
        choice = quiz.questions[question - 1].choice(answer)
        if choice is None:
            raise WrongUse(f"Question {question} has no choice {answer!r}.")
        said = f"{'✓' if choice.right else '✗'} {choice.text}\n\n"
        said += textwrap.fill(choice.why, width=88)
        if not choice.right:
            raise CheckFailed(said)
        print(said)


check = Check()


def _problem(task: Task, answer: Any, cases: list[Case]) -> str | None:
    problem = _not_asked_for(task, answer)
    if problem is not None:
        return problem
    values, left = [], []
    for case in cases:
        try:
            values += answered(task, answer, [case], left)
        except NotImplementedError as error:
            return _unwritten(task, answer, error)
        # A student's code may raise anything; report it to the student.
        except Exception as error:
            return _raised(task, answer, error, case)
    right = expected(task, cases)
    mismatch = compare(values, right)
    side_effects = textwrap.fill(sentences(left), width=88)
    if mismatch is None:
        return side_effects or None
    parts = [_difference(task, answer, mismatch, cases[mismatch.case])]
    misconception = recognise(task, values, cases, right)
    if misconception is not None:
        parts.append(textwrap.fill(f"You get this if {misconception.hint}", width=88))
    elif mismatch.kind in ("shape", "nan", "value"):
        parts.append(textwrap.fill(related(values, right, cases), width=88))
    parts.append(side_effects)
    return "\n\n".join(part for part in parts if part)


def _no_id(task_id: Any, answer: Any) -> str:
    name = getattr(task_id, "__name__", "answer")
    if isinstance(answer, str):
        return f'The arguments are in the wrong order. Write check("{answer}", {name}).'
    return (
        "The first argument is the id of a task, a text such as "
        f'"deep-ensembles/entropy", and not {_a(type(task_id).__name__)}.'
    )


def _not_asked_for(task: Task, answer: Any) -> str | None:
    """Return what is wrong with the kind of an answer."""
    name, is_class = task.name, task.name[:1].isupper()
    if answer is None:
        return f"`{name}` is None. Run the cell that defines it, and let it define a function or class."
    if is_class and type(answer).__name__ == name:
        return f'`{name}` is asked for, the class itself. This is an instance of it: write check("{task.id}", {name}).'
    if not is_class and isinstance(answer, type):
        return f"`{name}` is a class; a function is asked for."
    if not callable(answer):
        return f"`{name}` is {_a(type(answer).__name__)}, not a function or class."
    return None


def _report(task: Task, problem: str) -> str:
    report = f"✗ {task.id}\n\n{problem}"
    if task.hints:
        report += f'\n\nStuck? check.hint("{task.id}")'
    return report


def _raised(task: Task, answer: Any, error: Exception, case: Case) -> str:
    kind = type(error).__name__
    message = str(error).strip().split("\n")[0]
    trace = traceback.extract_tb(error.__traceback__)
    frames = [f for f in trace if _theirs(f)]
    own = [frame for frame in frames if frame.filename == _file(answer)]
    if isinstance(error, WrongCall):
        text = f"`{task.name}` {message}."
    elif own:
        text = f"`{task.name}` raised {kind}: {message}"
        text += f"\n    in line {own[-1].lineno} of your cell: {own[-1].line}"
    elif frames:
        text = f"`{task.name}` raised {kind}: {message}\n    in `{frames[-1].name}`, which it calls"
    elif any(frame.filename == WATCH for frame in trace):
        text = f"`{task.name}` raised {kind}: {message}"
    else:
        # The call itself returned; the probe failed on the value.
        text = (
            f"`{task.name}` does not return what is asked for: "
            f"using its value raised {kind}: {message}"
        )
    advice = NO_GRAPH if "does not require grad" in message else ADVICE.get(kind)
    if advice is not None:
        text += f"\n{textwrap.fill(advice, width=88)}"
    return f"{text}\n\non the input\n{_inputs(task, answer, case)}"


def _unwritten(task: Task, answer: Any, error: NotImplementedError) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if _theirs(f)]
    last = frames[-1].name if frames else task.name
    if last != getattr(answer, "__name__", last) and not hasattr(answer, last):
        return f"`{task.name}` calls `{last}`, which is not written yet. Write that one first."
    return (
        f"`{task.name}` is not written yet: put your code in place of "
        "`raise NotImplementedError()`, and run its cell."
    )


def _theirs(frame: traceback.FrameSummary) -> bool:
    """Is this a line of the notebook, not of a library or of the course?"""
    path = Path(frame.filename)
    return "site-packages" not in path.parts and not path.is_relative_to(HERE)


def _file(answer: Any) -> str | None:
    """Return the file (in Jupyter, the cell) that defines an answer; ``None`` if unknown."""
    functions = (
        [answer, *vars(answer).values()] if isinstance(answer, type) else [answer]
    )
    codes = (getattr(function, "__code__", None) for function in functions)
    return next((code.co_filename for code in codes if code is not None), None)


def _difference(task: Task, answer: Any, mismatch: Mismatch, case: Case) -> str:
    close, key, got = mismatch.close, mismatch.key, mismatch.got
    inputs = f"on the input\n{_inputs(task, answer, case)}"
    shape = _shape(close.value.shape)
    if mismatch.kind in ("missing", "none"):
        return f"`{task.name}` gives no {key}: it is None. Is a `return` missing?\n\n{inputs}"
    if mismatch.kind == "dtype":
        kind = getattr(got, "dtype", None)
        what = (
            f"has the dtype {kind}"
            if kind is not None
            else f"is {_a(type(got).__name__)}"
        )
        if close.value.shape:
            shape += " of floating-point numbers"
        return f"{key} {what}; {shape} is expected.\n\n{inputs}"
    if mismatch.kind == "shape":
        return f"{key} is {_shape(np.shape(got))}; {shape} is expected.\n\n{inputs}"
    if mismatch.kind == "nan":
        head = f"{key} holds a value that is not a finite number (nan or inf)."
    else:
        head = f"{key} is not right."
    given, right = _told_apart(key, as_numbers(got), close)
    text = f"{head}\n\n{inputs}\n`{task.name}` gives\n{given}\nexpected is\n{right}"
    return "\n".join([text, *_remarks(as_numbers(got), close)])


def _told_apart(key: str, got: np.ndarray, close: Close) -> tuple[str, str]:
    """Format the answer's value and the right one, with enough digits to tell them apart.

    If an array is too long to print whole and its printed part looks equal, its worst entry is
    formatted instead.
    """
    pairs = [(key, got, close.value)]
    if got.size > SHOWN:
        gap = np.where(np.isfinite(got), np.abs(got - close.value), np.inf)
        worst = np.unravel_index(np.where(close.near(got), -1, gap).argmax(), got.shape)
        name = f"{key}[{', '.join(map(str, worst))}]"
        pairs.append((name, got[worst], close.value[worst]))
    for digits in (5, 9, 13, 17):
        for name, one, other in pairs:
            rows = _row(name, one, digits), _row(name, other, digits)
            if rows[0].split() != rows[1].split():
                return rows
    return rows


def _remarks(got: np.ndarray, close: Close) -> list[str]:
    """Explain the tolerance if the values nearly agree, or comment on numbers far too large."""
    gap, size = np.abs(got - close.value), np.max(np.abs(close.value), initial=0.0)
    near = 10 * (close.atol + close.rtol * np.abs(close.value))
    exact = close.rtol == close.atol == 0
    if np.all(gap <= np.maximum(near, 1e-3 * size)) or exact:
        return [f"    ({_tolerance(close.rtol, close.atol)}: {close.because})"]
    if np.all(np.isfinite(got)) and 1e10 * size < np.max(np.abs(got), initial=0.0):
        return [HUGE]
    return []


def _tolerance(rtol: float, atol: float) -> str:
    parts = [f"{rtol:.1g} of the value"] * (rtol > 0) + [f"{atol:.1g}"] * (atol > 0)
    return "to within " + " plus ".join(parts) if parts else "exactly"


def _inputs(task: Task, answer: Any, case: Case) -> str:
    """Format a case, and say how the answer's arguments are made of it if that is not plain."""
    rows = [_row(name, value) for name, value in case.items()]
    made = task.made_of or _not_passed(task, answer, case)
    if made:
        rows.append(textwrap.indent(textwrap.fill(f"({made})", width=84), "    "))
    return "\n".join(rows)


def _not_passed(task: Task, answer: Any, case: Case) -> str:
    """Name the inputs that no parameter of the answer is named after; empty if there are none."""
    functions = [answer]
    if isinstance(answer, type):
        functions += [value for value in vars(answer).values() if callable(value)]
    named: set[str] = set()
    try:
        for function in functions:
            parameters = inspect.signature(function).parameters.values()
            if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
                return ""
            named |= {parameter.name for parameter in parameters}
    except (TypeError, ValueError):  # built-in functions may have no signature
        return ""
    others = [name for name in case if name not in named]
    if not others:
        return ""
    listed = " and ".join([", ".join(others[:-1])] * (len(others) > 1) + others[-1:])
    verb = "are" if len(others) > 1 else "is"
    return (
        f"The check makes the arguments of `{task.name}` from these; "
        f"{listed} {verb} not among them."
    )


def _row(name: str, value: Any, digits: int = 5) -> str:
    if isinstance(value, str):
        text = repr(value)
    else:
        if hasattr(value, "detach"):
            value = value.detach().cpu()
        array = np.asarray(value)
        text = np.array2string(
            array, precision=digits, threshold=SHOWN, edgeitems=2, suppress_small=False
        )
        if array.size > SHOWN:
            text += f"  (shape {array.shape})"
    return textwrap.indent(text, " " * (len(name) + 7)).replace(
        " " * (len(name) + 7), f"    {name} = ", 1
    )


def _shape(shape: tuple[int, ...]) -> str:
    return (
        f"an array of shape {tuple(shape)}"
        if shape
        else "a single floating-point number"
    )


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
