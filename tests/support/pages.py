"""Properties that every page for instructors or students must have."""

import html
import re

from browser import shown
from page_facts import COLOURS, WIDTH

DANGER = """
() => ({
  hacked: window.hacked,
  active: [...document.querySelectorAll(
    "script, iframe, object, embed, form, base, link[rel=stylesheet], img")]
    .map(element => element.outerHTML.slice(0, 120)),
  handlers: [...document.querySelectorAll("*")]
    .filter(element => [...element.attributes].some(({name}) => name.startsWith("on")))
    .map(element => element.outerHTML.slice(0, 120)),
  links: [...document.querySelectorAll("[href], [src]")]
    .map(element => element.getAttribute("href") ?? element.getAttribute("src")),
  title: document.title,
})
"""


def text_of(page):
    """Return the text of a page without tags."""
    body = re.sub(r"<[^>]+>", " ", page.partition("<main>")[2])
    return re.sub(r"\s+", " ", html.unescape(body))


def assert_harmless(browser, path, *, links=("#", "data:,")):
    """Check that nothing runs or is fetched, and that links begin with one of ``links``."""
    with shown(browser, path) as page:
        page.wait_for_timeout(100)
        facts = page.evaluate(DANGER)
        assert facts["hacked"] is None
        assert not facts["active"], facts["active"]
        assert not facts["handlers"], facts["handlers"]
        strange = [link for link in facts["links"] if not link.startswith(links)]
        assert not strange, strange
        asked = [url for url in page.asked if not url.startswith("data:")]
        assert asked == [path.as_uri()], asked
        assert not page.errors, page.errors


def assert_readable(browser, path):
    """Check that nothing overflows on a phone, and that all text has enough contrast."""
    for width, scheme in ((390, "light"), (390, "dark"), (1280, "light")):
        with shown(browser, path, width=width, scheme=scheme) as page:
            size = page.evaluate(WIDTH)
            assert not size["wide"], (width, scheme, size["wide"])
            assert size["width"] <= width, (width, scheme)
            colours = page.evaluate(COLOURS)
            assert not colours["faint"], (width, scheme, colours["faint"][:5])
            assert (colours["page"] < 0.2) == (scheme == "dark")
