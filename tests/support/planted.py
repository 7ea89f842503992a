"""Judge planted answers: ``ANSWERS`` of ``<folder>/<stem>.py``, by task and by label.

Each practical has its own process, so that PyTorch and JAX are never loaded together.
"""

import json
import os
import subprocess
import sys
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

stem, folder, first, seeds = *sys.argv[1:3], *map(int, sys.argv[3:])
planted = importlib.import_module(f"{folder}.{stem}").ANSWERS
tasks = {task.name: task for task in tasks_of(stem).values()}
found = []
for name, answers in planted.items():
    for seed in range(first, first + seeds):
        cases = tasks[name].cases(np.random.default_rng(seed))
        right = expected(tasks[name], cases)
        for label, answer in answers.items():
            try:
                mismatch = compare(answered(tasks[name], answer, cases), right)
                verdict = "right" if mismatch is None else f"{mismatch.kind}: {mismatch.key}"
            except Exception as error:
                verdict = f"raised {type(error).__name__}: {error}"
            found.append([name, label, seed, verdict])
print(json.dumps(found))
"""


EVERY_TASK = [id_ for stem in stems() for id_ in tasks_of(stem)]


def of_task(task_id: str, folder: str, seeds: int) -> list[tuple[str, str, int, str]]:
    """Return the rows of one task."""
    task = find(task_id)
    stem = stem_of(task_id)
    return [row for row in judged(stem, folder, seeds) if row[0] == task.name]


@cache
def judged(stem: str, folder: str, seeds: int) -> list[tuple[str, str, int, str]]:
    """Judge every planted answer: list task, label, seed and verdict.

    A verdict is ``right``, the first mismatch, or ``raised …``.
    """
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            SCRIPT,
            stem,
            folder,
            str(first_seed()),
            str(seeds),
        ],
        cwd=TESTS.parent,
        env=os.environ
        | {
            "PYTHONPATH": f"{TESTS.parent}{os.pathsep}{TESTS}{os.pathsep}{TESTS / 'support'}"
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [tuple(row) for row in json.loads(done.stdout)]
