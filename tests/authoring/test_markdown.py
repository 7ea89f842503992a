"""Markdown of chapters, translated for notebooks."""

from pathlib import Path

import pytest
from pybtex.database import BibliographyData

from authoring.markdown import Translator
from project.errors import CourseError

MACROS = {"KL": [r"\mathrm{KL}(#1 \| #2)", 2]}


@pytest.fixture
def translator():
    chapter = Path(__file__).parents[2] / "book/01a-deep-ensembles.md"
    return Translator(chapter, BibliographyData(), MACROS)


def test_a_page_that_is_no_exercise_is_told_once_or_linked(translator):
    text = "[Sums](sums-and-means.md#a), [Sums](sums-and-means), [five](05-which-method.md), [here](#there)"
    place = "in the book, the page `sums-and-means.html`"
    assert translator.translate(text) == f"Sums ({place}), Sums, five, here"
    translator.site = "https://ada.github.io/course"
    page = f"{translator.site}/book/sums-and-means.html"
    assert translator.translate(text) == f"[Sums]({page}#a), [Sums]({page}), five, here"


def test_every_cell_of_a_table_is_translated(translator):
    row = "| {math}`x` | {math}`y` | {math}`x` |"
    table = f"| a | b | c |\n| --- | --- | --- |\n{row}\n{row}"
    assert translator.translate(table).splitlines()[2:] == ["| $x$ | $y$ | $x$ |"] * 2


def test_a_role_may_stand_in_the_text_of_a_link(translator):
    text = "[of {math}`x`](05-which-method.md) and {math}`x`"
    assert translator.translate(text) == "of $x$ and $x$"
    assert translator.translate("<me@example.org>") == "<me@example.org>"


def test_a_bracket_before_a_link_stays(translator):
    text = "For p in $[0, 1)$ see [five](05-which-method.md), [not this."
    assert translator.translate(text) == "For p in $[0, 1)$ see five, [not this."


@pytest.mark.parametrize(
    "role",
    ["{math}`a\nb  c`", "{math}``a b c``", "{math}`` a b\nc ``", "{term}`a b\nc`"],
)
def test_a_role_may_be_broken_and_have_more_backticks(translator, role):
    text = translator.translate(f"Before {{math}}`a` and {role}, after.")
    mark = "$" if "math" in role else ""
    inside = text.removeprefix("Before $a$ and ").removesuffix(", after.")
    assert " ".join(inside.split()) == f"{mark}a b c{mark}"


def test_a_role_that_is_broken_in_a_quotation_is_refused(translator):
    with pytest.raises(CourseError, match=r"md:1: The role \{term\} is broken"):
        translator.translate("> a {term}`b\n> c`")


@pytest.mark.parametrize("link", ['[a](intro.md "title")', "[a][b]\n\n[b]: intro.md"])
def test_a_link_in_another_form_is_refused(translator, link):
    with pytest.raises(CourseError, match=r"md:7: The link to intro\.md"):
        translator.translate(link, 7)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("![A curve](images/curve.png)", r"does not know the image images/curve\.png"),
        ("A claim[^why].", r"does not know the footnote \[\^why\]"),
        ("[^why]: The reason.", r"does not know the footnote \[\^why\]"),
        ("See {numref}`Figure %s <fig-x>`.", "has no text of its own"),
    ],
)
def test_what_an_exercise_could_not_show_is_refused(translator, text, said):
    with pytest.raises(CourseError, match=rf"md:7: .*{said}"):
        translator.translate(text, 7)


def test_images_with_an_address_and_brackets_in_code_stay(translator):
    for text in ("![A curve](https://example.org/a.png)", "The set `[^a]`, [x]^2."):
        assert translator.translate(text) == text


def test_arguments_of_macros_may_stand_apart_but_need_braces(translator):
    assert translator.translate(r"$\KL {q}{p^{2}}$") == r"$\mathrm{KL}(q \| p^{2})$"
    code = "`\\KL`\n\n```\n\\KL{q}{p}\n```\n\n"
    assert translator.translate(rf"{code}$\KL{{q}}{{p}}$").startswith(code)
    for text in (r"$\KL qp$", r"$\KL{q}p$", r"$\KL{q$", r"$\KL"):
        with pytest.raises(CourseError, match="between braces"):
            translator.translate(text)
