"""Say what an exception that an answer raised means to its student, and where it was raised."""

from __future__ import annotations

import inspect
import re
import sysconfig
import traceback
from functools import partial
from pathlib import Path
from typing import Any

from course.differences import inputs
from course.side_effects import WrongCall, watched
from course.task import Case, Task
from course.wording import listed, returned, wrapped

HERE, STDLIB = Path(__file__).parent, Path(sysconfig.get_path("stdlib"))
WATCH = watched.__code__.co_filename

# Advice for exceptions, by the name of their type.
LINEAR_ALGEBRA = {  # by words of the error
    "ingular": "The matrix has no inverse. Is a term missing that would give it one?",
    "dimensional": "A matrix is expected; np.atleast_2d makes one of a number.",
}
ADVICE = {
    "NameError": "Run the cells above that define it; if you have, compare the spelling.",
    "TracerArrayConversionError": "Use functions of jax and jnp: JAX cannot look inside NumPy's or SciPy's.",
    "TracerBoolConversionError": "Use jnp.where in place of if and assert: JAX traces before values are known.",
    "ConcretizationTypeError": "Use jnp in place of Python's own functions: JAX traces before values are known.",
}
# By a part of an exception's message.
MESSAGES = {
    "does not require grad": "Its computation graph is lost: something is detached, computed under no_grad, or is a "
    "derivative that was taken without create_graph=True.",
    "in-place operation": "An argument, or what a gradient needs, is changed in place, as by += or an operation whose "
    "name ends in an underscore. Make a new tensor: z = z + 1 in place of z += 1.",
}
AUTOGRAD = ("autograd", "__init__.py")


def explained(task: Task, answer: Any, error: Exception, case: Case) -> str:
    """Explain an exception that was raised when an answer was probed.

    Args:
        task: the task.
        answer: the answer.
        error: what was raised.
        case: the inputs.
    """
    if isinstance(error, NotImplementedError) and _is_stub(error):
        return _unwritten(task, answer, error)
    return _raised(task, answer, error, case)


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
    elif "unpack" in message and (number := _number_unpacked(message, trace[-1].line)):
        keys = _parts(task, case)
        said = f": {listed(keys)} are expected" if len(keys) == number else ""
        text = f"`{task.name}` does not return {number} values{said}, as a tuple."
    else:
        # The call itself returned; the probe failed on the value.
        text = (
            f"`{task.name}` does not return the expected kind of value: "
            f"using its value raised {kind}: {message}"
        )
        if any(Path(frame.filename).parts[-2:] == AUTOGRAD for frame in trace):
            text = (
                f"`{task.name}` returns a value, but its gradient cannot be computed: "
                f"this raised {kind}: {message}"
            )
    told = (words for part, words in MESSAGES.items() if part in message)
    advice = next(told, ADVICE.get(kind))
    if kind in ("LinAlgError", "_LinAlgError"):
        words = (advice for part, advice in LINEAR_ALGEBRA.items() if part in message)
        advice = next(words, None)
    if advice is not None:
        text += f"\n{wrapped(advice)}"
    return f"{text}\n\non the input\n{inputs(task, answer, case)}"


def _parts(task: Task, case: Case) -> list[str]:
    """Return the names of the values that an answer returns, if there are several."""
    keys = returned(task.oracle(**case))
    return keys if len(keys) > 1 else []


def _number_unpacked(message: str, line: str | None) -> int:
    """How many values a probe unpacks, by Python's message or else by its line; 0 if unknown."""
    if said := re.search(r"expected (\d+)", message):
        return int(said[1])
    names = (line or "").partition(" = ")[0].count(",") + 1
    return names if names > 1 else 0


def _is_stub(error: NotImplementedError) -> bool:
    """Is it raised by a line of the notebook, not by a library that lacks an operation?"""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return _theirs(last) and (last.line or "raise").startswith("raise")


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
    installed = not {"site-packages", "dist-packages"}.isdisjoint(path.parts)
    return not installed and not any(map(path.is_relative_to, (HERE, STDLIB)))


def _file(answer: Any) -> str | None:
    """Return the file (in Jupyter, the cell) that defines an answer; ``None`` if unknown."""
    while isinstance(answer, partial):
        answer = answer.func
    answer = inspect.unwrap(answer)
    if not isinstance(answer, type) and not hasattr(answer, "__code__"):
        answer = type(answer)  # an object that is called
    functions = (
        [answer, *vars(answer).values()] if isinstance(answer, type) else [answer]
    )
    codes = (getattr(function, "__code__", None) for function in functions)
    return next((code.co_filename for code in codes if code is not None), None)
