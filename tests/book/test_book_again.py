"""Incremental builds of the book after an edit."""

import re
import subprocess

import pytest
from conftest import ROOT, build_book

SMALL_CHAPTER = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# One likelihood

```{code-cell} ipython3
:tags: [task]

from solutions.deep_ensembles import gaussian_nll
```

```{code-cell} ipython3
import os, time

with open(os.environ["RUNS"], "a") as runs:
    runs.write("chapter ")
print(f"{float(gaussian_nll(0.0, 1.0, 0.0)):.3f} nats, run at {time.time_ns()}")
```
"""
OTHER_PAGE = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# Another page

```{code-cell} ipython3
import os, time

with open(os.environ["RUNS"], "a") as runs:
    runs.write("other ")
print(f"run at {time.time_ns()}")
```
"""
RUN_AT = re.compile(r"run at (\d+)")


@pytest.mark.long
def test_an_edit_runs_again_what_depends_on_it_and_nothing_else(tmp_path):
    """Uses the real settings and extension, with a chapter small enough to run twice."""
    files = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True)
    for name in filter(None, files.split("\0")):
        if not name.startswith("tests/"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "book" / "01a-deep-ensembles.md").write_text(SMALL_CHAPTER)
    # The real one links to chapters that this small book does not have.
    (tmp_path / "book" / "intro.md").write_text("# A small book\n")
    (tmp_path / "book" / "notation.md").write_text(OTHER_PAGE)
    (tmp_path / "_toc.yml").write_text(
        "format: jb-book\nroot: book/intro\nchapters:\n"
        "- file: book/01a-deep-ensembles\n- file: book/notation\n"
    )
    # Import the course and the solutions of the copy, not the installed ones.
    runs = tmp_path / "runs.txt"
    here = {"PYTHONPATH": str(tmp_path), "RUNS": str(runs)}
    page = build_book(tmp_path, **here) / "book" / "01a-deep-ensembles.html"
    other = page.with_name("notation.html")
    before, run = page.read_text(), RUN_AT.findall(other.read_text())
    assert run
    # Sphinx uses the outputs of the pages that were executed before it reads them.
    assert sorted(runs.read_text().split()) == ["chapter", "other"]
    assert "0.919 nats" in before
    assert "−log N(y | µ, σ²), one value per data point." in before

    solutions = tmp_path / "solutions" / "deep_ensembles" / "likelihoods.py"
    source = solutions.read_text()
    old = "−log N(y | µ, σ²), one value per data point."
    constant = "return 0.5 * jnp.log(2 * jnp.pi) + jnp.log(std)"
    assert source.count(old) == source.count(constant) == 1
    solutions.write_text(
        source.replace(old, "Said otherwise.").replace(constant, f"{constant} + 1.0")
    )
    build_book(tmp_path, **here)
    after = page.read_text()
    assert "1.919 nats" in after
    assert "0.919 nats" not in after
    assert "Said otherwise." in after
    assert old not in after
    assert RUN_AT.findall(after) != RUN_AT.findall(before)
    assert RUN_AT.findall(other.read_text()) == run
    assert len(runs.read_text().split()) == 3

    # After a change to the extension, pages are written again but their cells are not run.
    for name in ("report.py", "templates/report.html.j2"):
        path = tmp_path / "grading" / "reports" / name
        path.write_text(path.read_text() + "\n")
    extension = tmp_path / "authoring" / "sphinx_ext.py"
    extension.write_text(
        extension.read_text().replace("Show a solution", "Show one solution")
    )
    build_book(tmp_path, **here)
    last = page.read_text()
    assert "Show one solution" in last
    assert RUN_AT.findall(last) == RUN_AT.findall(after)
    assert RUN_AT.findall(other.read_text()) == run
