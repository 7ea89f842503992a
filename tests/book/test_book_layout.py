"""The layout of the built book on a wide and on a narrow screen."""

import re

import pytest
from book_pages import UNFOLD, pages_of
from bs4 import BeautifulSoup
from labs import COURSE

pytestmark = pytest.mark.browser
DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True}

# Code, output and equations that need horizontal scrolling, with everything expanded.
CUT_OFF = (
    "async () => {"
    + UNFOLD
    + """
  await document.fonts.ready;
  const schema = box => box.textContent.includes('"description": ');
  const boxes = [...document.querySelectorAll("main pre, main .katex-display")]
    .filter(box => box.checkVisibility() && !schema(box));
  // A line that would go on below is cut off now.
  boxes.forEach(box => { if (box.tagName === "PRE") box.style.whiteSpace = "pre"; });
  return boxes.filter(box => box.scrollWidth > box.clientWidth + 1)
    .map(box => box.textContent.split("\\n").sort((a, b) => b.length - a.length)[0]);
}
"""
)
# Inline formulas that are wider than their column, where they would be cut off.
TOO_WIDE = (
    "async () => {"
    + UNFOLD
    + """
  await document.fonts.ready;
  return [...document.querySelectorAll("main span.math .katex")]
    .filter(formula => formula.checkVisibility() && !formula.closest("table"))
    .filter(formula => {
      const column = formula.closest("p, li, dd, dt, figcaption, h1, h2, h3, div");
      const right = column.getBoundingClientRect().right;
      return formula.getBoundingClientRect().right > right + 1;
    })
    .map(formula => formula.textContent);
}
"""
)
# Punctuation after a formula that wraps to the beginning of the next line.
PARTED = (
    "async () => {"
    + UNFOLD
    + """
  await document.fonts.ready;
  const parted = [];
  for (const formula of document.querySelectorAll("main span.math")) {
    const after = formula.nextSibling;
    const last = [...formula.querySelectorAll(".base")].at(-1);
    if (after?.nodeType !== Node.TEXT_NODE || !/^\\S/.test(after.data) || !last) continue;
    const range = document.createRange();
    range.setStart(after, 0);
    range.setEnd(after, 1);
    const [sign, box] = [range, last].map(of => of.getBoundingClientRect());
    if (box.width && sign.left < box.left) parted.push(formula.parentElement.textContent);
  }
  return parted;
}
"""
)
# The share of the main column's height that visible code takes.
CODE = """
() => {
  const main = document.querySelector("main article");
  const code = [...main.querySelectorAll(".cell_input, div.highlight")]
    .filter(box => box.checkVisibility() && !box.parentElement.closest(".cell_input")
      && !box.closest(".cell_output"));
  const height = box => box.getBoundingClientRect().height;
  return code.map(height).reduce((sum, one) => sum + one, 0) / height(main);
}
"""
# How a closed fold looks.
FOLD = """
fold => {
  const title = [...fold.querySelectorAll("summary > p")].find(p => p.checkVisibility());
  const [box, text] = [fold, title].map(element => getComputedStyle(element));
  return [fold.tagName, box.borderLeft, box.backgroundColor, box.boxShadow, box.width,
    text.display, text.font, text.color, text.padding, text.margin, title.offsetHeight,
    fold.offsetHeight];
}
"""


@pytest.fixture(scope="module")
def names(book):
    return [path.name for path in pages_of(book, "book")]


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
    with browser.new_context(**DESKTOP) as context:
        page = context.new_page()
        page.goto(f"{address}/book/intro.html")
        page.wait_for_load_state("load")
        parts = page.locator("ul.parts > li")
        assert parts.count() == len(COURSE.practicals)
        for part, practical in zip(parts.all(), COURSE.practicals, strict=True):
            box = part.bounding_box()
            assert box["y"] + box["height"] <= DESKTOP["viewport"]["height"]
            links = part.locator("small a").all()
            addresses = [link.get_attribute("href") for link in links]
            assert addresses == [f"{lab.chapter.stem}.html" for lab in practical.labs]
            assert part.inner_text().count("tasks · ") == len(practical.labs)


def test_a_page_shows_ideas_before_plotting_code(browser, address, names):
    practicals = [name for name in names if name[0].isdigit()]
    found = on_every_page(browser, address, practicals, DESKTOP, CODE)
    assert {name: share for name, share in found.items() if share > 0.15} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_answers_are_folded_as_code_is(browser, address, scheme):
    with browser.new_context(**DESKTOP, color_scheme=scheme) as context:
        page = context.new_page()
        for name in ("00a-warm-up", "01a-deep-ensembles", "01b-deep-ensembles"):
            page.goto(f"{address}/book/{name}.html")
            looks = [
                page.locator(fold).filter(visible=True).first.evaluate(FOLD)
                for fold in ("details.above-input", "details.answer")
            ]
            assert looks[0] == looks[1]
            assert page.locator(".toggle-button").count() == 0


def test_code_and_equations_are_not_cut_off_on_a_desktop(browser, address, names):
    found = on_every_page(browser, address, names, DESKTOP, CUT_OFF)
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_equations_fit_a_phone_where_they_can_be_broken(browser, address, names):
    script = CUT_OFF.replace("main pre, ", "")
    found = on_every_page(browser, address, names, PHONE, script)
    assert sum(map(len, found.values())) <= 1, found  # the loss of many heads


def test_what_scrolls_sideways_fades_until_its_end(browser, address):
    narrow = {"viewport": {"width": 280, "height": 844}, "is_mobile": True}
    with browser.new_context(**narrow) as context:
        page = context.new_page()
        page.goto(f"{address}/book/02a-approximate-inference.html")
        wide = page.locator("main .katex-display.goes-on")
        wide.first.wait_for()
        fading = wide.count()
        assert 3 < fading < page.locator("main .katex-display").count()
        assert "gradient" in wide.first.evaluate("e => getComputedStyle(e).maskImage")
        wide.first.evaluate("e => { e.scrollLeft = e.scrollWidth }")
        page.wait_for_function(
            "n => document.querySelectorAll('main .katex-display.goes-on').length === n",
            arg=fading - 1,
        )


def test_no_line_of_code_goes_on_below(book):
    # Includes collapsed code and hidden tabs; the test above sees only what is visible.
    found = {}
    for path in pages_of(book, "book"):
        page = BeautifulSoup(path.read_text("utf-8"), "html.parser")
        text = "\n".join(pre.get_text() for pre in page.select("main pre"))
        found[path.name] = [
            line
            for line in text.split("\n")
            if len(line) > 88
            and '"description": ' not in line  # prose in a JSON schema
        ]
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_line_begins_with_the_comma_after_a_formula(browser, address, names, screen):
    found = on_every_page(browser, address, names, screen, PARTED)
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_no_formula_in_a_sentence_is_wider_than_a_phone(browser, address, names):
    found = on_every_page(browser, address, names, PHONE, TOO_WIDE)
    assert {name: formulas for name, formulas in found.items() if formulas} == {}


def test_numbers_in_prose_have_minus_signs_and_powers(book):
    found = []
    for path in pages_of(book, "book"):
        page = BeautifulSoup(path.read_text("utf-8"), "html.parser")
        found += [number.get_text() for number in page.select("span.pasted-text")]
    assert any("−" in number for number in found)
    assert any("×\u00a010⁻" in number for number in found)
    odd = re.compile(r"(?<!\w)-[\d.]|\de[+-]\d")
    assert [number for number in found if odd.search(number)] == []


# What sticks out of the links to the pages before and after this one.
OUTSIDE = """
() => [...document.querySelectorAll(".prev-next-area :is(i, p)")]
  .filter(part => {
    const link = part.closest("a").getBoundingClientRect();
    const box = part.getBoundingClientRect();
    return box.left < link.left - 1 || box.right > link.right + 1
      || box.right > innerWidth - 4;
  })
  .map(part => part.outerHTML)
"""


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_links_at_the_foot_of_a_page_are_whole(browser, address, names, screen):
    found = on_every_page(browser, address, names, screen, OUTSIDE)
    assert {name: parts for name, parts in found.items() if parts} == {}
