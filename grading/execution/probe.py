"""The source of a probe: it calls an answer on a run's inputs and displays the numbers.

The right numbers are not known to the kernel in which it runs.
"""

from __future__ import annotations

import inspect
import json
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from course.task import Case, Task
from grading.execution.values import MAX_NUMBERS, VALUES
from grading.sandbox.bubblewrap import RUN_BY_PROBES

# Runs in a namespace of its own, with only the answer from the student's. It runs what it shares
# with other probes anew, because the student's code could have changed an imported module.
PROBE = """\
import json
from importlib.util import find_spec

import numpy as np
from IPython.display import publish_display_data

for module in {shared}:
    exec(find_spec(module).loader.get_code(module), globals())

{probe}

def array(value):
    numbers = [float(number) for number in value["data"]]
    exact = numbers if value["dtype"].startswith("f") else value["data"]
    return np.array(exact, dtype=value["dtype"]).reshape(value["shape"])


def plain(value):
    if isinstance(value, dict):
        return array(value) if "data" in value else float(value["float"])
    return value


def numbers(got):
    if got is None:
        return None
    try:
        if hasattr(got, "detach"):
            got = got.detach().cpu()
        if isinstance(got, (list, tuple)):
            return {{"dtype": type(got).__name__, "shape": []}}
        found = np.asarray(got)
        if found.dtype.kind != "f" or found.size > {most}:
            kind = type(got).__name__ if found.dtype.kind == "O" else str(found.dtype)
            return {{"dtype": kind, "shape": list(found.shape)}}
        flat = found.astype(np.float64).ravel()
        data = [x if np.isfinite(x) else str(x) for x in flat.tolist()]
        return {{"dtype": str(found.dtype), "shape": list(found.shape), "data": data}}
    except Exception:
        return {{"dtype": type(got).__name__, "shape": []}}


values, left = [], []
with watched(answer, left) as observed:
    for case in json.loads(cases):
        case = {{name: plain(value) for name, value in case.items()}}
        got = dict({name}(observed, **case))
        values.append({{key: numbers(value) for key, value in got.items()}})
publish_display_data({{{mime!r}: {{"task": {task!r}, "values": values, "left": left}}}})
"""


def probe_source(task: Task, cases: Sequence[Case]) -> str:
    """The source of a cell that calls the answer on these cases and displays its numbers."""
    source = PROBE.format(
        shared=RUN_BY_PROBES,
        probe=textwrap.dedent(inspect.getsource(task.probe)),
        name=task.probe.__name__,
        most=MAX_NUMBERS,
        mime=VALUES,
        task=task.id,
    )
    text = json.dumps(
        [{name: _literal(value) for name, value in case.items()} for case in cases],
        allow_nan=False,
    )
    # Python's own exec, even if the student's namespace redefines it.
    return (
        f'__import__("builtins").exec(\n    {source!r},\n'
        f'    {{"answer": {task.name}, "cases": {text!r}}},\n)'
    )


def _literal(value: Any) -> Any:
    """An input as JSON, from which the probe restores it exactly."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "fiub":
            raise TypeError(f"an array of {value.dtype} cannot be an input")
        data = [_literal(item) for item in value.ravel().tolist()]
        data = [item["float"] if isinstance(item, dict) else item for item in data]
        return {"shape": list(value.shape), "dtype": str(value.dtype), "data": data}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": str(value)}
    if not isinstance(value, float | int | str):
        raise TypeError(f"{type(value).__name__} cannot be an input")
    return value
