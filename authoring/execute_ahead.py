"""Execute chapters side by side before Sphinx reads them one after the other.

MyST-NB executes a chapter when it reads it, unless the cache holds its outputs: here all that
lack them are executed at once, as many at a time as there are cores. A chapter that fails here
is executed again when it is read, and MyST-NB reports the error.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.executors import load_executor
from myst_nb.core.read import is_myst_markdown_notebook
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from project.jax_options import XLA_FLAGS
from project.threads import ONE_THREAD

READER = {"type": "plugin", "name": "myst_nb_md"}


def execute_ahead(app: Sphinx, env: BuildEnvironment, pages: list[str]) -> None:
    """Execute those of the pages that are notebooks and have no outputs in the cache."""
    if app.config.nb_execution_mode != "cache":
        return
    cache = get_cache(app.config.nb_execution_cache_path)
    paths = [Path(env.doc2path(page)) for page in pages]
    notebooks = [
        str(path)
        for path in paths
        if is_myst_markdown_notebook(path.read_text(encoding="utf-8"))
    ]
    for path in notebooks:
        cache.add_nb_to_project(path, read_data=READER)
    if notebooks:
        logger = logging.getLogger(__name__)
        logger.setLevel(logging.INFO)  # to name each chapter when it starts and ends
        for name, value in (ONE_THREAD | {"XLA_FLAGS": XLA_FLAGS}).items():
            os.environ.setdefault(name, value)
        executor = load_executor("local-parallel", cache, logger=logger)
        executor.run_and_cache(
            filter_uris=notebooks, timeout=app.config.nb_execution_timeout
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("env-before-read-docs", execute_ahead)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
