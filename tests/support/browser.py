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


@contextmanager
def shown(browser, path, *, width=1280, scheme="light"):
    """A page of ours from a file, with what it asked for and complained of.

    Its own policy is switched off: escaping must hold by itself.
    """
    options = {
        "viewport": {"width": width, "height": 844},
        "is_mobile": width < 600,
        "color_scheme": scheme,
        "bypass_csp": True,
    }
    with browser.new_context(**options) as context:
        page = context.new_page()
        page.asked, page.errors = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("console", lambda message: page.errors.append(message.text))
        page.goto(path.as_uri())
        yield page


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
