"""Judge planted answers: ``ANSWERS`` of ``{right,wrong}_answers/<stem>.py``, by task and label.

Each practical has its own process, so that PyTorch and JAX are never loaded together.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from seeds import first_seed

from course.task import find, stem_of, stems, tasks_of

TESTS = Path(__file__).parents[1]
SCRIPT = """
import importlib, json, sys
import numpy as np
from course.judge import answered, compare, expected
from course.task import tasks_of
from project.jax_options import share_context

stem, seed, *names = sys.argv[1], int(sys.argv[2]), *sys.argv[3:]
folders = {
    folder: importlib.import_module(f"{folder}.{stem}").ANSWERS
    for folder in ("right_answers", "wrong_answers")
}
tasks = list(tasks_of(stem).values())
share_context()
for folder, answers in folders.items():
    strays = answers.keys() - {task.name for task in tasks}
    assert not strays, f"{folder}: {strays} are no tasks of {stem}"
found = []
for task in tasks:
    if task.name not in names:
        continue
    cases = task.cases(np.random.default_rng(seed))
    right = expected(task, cases)
    for folder, answers in folders.items():
        for label, answer in answers.get(task.name, {}).items():
            compared = (
                compare(answered(task, answer, [case]), [closes])
                for case, closes in zip(cases, right, strict=True)
            )
            try:
                mismatch = next(filter(None, compared), None)
                verdict = f"{mismatch.kind}: {mismatch.key}" if mismatch else "right"
            except Exception as error:
                verdict = f"raised {type(error).__name__}: {error}"
            found.append([folder, task.name, label, seed, verdict])
print(json.dumps(found))
"""
COMMAND = [sys.executable, "-W", "ignore", "-c", SCRIPT]
EVERY_TASK = [id_ for stem in stems() for id_ in tasks_of(stem)]


def rows_of(
    task_id: str, folder: str, ids: Iterable[str]
) -> list[tuple[str, int, str]]:
    """Return label, seed and verdict of each planted answer to a task.

    ``ids`` are all tasks that will be asked for: those of a practical are judged at once.
    """
    task, stem = find(task_id), stem_of(task_id)
    names = frozenset(find(id_).name for id_ in ids if stem_of(id_) == stem)
    return [row[2:] for row in judged(stem, names) if row[:2] == (folder, task.name)]


@cache
def judged(stem: str, names: frozenset[str]) -> list[tuple[str, str, str, int, str]]:
    """Judge every planted answer to these tasks: list folder, task, label, seed and verdict.

    A verdict is ``right``, the first mismatch, or ``raised …``.
    """
    paths = [TESTS.parent, TESTS, TESTS / "support"]
    done = subprocess.run(
        [*COMMAND, stem, str(first_seed()), *sorted(names)],
        cwd=TESTS.parent,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [tuple(row) for row in json.loads(done.stdout)]
