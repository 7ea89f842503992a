"""Processes with one framework each, so that PyTorch and JAX are never loaded together."""

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

from project.source import files_of

ROOT = Path(__file__).parents[2]
IMPORT = re.compile(r"^(?:from|import) (jax|torch)\b", re.MULTILINE)
# Looking for garbage among what was imported takes a twentieth of the time, as in conftest.py.
SCRIPT = """import gc
gc.disable()
{imports}
gc.freeze()
gc.set_threshold(10_000, 20, 20)
gc.enable()
{body}"""


@cache
def framework_of(stem):
    """Return what a practical's checks and solutions import: ``jax``, ``torch`` or ``numpy``."""
    sources = *(ROOT / "course" / "checks" / stem).glob("*.py"), *files_of(ROOT, stem)
    found = {one for path in sources for one in IMPORT.findall(path.read_text("utf-8"))}
    assert len(found) < 2, f"{stem} needs both frameworks"
    return found.pop() if found else "numpy"


def by_framework(stems):
    """Group practicals by their framework."""
    found = defaultdict(list)
    for stem in stems:
        found[framework_of(stem)].append(stem)
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
