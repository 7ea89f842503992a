"""Formulas in students' answers: typeset as MathML, or shown as typed, and never markup."""

import html
import re

import pytest
from classroom import IMAGE, REMOTE, SCRIPT
from hypothesis import given
from hypothesis import strategies as st

from grading.reports.formulas import ATTRIBUTES, DEEPEST, ELEMENTS, LONGEST, mathml
from grading.reports.pages import markdown

TAG = re.compile(r'</?([a-z]+)((?: [a-z]+="[^"<>&]*")*)>')


def text_in(written):
    """The text of a formula; everything else must be a listed tag."""
    for name, attributes in TAG.findall(written):
        assert name in ELEMENTS
        assert set(re.findall(r" ([a-z]+)=", attributes)) <= ATTRIBUTES.keys()
    rest = TAG.sub("", written)
    assert "<" not in rest
    assert ">" not in rest
    return html.unescape(rest)


@pytest.mark.parametrize(
    ("tex", "part"),
    [
        (r"\sigma^2", "<msup><mi>σ</mi><mn>2</mn></msup>"),
        (r"\frac12", "<mfrac><mn>1</mn><mn>2</mn></mfrac>"),
        (r"x^10", "<msup><mi>x</mi><mn>1</mn></msup><mn>0</mn>"),
        (r"\mathbb{E}_q[\log p]", "<msub><mi>𝔼</mi><mi>q</mi></msub>"),
        (r"\mathrm{KL}(q\|p)", "<mi>KL</mi>"),
        (r"\operatorname*{arg\,max}_x f", '<mi mathvariant="normal">arg max</mi>'),
        (r"\log p", '<mspace width="0.17em"></mspace><mo>\u2061</mo><mi>p</mi>'),
        (r"\log(p)", '<mi>log</mi><mo>\u2061</mo><mo stretchy="false">(</mo>'),
        (r"\bm{x}", '<mrow class="boldsymbol"><mi>x</mi></mrow>'),
        (r"\begin{align*} a &= b \\ &= c \end{align*}", '<mtable class="ams-align">'),
        (r"p < 0.05", "<mo>&lt;</mo><mn>0.05</mn>"),
    ],
)
def test_formulas_of_students_are_typeset(tex, part):
    for display in (False, True):
        found = mathml(tex, display=display)
        assert part in found.replace("\N{NO-BREAK SPACE}", " ")
        assert ('display="block"' in found) == display
    assert part[:5] in markdown(f"So ${tex}$ **is** it.")


@pytest.mark.parametrize(
    "tex",
    [
        r"\frac{1}",
        r"^2",
        r"\mystery{x}",
        r"a}b",
        r"\hspace{1000em}x",
        r"\hspace{-9em}x",
        r"\hspace{1em;color:red}x",
        r"\phantom{what it hides}",
        "{" * (DEEPEST + 1) + "x",
        "x" * (LONGEST + 1),
        "x\0",
    ],
)
def test_a_formula_that_cannot_be_typeset_is_shown_as_typed(tex):
    assert mathml(tex, display=False) is None
    shown = markdown(f"${tex}$")
    assert "<math" not in shown
    assert html.escape(tex[:40].replace("\0", "\ufffd")) in shown


HOSTILE = [
    SCRIPT,
    IMAGE,
    REMOTE.replace("$", ""),
    "</math><script>alert(1)</script>",
    "<mglyph src=x>",
    "</mtext></math><style>*{display:none}</style>",
    "&lt;img src=x onerror=alert(1)&gt;",
    '" onmouseover="alert(1)',
]


@pytest.mark.parametrize("nasty", HOSTILE)
@pytest.mark.parametrize(
    "form",
    [
        *(r"%s", r"\text{%s}", r"\mbox{%s}", r"\operatorname{%s}", r"\mathrm{%s}"),
        *(r"x_{\text{%s}}", r"\hspace{%s}", r"\begin{%s} x \end{%s}", r"\href{%s}{x}"),
    ],
)
def test_hostile_formulas_never_become_markup(form, nasty):
    tex = form.replace("%s", nasty)
    for display in (False, True):
        written = mathml(tex, display=display)
        if written is not None:
            text_in(written)
    for shown in (markdown(f"${tex}$"), markdown(f"$$\n{tex}\n$$")):
        tags = set(re.findall(r"<\s*/?\s*([a-z0-9]+)", shown))
        assert tags <= ELEMENTS | {"p", "span", "div", "code"}
        assert not re.search(r"<[^>]*\s(href|src|on\w+|style)\s*=", shown)


COMMANDS = [r"\text{", r"\frac", r"\sqrt[", r"\left(", r"\right)", r"\begin{pmatrix}"]
COMMANDS += [r"\mathbf{", r"\\", "&", "<", ">", '"', "}", "{", "^", "_", "$", "é", "]"]


@given(st.lists(st.sampled_from(COMMANDS) | st.text(max_size=3), max_size=20))
def test_no_formula_becomes_markup(parts):
    written = mathml("".join(parts), display=True)
    if written is not None:
        text_in(written)
