"""The words and the Markdown of all pages: small words, and untrusted Markdown."""

import re

import pytest
from classroom import SCRIPT

from grading.reports.formulas import ELEMENTS
from grading.reports.pages import (
    duration,
    markdown,
    number,
    percent,
    plural,
    sentence,
)


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0%"), (0.001, "1%"), (0.5, "50%"), (0.999, "99%"), (1, "100%")],
)
def test_percent(share, text):
    assert percent(share) == text


def test_small_words():
    assert [number(value) for value in (2, 2.5, 0, 0.25, 10)] == [
        *("2", "2.5", "0", "0.25", "10")
    ]
    assert [plural(1, "task"), plural(2, "is", "are")] == ["1 task", "2 are"]
    assert [duration(s) for s in (0.04, 59.7, 61, 7260, 90_000)] == [
        *("0.0 s", "1 min 0 s", "1 min 1 s", "2 h 1 min", "1 day 1 h")
    ]
    assert [sentence("the σ"), sentence("ρ is"), sentence("")] == ["The σ", "ρ is", ""]


# --- untrusted Markdown -----------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        SCRIPT,
        "![x](https://spy.example/a.png)",
        "[x](javascript:alert(1))",
        "[x]: https://spy.example\n\n[x] ![x]",
        "<https://spy.example>",
        "<img src=x onerror=alert(1)>",
        "$<img src=x>$",
        "$$\n<img src=x>\n$$",
        "`<img src=x>`",
        "```html\n<img src=x>\n```",
        "```<img/src=x>\nx\n```",
        '| <b> |\n| --- |\n| <a href="x"> |',
        "&lt;script&gt;",
    ],
)
def test_markdown_can_do_nothing(text):
    html = str(markdown(text))
    tags = set(re.findall(r"<\s*([a-z0-9]+)", html))
    assert tags <= ELEMENTS | {"p", "code", "pre", "span", "div"} | {
        *("table", "thead", "tbody", "tr", "th", "td")
    }
    assert not re.search(r"<[^>]*\s(href|src|on\w+)\s*=", html)


def test_markdown_keeps_formulas_and_survives_anything():
    html = markdown("So $\\a_1 b_2 *c*$ **is** so.\n\n$$\n\\frac{a_1}{b}\n$$")
    assert "<code class=math>$\\a_1 b_2 *c*$</code></span> <strong>is</strong>" in html
    assert '<math display="block"><mfrac>' in html
    assert len(markdown("[" * 30_000)) < 60_000
    assert "more characters" in markdown("x " * 20_000)
    markdown(">" * 5000 + "- " * 5000)
