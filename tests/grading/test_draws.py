"""On random draws the reference always gets full marks, and no misconception ever does.

Every commit uses another draw of every other practical, so that many are tested over time;
``studies/soak.py`` judges many at once. To repeat one: ``SEED=<seed> python -m pytest
tests/grading/test_draws.py``.
"""

import os
import subprocess
from pathlib import Path

import pytest
import seeds
from frameworks import by_framework, framework_of, said
from seeds import first_seed, half

from course.task import stems, tasks_of
from project.jax_options import XLA_FLAGS

ROOT = Path(__file__).parents[2]

# The probe's source is run, and its numbers are displayed, decoded and judged as in grading.
IMPORTS = """
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

seed, kept, stems = int(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
modules = {stem: read_solutions(pathlib.Path("."), stem) for stem in stems}
tasks = [(stem, task) for stem in stems for task in tasks_of(stem).values()]
namespaces = {stem: {"__name__": "__main__"} for stem in stems}
for stem in stems:
    exec(modules[stem].setup, namespaces[stem])
share_context()
"""
JUDGE = """
elsewhere = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
here = {}
for stem in stems:
    for definition in modules[stem].definitions.values():
        exec(definition.shown(), namespaces[stem])
rows, failed = [], []
for stem, task in tasks:
    namespace = namespaces[stem]
    key = key_of(task, seed)
    probe = compile(key.probe, task.name, "exec")  # once: the inputs are in it

    def displayed(answer):
        shown = []
        with mock.patch("IPython.display.publish_display_data", shown.append):
            exec(probe, namespace | {task.name: answer})
        data = json.loads(json.dumps(shown[0]))
        return [{"output_type": "display_data", "data": data}]

    verdict = judge(key, displayed(namespace[task.name]), pass_number=1)
    rows.append(task.id)
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


@pytest.mark.parametrize("stems", by_framework(half(stems())), ids="-".join)
def test_on_every_draw_the_reference_is_right_and_each_mistake_wrong(stems, tmp_path):
    """A mistake that JAX computes is also recognised if it was compiled with other options.

    If its values were rounding errors, it would be known on some machines only.
    """
    arguments = str(first_seed()), str(tmp_path / "values.json"), *stems
    tasks = [id_ for stem in stems for id_ in tasks_of(stem)]
    both = [XLA_FLAGS, os.environ["XLA_FLAGS"]]
    for flags in both if framework_of(stems[0]) == "jax" else [""]:
        assert said(IMPORTS, JUDGE, *arguments, XLA_FLAGS=flags) == [tasks, []]


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
