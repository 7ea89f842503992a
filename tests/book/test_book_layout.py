"""The layout of the built book on a wide and on a narrow screen."""

import re

import pytest
from book_pages import UNFOLD, pages_of
from bs4 import BeautifulSoup
from labs import COURSE

pytestmark = pytest.mark.browser
DESKTOP = {"viewport": {"width": 1280, "height": 900}}
SCREENS = {
    "desktop": DESKTOP,
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True},
}
each_screen = pytest.mark.parametrize("screen", SCREENS)

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
    .map(box => `${box.tagName}: ${
      box.textContent.split("\\n").sort((a, b) => b.length - a.length)[0]}`);
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
# Elements within formulas that the tab key would stop at.
STOPS = """
() => [...document.querySelectorAll(".math, .math *")]
  .filter(element => element.tabIndex >= 0 && !element.matches(".headerlink"))
  .map(element => element.outerHTML)
"""
# Tables that are wider than their column.
CUT_TABLES = (
    "async () => {"
    + UNFOLD
    + """
  await document.fonts.ready;
  return [...document.querySelectorAll("main table")]
    .filter(table => table.checkVisibility()
      && table.scrollWidth > table.parentElement.clientWidth + 1)
    .map(table => table.innerText.slice(0, 80));
}
"""
)
# Percent signs that are not on the line of their number.
PERCENT = (
    "async () => {"
    + UNFOLD
    + """
  await document.fonts.ready;
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const parted = [], range = document.createRange();
  const lineOf = (node, at) => {
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    return range.getBoundingClientRect();
  };
  let before = null;
  for (let node; (node = texts.nextNode());) {
    if (!node.parentElement.checkVisibility()) continue;
    for (let at = 0; at < node.data.length; at++) {
      const sign = node.data[at];
      if (sign === "%" && before?.[0] === node.parentElement.closest("p, li, td, dd")) {
        const box = lineOf(node, at);
        if (box.width && box.left < before[1].left) parted.push(node.data.slice(0, 40));
      }
      if (/[0-9]/.test(sign) && (node.data[at + 1] ?? "%") === "%")
        before = [node.parentElement.closest("p, li, td, dd"), lineOf(node, at)];
      else if (!/\\s/.test(sign)) before = null;
    }
  }
  return parted;
}
"""
)
# Equation numbers that are outside the page, or on their equation.
NUMBERS = (
    "async () => {"
    + UNFOLD
    + """
  await document.fonts.ready;
  const width = document.documentElement.clientWidth;
  return [...document.querySelectorAll("main .eqno")].filter(number => {
    const [box, formula] = [number, number.parentElement.querySelector(".katex-display")]
      .map(element => element.getBoundingClientRect());
    return box.right > width
      || box.left < formula.right - 1 && box.top < formula.bottom - 1;
  }).map(number => number.textContent);
}
"""
)
# Boxes with a horizontal scroll bar that the tab key does not reach, with everything unfolded.
OUT_OF_REACH = (
    "async () => {"
    + UNFOLD
    + """
  await document.fonts.ready;
  await new Promise(done => setTimeout(done, 500));  // the scripts wait this long
  return [...document.querySelectorAll("main *")]
    .filter(box => box.checkVisibility() && box.tabIndex < 0
      && ["auto", "scroll"].includes(getComputedStyle(box).overflowX)
      && box.scrollWidth > box.clientWidth + 1
      && !box.querySelector("a, button, [tabindex='0']"))
    .map(box => box.outerHTML.slice(0, 120));
}
"""
)
# One visit asks all of them, in this order: the later ones unfold the page, and the last one
# changes its lines of code.
ASKED = {
    "code": CODE,
    "outside": OUTSIDE,
    "stops": STOPS,
    "parted": PARTED,
    "percent": PERCENT,
    "too wide": TOO_WIDE,
    "tables": CUT_TABLES,
    "numbers": NUMBERS,
    "out of reach": OUT_OF_REACH,
    "cut off": CUT_OFF,
}
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
    return [path.relative_to(book).as_posix() for path in pages_of(book)]


@pytest.fixture(scope="module")
def seen(browser, address, names):
    """What every page answers to each question that is not nothing, by screen."""
    found = {screen: {question: {} for question in ASKED} for screen in SCREENS}
    for screen, answers in found.items():
        with browser.new_context(**SCREENS[screen]) as context:
            page = context.new_page()
            for name in names:
                page.goto(address + name)
                page.wait_for_load_state("load")
                for question, script in ASKED.items():
                    if answer := page.evaluate(script):
                        answers[question][name] = answer
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


def test_a_page_shows_ideas_before_plotting_code(seen):
    shares = {
        lab.name: seen["desktop"]["code"][f"book/{lab.chapter.stem}.html"]
        for lab in COURSE.labs()
    }
    assert {name: share for name, share in shares.items() if share > 0.15} == {}


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


def test_code_and_equations_are_not_cut_off_on_a_desktop(seen):
    assert seen["desktop"]["cut off"] == {}


def test_equations_fit_a_phone_where_they_can_be_broken(seen):
    cut = [
        (name, box)
        for name, boxes in seen["phone"]["cut off"].items()
        for box in boxes
        if not box.startswith("PRE: ")
    ]
    assert len(cut) <= 1, cut  # the loss of many heads


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


@each_screen
def test_no_line_begins_with_the_comma_after_a_formula(seen, screen):
    assert seen[screen]["parted"] == {}


@each_screen
def test_a_percent_sign_stays_with_its_number(seen, screen):
    assert seen[screen]["percent"] == {}


def test_no_formula_in_a_sentence_is_wider_than_a_phone(seen):
    assert seen["phone"]["too wide"] == {}


@each_screen
def test_equation_numbers_are_beside_or_below_their_equations(seen, screen):
    assert seen[screen]["numbers"] == {}


def test_formulas_are_no_tab_stops(seen):
    assert seen["desktop"]["stops"] == {}


@each_screen
def test_everything_that_scrolls_can_be_reached_by_keyboard(seen, screen):
    assert seen[screen]["out of reach"] == {}


def test_no_table_is_cut_on_a_desktop(seen):
    assert seen["desktop"]["tables"] == {}


def test_numbers_in_prose_have_minus_signs_and_powers(book):
    found = []
    for path in pages_of(book, "book"):
        page = BeautifulSoup(path.read_text("utf-8"), "html.parser")
        found += [number.get_text() for number in page.select("span.pasted-text")]
    assert any("−" in number for number in found)
    assert any("×\u00a010⁻" in number for number in found)
    odd = re.compile(r"(?<!\w)-[\d.]|\de[+-]\d")
    assert [number for number in found if odd.search(number)] == []


@each_screen
def test_the_links_at_the_foot_of_a_page_are_whole(seen, screen):
    assert seen[screen]["outside"] == {}
