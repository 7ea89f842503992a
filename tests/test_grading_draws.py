"""On 200 random draws the reference always gets full marks, and no known mistake ever does."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from course.task import stems

ROOT = Path(__file__).parents[1]
DRAWS = 200

# One process for each practical: torch and JAX do not meet. The probe's own source runs, and
# its numbers go the way of a submission's: displayed, decoded, judged.
SCRIPT = """
import json, pathlib, sys
from unittest import mock
import IPython.display
import numpy as np
from course.grading.judging.expected import encode, key_of
from course.grading.judging.values import VALUES
from course.grading.judging.verdicts import judge
from course.source import read_solutions
from course.task import tasks_of

stem, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
module = read_solutions(pathlib.Path("."), stem)
namespace = {"__name__": "__main__"}
exec(module.setup, namespace)
for definition in module.definitions.values():
    exec(definition.shown(), namespace)
failed, rows = [], 0
for seed in range(first, first + count):
    for task in tasks_of(stem).values():
        key = key_of(task, seed)

        def displayed(answer):
            shown = []
            with mock.patch("IPython.display.publish_display_data", shown.append):
                exec(key.probe, namespace | {task.name: answer})
            data = json.loads(json.dumps(shown[0]))
            return [{"output_type": "display_data", "data": data}]

        verdict = judge(key, displayed(namespace[task.name]), attempt=1)
        rows += 1
        if verdict.status != "right":
            failed.append([seed, task.id, "reference", verdict.reason])
        for number, mistake in enumerate(task.misconceptions):
            try:
                outputs = displayed(mistake.answer)
            except Exception:
                continue
            if judge(key, outputs, attempt=1).status == "right":
                failed.append([seed, task.id, number, mistake.hint])
print(json.dumps([rows, failed]))
"""


def judged(stem, first, count):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, stem, str(first), str(count)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("stem", stems())
def test_a_few_draws(stem):
    rows, failed = judged(stem, first=0, count=2)
    assert rows > 10
    assert failed == []


@pytest.mark.long
@pytest.mark.parametrize("stem", stems())
def test_two_hundred_draws(stem):
    # In halves, side by side: these are the last tests to end, when a core is free.
    half = DRAWS // 2
    with ThreadPoolExecutor(2) as pool:
        starts = (1_000_000, 1_000_000 + half)
        found = list(pool.map(lambda first: judged(stem, first, half), starts))
    assert [failed for _, failed in found] == [[], []]
