"""Search, numbers, and what a page's head and foot say about it."""

import copy
import re

import pytest
import yaml
from book_pages import pages_of, parsed
from bs4 import BeautifulSoup
from conftest import ROOT
from page_access import LATER

from project.practicals import Course

DESKTOP = {"viewport": {"width": 1280, "height": 900}}
# Words that readers search for, and where their first result leads.
SYNONYMS = {
    "reparameterization": (
        "02a-approximate-inference",
        "A gradient through a random number",
    ),
    "aleatoric": ("01b-deep-ensembles", "What kind of uncertainty?"),
    "epistemic": ("01b-deep-ensembles", "What kind of uncertainty?"),
    "OOD": ("05-which-method", "Does it notice OOD inputs?"),
    "temperature": ("04a-calibration-and-flows", "Temperature scaling"),
    "conformal": ("06a-acting-on-uncertainty", "The rank of one score"),
}
# The heading above the first visible match, the match, and the scroll position.
MATCH = """
() => {
  const match = [...document.querySelectorAll("article .highlighted")].find(match => {
    const box = match.getBoundingClientRect();
    return match.checkVisibility() && box.top > 0 && box.bottom < innerHeight;
  });
  const headings = [...document.querySelectorAll("article h1, article h2, article h3")];
  const above = headings.filter(heading => match && heading.compareDocumentPosition(match)
    & Node.DOCUMENT_POSITION_FOLLOWING);
  return {
    at: scrollY,
    text: match?.textContent.toLowerCase(),
    heading: above.at(-1)?.textContent.replace(/[#¶]$/, ""),
  };
}
"""


@pytest.fixture(scope="module")
def pages(book):
    """Parsed pages of the book, by name."""
    found = [*pages_of(book, "book"), book / "404.html"]
    return {path.name: parsed(path) for path in found}


def results(page, address, query):
    """Search for a word; return the results, whose excerpts may be still to come."""
    page.goto(f"{address}search.html?q={query}")
    page.get_by_text("Search finished").wait_for()
    return page.locator("ul.search > li")


def results_with_excerpts(page, address, query):
    found = results(page, address, query)
    page.wait_for_load_state("networkidle")
    return found


@pytest.mark.browser
@pytest.mark.parametrize("word", SYNONYMS)
def test_a_search_leads_to_the_section_and_shows_the_match(browser, address, word):
    page = browser.new_context(**DESKTOP).new_page()
    first = results(page, address, word).first
    first.locator("a").first.click()
    page.wait_for_url(f"**/{SYNONYMS[word][0]}.html*")
    page.wait_for_load_state("load")
    page.evaluate(LATER, 100)  # by then, course.js has scrolled to the match
    found = page.evaluate(MATCH)
    assert found["text"] == word.lower()
    assert found["heading"] == SYNONYMS[word][1]
    assert found["at"] > 0
    page.context.close()


@pytest.mark.browser
def test_a_section_of_this_title_comes_first_and_the_glossary_is_named(
    browser, address
):
    page = browser.new_context(**DESKTOP).new_page()
    first = results(page, address, "temperature scaling").first.locator("> a")
    assert first.inner_text().endswith("Temperature scaling")
    titles = results(page, address, "coverage").locator("> a").all_inner_texts()
    assert any(title.startswith("Glossary: ") for title in titles)
    page.context.close()


@pytest.mark.browser
def test_excerpts_show_no_tex_and_no_formula_twice(browser, address):
    page = browser.new_context(**DESKTOP).new_page()
    for word in ("posterior", "weight decay", "Laplace"):
        texts = results_with_excerpts(page, address, word).all_inner_texts()
        assert len(texts) > 4
        assert sum(len(text) > 150 for text in texts) > 4  # there are excerpts
        for text in texts:
            assert not re.search(r"\\\w|\$", text), text
            # KaTeX has zero-width spaces in its copy for the eye only.
            assert "\u200b" not in text, text
    page.context.close()


@pytest.mark.browser
def test_a_page_is_not_listed_below_its_sections_nor_a_title_said_twice(
    browser, address
):
    page = browser.new_context(**DESKTOP).new_page()
    for word in ("temperature", "entropy", "dropout"):
        found = results_with_excerpts(page, address, word)
        titles = found.locator("> a").all_inner_texts()
        assert f"Results: {len(titles)}" in page.locator("main").inner_text()
        links = [one.get_attribute("href") for one in found.locator("> a").all()]
        above = set()
        for link in links:
            path, _, anchor = link.partition("#")
            adds = anchor and not anchor.startswith("index-")
            assert adds or path not in above
            above |= {path} if anchor else set()
        for result in found.all():
            title = result.locator("> a").inner_text().rpartition(" > ")[-1]
            excerpt = result.locator("p.context")
            if excerpt.count():
                assert not excerpt.inner_text().startswith(title), title
    assert "02b" in links[0]  # the page stays above its less important sections
    page.context.close()


def test_numbers_begin_with_the_number_of_the_lab(pages):
    for lab in Course.read(ROOT).labs():
        page = pages[f"{lab.chapter.stem}.html"]
        number = f"{int(lab.number)}{lab.part}"
        title = page.select_one("article h1 .section-number")
        assert title.get_text() == f"{number}. "
        entry = page.select_one(".bd-links li.current > a")
        assert entry.get_text().startswith(f"{number}. ")
        for selector, pattern in {
            ".exercise > .admonition-title .caption-number": "Exercise {}.{} ",
            "figcaption .caption-number": "Figure {}.{} ",
            ".eqno": "({}.{})",
        }.items():
            shown = [re.sub("[#¶]", "", n.get_text()) for n in page.select(selector)]
            wanted = [pattern.format(number, n + 1) for n in range(len(shown))]
            assert shown == wanted
            assert shown or number == "0"


def test_solutions_have_the_titles_of_their_exercises(pages):
    def titles(page, selector):
        texts = (title.get_text() for title in page.select(selector))
        return {" ".join(re.sub("[#¶]", "", text).split()) for text in texts}

    solutions = 0
    for page in pages.values():
        shown = titles(page, "details.answer > summary")
        shown = {title for title in shown if title.startswith("Solution to ")}
        exercises = titles(page, ".exercise > .admonition-title")
        assert shown <= {f"Solution to {title}" for title in exercises}
        solutions += len(shown)
    assert solutions > 20


def test_a_number_stays_with_its_power_its_error_and_its_name(pages):
    parted = re.compile(r".{20}(?: ×\s10|× 10|± |\b[A-Za-zα-ω] = [−\d]).{10}")
    found = {}
    for name, page in pages.items():
        article = copy.copy(page.select_one("article"))
        for aside in article.select("pre, code, .math, .text_html, math"):
            aside.decompose()
        found[name] = [match[0] for match in parted.finditer(article.get_text())]
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_figures_of_pages_that_are_no_labs_have_no_number(pages):
    labs = {f"{lab.chapter.stem}.html" for lab in Course.read(ROOT).labs()}
    others = [page for name, page in pages.items() if name not in labs]
    assert any(page.select("figcaption") for page in others)
    assert not any(page.select("figcaption .caption-number") for page in others)


@pytest.mark.browser
def test_an_old_address_leads_to_the_first_lab(browser, address):
    practicals = [one for one in Course.read(ROOT).practicals if len(one.labs) > 1]
    assert len(practicals) > 3
    with browser.new_context(**DESKTOP) as context:
        page = context.new_page()
        for practical in practicals:
            first = practical.labs[0]
            old = f"{first.number}-{practical.stem.replace('_', '-')}"
            page.goto(f"{address}/book/{old}.html")
            page.wait_for_url(f"**/book/{first.chapter.stem}.html")


def test_every_page_says_what_it_is(pages, book):
    titles, descriptions = set(), set()
    for path in pages_of(book):
        text, _, _ = path.read_text("utf-8").partition("</head>")
        head = BeautifulSoup(text, "html.parser").head
        titles.add(head.title.get_text())
        descriptions.add(head.select_one("meta[name=description]")["content"])
        icon = path.parent / head.select_one("link[rel=icon]")["href"]
        assert icon.is_file()
    assert len(titles) == len(descriptions) > len(pages)
    assert all("Known Unknowns" in title for title in titles)
    for description in descriptions:
        assert 20 < len(description) <= 203
        assert not re.search(r"[\\$]", description)


def test_the_footer_tells_the_licences_and_how_to_cite(pages):
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    for page in pages.values():
        footer = re.sub(r"\s+", " ", page.select_one(".bd-footer-content").get_text())
        for wanted in (
            cited["title"],
            f"version {cited['version']}",
            f"{cited['authors'][0]['name']} ({cited['date-released'].year})",
            "CC BY 4.0",
            "BSD 3-Clause",
        ):
            assert wanted in footer


def test_the_page_for_wrong_addresses_leads_back(pages):
    links = [link["href"] for link in pages["404.html"].select("article a")]
    assert links == ["book/intro.html", "search.html"]
