"""Typeset the formulas in students' answers as MathML, which browsers show by themselves.

KaTeX typesets the formulas of the course when it is built, in Node, which a grader may lack.
Formulas of students are known only when a class is graded: docutils converts them, in Python.
Its result is not trusted: it is read as XML and written again from elements and
attributes that this module lists, with all text escaped. A formula that docutils does not
understand, or that is too long or nested too deeply, is shown as typed.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from xml.etree import ElementTree

from docutils.utils.math.latex2mathml import tex2mathml
from markupsafe import escape

LONGEST = 2_000  # characters of a formula
DEEPEST = 60  # nested elements; browsers cut off at some hundreds
NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
OPENING = {*"([{|", "\N{DOUBLE VERTICAL LINE}"}
APPLY = "\N{FUNCTION APPLICATION}"
# Not mphantom, which hides what a student wrote.
ELEMENTS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "menclose"),
    *("msub", "msup", "msubsup", "munder", "mover", "munderover"),
    *("mfrac", "msqrt", "mroot", "mtable", "mtr", "mtd"),
}
WORD, LENGTH = re.compile(r"[a-z]{1,20}"), re.compile(r"-?0?\.\d+em|\d(\.\d+)?em|0")
ATTRIBUTES = {
    **dict.fromkeys(("display", "stretchy", "symmetric", "movablelimits"), WORD),
    **dict.fromkeys(("accent", "form", "mathvariant", "displaystyle"), WORD),
    **dict.fromkeys(("columnalign", "notation"), WORD),
    **dict.fromkeys(("width", "lspace", "rspace", "minsize", "maxsize"), LENGTH),
    **dict.fromkeys(("rowspacing", "columnspacing", "linethickness"), LENGTH),
    "class": re.compile("boldsymbol|ams-align|cases"),
    "scriptlevel": re.compile(r"\+?[0-2]"),
}
# What MathJax in Jupyter understands and docutils does not, or not in the same way.
REWRITTEN = [
    (re.compile(r"(\\(?:begin|end)\{)(?:align|eqnarray|gather)\*?\}"), r"\1aligned}"),
    (re.compile(r"\\(?:begin|end)\{equation\*?\}"), ""),
    (re.compile(r"\\operatorname\*"), r"\\operatorname"),
    (re.compile(r"(\\operatorname\{\w+)\\,(?=\w+\})"), "\\1\N{NO-BREAK SPACE}"),
    (re.compile(r"\\bm(?![A-Za-z])"), r"\\boldsymbol"),
    (re.compile(r"\\dots(?![A-Za-z])"), r"\\ldots"),
    (re.compile(r"(\\[dt]?frac)\s*(\d)\s*(\d)"), r"\1{\2}{\3}"),
    (re.compile(r"([_^])\s*(\d)"), r"\1{\2}"),  # x^10 is x¹0
]


def mathml(tex: str, *, display: bool) -> str | None:
    """Return a student's formula as MathML; None if it must be shown as typed."""
    if len(tex) > LONGEST:
        return None
    source = tex
    for pattern, replacement in REWRITTEN:
        source = pattern.sub(replacement, source)
    # It raises whatever a wrong formula runs into, such as IndexError for "^2".
    try:
        text = tex2mathml(source, as_block=display)
        root = ElementTree.fromstring(text.replace("&ApplyFunction;", APPLY))
        return _written(root, 0)
    except Exception:
        return None


def _written(element: ElementTree.Element, depth: int) -> str:
    """Write an element with the attributes that are listed.

    Raises:
        ValueError: it contains an element or a length that is not.
    """
    name = element.tag.removeprefix(NAMESPACE)
    if name not in ELEMENTS or depth > DEEPEST:
        raise ValueError(name)
    attributes = ""
    for key, value in element.attrib.items():
        form = ATTRIBUTES.get(key)
        if form and form.fullmatch(value):
            attributes += f' {key}="{value}"'
        elif form is LENGTH:
            raise ValueError(value)
    inside = str(escape((element.text or "").strip(" \n")))
    for child, following in zip_longest(element, element[1:]):
        opening = following is None or following.text in OPENING
        if child.text == APPLY and not opening:
            inside += '<mspace width="0.17em"></mspace>'  # log p, but log(p)
        inside += _written(child, depth + 1)
    return f"<{name}{attributes}>{inside}</{name}>"
