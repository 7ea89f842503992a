"""The benchmark of the graders: its measurements, and failure if the scores are wrong."""

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from rich.console import Console

from studies.grading.__main__ import graded, keep, main, side_by_side
from studies.grading.graders import GRADERS, round_robin
from studies.grading.material import Material, role
from studies.grading.measure import MIB, Failed, _Watch, measure

ROOT = Path(__file__).parents[2]
# It ends when it has been measured, or after a minute.
HOLD = """
import pathlib, time
began, held = time.perf_counter(), bytearray(64 * 2**20)
while not pathlib.Path("seen").exists() and time.perf_counter() < began + 60:
    time.sleep(0.01)
pathlib.Path("seconds").write_text(str(time.perf_counter() - began))
"""
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLD!r}])"


@pytest.fixture
def material():
    return Material(ROOT, "bayes_by_backprop_a", 3)


class Fake:
    """A grader that does nothing and returns given scores."""

    name, needs = "fake", ""

    def __init__(self, scores):
        self.said = scores

    def lanes(self, material, folder, jobs):
        return [[[sys.executable, "-c", "pass"]] for _ in range(jobs)]

    def scores(self, material, folder):
        return self.said


def test_memory_is_that_of_the_command_and_of_all_that_it_starts(tmp_path, monkeypatch):
    below = _Watch._below

    def seen(watch, pid):
        found = below(watch, pid)
        if found > 64 * MIB:
            (tmp_path / "seen").touch()
        return found

    monkeypatch.setattr(_Watch, "_below", seen)
    found = measure([[[sys.executable, "-c", PARENT]]], tmp_path, os.environ)
    assert (tmp_path / "seen").exists()
    assert found.seconds > float((tmp_path / "seconds").read_text("utf-8"))
    assert found.tree > 64
    assert found.grader < found.tree - 64


def test_a_command_that_fails_is_no_figure(tmp_path):
    command = [sys.executable, "-c", "print('so it goes'); raise SystemExit(3)"]
    with pytest.raises(Failed, match="ended with 3: so it goes"):
        measure([[command]], tmp_path, os.environ)


def test_only_full_marks_for_everybody_are_a_figure(material):
    full = material.points
    assert graded(Fake([full] * 3), material, 2).seconds > 0
    for scores in ([full, full, full - 1], [full] * 2, []):
        with pytest.raises(Failed, match="of 3 got full marks"):
            graded(Fake(scores), material, 1)


def test_what_a_grader_does_once_is_not_in_each_further_submission(
    material, monkeypatch
):
    """One that takes half a second, plus half a second for each submission."""

    def taken(grader, material, jobs):
        return SimpleNamespace(seconds=0.5 + 0.5 * material.count, tree=64)

    monkeypatch.setattr("studies.grading.__main__.graded", taken)
    (row,) = side_by_side([Fake([])], material, (1,), Console(quiet=True))
    assert row["further"] == pytest.approx(0.5)
    assert row["seconds"] == pytest.approx(2 / 3)


def test_growth_is_measured_of_this_grader_alone():
    done = CliRunner().invoke(main, ["--growth", "--only", "nbval"])
    assert done.exit_code == 2
    assert "--growth measures course grade alone" in done.output


def test_what_is_measured_again_replaces_its_own_rows(tmp_path):
    def names(figures, about):
        keep(tmp_path / "results.json", "table", figures, about)
        kept = json.loads((tmp_path / "results.json").read_text("utf-8"))
        return [(row["grader"], row["seconds"]) for row in kept["table"]["figures"]]

    first, second = GRADERS[0].name, GRADERS[1].name
    row = {"grader": second, "seconds": 2}
    assert names([row], {"count": 3}) == [(second, 2)]
    row = {"grader": first, "seconds": 1}
    assert names([row], {"count": 3}) == [(first, 1), (second, 2)]
    row = {"grader": second, "seconds": 5}
    assert names([row], {"count": 3}) == [(first, 1), (second, 5)]
    assert names([row], {"count": 4}) == [(second, 5)]


def test_the_notebooks_hold_all_tasks_and_nothing_that_trains(material):
    cells = material.notebook().cells
    roles = [role(cell) for cell in cells]
    assert roles.count("task") == roles.count("check") == len(material.tasks)
    assert roles.count(None) == 1
    bare = material.notebook(checks=False).cells
    assert [c for c in cells if role(c) != "check"] == bare


def test_submissions_are_distributed_over_lanes_that_have_work():
    assert round_robin([1, 2, 3], 2) == [[1, 3], [2]]
    assert round_robin([1], 2) == [[1]]
