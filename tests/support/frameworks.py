"""Processes with one framework each, so that PyTorch and JAX are never loaded together."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
FRAMEWORKS = {
    "warm_up": "jax",
    "deep_ensembles": "jax",
    "approximate_inference": "torch",
    "bayes_by_backprop": "torch",
    "calibration_and_flows": "torch",
    "which_method": "jax",
    "acting_on_uncertainty": "numpy",
}
# Looking for garbage among what was imported takes a twentieth of the time, as in conftest.py.
SCRIPT = """import gc
gc.disable()
{imports}
gc.freeze()
gc.set_threshold(10_000, 20, 20)
gc.enable()
{body}"""


def by_framework(stems):
    """Group practicals by their framework."""
    found = defaultdict(list)
    for stem in stems:
        found[FRAMEWORKS[stem]].append(stem)
    return list(found.values())


def said(imports, body, *arguments, **environment):
    """Run a script in a new process; return what it says in its last line, as JSON."""
    paths = ROOT, ROOT / "tests", ROOT / "tests" / "support"
    environment["PYTHONPATH"] = os.pathsep.join(map(str, paths))
    script = SCRIPT.format(imports=imports, body=body)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])
