"""Every page for readers who use a keyboard or a screen reader."""

from collections import Counter
from importlib.resources import files

import pytest
from book_pages import GUESS, pages_of
from bs4 import BeautifulSoup
from page_visits import SCREENS

MAX_STOPS = 120
AXE = """rules =>
  axe.run({resultTypes: ["violations"], ...(rules && {runOnly: rules})})
"""
# Formulas are judged by their MathML, which screen readers read, and code as a whole: letters
# of the one and words of the other are most of all elements. `test_book.py` measures the
# contrast of each, in both themes.
SIMPLER = """() => {
  document.querySelectorAll(".katex-html").forEach(formula => formula.remove());
  document.querySelectorAll(".highlight pre").forEach(
    code => code.textContent = code.textContent);
}"""
# MathML is for screen readers, and has no colours to judge.
WITHOUT_FORMULAS = """
() => document.querySelectorAll(".katex").forEach(formula => formula.remove())
"""
# All letters are there, and the page has had a frame to follow them.
SETTLED = """async () => {
  await document.fonts.ready;
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
}"""
# No colour is on its way from one theme to the other.
DARK = """
() => document.documentElement.dataset.theme === "dark"
  && !document.getAnimations().some(one => one instanceof CSSTransition)
"""
OF_COLOURS = ["color-contrast", "link-in-text-block"]  # all that a theme can change
# The focused control, and whether it shows that it has the focus: by an outline of its own,
# or, where it is hidden itself, by an outline or a border of its label.
FOCUSED = """
() => {
  const control = document.activeElement;
  if (control === document.body) return null;
  const style = getComputedStyle(control);
  const outlined = style => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 1;
  const label = control.labels?.[0] && getComputedStyle(control.labels[0]);
  const visible = style.opacity !== "0" ? outlined(style)
    : label && (outlined(label) || parseFloat(label.borderTopWidth) > 1);
  return [control.outerHTML.slice(0, 120), visible];
}
"""


@pytest.fixture(scope="module")
def names(book):
    """The addresses of all pages."""
    return [path.relative_to(book).as_posix() for path in pages_of(book)]


@pytest.fixture(scope="module", params=SCREENS)
def screen(request):
    return SCREENS[request.param]


def opened(browser, address, names, **options):
    """Yield every page with its name, in one context."""
    with browser.new_context(**options) as context:
        for name in names:
            page = context.new_page()
            page.goto(address + name)
            page.wait_for_load_state("load")
            page.evaluate(SETTLED)
            yield name, page
            page.close()


def violations(page, rules=None):
    """Return what axe-core finds on a page, at any level; by all its rules if ``None``."""
    page.add_script_tag(path=files("axe_playwright_python") / "axe.min.js")
    return [
        f"{found['id']}: {found['help']} ({len(found['nodes'])}) "
        f"{found['nodes'][0]['html'][:160]}"
        for found in page.evaluate(AXE, rules)["violations"]
    ]


def none(found):
    """Check that nothing was found on any page."""
    assert {name: problems for name, problems in found.items() if problems} == {}


@pytest.mark.browser
def test_axe_finds_no_violation(browser, address, names, screen):
    """By all its rules in light mode, and by those of colours in the dark."""
    options = screen | {"color_scheme": "light", "reduced_motion": "reduce"}
    found = {}
    for name, page in opened(browser, address, names, **options):
        page.evaluate(f"() => {{{GUESS}}}")
        page.evaluate(SIMPLER)
        found[name] = violations(page)
        page.emulate_media(color_scheme="dark")
        page.wait_for_function(DARK)
        page.evaluate(WITHOUT_FORMULAS)
        found[f"{name} in the dark"] = violations(page, OF_COLOURS)
    none(found)


@pytest.mark.browser
def test_axe_notices_a_picture_without_text(browser):
    page = browser.new_page()
    page.set_content(
        "<html lang=en><title>x</title><main><h1>x</h1><img src='x.png'></main></html>"
    )
    assert [found.partition(":")[0] for found in violations(page)] == ["image-alt"]
    page.close()


@pytest.mark.browser
def test_the_tab_key_passes_every_control_and_shows_where_it_is(
    browser, address, names
):
    stops, hidden = {}, {}
    options = SCREENS["desktop"] | {"reduced_motion": "reduce"}
    for name, page in opened(browser, address, names, **options):
        controls = []
        page.wait_for_timeout(500)  # the theme's scripts wait this long
        while len(controls) < 3 * MAX_STOPS:
            page.keyboard.press("Tab")
            if (control := page.evaluate(FOCUSED)) is None:
                break
            controls.append(control)
        stops[name] = len(controls)
        hidden[name] = [control for control, visible in controls if not visible]
    none(hidden)
    assert min(stops.values()) > 3
    # The index and the references are lists of links.
    too_many = {name: n for name, n in stops.items() if n >= MAX_STOPS}
    assert set(too_many) <= {"genindex.html", "book/references.html"}, too_many


@pytest.mark.browser
def test_the_theme_switch_keeps_the_focus(browser, address):
    for _, page in opened(browser, address, ["book/intro.html"]):
        switch = page.locator(".theme-switch-button").filter(visible=True)
        switch.focus()
        modes = set()
        for _ in range(3):
            page.keyboard.press("Enter")
            modes.add(page.evaluate("document.documentElement.dataset.mode"))
            assert page.evaluate("document.activeElement.className") == (
                switch.get_attribute("class")
            )
        assert modes == {"auto", "dark", "light"}


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_has_its_colours_before_its_scripts_arrive(browser, address, scheme):
    with browser.new_context(color_scheme=scheme) as context:
        page = context.new_page()
        page.route("**/*.js*", lambda route: route.abort())
        page.goto(f"{address}/book/intro.html")
        assert page.evaluate("document.documentElement.dataset.theme") == scheme


@pytest.mark.browser
def test_one_button_unfolds_the_code_but_no_solution(browser, address):
    for _, page in opened(browser, address, ["book/01a-deep-ensembles.html"]):
        code = page.locator(".cell:not(.tag_task) > details")
        solutions = page.locator(".tag_task > details")
        assert min(code.count(), solutions.count()) > 5
        for unfolded in (code.count(), 0):
            page.get_by_role("button", name="Show or hide all code").press("Enter")
            page.wait_for_timeout(100)
            unfolds = page.locator(".cell > details[open]")
            assert unfolds.count() == unfolded
            assert page.locator("details.hint[open]").count() == 0
            # What is unfolded can be folded again by keyboard.
            stops = page.locator(
                ".cell:not(.tag_task) > details > summary[tabindex='0']"
            )
            assert stops.count() == unfolded


def test_no_id_is_used_twice_on_a_page(book):
    found = {}
    for path in pages_of(book):
        page = BeautifulSoup(path.read_text("utf-8"), "html.parser")
        ids = Counter(element["id"] for element in page.select("[id]"))
        found[path.name] = [name for name, times in ids.items() if times > 1]
    assert len(found) > 10
    none(found)
