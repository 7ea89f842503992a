"""One visit to every page of the book on each screen, which answers all questions about it.

Run as a program, because Playwright would keep an event loop in the process of the tests.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import page_facts as ask
from book_pages import pages_of
from browser import launched, served
from filelock import FileLock
from page_access import OF_COLOURS, SIMPLER, controls, violations
from seeds import SOAK, first_seed

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
# The other theme has come, and no colour is on its way to it.
CHANGED = """theme => document.documentElement.dataset.theme === theme
  && !document.getAnimations().some(one => one instanceof CSSTransition)
"""
# In this order: pictures are loaded, then the page is unfolded; the last one changes its code.
QUESTIONS = {
    "content": ask.CONTENT,
    "twice": ask.TWICE,
    "code": ask.CODE,
    "outside": ask.OUTSIDE,
    "stops": ask.STOPS,
    "moving": ask.MOVING,
    "not drawn": ask.NOT_DRAWN,
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


def visit(context, url, *, is_drawn=True, by_axe=True):
    """Open a page; return its answers, and what it requested and logged.

    On a page that is drawn, axe, if it is asked, judges the contrast of the text, too, and on a
    desktop the tab key is pressed until the page's end.
    """
    page = context.new_page()
    requests, errors = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: said.type == "error" and errors.append(said.text))
    page.goto(url)
    page.wait_for_load_state("load")
    page.evaluate("async () => { await document.fonts.ready }")
    answers = {"loaded": list(requests), "pictures": page.evaluate(ask.PICTURES)}
    page.wait_for_function(ask.READY, timeout=120_000)
    phone = page.viewport_size == SCREENS["phone"]["viewport"]
    if is_drawn and not phone:
        answers["controls"] = controls(page)
    for question, script in QUESTIONS.items():
        answers[question] = page.evaluate(script)
    if phone:
        page.set_viewport_size(ENLARGED)
        answers["enlarged"] = page.evaluate(ask.WIDTH)["width"] > ENLARGED["width"]
        answers["enlarged formulas"] = page.evaluate(ask.TOO_WIDE)
        page.set_viewport_size(SCREENS["phone"]["viewport"])
    page.evaluate(SIMPLER)
    if by_axe:
        answers["axe"] = violations(page, contrast_around=not is_drawn)
    other = "light" if phone else "dark"
    page.emulate_media(color_scheme=other)
    page.wait_for_function(CHANGED, arg=other)
    # The page's text, and what stands around it.
    answers["in the other theme"] = page.evaluate(ask.COLOURS)["faint"]
    if by_axe:
        answers["in the other theme"] += violations(page, OF_COLOURS, ["main"])
    page.close()
    return answers | {"requests": requests, "errors": errors}


def visited(book, screen, run):
    """Return the answers of all pages on a screen, which the workers of a run ask once."""
    kept = book.parent / f".seen-{screen}.json"
    with FileLock(kept.with_suffix(".lock")):
        told = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
        if told.get("run") != run:
            command = [sys.executable, __file__, book, screen, run, kept]
            paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
            subprocess.run(command, env=os.environ | paths, check=True)
            told = json.loads(kept.read_text("utf-8"))
    return told["pages"]


def answered(book, screen, names):
    """Return the answers of some pages; ``names`` gives the options of each visit."""
    with served(book) as address, launched() as browser:
        context = browser.new_context(**SCREENS[screen], reduced_motion="reduce")
        return {
            name: visit(context, address + name, **options)
            for name, options in names.items()
        }


def main(book, screen, run, kept):
    names = [path.relative_to(book).as_posix() for path in pages_of(Path(book))]
    # Every commit draws a third of the pages, for what is costly and asked of all otherwise,
    # and the screen on which axe judges a page: half of them on each.
    seed = first_seed()
    drawn = {
        name: {
            "is_drawn": SOAK > 0 or n % 3 == seed % 3,
            "by_axe": SOAK > 0 or (n + seed) % 2 == list(SCREENS).index(screen),
        }
        for n, name in enumerate(names)
    }
    # Two browsers, because other workers may wait for the answers.
    with ProcessPoolExecutor(2) as pool:
        halves = [{name: drawn[name] for name in names[n::2]} for n in (0, 1)]
        parts = pool.map(partial(answered, book, screen), halves)
        found = {name: page for part in parts for name, page in part.items()}
    pages = {name: found[name] for name in names}
    Path(kept).write_text(json.dumps({"run": run, "pages": pages}), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
