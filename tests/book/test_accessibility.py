"""Every page for readers who use a keyboard or a screen reader."""

import pytest
from page_access import MAX_STOPS, controls, violations
from page_visits import SCREENS
from playwright.sync_api import expect

# All letters are there, and the page has had a frame to follow them.
SETTLED = """async () => {
  await document.fonts.ready;
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
}"""


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


def none(found):
    """Check that nothing was found on any page."""
    assert {name: problems for name, problems in found.items() if problems} == {}


@pytest.mark.browser
@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_no_violation(seen, screen):
    """By all its rules in one theme; in the other, colours have enough contrast.

    Every commit draws the screen on which axe judges a page.
    """
    judged = {n: facts["axe"] for n, facts in seen(screen).items() if "axe" in facts}
    assert len(judged) >= len(seen(screen)) // 2
    none(judged)
    none({name: facts["in the other theme"] for name, facts in seen(screen).items()})


@pytest.mark.browser
def test_axe_notices_a_picture_without_text(browser):
    page = browser.new_page()
    page.set_content(
        "<html lang=en><title>x</title><main><h1>x</h1><img src='x.png'></main></html>"
    )
    assert [found.partition(":")[0] for found in violations(page)] == ["image-alt"]
    page.close()


@pytest.mark.browser
def test_the_tab_key_passes_every_control_and_shows_where_it_is(seen):
    pages = seen("desktop")
    found = {n: facts["controls"] for n, facts in pages.items() if "controls" in facts}
    assert len(found) >= len(pages) // 3  # every commit draws a third of them
    none(
        {
            name: [control for control, visible in controls if not visible]
            for name, controls in found.items()
        }
    )
    stops = {name: len(controls) for name, controls in found.items()}
    assert min(stops.values()) > 3
    # The index and the references are lists of links.
    too_many = {name: n for name, n in stops.items() if n >= MAX_STOPS}
    assert set(too_many) <= {"genindex.html", "book/references.html"}, too_many


@pytest.mark.browser
def test_a_control_that_the_tab_key_misses_is_noticed(browser):
    page = browser.new_page()
    page.set_content(
        "<style>:focus { outline: 2px solid }</style>"
        "<main><a href='#'>x</a><button tabindex='-1'>y</button></main>"
    )
    button = '<button tabindex="-1">y</button>'
    assert [c for c, visible in controls(page) if not visible] == [button]
    page.close()


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
            unfolds = page.locator(".cell > details[open]")
            expect(unfolds).to_have_count(unfolded)
            assert page.locator("details.hint[open]").count() == 0
            # What is unfolded can be folded again by keyboard.
            stops = page.locator(
                ".cell:not(.tag_task) > details > summary[tabindex='0']"
            )
            expect(stops).to_have_count(unfolded)  # the scripts hear of it later


@pytest.mark.browser
def test_no_id_is_used_twice_on_a_page(seen):
    found = {name: facts["twice"] for name, facts in seen("desktop").items()}
    assert len(found) > 10
    none(found)
