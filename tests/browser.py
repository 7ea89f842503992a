"""Headless Chromium for the tests: where it is, how it starts, what it is served."""

import functools
import http.server
import shutil
import threading
from contextlib import contextmanager

from playwright.sync_api import sync_playwright

COMMANDS = ("chromium", "chromium-browser", "google-chrome")
MISSING = (
    f"no Chromium: none of {', '.join(COMMANDS)} is on PATH. "
    "Install one, for example with `apt-get install chromium`."
)
# The sandbox needs rights that root in a container has not; the other flags keep
# Chromium from calling home, so that every request comes from the page.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def executable():
    """The first Chromium on PATH, or None."""
    return next(filter(None, map(shutil.which, COMMANDS)), None)


@contextmanager
def launched():
    """A running Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable(), args=ARGUMENTS
        )
        try:
            yield browser
        finally:
            browser.close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and logs nothing."""

    def log_message(self, *args):
        pass


@contextmanager
def served(folder):
    """The address at which a folder is served, on this machine only."""
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
