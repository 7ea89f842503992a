"""A guess on a page: by mouse and by keys, without scripts, without styles, and on paper."""

import shutil
import subprocess
import sys
from importlib.resources import files

import browser as chromium
import pytest
from bs4 import BeautifulSoup
from conftest import ROOT

PAGE = """\
Page
====

.. raw:: html

   <article>

.. guess:: warm-up/two-directions

A picture.

.. _inside:

.. rubric:: Anchor

A discussion of gnus.

.. end-guess::

A new subject.

.. guess:: warm-up/without-determinant

Another picture.

.. _section:

Section
-------

Text.

.. guess:: warm-up/broadcast-loss

A third picture.

.. guess:: warm-up/two-backward-passes

A fourth picture.
"""
CONF = """\
extensions = ["authoring.guesses"]
html_theme = "basic"
html_static_path = [{static!r}]
html_css_files = ["course.css"]
html_js_files = [["course.js", {{"defer": "defer"}}]]
"""
VISIBLE = "boxes => boxes.map(box => box.checkVisibility())"


def build(folder, text):
    """Build one page with the book's styles and script."""
    static = folder / "static"
    static.mkdir()
    for name in ("course.css", "course.js"):
        shutil.copy(ROOT / "book" / "_static" / name, static)
    (folder / "conf.py").write_text(CONF.format(static=str(static)))
    (folder / "index.rst").write_text(text, "utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", folder, folder / "html"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guesses")
    done = build(folder, PAGE)
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def unguessed():
    """A browser that leaves all guesses to the reader."""
    with chromium.launched(guessed=False) as running:
        yield running


@pytest.fixture
def opened(unguessed, built):
    """Open the page from its file; return it."""
    contexts = []

    def open_page(anchor="", **options):
        contexts.append(unguessed.new_context(**options))
        page = contexts[-1].new_page()
        page.goto((built / "index.html").as_uri() + anchor)
        return page

    yield open_page
    for context in contexts:
        context.close()


def parts(page):
    """Which of the parts that a guess opens are to be seen?"""
    return page.locator(".guessed").evaluate_all(VISIBLE)


def sentences(page):
    """Which of the sentences about the choices of the first guess are to be seen?"""
    said = page.locator("fieldset.guess").first.locator("li > p")
    return said.evaluate_all(VISIBLE)


def test_a_guess_opens_what_belongs_to_it_and_no_more(built):
    page = BeautifulSoup((built / "index.html").read_text("utf-8"), "html.parser")
    parts = [part.get_text(" ", strip=True) for part in page.select(".guessed")]
    assert parts == [
        "A picture. Anchor A discussion of gnus.",
        "Another picture.",
        "A third picture.",
        "A fourth picture.",
    ]
    for guess in page.select("fieldset.guess"):
        assert guess.find_next_sibling()["class"][0] == "guessed"
        assert len({one["name"] for one in guess.select("input")}) == 1


def test_an_unknown_guess_is_a_warning_that_names_the_closest(tmp_path):
    done = build(tmp_path, "Page\n====\n\n.. guess:: warm-up/two-direction\n")
    assert done.returncode != 0
    assert "Did you mean warm-up/two-directions" in " ".join(done.stderr.split())


@pytest.mark.browser
def test_a_choice_opens_its_sentence_and_the_figure_without_scripts(opened):
    page = opened(java_script_enabled=False)
    assert parts(page) == [False] * 4
    assert sentences(page) == [False] * 3
    assert page.get_by_text("A new subject.").is_visible()
    page.get_by_label("The minimum of KL(p‖q)").click()
    assert parts(page) == [True, False, False, False]
    assert sentences(page) == [True, False, False]
    page.get_by_label("Show without a guess").first.click()
    assert parts(page) == [True, False, False, False]
    assert sentences(page) == [False] * 3


@pytest.mark.browser
def test_the_keyboard_reaches_each_guess_once_and_chooses(opened):
    page = opened()
    focused = "document.activeElement.name"
    page.locator("h1").click()
    passed = []
    for _ in range(30):
        page.keyboard.press("Tab")
        if name := page.evaluate(focused):
            passed.append(name)
    assert passed[:4] == [
        *("warm-up/two-directions", "warm-up/without-determinant"),
        *("warm-up/broadcast-loss", "warm-up/two-backward-passes"),
    ]
    page.locator("input[type=radio]").first.focus()
    page.keyboard.press("Space")
    assert sentences(page) == [True, False, False]
    page.keyboard.press("ArrowDown")
    assert sentences(page) == [False, True, False]
    assert parts(page)[0]


@pytest.mark.browser
def test_paper_and_pages_without_styles_show_everything(opened, unguessed):
    page = opened()
    page.emulate_media(media="print")
    assert parts(page) == [True] * 4
    assert sentences(page) == [True] * 3
    page.emulate_media(media="screen")
    assert parts(page) == [False] * 4
    page.evaluate(
        "[...document.styleSheets].forEach(sheet => { sheet.disabled = true; })"
    )
    assert parts(page) == [True] * 4
    assert sentences(page) == [True] * 3


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_a_link_into_a_part_opens_it(opened, scripts):
    page = opened("#inside", java_script_enabled=scripts)
    assert parts(page) == [True, False, False, False]
    if scripts:  # it stays open
        page.evaluate("location.hash = '#section'")
        page.wait_for_timeout(50)
        assert parts(page) == [True, False, False, False]


@pytest.mark.browser
def test_a_match_of_the_search_opens_its_part(unguessed, built):
    with (
        chromium.served(built) as address,
        unguessed.new_context() as context,
    ):
        page = context.new_page()
        page.add_init_script("localStorage.setItem('sphinx_highlight_terms', 'gnus')")
        page.goto(f"{address}index.html")
        page.wait_for_selector(".guessed .highlighted")
        page.wait_for_function("document.querySelector('[value=show]').checked")
        assert parts(page) == [True, False, False, False]


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_closed_and_open(opened, scheme):
    page = opened(color_scheme=scheme)
    page.add_script_tag(path=files("axe_playwright_python") / "axe.min.js")
    for _ in range(2):
        found = page.evaluate("axe.run('fieldset.guess')")["violations"]
        assert [one["id"] for one in found] == []
        page.get_by_label("Both of them").click()
