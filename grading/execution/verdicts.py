"""Judge the numbers that a kernel displayed, in words that reveal nothing hidden.

A student learns what kind of thing is wrong and which known mistake it is. The inputs and the
right values stay hidden, and so do texts that the student's own code produces: an exception's
message could carry the hidden inputs, or a reference solution that stood in for an earlier
task. Therefore only its type, if it is a known one, its line, and a name that occurs in the
answer are given.
"""

from __future__ import annotations

import builtins
import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from course.judge import compare, related, same
from course.side_effects import sentences
from course.wording import (
    as_sentence,
    is_property,
    lacks,
    named,
    not_finite,
    nothing_returned,
    subject,
)
from grading.execution.expected import Key
from grading.execution.sketch import sketch
from grading.execution.values import VALUES, decode_left, decode_values
from grading.record import Verdict

# Python's own exceptions, and those that the frameworks raise on mistakes in an answer.
KNOWN = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
) | {
    "ConcretizationTypeError",
    "LinAlgError",
    "StdinNotImplementedError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "UnexpectedTracerError",
}
# Exceptions whose messages name what is missing.
NAMING = {"AttributeError", "ModuleNotFoundError", "NameError", "UnboundLocalError"}
UNWRITTEN = "It is not written yet."
# Reasons that a statement that is not needed may be to blame for.
LOST = re.compile(
    r"Its cell raised|Calling it raised (NameError|an exception\.)|`\w+` is not defined"
)
WRONG_CALL = "It could not be called: its arguments differ from those of the exercise."


def judge(
    key: Key, outputs: Sequence[dict[str, Any]], *, pass_number: int, source: str = ""
) -> Verdict:
    """Compare what a probe displayed with the expected values.

    Args:
        key: the task's right values and misconceptions.
        outputs: the probe cell's outputs, as in nbformat.
        pass_number: counts the passes over the submission from 1.
        source: the answer; only names that occur in it may be mentioned.
    """
    shown = [
        output["data"][VALUES]
        for output in outputs
        if VALUES in (output.get("data") or {})
    ]
    if not shown:
        return wrong(
            key, _nothing(key, outputs, pass_number, source), pass_number=pass_number
        )
    if len(shown) > 1:
        return wrong(
            key, "More than one set of values was displayed.", pass_number=pass_number
        )
    if any(output.get("output_type") == "error" for output in outputs):
        return wrong(
            key, _nothing(key, outputs, pass_number, source), pass_number=pass_number
        )
    try:
        values = decode_values(shown[0])
        # In a later pass, the names could be a reference's.
        side_effects = sentences(
            decode_left(shown[0], source if pass_number == 1 else "")
        )
    except ValueError:
        return wrong(
            key, "The displayed values cannot be read.", pass_number=pass_number
        )
    if len(values) != len(key.right):
        return wrong(key, "Values are missing.", pass_number=pass_number)
    mismatch = compare(values, key.right)
    if mismatch is None and side_effects:
        return wrong(key, side_effects, pass_number=pass_number)
    if mismatch is None:
        return Verdict(key.task, key.points, "right", pass_number)
    number = "integer" if mismatch.close.integers else "floating-point number"
    name, value = named(mismatch.key), subject(mismatch.key)
    not_right = f"{value} is not right."
    if mismatch.kind == "value" and is_property(mismatch.key):
        not_right = as_sentence(lacks(mismatch.key, mismatch.got, mismatch.close.value))
    missing = " Is a `return` missing?" * nothing_returned(values[mismatch.case])
    reason = {
        "missing": f"`{key.name}` returned no {name}.",
        "none": f"`{key.name}` returned no {name}: it is None.{missing}",
        "dtype": f"{value} is not an array of {number}s, or not one such number.",
        "shape": f"{value} has the wrong shape: {_shape(mismatch.close.value.shape)} is expected.",
        "nan": not_finite(mismatch.key),
        "value": not_right,
    }[mismatch.kind]
    for mistake in key.mistakes:
        if same(values, mistake.values, key.right):
            return wrong(
                key,
                reason,
                pass_number=pass_number,
                hint=mistake.hint,
                mistake=f"{key.task}#{mistake.number}",
            )
    if mismatch.kind in ("shape", "nan", "value"):
        cases = key.cases or [{} for _ in key.right]
        reason = f"{reason} {related(values, key.right, cases)}".strip()
    reason = f"{reason} {side_effects}".strip()
    found = wrong(key, reason, pass_number=pass_number)
    inputs = f"{zlib.crc32(key.probe.encode()):08x}"
    return replace(found, sketch=sketch(values, key.right, inputs))


def wrong(
    key: Key, reason: str, *, pass_number: int, hint: str = "", mistake: str = ""
) -> Verdict:
    """The verdict of a wrong answer, which earns no points."""
    return Verdict(
        key.task,
        key.points,
        "wrong",
        pass_number,
        reason=reason,
        hint=hint,
        key=mistake,
    )


def raised(
    name: str, kind: str, line: int | None = None, *, said: str = "", source: str = ""
) -> str:
    """A sentence about an exception: its type if it is a known one, its line, and a name.

    Args:
        name: what raised it.
        kind: its type, as the kernel reports it.
        line: the line of the cell.
        said: its message, of which only a name that also occurs in ``source`` is used.
        source: the answer.
    """
    if kind == "NotImplementedError":
        return UNWRITTEN
    if kind == "WrongCall":
        return WRONG_CALL
    where = f" in line {line}" if line is not None else ""
    quoted = re.findall(r"'([A-Za-z_]\w{0,60})'", said[:1_000])[-1:]
    about = ""
    if kind in NAMING and quoted and re.search(rf"\b{quoted[0]}\b", source, re.ASCII):
        about = f" about `{quoted[0]}`"
        if kind == "NameError":
            about += (
                ": only imports, given code, answers and cells of your own are run, and of "
                "other cells what they define"
            )
    return f"{name} raised {known(kind)}{where}{about}."


def known(kind: str) -> str:
    """An exception's type, if it is one of Python's or of the frameworks'."""
    return kind if kind in KNOWN else "an exception of its own"


def _nothing(
    key: Key, outputs: Sequence[dict[str, Any]], pass_number: int, source: str
) -> str:
    errors = [output for output in outputs if output.get("output_type") == "error"]
    if (
        errors and pass_number > 1
    ):  # the type could reveal something about the reference
        return "Calling it raised an exception."
    if errors:
        kind, said = str(errors[0].get("ename")), str(errors[0].get("evalue"))
        if kind == "NameError" and f"'{key.name}'" in said:
            return f"`{key.name}` is not defined: the answer has to have this name."
        return raised("Calling it", kind, said=said, source=source)
    return "Calling it produced no values."


def _shape(shape: tuple[int, ...]) -> str:
    return f"an array of shape {shape}" if shape else "a single floating-point number"
