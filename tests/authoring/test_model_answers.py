"""The numbers of the model answers are those of the pages as they are now."""

import shutil

import jupytext
import pytest
from conftest import ROOT
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbformat import v4

from authoring.markdown import macros
from authoring.model_answers import RECORD, _glued_by, typeset
from project.errors import CourseError
from project.practicals import Course, Lab

PAGE = """\
---
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

```{{code-cell}} ipython3
glue("x", {})
```
"""


def keep(store, lab, value):
    """Put the page into the cache as if the book had been built with this value."""
    notebook = jupytext.reads(PAGE.format(value), fmt="md:myst")
    shown = v4.new_output("display_data", {RECORD: str(value)})
    shown.metadata["scrapbook"] = {"name": "x"}
    notebook.cells[-1].outputs = [shown]
    bundle = CacheBundleIn(notebook, str(lab.chapter))
    store.cache_notebook_bundle(bundle, check_validity=False)


def test_a_page_that_was_changed_back_has_its_earlier_numbers(tmp_path):
    """And one that was not built since it was changed has none."""
    lab, store = Lab(tmp_path, tmp_path / "00a-warm-up.md"), get_cache(tmp_path / "it")
    keep(store, lab, 1)
    keep(store, lab, 2)
    for value, found in ((1, {"x": "1"}), (2, {"x": "2"}), (3, {})):
        lab.chapter.write_text(PAGE.format(value))
        assert _glued_by(store, lab) == found


def test_a_formula_that_is_wrong_is_named_with_its_page(tmp_path):
    for folder in ("book", "exercises", "solutions"):
        ignored = shutil.ignore_patterns("__pycache__", "_static", "images")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(ROOT / name, tmp_path)
    page = tmp_path / "book" / "00a-warm-up.md"
    text = page.read_text("utf-8")
    goal = "*Goal: "
    assert goal in text
    page.write_text(text.replace(goal, rf"$\frac{{1}}$ {goal}", 1), "utf-8")
    with pytest.raises(CourseError, match=r"00a-warm-up\.md: The formula .*frac\{1\}"):
        typeset(Course.read(tmp_path))


def test_a_macro_that_stands_for_itself_is_refused(tmp_path):
    """It would be expanded without end."""
    text = (ROOT / "_config.yml").read_text("utf-8")
    assert r'"{\\mathbb{E}}"' in text
    changed = text.replace(r'"{\\mathbb{E}}"', r'"{\\mathrm{\\E}}"')
    (tmp_path / "_config.yml").write_text(changed, "utf-8")
    with pytest.raises(CourseError, match=r"_config\.yml: The macro \\E stands"):
        macros(tmp_path)
