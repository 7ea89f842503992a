"""Outputs of the last build that are outdated, and pictures whose names are quoted."""

import json
from types import SimpleNamespace

import jupytext
import pytest
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbformat import v4
from PIL import Image

from authoring.pictures import show_pictures
from authoring.sphinx_ext import CACHE, forget_stale_outputs

PAGE = """\
---
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

```{code-cell} ipython3
import helper
```
"""


@pytest.fixture
def book(tmp_path):
    (tmp_path / "_config.yml").touch()
    (tmp_path / "helper.py").write_text("x = 1\n")
    (tmp_path / "page.md").write_text(PAGE)
    return tmp_path


def built(book, page):
    """Cache outputs of a page; return how many are kept by the next build."""
    notebook = jupytext.reads(PAGE, fmt="md:myst")
    notebook.cells[-1].outputs = [v4.new_output("stream", text="1")]
    cache = get_cache(book / CACHE)
    cache.cache_notebook_bundle(CacheBundleIn(notebook, page), check_validity=False)
    build(book)
    return len(cache.list_cache_records())


def build(book):
    env = SimpleNamespace(
        found_docs={"page"}, doc2path=lambda page: str(book / f"{page}.md")
    )
    forget_stale_outputs(SimpleNamespace(srcdir=book), env, set(), set(), set())


def test_a_page_that_was_moved_keeps_no_outputs_of_other_sources(book):
    """The cache finds them by the cells, wherever the page was when they were made."""
    build(book)
    assert built(book, "/elsewhere/old-name.md") == 1
    (book / "helper.py").write_text("x = 22\n")
    build(book)
    assert not get_cache(book / CACHE).list_cache_records()


def test_a_page_that_was_changed_and_changed_back_has_none_either(book):
    build(book)
    assert built(book, str(book / "page.md")) == 1
    (book / "page.md").write_text(
        f"{PAGE}\nNew.\n\n```{{code-cell}} ipython3\n2\n```\n"
    )
    (book / "helper.py").write_text("x = 22\n")
    build(book)
    assert not get_cache(book / CACHE).list_cache_records()
    assert {*json.loads((book / CACHE / "made_by.json").read_text())} == {"page"}


def test_a_picture_may_have_any_name_and_raw_html_stays(tmp_path):
    Image.new("RGB", (30, 20)).save(tmp_path / "grüße 1.png")
    raw = '<img alt="b" src="https://example.org/_images/c.png" />'
    context = {"body": f'<img alt="a" src="../_images/gr%C3%BC%C3%9Fe%201.png" />{raw}'}
    builder = SimpleNamespace(images={"grüße 1.png": "grüße 1.png"})
    app = SimpleNamespace(srcdir=tmp_path, builder=builder)
    show_pictures(app, "page", "", context, None)
    assert ' width="30" height="20"' in context["body"]
    assert raw in context["body"]
