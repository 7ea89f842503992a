"""Headless Chromium for the tests, and the pages that it opens."""

import functools
import http.server
import threading
from contextlib import contextmanager

from studies import chromium

# As in ``chromium.launched``, and no network traffic of Chromium's own, so that every recorded
# request comes from the page.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# Each guess of a page is made, so that tests see the figure after it.
GUESSED = """
addEventListener("DOMContentLoaded", () => document
  .querySelectorAll("fieldset.guess [value=show]").forEach(show => { show.checked = true; }))
"""


@contextmanager
def launched(guessed=True):
    """Start Chromium, and close it at the end; on its pages all guesses are made."""
    with chromium.launched(ARGUMENTS) as browser:
        opened = browser.new_context

        def new_context(**options):
            context = opened(**options)
            if guessed:
                context.add_init_script(GUESSED)
            return context

        browser.new_context = new_context
        yield browser


@contextmanager
def shown(browser, path, *, width=1280, scheme="light"):
    """Open a page from a file, and record its requests in ``asked`` and its ``errors``.

    The page's content security policy is bypassed, to test escaping alone.
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
    """A file server without logging."""

    def log_message(self, *args):
        pass


@contextmanager
def served(folder):
    """Serve a folder on localhost; yields the address."""
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
