"""The methods that practical 5 compares, and where the book teaches each of them."""

import re
from pathlib import Path

import pytest

from course import plots

BOOK = Path(__file__).parents[2] / "book"
CHAPTER = BOOK / "05-which-method.md"
TABLE = re.compile(
    r"^\| method \| what it is \| from \|\n\|.*\n((?:\|.*\n)+)", re.MULTILINE
)
LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<label>[^)]+)\)")
# An exercise's label, or one in front of a heading.
LABEL = re.compile(r"^:label: (\S+)$|^\((\S+)\)=$", re.MULTILINE)


def rows(text):
    """Return the last cell of each row of the table, by its method."""
    (table,) = TABLE.findall(text)
    cells = [line.strip("| ").split(" | ") for line in table.splitlines()]
    return {method: source for method, _, source in cells}


def pages_of_labels():
    """Return the page of each label: its number and letter, such as 2a."""
    return {
        first or second: path.name.partition("-")[0].lstrip("0")
        for path in sorted(BOOK.glob("*.md"))
        for first, second in LABEL.findall(path.read_text("utf-8"))
    }


def not_followed(text):
    """Return the methods without a link, and the links that do not lead where they say."""
    pages, wrong = pages_of_labels(), []
    here = CHAPTER.name.partition("-")[0].lstrip("0")
    for method, source in rows(text).items():
        links = LINK.findall(source)
        if not links or LINK.sub("", source).replace(", and", "").strip():
            wrong.append(method)
        wrong += [
            label
            for said, label in links
            if pages.get(label)
            != (here if said == "here" else said.removeprefix("lab "))
        ]
    return wrong


def test_each_method_leads_to_the_lab_that_teaches_it():
    text = CHAPTER.read_text("utf-8")
    assert list(rows(text)) == list(plots.METHODS)
    assert not_followed(text) == []


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (
            "(approximate-inference/dropout-mlp)",
            "(approximate-inference/dropout)",
            None,
        ),
        ("[lab 2b](approximate-inference/dropout-mlp)", "practical 2", "MC dropout"),
        (
            "[lab 3b](sec-four-networks)",
            "[lab 3a](sec-four-networks)",
            "sec-four-networks",
        ),
    ],
    ids=["no such label", "no link", "another lab"],
)
def test_a_wrong_reference_is_found(old, new, found):
    text = CHAPTER.read_text("utf-8")
    assert old in text
    assert not_followed(text.replace(old, new)) == [found or new.strip("()")]
