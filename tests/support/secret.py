"""Solutions and model answers, which students must not be given before they answer."""

import re

from conftest import ROOT


def solution_lines():
    """Return the lines of solutions that a student must not be given.

    Lines that also occur elsewhere for good reason are left out: in a misconception or an
    oracle of the checks, in given code, or in a chapter's cell that trains or draws.
    """
    regions, given = [], ""
    for path in sorted((ROOT / "solutions").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        pattern = r"### BEGIN SOLUTION\n(.*?)### END SOLUTION"
        regions += re.findall(pattern, text, re.DOTALL)
        given += re.sub(pattern, "", text, flags=re.DOTALL)
    shared = [*(ROOT / "course/checks").rglob("*.py"), *(ROOT / "book").glob("*.md")]
    given += "\n".join(path.read_text(encoding="utf-8") for path in sorted(shared))
    lines = {line.strip() for region in regions for line in region.splitlines()}
    lines = {line for line in lines if len(line) > 20}
    kept = {line for line in lines if line not in given}
    assert len(kept) > 0.75 * len(lines)  # with fewer lines, leaks would go unnoticed
    return kept


def model_answers():
    """Return sentences without markup that occur in a model answer and nowhere else in the book."""
    book = "".join(p.read_text("utf-8") for p in sorted((ROOT / "book").glob("*.md")))
    found = set()
    for text in re.findall(r"^(`{3,})\{solution\}[^\n]*\n(.*?)^\1$", book, re.M | re.S):
        for sentence in re.split(r"(?<=[.:?!])\s+", text[1]):
            plain = not re.search(r"[`$*\[\]{}\\|<>]|^:", sentence)
            if plain and len(sentence) > 40 and book.count(sentence) == 1:
                found.add(sentence)
    return found
