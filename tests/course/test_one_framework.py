"""Every practical's checks work where no framework but its own is installed."""

import subprocess
import sys

import pytest
from labs import COURSE
from seeds import SOAK, first_seed

FRAMEWORKS = {
    "warm_up": "jax",
    "deep_ensembles": "jax",
    "approximate_inference": "torch",
    "bayes_by_backprop": "torch",
    "calibration_and_flows": "torch",
    "which_method": "jax",
    "acting_on_uncertainty": "numpy",
}
OTHER = {"jax": ("torch",), "torch": ("jax", "jaxlib", "numpyro", "optax")}
OTHER["numpy"] = (*OTHER["jax"], *OTHER["torch"])  # it needs neither
# Of these all tasks are judged, of the others the first; each commit draws others.
WHOLE = set(COURSE.stems if SOAK else COURSE.stems[first_seed() % 3 :: 3])
JUDGE = """
import importlib, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
from course import check, data, nuts, plots
from course.task import tasks_of

tasks = list(tasks_of({stem!r}).values())
for task in tasks if {whole} else tasks[:1]:
    check(task.id, getattr(importlib.import_module("solutions.{stem}"), task.name))
"""


@pytest.mark.long
@pytest.mark.parametrize("stem", COURSE.stems)
def test_the_checks_work_without_the_other_framework(stem):
    """Importing one check imports all of its practical."""
    blocked, whole = OTHER[FRAMEWORKS[stem]], stem in WHOLE
    source = JUDGE.format(blocked=blocked, stem=stem, whole=whole)
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=COURSE.root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("✓ ")


@pytest.mark.long
def test_a_framework_that_is_missing_is_noticed():
    source = JUDGE.format(blocked=OTHER["torch"], stem="warm_up", whole=False)
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=COURSE.root, capture_output=True, text=True
    )
    assert "No module named 'jax'" in done.stderr
