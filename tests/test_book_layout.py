"""How the built book sits on a screen: one that is wide, and one that is narrow."""

import pytest
from browser import served

pytestmark = pytest.mark.browser
DESK = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True}

# What of the code cannot be read without moving it sideways, where it stands open.
CUT_OFF = """
() => [...document.querySelectorAll("main .cell_input pre")]
  .filter(pre => pre.checkVisibility() && pre.scrollWidth > pre.clientWidth + 1)
  .map(pre => pre.textContent.split("\\n").sort((a, b) => b.length - a.length)[0])
"""
# How wide the pictures of several panels are shown.
WIDTHS = """
() => [...document.querySelectorAll("main figure img")]
  .filter(image => image.naturalWidth > 800)
  .map(image => [image.getAttribute("src"), image.getBoundingClientRect().width])
"""


@pytest.fixture(scope="module")
def address(book):
    with served(book) as at:
        yield at


@pytest.fixture(scope="module")
def names(book):
    return [path.name for path in sorted(book.glob("book/*.html"))]


def on_every_page(browser, address, names, screen, script):
    with browser.new_context(**screen) as context:
        page = context.new_page()
        found = {}
        for name in names:
            page.goto(f"{address}/book/{name}")
            page.wait_for_load_state("load")
            found[name] = page.evaluate(script)
        return found


def test_the_front_page_says_it_in_one_screen(browser, address):
    with browser.new_context(**DESK) as context:
        page = context.new_page()
        page.goto(f"{address}/book/intro.html")
        page.wait_for_load_state("load")
        parts = page.locator("ul.parts > li")
        assert parts.count() == 6
        for part in parts.all():
            box = part.bounding_box()
            assert box["y"] + box["height"] <= DESK["viewport"]["height"]
            assert " tasks · " in part.inner_text()


def test_code_is_not_cut_off_on_a_desk(browser, address, names):
    found = on_every_page(browser, address, names, DESK, CUT_OFF)
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_pictures_of_several_panels_stay_legible_on_a_phone(browser, address, names):
    found = on_every_page(browser, address, names, PHONE, WIDTHS)
    shown = [picture for pictures in found.values() for picture in pictures]
    assert len(shown) > 20
    assert [picture for picture in shown if picture[1] < 600] == []
