"""Sphinx extension: minus signs, unbroken numbers, and Greek letters as in formulas.

- Numbers glued into prose get a minus sign in place of a hyphen, and "10⁻³" for "e-03".
- There is no line break within "1.5 × 10⁻³", "0.2 ± 0.1" and "T = 1", nor between a formula
  and the punctuation after it.
- Greek letters in a sentence are set in the font of the formulas beside them.
- Quizzes and guesses have the apostrophes of the prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx

MINUS = re.compile(r"(?<![\w.])-(?=[\d.])")
POWER = re.compile(r"(?<=\d)e([+-]\d+)\b")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Spaces at which a number would part from what belongs to it; a glued one may follow.
WITHIN = re.compile(r"\s×\s(?=10)|\s±\s|(?:(?<=\b\w)|^)\s=\s(?=[−\d]|$)")
GREEK = re.compile(r"(?<![A-Za-zα-ω])([α-ωµ])(?![A-Za-zα-ω])")
# Text that adjoins a formula without a space.
GLUED_BEFORE, GLUED_AFTER = re.compile(r"\S*$"), re.compile(r"\S*")
APOSTROPHE = re.compile(r"(?<=\w)&#x27;")
FORMULAS = (nodes.math, nodes.math_block)
VERBATIM = (
    nodes.literal,
    nodes.math,
    nodes.FixedTextElement,
    nodes.raw,
    nodes.Invisible,
)


def write_minus_signs(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Write numbers that are glued into prose with minus signs and powers of ten."""
    for inline in doctree.findall(nodes.inline):
        if "pasted-text" in inline["classes"]:
            for text in list(inline.findall(nodes.Text)):
                number = POWER.sub(lambda match: f" × 10{raised(match[1])}", text)
                text.parent.replace(text, nodes.Text(MINUS.sub("−", number)))


def raised(exponent: str) -> str:
    """Write an exponent, such as -05, as a superscript."""
    return str(int(exponent)).translate(RAISED)


def keep_numbers(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Keep a number on one line with its power of ten, its error and its name."""
    for text in prose(doctree):
        if (kept := with_numbers_kept(text)) != text:
            text.parent.replace(text, nodes.Text(kept))


def with_numbers_kept(text: str) -> str:
    """Put spaces that do not break within the numbers of a text."""
    return WITHIN.sub(lambda match: re.sub(r"\s", "\u00a0", match[0]), text)


def set_greek(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Mark Greek letters, which the style sheet sets in the font of formulas.

    A page without formulas does not load that font.
    """
    formulas = next(doctree.findall(lambda node: isinstance(node, FORMULAS)), None)
    for text in prose(doctree) if formulas else ():
        parts = GREEK.split(text)
        if len(parts) > 1 and not isinstance(text.parent, nodes.title):
            text.parent.replace(
                text,
                [
                    # The fonts of formulas have the letter mu, but not the micro sign.
                    nodes.inline("", part.replace("µ", "μ"), classes=["greek"])
                    if at % 2
                    else nodes.Text(part)
                    for at, part in enumerate(parts)
                    if part
                ],
            )


def prose(doctree: nodes.document) -> Iterator[nodes.Text]:
    """Yield the texts of a page that are neither code nor formulas."""
    for text in list(doctree.findall(nodes.Text)):
        inside = text.parent
        while inside is not None and not isinstance(inside, VERBATIM):
            inside = inside.parent
        if inside is None:
            yield text


def keep_together(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Keep a formula on one line with adjoining text, such as the comma after it."""
    for formula in list(doctree.findall(nodes.math)):
        parent, at = formula.parent, formula.parent.index(formula)
        together = nodes.inline(classes=["together"])
        if at > 0 and isinstance(before := parent[at - 1], nodes.Text):
            cut = GLUED_BEFORE.search(before).start()
            parent[at - 1] = nodes.Text(before[:cut])
            together += nodes.Text(before[cut:])
        together += formula.deepcopy()
        if at + 1 < len(parent) and isinstance(after := parent[at + 1], nodes.Text):
            cut = GLUED_AFTER.match(after).end()
            together += nodes.Text(after[:cut])
            parent[at + 1] = nodes.Text(after[cut:])
        if together.astext() != formula.astext():
            parent.replace(formula, together)


def set_apostrophes(app: Sphinx, page, template, context, doctree) -> None:
    """Write the apostrophes of HTML outputs, which ``html.escape`` wrote, as in prose."""
    if "body" in context:
        context["body"] = APOSTROPHE.sub("’", context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    for tidy in (write_minus_signs, keep_numbers, keep_together, set_greek):
        app.connect("doctree-resolved", tidy)
    app.connect("html-page-context", set_apostrophes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
