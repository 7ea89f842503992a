"""On random draws the reference always gets full marks, and no misconception ever does.

Every commit uses another draw, so that many are tested over time. ``make soak`` uses 200
for each practical, or as many as ``SOAK`` says. To repeat one of them:
``SOAK=1 SEED=<seed> python -m pytest tests/grading/test_draws.py``.
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from seeds import SOAK, first_seed

from course.task import stems, tasks_of

ROOT = Path(__file__).parents[2]
FEW = 1
DRAWS = SOAK or FEW

# Each practical has its own process, so that PyTorch and JAX are never loaded together. The
# probe's source is run, and its numbers are displayed, decoded and judged as in grading.
SCRIPT = """
import json, pathlib, sys
from unittest import mock
import IPython.display
import numpy as np
from grading.execution.expected import key_of
from grading.execution.values import VALUES
from grading.execution.verdicts import judge
from project.source import read_solutions
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

        verdict = judge(key, displayed(namespace[task.name]), pass_number=1)
        rows += 1
        if verdict.status != "right":
            failed.append([seed, task.id, "reference", verdict.reason])
        for number, mistake in enumerate(task.misconceptions):
            try:
                outputs = displayed(mistake.answer)
            except Exception:
                continue
            if judge(key, outputs, pass_number=1).status == "right":
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
def test_on_every_draw_the_reference_is_right_and_each_mistake_wrong(stem):
    first = first_seed()
    # Many draws are judged in two halves in parallel.
    half = DRAWS // 2 if DRAWS > FEW else 0
    shares = [(first, half), (first + half, DRAWS - half)]
    with ThreadPoolExecutor(2) as pool:
        found = list(
            pool.map(lambda share: judged(stem, *share), [s for s in shares if s[1]])
        )
    assert sum(rows for rows, _ in found) == DRAWS * len(tasks_of(stem))
    failed = [row for _, rows in found for row in rows]
    assert failed == [], f"{len(failed)} of {DRAWS} draws from seed {first} on"


def test_seeds_come_from_the_commit_and_can_be_said(monkeypatch, tmp_path):
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True
    )
    if commit.returncode == 0:
        assert first_seed() == int(commit.stdout[:8], 16)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "none"))  # as without a repository
    from_sources = first_seed()
    assert 0 < from_sources < 2**32
    assert first_seed() == from_sources
    monkeypatch.setenv("SEED", "7")
    assert first_seed() == 7
