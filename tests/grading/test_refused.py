"""If a practical's reference fails on a machine, only its own notebooks are not graded."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from graded_class import ROOT, write_submissions

pytestmark = pytest.mark.sandbox
STRAY = "01a-deep-ensembles.ipynb"


@pytest.fixture(scope="module")
def without_jax(tmp_path_factory):
    """An environment in which JAX is not installed."""
    folder = tmp_path_factory.mktemp("absent")
    text = "raise ModuleNotFoundError(\"No module named 'jax'\", name='jax')\n"
    (folder / "jax.py").write_text(text)
    return os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}


def grade(submissions, out, environment):
    return subprocess.run(
        [sys.executable, "-m", "commands", "grade", submissions, "--out", out],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )


@pytest.mark.long
def test_others_are_graded_and_its_notebooks_say_why_they_are_not(
    without_jax, tmp_path
):
    write_submissions(tmp_path / "class", 2)
    (tmp_path / "class" / "stray").mkdir()
    shutil.copy(ROOT / "exercises" / STRAY, tmp_path / "class" / "stray" / STRAY)
    done = grade(tmp_path / "class", tmp_path / "out", without_jax)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 of 3 notebooks graded" in done.stdout
    results = json.loads((tmp_path / "out" / "grades.json").read_text("utf-8"))
    found = {one["student"]: one for one in results["results"]}
    assert found["student-00"]["graded"]
    assert found["student-01"]["graded"]
    assert not found["stray"]["graded"]
    assert "No module named 'jax'" in found["stray"]["problem"]
    # The failure is not stored, so the next run tries again.
    kept = (tmp_path / "out" / ".grading" / "results").glob("*.json")
    assert len(list(kept)) == 2


def test_where_nothing_can_be_graded_the_run_stops(without_jax, tmp_path):
    (tmp_path / "class" / "ann").mkdir(parents=True)
    shutil.copy(ROOT / "exercises" / STRAY, tmp_path / "class" / "ann" / STRAY)
    done = grade(tmp_path / "class", tmp_path / "out", without_jax)
    assert done.returncode == 2
    assert "No module named 'jax'" in done.stderr
    assert not (tmp_path / "out" / "grades.json").exists()
