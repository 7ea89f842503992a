"""Sphinx extension: what readers need who use a keyboard or a screen reader.

- Markup of other extensions that stops assistive technology is corrected.
- A page with folded code has a button that unfolds all of it. The script ``course.js`` takes
  these folds out of the tab order, for there are up to thirty on a page.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx


def breakable(address: re.Match) -> str:
    """Allow line breaks in a long address after slashes and dots, not within a word."""
    return re.sub(r"(?<=[/.])(?=\w)", "<wbr>", address[0])


REPLACED = {
    # This label is redundant: the text is visibly an address.
    re.compile(r"\bURL: (?=<a )"): "",
    re.compile(r"(?<=>)https?://[^<]{30,}(?=</a>)"): breakable,
    # docutils marks the element around entries of the bibliography as a list.
    re.compile('role="doc-biblioentry"'): 'role="listitem"',
    # sphinx-exercise gives every exercise of a page the same id.
    re.compile(r' id="(?:exercise|solution)-content"'): "",
    # This label would be read in place of the visible one.
    re.compile(r'<summary aria-label="Toggle hidden content">'): "<summary>",
    # An empty cell is no header.
    re.compile(r"<th\b[^>]*>(?:<p></p>)?</th>"): "<td></td>",
    # Tables of HTML outputs scroll in a box, as those of Markdown do.
    re.compile(r"(?<!-container\">\n)<table\b.*?</table>", re.DOTALL): (
        r'<div class="pst-scrollable-table-container">\n\g<0></div>'
    ),
}
CODE_BUTTON = {
    "type": "javascript",
    "javascript": "toggleCode()",
    "tooltip": "Show or hide all code",
    "icon": "fas fa-code",
    "label": "code-button",
}


def correct(app: Sphinx, page, template, context, doctree) -> None:
    """Correct the HTML of a page's text."""
    for wrong, right in REPLACED.items():
        if "body" in context:
            context["body"] = wrong.sub(right, context["body"])


def add_button(app: Sphinx, page, template, context, doctree) -> None:
    """Add the button that unfolds the page's code."""
    if "Show the code" in context.get("body", ""):
        context["header_buttons"].append(CODE_BUTTON)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", correct)
    # After the theme's handlers (501), which prepare the list of buttons.
    app.connect("html-page-context", add_button, priority=502)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
