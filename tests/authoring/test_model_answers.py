"""The numbers of the model answers are those of the pages as they are now."""

import jupytext
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbformat import v4

from authoring.model_answers import RECORD, _glued_by
from project.practicals import Lab

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
