"""One visit to every page of the book on each screen, which answers all questions about it.

Run as a program, because Playwright would keep an event loop in the process of the tests.
"""

import json
import subprocess
import sys
from pathlib import Path

import browser as chromium
import page_facts as ask
from book_pages import pages_of
from filelock import FileLock

SCREENS = {
    "desktop": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "is_mobile": True,
        "color_scheme": "dark",
    },
}
# A desktop of 1280 px that is enlarged four times, as WCAG's criterion 1.4.10 asks for.
ENLARGED = {"width": 320, "height": 844}
# In this order: pictures are loaded, then the page is unfolded; the last one changes its code.
QUESTIONS = {
    "content": ask.CONTENT,
    "code": ask.CODE,
    "outside": ask.OUTSIDE,
    "stops": ask.STOPS,
    "moving": ask.MOVING,
    "size": ask.WIDTH,
    "colours": ask.COLOURS,
    "parted": ask.PARTED,
    "percent": ask.PERCENT,
    "too wide": ask.TOO_WIDE,
    "tables": ask.CUT_TABLES,
    "numbers": ask.NUMBERS,
    "out of reach": ask.OUT_OF_REACH,
    "cut off": ask.CUT_OFF,
}


def visit(context, url):
    """Open a page; return its answers, and what it requested and logged."""
    page = context.new_page()
    requests, errors = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: said.type == "error" and errors.append(said.text))
    page.goto(url)
    page.wait_for_load_state("load")
    answers = {"pictures": page.evaluate(ask.PICTURES)}
    page.wait_for_function(ask.READY, timeout=120_000)
    for question, script in QUESTIONS.items():
        answers[question] = page.evaluate(script)
    if page.viewport_size == SCREENS["phone"]["viewport"]:
        page.set_viewport_size(ENLARGED)
        answers["enlarged"] = page.evaluate(ask.WIDTH)["width"] > ENLARGED["width"]
        answers["enlarged formulas"] = page.evaluate(ask.TOO_WIDE)
    page.close()
    return answers | {"requests": requests, "errors": errors}


def visited(book, screen, run):
    """Return the answers of all pages on a screen, which the workers of a run ask once."""
    kept = book.parent / f".seen-{screen}.json"
    with FileLock(kept.with_suffix(".lock")):
        told = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
        if told.get("run") != run:
            subprocess.run(
                [sys.executable, __file__, book, screen, run, kept], check=True
            )
            told = json.loads(kept.read_text("utf-8"))
    return told["pages"]


def main(book, screen, run, kept):
    names = [path.relative_to(book).as_posix() for path in pages_of(Path(book))]
    with chromium.served(book) as address, chromium.launched() as browser:
        context = browser.new_context(**SCREENS[screen])
        pages = {name: visit(context, address + name) for name in names}
    Path(kept).write_text(json.dumps({"run": run, "pages": pages}), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
