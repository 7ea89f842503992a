"""The links of a published fork, in a small book that is built with and without addresses."""

import shutil

import pytest
from book_pages import pages_of
from bs4 import BeautifulSoup
from conftest import ROOT, build_book
from publication_block import fill

REPOSITORY = "https://github.com/ada/course"
SITE = "https://ada.github.io/course"
PAGES = {
    "book/intro.md": "# Intro\n\n```{clone}\n```\n",
    "book/01-halves.md": "# Halves\n",
    "solutions/halves.py": '"""Halves."""\n',
}
TOC = "format: jb-book\nroot: book/intro\nchapters:\n- file: book/01-halves\n"


def built(folder, edition="public", **values):
    """Build a book of two pages, one with an exercise; return the parsed pages."""
    for name, text in PAGES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    (folder / "_toc.yml").write_text(TOC, "utf-8")
    shutil.copy(ROOT / "_config.yml", folder)
    shutil.copy(ROOT / "book" / "references.bib", folder / "book")
    for part in ("_static", "_templates"):
        shutil.copytree(ROOT / "book" / part, folder / "book" / part)
    fill(folder, **values)
    out = build_book(folder, EDITION=edition)
    return {
        path.stem: BeautifulSoup(path.read_text("utf-8"), "html.parser")
        for path in (*pages_of(out, "book"), out / "404.html")
    }


def addresses(page):
    """Return the texts and addresses of the links to other hosts in the page's header."""
    links = page.select(".bd-header-article a[href^=http]")
    return {link.get_text(strip=True): link["href"] for link in links}


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    return built(tmp_path_factory.mktemp("empty"), repository="", site="")


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    return built(tmp_path_factory.mktemp("filled"), repository=REPOSITORY, site=SITE)


SOURCES = {
    "Repository": REPOSITORY,
    "Suggest edit": f"{REPOSITORY}/edit/main/book/{{}}.md",
    "Open issue": f"{REPOSITORY}/issues/new?title=Issue%20on%20page%20%2Fbook/{{}}.html"
    "&body=Your%20issue%20content%20here.",
}
ONLINE = {
    "Open in Colab": "https://colab.research.google.com/github/ada/course/blob/main/"
    "exercises/01-halves.ipynb",
    "Open in Binder": "https://mybinder.org/v2/gh/ada/course/main"
    "?labpath=exercises%2F01-halves.ipynb",
    "Open in Codespaces": "https://codespaces.new/ada/course/tree/main",
}


@pytest.mark.long
def test_a_filled_block_gives_links_and_buttons_and_the_clone_command(filled):
    for name, page in filled.items():
        if name == "404":
            continue
        there = {text: address.format(name) for text, address in SOURCES.items()}
        there |= ONLINE if name == "01-halves" else {}
        assert addresses(page) == there
        canonical = page.select_one("link[rel=canonical]")["href"]
        assert canonical == f"{SITE}/book/{name}.html"
        shared = {
            tag["property"]: tag["content"] for tag in page.select("meta[property]")
        }
        assert shared["og:url"] == canonical
        assert shared["og:image"].startswith(f"{SITE}/_images/social_previews/")
        assert shared["og:title"] in page.select_one("article h1").get_text()
    commands = filled["intro"].select_one("main pre").get_text()
    assert commands.splitlines() == [f"git clone {REPOSITORY}", "cd course"]


@pytest.mark.long
def test_the_page_for_wrong_addresses_works_at_any_depth(filled):
    assert filled["404"].base["href"] == f"{SITE}/"
    assert filled["404"].select_one("article a")["href"] == "book/intro.html"


@pytest.mark.long
def test_the_footer_links_to_the_pdf_of_the_release(filled):
    release = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    assert "known-unknowns.pdf" in release
    for page in filled.values():
        links = [link["href"] for link in page.select(".bd-footer-content a")]
        assert f"{REPOSITORY}/releases/latest/download/known-unknowns.pdf" in links


@pytest.mark.long
def test_an_empty_block_gives_none_and_no_empty_button(empty):
    for page in empty.values():
        assert addresses(page) == {}
        nothing = "link[rel=canonical], base, main pre, [href=''], [src='']"
        assert page.select(f"{nothing}, meta[property='og:url']") == []
        groups = page.select(".bd-header-article .dropdown")
        if page is not empty["404"]:
            assert groups  # the theme's download button
        assert all(group.select("li a, li button") for group in groups)
        text = str(page)
        for word in ("colab", "binder", "codespaces", "github.com", "fa-rocket"):
            assert word not in text


@pytest.mark.long
def test_the_class_edition_links_to_no_source(tmp_path):
    pages = built(tmp_path, "class", repository=REPOSITORY, site=SITE)
    issue = SOURCES["Open issue"].format("01-halves")
    links = addresses(pages["01-halves"])
    assert sorted(links.values()) == sorted([issue, *ONLINE.values()])


@pytest.mark.long
def test_a_bad_address_stops_the_build_and_is_named(tmp_path):
    with pytest.raises(
        pytest.fail.Exception, match="`publication: repository` is 'http:"
    ):
        built(tmp_path, repository="http://github.com/ada/course")
