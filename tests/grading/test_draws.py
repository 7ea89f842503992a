"""On random draws the reference always gets full marks, and no misconception ever does.

Every commit uses another draw of every other practical, so that many are tested over time;
``studies/soak.py`` judges many at once. To repeat one: ``SEED=<seed> python -m pytest
tests/grading/test_draws.py``.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import seeds
from seeds import first_seed, half

from course.task import stems, tasks_of
from project.jax_options import XLA_FLAGS
from project.source import read_solutions

ROOT = Path(__file__).parents[2]

# Each practical has its own process, so that PyTorch and JAX are never loaded together. The
# probe's source is run, and its numbers are displayed, decoded and judged as in grading.
SCRIPT = """
import json, pathlib, sys
from dataclasses import replace
from unittest import mock
import IPython.display
import numpy as np
from grading.execution.expected import KnownMistake, key_of
from grading.execution.values import VALUES, decode_values
from grading.execution.verdicts import judge
from project.jax_options import share_context
from project.source import read_solutions
from course.task import tasks_of

stem, seed, kept = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
elsewhere = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
here = {}
module = read_solutions(pathlib.Path("."), stem)
namespace = {"__name__": "__main__"}
exec(module.setup, namespace)
share_context()
for definition in module.definitions.values():
    exec(definition.shown(), namespace)
failed, rows = [], 0
for task in tasks_of(stem).values():
    key = key_of(task, seed)
    probe = compile(key.probe, task.name, "exec")  # once: the inputs are in it

    def displayed(answer):
        shown = []
        with mock.patch("IPython.display.publish_display_data", shown.append):
            exec(probe, namespace | {task.name: answer})
        data = json.loads(json.dumps(shown[0]))
        return [{"output_type": "display_data", "data": data}]

    verdict = judge(key, displayed(namespace[task.name]), pass_number=1)
    rows += 1
    if verdict.status != "right":
        failed.append([seed, task.id, "reference", verdict.reason])
    for number, mistake in enumerate(task.misconceptions, start=1):
        try:
            outputs = displayed(mistake.answer)
        except Exception:
            continue
        values = decode_values(outputs[0]["data"][VALUES])
        known = replace(key, mistakes=[KnownMistake(number, mistake.hint, values)])
        name = f"{task.id}#{number}"
        here[name] = outputs
        verdict = judge(known, elsewhere.get(name, outputs), pass_number=1)
        if verdict.status == "right" or verdict.hint != mistake.hint:
            failed.append([seed, task.id, mistake.hint, verdict.status, verdict.hint])
kept.write_text(json.dumps(here), "utf-8")
print(json.dumps([rows, failed]))
"""


@pytest.mark.parametrize("stem", half(stems()))
def test_on_every_draw_the_reference_is_right_and_each_mistake_wrong(stem, tmp_path):
    """A mistake that JAX computes is also recognised if it was compiled with other options.

    If its values were rounding errors, it would be known on some machines only.
    """
    uses_jax = "import jax" in read_solutions(ROOT, stem).setup
    arguments = [stem, str(first_seed()), str(tmp_path / "values.json")]
    for flags in [XLA_FLAGS, os.environ["XLA_FLAGS"]] if uses_jax else [""]:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", SCRIPT, *arguments],
            cwd=ROOT,
            env=os.environ | {"XLA_FLAGS": flags},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        assert json.loads(done.stdout) == [len(tasks_of(stem)), []]


def test_seeds_come_from_the_commit_and_can_be_said(monkeypatch, tmp_path):
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True
    )
    if commit.returncode == 0:
        assert first_seed() == int(commit.stdout[:8], 16)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "none"))  # as without a repository
    monkeypatch.setattr(seeds, "_from_commit", seeds._from_commit.__wrapped__)
    from_sources = first_seed()
    assert 0 < from_sources < 2**32
    assert first_seed() == from_sources
    monkeypatch.setenv("SEED", "7")
    assert first_seed() == 7
