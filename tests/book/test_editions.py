"""The class edition of the book, for readers who have not answered yet."""

import functools
import html
import re
from html.parser import HTMLParser

import pytest
from bs4 import BeautifulSoup
from conftest import ROOT, build_book
from filelock import FileLock
from secret import model_answers, solution_lines

from authoring.release import bundle
from project.practicals import Course


@pytest.fixture(scope="module")
def class_edition(book):
    """The class edition, built after the public one to reuse its cached outputs."""
    with FileLock(ROOT / "_build" / ".lock"):
        return build_book(ROOT, ROOT / "_build" / "class", EDITION="class")


def text_of(page):
    """Return the text of a page, with its scripts; a tree of the page would take much longer."""
    parts, parser = [], HTMLParser()
    parser.handle_data = parts.append
    parser.feed(page)
    parser.close()
    return "".join(parts)


@functools.cache
def texts(folder):
    """Return the text of every file of an edition without tags, with white space normalised."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".html":
            text = text_of(path.read_text("utf-8"))
        elif path.suffix in (".js", ".md", ".ipynb", ".txt", ".json", ".py"):
            if "vendor" in path.parts:
                continue
            text = html.unescape(path.read_text("utf-8", errors="replace"))
        else:
            continue
        found[path.relative_to(folder).as_posix()] = re.sub(r"\s+", " ", text)
    return found


def leaks(folder, secret):
    """Return the lines or sentences of ``secret`` in an edition, with the files they are in."""
    pages = texts(folder)
    flat = {re.sub(r"\s+", " ", text) for text in secret}
    return {(line, name) for line in flat for name in pages if line in pages[name]}


def test_the_class_edition_holds_no_line_of_a_solution(class_edition, book):
    secret = solution_lines()
    assert leaks(class_edition, secret) == set()
    # All are in the public edition; otherwise this test would be vacuous.
    shown = {line for line, _ in leaks(book, secret)}
    assert shown == {re.sub(r"\s+", " ", line) for line in secret}


def test_the_class_edition_holds_no_model_answer(class_edition, book):
    secret = model_answers()
    assert len(secret) > 50
    assert leaks(class_edition, secret) == set()
    shown = {line for line, _ in leaks(book, secret)}
    assert len(shown) > 0.9 * len(secret)


def test_the_class_edition_shows_what_to_write(class_edition):
    page = (class_edition / "book" / "01a-deep-ensembles.html").read_text("utf-8")
    text = BeautifulSoup(page, "html.parser").get_text()
    assert "raise NotImplementedError()" in text
    assert "def gaussian_nll(" in text
    assert "Show a solution" not in text
    assert not (class_edition / "_sources").exists()


def test_a_bundle_can_hold_the_class_edition(class_edition):
    files = bundle(Course.read(ROOT), ["warm_up"], book=True)
    assert b"`book/index.html`" in files["README.md"]
    assert "book/book/sums-and-means.html" in files  # the exercise names it
    assert "book/_static/course.css" in files
    notebooks = {name for name in files if name.endswith(".ipynb")}
    assert notebooks == {f"exercises/{lab}-warm-up.ipynb" for lab in ("00a", "00b")}


def test_another_edition_is_refused(tmp_path):
    (tmp_path / "book").mkdir()
    for name in ("_config.yml", "_toc.yml"):
        (tmp_path / name).write_text((ROOT / name).read_text("utf-8"), "utf-8")
    with pytest.raises(pytest.fail.Exception, match="EDITION is public or class"):
        build_book(tmp_path, EDITION="teacher")
