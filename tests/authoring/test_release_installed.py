"""The release bundle for a class, installed as on a student's machine."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from labs import COURSE

from authoring.release import NAME, release

WORK = """
import importlib.util, sys
import nbformat
from nbclient import NotebookClient

import course
assert course.__file__.startswith(sys.prefix), course.__file__
for name in ("solutions", "authoring", "grading", "project", "commands", "book"):
    assert importlib.util.find_spec(name) is None, name
notebook = nbformat.read("01a-deep-ensembles.ipynb", as_version=4)
task = "deep-ensembles--gaussian-nll"
drawing = next(one["id"] for one in notebook.cells if one.source.startswith("plots.views."))
ids = ["given--imports", "c003", drawing, task, task + "--check"]
ids += ["deep-ensembles--laplace-nll", "deep-ensembles--laplace-nll--check"]
notebook.cells = [cell for cell in notebook.cells if cell["id"] in ids]
answer = notebook.cells[ids.index(task)]
answer.source = answer.source.replace(
    "raise NotImplementedError()",
    "return -jax.scipy.stats.norm.logpdf(y, mean, std)",
)
NotebookClient(notebook, timeout=300, allow_errors=True).execute()
for cell in notebook.cells:
    for output in cell.outputs:
        shown = output.get("data", {}).get("text/plain", "")
        text = output.get("text") or output.get("traceback") or shown
        print(cell["id"], "drawn" if cell["id"] == drawing else text)
"""


@pytest.mark.long
def test_a_student_works_with_it_in_a_fresh_environment(tmp_path):
    """It is installed from the zip as its README says, without access to the checkout.

    The required packages are taken from this environment, so nothing is downloaded.
    """
    release(COURSE, tmp_path / "out")
    with zipfile.ZipFile(tmp_path / "out" / f"{NAME}.zip") as archive:
        archive.extractall(tmp_path)
    folder, fresh = tmp_path / NAME, tmp_path / "venv"
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "JUPYTER", "VIRTUAL_ENV", "PIP"))
    } | {"HOME": str(tmp_path), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

    def call(*command, cwd):
        done = subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    call(sys.executable, "-m", "venv", fresh, cwd=tmp_path)
    python = fresh / "bin" / "python"
    # Up to Python 3.11, venv installs an old setuptools, which cannot be upgraded offline.
    call(python, "-m", "pip", "uninstall", "-y", "setuptools", cwd=tmp_path)
    # Python ignores .pth files in folders that a .pth file adds, so the editable install of this
    # environment stays invisible.
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(call(python, "-c", code, cwd=tmp_path).strip())
    (site / "packages.pth").write_text(sysconfig.get_path("purelib"))
    install = ["-m", "pip", "install", "--no-index", "--no-build-isolation"]
    call(python, *install, "-r", "requirements.txt", cwd=folder)
    output = call(python, "-c", WORK, cwd=folder / "exercises")
    assert "gaussian-nll--check ✓ deep-ensembles/gaussian-nll ·" in output
    assert "✗ deep-ensembles/laplace-nll" in output
    assert "not written yet" in output
    assert "drawn" in output
