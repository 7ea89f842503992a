"""The parts that all pages share: one style, everything escaped, nothing fetched.

A page is one file. Its security policy forbids scripts and requests even if escaping were
forgotten; a test also opens the pages without that policy.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from mdit_py_plugins.dollarmath import dollarmath_plugin

from authoring.questions import formula
from grading.bounded import TooCostly, bounded
from grading.reports.formulas import mathml

GENERATOR = "Known Unknowns, course grade"
# The pages for instructors that the report links to; students' pages must not link back.
LINKED = {f"{name}.html.j2" for name in ("items", "marking", "similar", "unnamed")}
# The end of a sentence; abbreviations do not end one.
END = re.compile(r"(?<=[.?!])(?<!al\.)(?<!e\.g\.)(?<!i\.e\.)(?<!cf\.)(?<!vs\.)\s+")
CLAUSE = re.compile(r"[;:](?=\s)")  # what is right often comes after it
BETWEEN_BACKTICKS = re.compile(r"`([^`\n]+)`")
LONGEST = 20_000  # characters of an answer that a page shows
# A table of a few kilobytes can become millions of cells. An honest answer of that length
# is rendered in 0.05 s and grows by less than a factor of ten.
RENDER_SECONDS, RENDER_MEMORY, RENDER_LONGEST = 2.0, 256 * 1024**2, 20 * LONGEST

SYMBOLS = {
    "right": "✓",
    "wrong": "✗",
    "not-attempted": "○",
    "not-reached": "–",
    "not-graded": "?",
}
WORDS = {
    "right": "right",
    "wrong": "not right yet",
    "not-attempted": "not attempted",
    "not-reached": "not reached",
    "not-graded": "not graded",
}


def number(value: float) -> str:
    """A number of points without trailing zeros: ``2``, ``2.5``."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def plural(count: int, one: str, many: str = "") -> str:
    """``1 task``, ``2 tasks``."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def percent(share: float) -> str:
    """``74%``; shares that are not exactly 1 or 0 never become 100 or 0."""
    rounded = round(100 * share)
    if share < 1:
        rounded = min(rounded, 99)
    if share > 0:
        rounded = max(rounded, 1)
    return f"{rounded}%"


def duration(seconds: float) -> str:
    """``4.1 s``, ``3 min 20 s``, ``2 h 5 min``, ``3 days 4 h``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{plural(whole // 86400, 'day')} {whole % 86400 // 3600} h"


def sentence(text: str) -> str:
    """A hint as a separate sentence; it is written to continue *you get this if …*."""
    head = text[:1]
    return (head.upper() if head.isascii() else head) + text[1:]


def beginning(text: str, count: int = 1) -> str:
    """The first sentence of a text, or the first few."""
    return " ".join(END.split(text.strip(), maxsplit=count)[:count])


def only_mistake(hint: str) -> str:
    """What a hint says about the mistake, without the clause that says what is right."""
    said = beginning(hint)
    for found in CLAUSE.finditer(said):
        head = said[: found.start()]
        if head.count("`") % 2 == 0 and head.count("(") <= head.count(")"):
            return head
    return said


def no_period(text: str) -> str:
    """A sentence that another one contains: without its period."""
    return text.rstrip().removesuffix(".")


def short(task: str) -> str:
    """The part of an id that distinguishes the tasks of one practical."""
    return task.partition("/")[2] or task


def place(where: str) -> str:
    """The place that a flag names, for a reader: ``own cell 3`` for a cell that was added."""
    added = re.fullmatch(r"added--(\d+)", where)
    return f"own cell {int(added[1]) + 1}" if added else where


def to_student(message: str) -> str:
    """A message about a student, addressed to the student."""
    return message.replace("the student's own", "your own")


def coded(text: str) -> Markup:
    """Escape a text, and set what stands between backticks as code."""
    return Markup(BETWEEN_BACKTICKS.sub(r"<code>\1</code>", str(escape(text))))


def markdown(text: str, *, trusted: bool = False) -> Markup:
    """Render Markdown as harmless HTML: without its raw HTML, with formulas typeset.

    Links and pictures are shown as typed, unless the text is the course's (``trusted``). So is
    a formula that cannot be typeset.
    """
    cut = text[:LONGEST]
    html = _TRUSTED.render(cut) if trusted else _answer(cut)
    if len(text) > LONGEST:
        html += f"<p class=note>… and {len(text) - LONGEST} more characters.</p>"
    return Markup(html)


@lru_cache(maxsize=512)
def _answer(text: str) -> str:
    """A student's answer as HTML, or as typed if it takes too much to render."""
    try:
        return bounded(
            _html_of_answer, text, seconds=RENDER_SECONDS, memory=RENDER_MEMORY
        )
    except Exception as problem:  # no answer may keep the page from being written
        note = ""
        if isinstance(problem, TooCostly):
            note = "<p class=note>Shown as typed: it is too large to render.</p>"
        return f"{note}<pre>{escape(text)}</pre>"


def _html_of_answer(text: str) -> str:
    """Render a student's answer; called in a process of its own.

    Raises:
        TooCostly: the result would be too long for a page.
    """
    html = _STUDENTS.render(text)
    if len(html) > RENDER_LONGEST:
        raise TooCostly("the page would be too long")
    return html


def render(template: str, **values: Any) -> str:
    """Render a page from its template, as text that can be encoded in UTF-8."""
    values |= {"generator": GENERATOR, "linked": template in LINKED}
    text = _ENVIRONMENT.get_template(template).render(**values)
    # A file name that is not UTF-8 contains lone surrogates.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _typeset(
    typesetter: Callable[..., str | None], content: str, options: dict[str, Any]
) -> str:
    """A formula as MathML, or as it was typed if the typesetter has none."""
    tex, display = content.strip(), options["display_mode"]
    mark = "$$" if display else "$"
    typed = f"<code class=math>{mark}{escape(tex)}{mark}</code>"
    return typesetter(tex, display=display) or typed


def _parser(*, trusted: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    shown = partial(_typeset, formula if trusted else mathml)
    parser.use(dollarmath_plugin, renderer=shown, allow_labels=False)
    parser.disable("image")  # a picture would be fetched
    if not trusted:
        # A link is shown as typed, so that its target stays visible.
        parser.disable(["link", "autolink", "reference", "html_block", "html_inline"])
    return parser


_TRUSTED, _STUDENTS = _parser(trusted=True), _parser(trusted=False)

_ENVIRONMENT = Environment(
    loader=PackageLoader("grading.reports"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters.update(
    number=number,
    percent=percent,
    duration=duration,
    sentence=sentence,
    no_period=no_period,
    short=short,
    place=place,
    to_student=to_student,
    coded=coded,
    markdown=markdown,
)
_ENVIRONMENT.globals.update(symbols=SYMBOLS, words=WORDS, plural=plural)
