"""The pages of a built book."""

from functools import cache

# What readers open, as JavaScript: the figures behind guesses, and folds.
GUESS = """
  document.querySelectorAll("fieldset.guess").forEach(
    guess => guess.querySelector("input").checked = true);
  // Draws the figures that are far from the window, too.
  document.querySelectorAll(".live").forEach(live => live.dispatchEvent(new Event("focusin")));
"""
UNFOLD = f"""{GUESS}
  document.querySelectorAll("details").forEach(fold => fold.open = true);
"""


@cache
def parsed(path):
    """Parse a page; all tests of a worker share it, so they change copies of its parts."""
    from bs4 import BeautifulSoup  # whose import takes longer than many a test

    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


def pages_of(book, folder=""):
    """Return the files of the pages in a folder of a book, without those that only lead elsewhere."""
    found = [
        path
        for path in (book / folder).rglob("[!_]*.html")
        if "_static" not in path.parts
    ]
    return sorted(path for path in found if not leads_elsewhere(path))


def leads_elsewhere(path):
    """Is this the old address of a page?"""
    return 'http-equiv="refresh"' in path.read_text("utf-8")[:1000].lower()
