"""Headless Chromium: where it is, and how it is started."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

# The headless shell first: the same engine, but it draws no windows, which takes time.
COMMANDS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
)
MISSING = (
    f"no Chromium: none of {', '.join(COMMANDS)} is on PATH. "
    "Install one, for example with `apt-get install chromium`."
)


def executable() -> str | None:
    """Return the path of the first Chromium on PATH; ``None`` if there is none."""
    return next(filter(None, map(shutil.which, COMMANDS)), None)


@contextmanager
def launched(arguments: Sequence[str] = ("--no-sandbox",)) -> Iterator[Browser]:
    """Start Chromium, and close it at the end.

    Args:
        arguments: of its command. Its sandbox needs privileges that root in a container lacks.

    Raises:
        SystemExit: it is not installed.
    """
    if executable() is None:
        sys.exit(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable(), args=list(arguments)
        )
        try:
            yield browser
        finally:
            browser.close()
