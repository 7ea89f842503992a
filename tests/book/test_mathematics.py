"""Formulas in the built pages: complete without scripts, for the eye and for screen readers."""

import re

import pytest
from book_pages import pages_of, parsed
from page_facts import NOT_DRAWN
from page_visits import SCREENS


@pytest.fixture(scope="module")
def pages(book):
    """Parsed pages of the book, by name."""
    return {path.name: parsed(path) for path in pages_of(book, "book")}


def visit(browser, address, names, script, **options):
    """Evaluate a script on every page; return its results and the addresses requested."""
    found, asked = {}, []
    with browser.new_context(**options) as context:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        for name in names:
            page.goto(f"{address}/book/{name}")
            page.wait_for_load_state("load")
            found[name] = page.evaluate(script)
    return {name: result for name, result in found.items() if result}, asked


def test_every_formula_is_in_the_page_for_eyes_and_for_screen_readers(pages):
    formulas = [formula for page in pages.values() for formula in page.select(".math")]
    assert len(formulas) > 900
    for formula in formulas:
        assert len(formula.select(".katex")) == 1, formula
        assert formula.select_one(".katex-mathml math").get_text().strip(), formula
        assert formula.select_one(".katex-html")["aria-hidden"] == "true", formula
        assert not formula.select("mtext[mathcolor], .katex-error, annotation"), formula


def test_no_script_typesets_anything(pages):
    for name, page in pages.items():
        scripts = " ".join(str(script)[:2000] for script in page.select("script"))
        for typesetter in ("mathjax", "katex", "temml"):
            assert typesetter not in scripts.lower(), name


@pytest.mark.browser
@pytest.mark.parametrize("screen", SCREENS)
def test_formulas_are_complete(seen, screen):
    undrawn = {name: facts["not drawn"] for name, facts in seen(screen).items()}
    assert {name: formulas for name, formulas in undrawn.items() if formulas} == {}


@pytest.mark.browser
def test_formulas_are_complete_without_javascript(browser, address, pages):
    options = SCREENS["phone"] | {"java_script_enabled": False}
    not_drawn, asked = visit(browser, address, pages, NOT_DRAWN, **options)
    assert not_drawn == {}
    assert any("KaTeX_Math-Italic" in url for url in asked)
    assert [url for url in asked if not url.startswith(address)] == []


def test_equations_are_numbered_from_1_on_each_page(pages):
    for name, page in pages.items():
        numbers = [
            int(re.search(r"(\d+)\)", equation.get_text())[1])
            for equation in page.select(".eqno")
        ]
        assert numbers == list(range(1, len(numbers) + 1)), name


def test_references_to_equations_show_the_number_of_the_equation(pages):
    shown = 0
    for name, page in pages.items():
        for link in page.select("a.reference[href*='#equation-']"):
            target, _, anchor = link["href"].partition("#")
            number = pages[target or name].find(id=anchor).select_one(".eqno")
            assert link.get_text() == number.get_text().rstrip("#¶"), link
            shown += 1
    assert shown > 40
