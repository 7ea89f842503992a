"""The layout of the built book on a wide and on a narrow screen."""

import re

import pytest
from book_pages import pages_of, parsed
from labs import COURSE
from page_facts import PERCENT

pytestmark = pytest.mark.browser
DESKTOP = {"viewport": {"width": 1280, "height": 900}}
each_screen = pytest.mark.parametrize("screen", ["desktop", "phone"])


def answers(seen, screen, question):
    """Return what each page answers that is not nothing."""
    found = {name: facts[question] for name, facts in seen(screen).items()}
    return {name: answer for name, answer in found.items() if answer}


@pytest.fixture(scope="module")
def pages(book):
    """Parsed pages of the book, by name."""
    return {path.name: parsed(path) for path in pages_of(book, "book")}


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
            assert part.inner_text().count("\N{NO-BREAK SPACE}tasks") == len(
                practical.labs
            )


def test_a_page_shows_ideas_before_plotting_code(seen):
    shares = {
        lab.name: answers(seen, "desktop", "code")[f"book/{lab.chapter.stem}.html"]
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


@each_screen
def test_the_title_of_a_fold_stays_where_it_is(seen, screen):
    assert answers(seen, screen, "moving") == {}


def test_code_and_equations_are_not_cut_off_on_a_desktop(seen):
    assert answers(seen, "desktop", "cut off") == {}


def test_equations_fit_a_phone(seen):
    assert [
        (name, box)
        for name, boxes in answers(seen, "phone", "cut off").items()
        for box in boxes
        if not box.startswith("PRE: ")
    ] == []


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


def test_rows_of_sentences_name_their_columns_on_a_phone(browser, address):
    phone = {"viewport": {"width": 390, "height": 844}, "is_mobile": True}
    with browser.new_context(**phone) as context:
        page = context.new_page()
        for name, columns, first in (
            ("00a-warm-up", ["JAX", "PyTorch"], "the Hessian"),
            ("02b-approximate-inference", ["MAP", "mean-field VI"], "posterior"),
            ("05-which-method", ["trains", "passes per forecast"], "single network"),
        ):
            page.goto(f"{address}/book/{name}.html")
            cells = page.locator("tr", has_text=first).locator("td[data-column]")
            named = cells.evaluate_all("cells => cells.map(c => c.dataset.column)")
            assert named[:2] == columns
            assert f'"{columns[0]}: "' == cells.first.evaluate(
                "cell => getComputedStyle(cell, '::before').content"
            )


def test_no_line_of_code_goes_on_below(pages):
    # Includes collapsed code and hidden tabs; the test above sees only what is visible.
    found = {}
    for name, page in pages.items():
        text = "\n".join(pre.get_text() for pre in page.select("main pre"))
        found[name] = [
            line
            for line in text.split("\n")
            if len(line) > 88
            and '"description": ' not in line  # prose in a JSON schema
        ]
    assert {name: lines for name, lines in found.items() if lines} == {}


@each_screen
def test_no_line_begins_with_the_comma_after_a_formula(seen, screen):
    assert answers(seen, screen, "parted") == {}


@each_screen
def test_a_percent_sign_stays_with_its_number(seen, screen):
    assert answers(seen, screen, "percent") == {}


@pytest.mark.parametrize("number", ["95 ", "<b>95</b> ", "<i>5</i>"])
def test_a_percent_sign_on_the_next_line_is_noticed(browser, number):
    page = browser.new_page()
    style = "<style>p { width: 0 } i { display: inline-block }</style>"
    page.set_content(f"{style}<main><p>about {number}%</p></main>")
    assert len(page.evaluate(PERCENT)) == 1
    page.close()


def test_no_formula_in_a_sentence_is_wider_than_a_phone(seen):
    assert answers(seen, "phone", "too wide") == {}


def test_nothing_but_boxes_scrolls_sideways_when_a_page_is_enlarged_four_times(seen):
    assert answers(seen, "phone", "enlarged") == {}
    assert answers(seen, "phone", "enlarged formulas") == {}


@each_screen
def test_equation_numbers_are_beside_or_below_their_equations(seen, screen):
    assert answers(seen, screen, "numbers") == {}


def test_formulas_are_no_tab_stops(seen):
    assert answers(seen, "desktop", "stops") == {}


@each_screen
def test_everything_that_scrolls_can_be_reached_by_keyboard(seen, screen):
    assert answers(seen, screen, "out of reach") == {}


def test_no_table_is_cut_on_a_desktop(seen):
    assert answers(seen, "desktop", "tables") == {}


def test_numbers_in_prose_have_minus_signs_and_powers(pages):
    found = []
    for page in pages.values():
        found += [number.get_text() for number in page.select("span.pasted-text")]
    assert any("−" in number for number in found)
    assert any("×\u00a010⁻" in number for number in found)
    odd = re.compile(r"(?<!\w)-[\d.]|\de[+-]\d")
    assert [number for number in found if odd.search(number)] == []


@each_screen
def test_the_links_at_the_foot_of_a_page_are_whole(seen, screen):
    assert answers(seen, screen, "outside") == {}
