"""Quality checks of every page of the built book: links, spelling, size."""

import copy
import functools
import gc
import gzip
import re
import warnings
from urllib.parse import unquote, urlsplit

import pytest
from book_pages import pages_of, parsed
from conftest import ROOT

MAX_PAGE = 2_000_000  # bytes
# Bytes of a page with all that it loads but pictures, and when compressed for transfer.
MAX_TEXT, MAX_PACKED = 1_200_000, 450_000
PICTURES = {".png", ".jpg", ".jpeg", ".gif", ".webp"}
WORDS = ROOT / "book" / "words.txt"
WORD = re.compile(r"[^\W\d_]+(?:[’'][^\W\d_]+)*")


@pytest.fixture(scope="module")
def pages(book):
    found = pages_of(book, "book")
    assert len(found) > 5
    return found


# --- links ----------------------------------------------------------------------------


def broken_links(page, book):
    """Return the links of a page whose file or anchor does not exist."""
    broken = []
    for link in parsed(page).select("a[href], link[href], img[src], script[src]"):
        address = link.get("href") or link.get("src")
        parts = urlsplit(address)
        if parts.scheme or parts.netloc or address == "#":
            continue
        target = (page.parent / unquote(parts.path)) if parts.path else page
        target = target.resolve()
        if not target.is_relative_to(book.resolve()) or not target.is_file():
            broken.append(address)
        elif parts.fragment and target.suffix == ".html":
            wanted = unquote(parts.fragment)
            if not parsed(target).find(id=wanted) and not parsed(target).find(
                attrs={"name": wanted}
            ):
                broken.append(address)
    return broken


def test_every_link_leads_somewhere(pages, book):
    found = {page.name: broken_links(page, book) for page in pages}
    assert {name: links for name, links in found.items() if links} == {}


def test_a_link_that_leads_nowhere_is_noticed(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        "<a id=here href='#here'>a</a><a href='#nowhere'>b</a><a href='none.html'>c</a>"
        "<a href='https://example.org/#x'>d</a><a href='../out.html'>e</a>"
    )
    (tmp_path.parent / "out.html").write_text("")
    assert broken_links(page, tmp_path) == ["#nowhere", "none.html", "../out.html"]


# --- spelling -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dictionary():
    from spylls.hunspell import Dictionary

    with warnings.catch_warnings():  # it leaves its own files open
        warnings.simplefilter("ignore", ResourceWarning)
        english = Dictionary.from_files("en_US")
        gc.collect()
    own = {word for word in WORDS.read_text("utf-8").split() if word}

    @functools.cache
    def knows(word):
        """Is it an English word, a word of the project, or a form of either?"""
        plain = word.replace("’", "'")
        plain = plain.removesuffix("'s")
        if {plain, plain.lower()} & own or english.lookup(plain):
            return True
        return plain.istitle() and english.lookup(plain.lower())

    knows.own = own
    return knows


@functools.cache
def prose(page):
    """Return the words of a page's prose, including alternative texts."""
    article = copy.copy(parsed(page).find("article"))
    for part in article.select(
        "pre, code, script, style, svg, kbd, .math, .bibliography, .citation, .output"
    ):
        part.replace_with(" ")
    for label in article.select("summary > .admonition-title"):  # it may name functions
        label.string = label.get_text().partition("the given code: ")[0]
    texts = [article.get_text(" ")]
    texts += [image.get("alt") or "" for image in article.select("img")]
    text = re.sub(
        r"https?://\S+|\S*(?:\.\w+)*\.(?:ipynb|py|csv|html|json)(?:\.\w+)?\b",
        " ",
        " ".join(texts).replace("\u00ad", ""),
    )
    return {
        word
        for word in WORD.findall(text)
        if len(word) > 2 and not (word.isupper() or re.search(r"[^\x00-\x7f’]", word))
    }


def test_every_word_is_spelt_as_in_a_dictionary(pages, dictionary):
    found = {
        page.name: sorted(word for word in prose(page) if not dictionary(word))
        for page in pages
    }
    found = {name: words for name, words in found.items() if words}
    assert found == {}, f"correct them, or add them to {WORDS.relative_to(ROOT)}"


def test_a_word_that_is_none_is_noticed_and_the_list_is_in_order(dictionary):
    assert dictionary("likelihood")
    assert dictionary("Likelihood’s")
    assert not dictionary("liklihood")
    lines = WORDS.read_text("utf-8").split()
    assert lines == sorted(set(lines), key=lambda word: (word.casefold(), word))


def test_the_word_list_holds_no_word_that_nobody_uses(pages, dictionary):
    used = {
        word.replace("’", "'").removesuffix("'s") for p in pages for word in prose(p)
    }
    used |= {word.lower() for word in used}
    assert dictionary.own - used == set()


# --- size -----------------------------------------------------------------------------


def page_size(page):
    """Return the size in bytes of a page with all files that it names."""
    parts = {page}
    for link in parsed(page).select("link[rel=stylesheet], img[src], script[src]"):
        address = urlsplit(link.get("href") or link.get("src"))
        if not address.scheme:
            parts.add((page.parent / unquote(address.path)).resolve())
    return sum(part.stat().st_size for part in parts)


def test_no_page_exceeds_two_megabytes(pages):
    sizes = {page.name: page_size(page) for page in pages}
    assert {name: n for name, n in sizes.items() if n > MAX_PAGE} == {}
    assert max(sizes.values()) > 100_000  # loaded files are included


def test_no_script_is_there_that_no_page_loads(pages, book):
    loaded = {
        (page.parent / unquote(urlsplit(script["src"]).path)).resolve()
        for page in [*pages, book / "search.html", book / "genindex.html"]
        for script in parsed(page).select("script[src]")
    }
    there = {path.resolve() for path in book.glob("_static/scripts/*.js")}
    assert there
    assert there - loaded == set()


def packed_size(path):
    """Return the number of bytes that are sent for a file; fonts are compressed already."""
    data = path.read_bytes()
    return len(data) if path.suffix == ".woff2" else len(gzip.compress(data, 6))


@pytest.mark.browser
def test_pages_load_quickly_over_a_slow_line(pages, seen, book):
    sizes, packed, loaded = {}, {}, set()
    for path in pages:
        requested = set(seen("desktop")[f"book/{path.name}"]["loaded"])
        files = [book / unquote(urlsplit(url).path).lstrip("/") for url in requested]
        files = [f for f in files if f.is_file() and f.suffix not in PICTURES]
        sizes[path.name] = sum(file.stat().st_size for file in files)
        packed[path.name] = sum(packed_size(file) for file in files)
        loaded |= {file.suffix for file in files}
    assert loaded >= {".html", ".css", ".js", ".woff2"}
    assert {name: n for name, n in sizes.items() if n > MAX_TEXT} == {}
    assert {name: n for name, n in packed.items() if n > MAX_PACKED} == {}


def test_code_without_markup_has_the_colour_of_its_markup(book):
    style = (book / "_static" / "pygments.css").read_text("utf-8")
    themes = re.findall(r"([^{}]*)\.highlight\s*\{[^}]*[^-]color:\s*(#\w+)", style)
    assert len(themes) == 2
    for theme, colour in themes:
        for plain in ("n", "p", "w"):
            (own,) = re.findall(
                re.escape(theme) + r"\.highlight \." + plain + r"\s*\{([^}]*)\}", style
            )
            assert own.strip() == f"color: {colour}"
