"""Figures with controls on the pages of the built book: weight, names, and the keyboard."""

import gzip

import pytest
from book_pages import GUESS, pages_of

FIGURES = 14
MAX_DATA = 60_000  # bytes, gzipped
DATA = "figure => figure.querySelector('script').textContent"
LEGIBLE = """
figure => Math.min(...[...figure.querySelectorAll(".live-plots text, .live-side *")]
  .filter(one => one.checkVisibility()).map(one => parseFloat(getComputedStyle(one).fontSize)))
"""
# Of a group of radio buttons, the tab key reaches the chosen one.
FIRST = ":is(input:not([type=radio]), input:checked, button)"
CONTROLS = """
figure => [...new Set([...figure.querySelectorAll("input, button")].map(c => c.name))]
"""
# What a reader sees, and what a screen reader says.
SHOWN = """
figure => [".live-plots", ".live-says"].map(part => figure.querySelector(part).innerHTML)
"""
FOCUSED = """
figure => {
  const control = document.activeElement;
  return figure.contains(control)
    && [control.name, control.labels?.[0]?.textContent
      ?? control.textContent, control.type];
}
"""
STILL = """
figure => {
  const svg = figure.querySelector(".live-still svg");
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  return Math.min(...[...svg.querySelectorAll("text")]
    .map(text => parseFloat(getComputedStyle(text).fontSize) * scale));
}
"""

# The colours of a picture's ground and of its text.
COLOURS = """
figure => ["path", "text"].map(
  name => getComputedStyle(figure.querySelector(`.live-still ${name}`)).fill)
"""


@pytest.fixture(scope="module")
def with_figures(book):
    """The pages with such a figure."""
    pages = pages_of(book, "book")
    found = [path for path in pages if 'class="live"' in path.read_text("utf-8")]
    for path in pages:
        assert ("live.js" in path.read_text("utf-8")) == (path in found), path.name
    return found


@pytest.mark.browser
def test_every_control_is_reached_by_keyboard_and_changes_its_figure(
    with_figures, browser, address
):
    count = 0
    for path in with_figures:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        errors = []
        page.on("pageerror", lambda error, to=errors: to.append(str(error)))
        page.goto(f"{address}/book/{path.name}")
        page.wait_for_load_state("load")
        page.evaluate(f"() => {{{GUESS}}}")
        for figure in page.locator(".live").all():
            count += 1
            assert figure.evaluate(LEGIBLE) >= 11
            assert len(gzip.compress(figure.evaluate(DATA).encode())) <= MAX_DATA
            figure.scroll_into_view_if_needed()
            figure.locator(FIRST).first.focus()
            reached = []
            while held := figure.evaluate(FOCUSED):
                name, label, kind = held
                assert label.strip(), name
                before = figure.evaluate(SHOWN)
                if kind == "range":
                    at = figure.locator(f"input[name={name}]").input_value()
                    page.keyboard.press("ArrowLeft" if at != "0" else "ArrowRight")
                else:
                    page.keyboard.press("ArrowDown" if kind == "radio" else "Space")
                assert figure.evaluate(SHOWN) != before, (path.name, name)
                reached.append(name)
                page.keyboard.press("Tab")
            assert reached == figure.evaluate(CONTROLS), path.name
        assert errors == []
        page.close()
    assert count >= FIGURES


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_pictures_in_their_place_are_legible(with_figures, browser, address, width):
    sizes = []
    options = {"viewport": {"width": width, "height": 844}, "is_mobile": width < 600}
    with browser.new_context(java_script_enabled=False, **options) as context:
        page = context.new_page()
        for path in with_figures:
            page.goto(f"{address}/book/{path.name}")
            page.evaluate(f"() => {{{GUESS}}}")
            for figure in page.locator(".live").all():
                sizes.append(figure.evaluate(STILL))
                ground, ink = figure.evaluate(COLOURS)
                assert ground == "rgb(255, 255, 255)"
                assert ink != ground
    assert len(sizes) >= FIGURES
    assert min(sizes) >= 11
