"""The index of mistakes: every task has a concept, every misconception is on the page."""

import re

from bs4 import BeautifulSoup
from labs import COURSE

from authoring.misconceptions import (
    exercises,
    merged,
    tasks_by_concept,
)
from course.task import find, stems, tasks_of

JOINER = "\u2060"  # keeps formulas on a line
NUMBER = r"\d+(?:[.,]\d+)*[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]*"
EVERY_TASK = {id_ for stem in stems() for id_ in tasks_of(stem)}


def test_every_task_uses_a_concept():
    assert {id_ for ids in tasks_by_concept().values() for id_ in ids} == EVERY_TASK


def test_no_concept_names_a_task_twice():
    for concept, ids in tasks_by_concept().items():
        assert len(ids) == len(set(ids)), concept


def test_sentences_that_differ_in_one_number_are_merged():
    sentences = [
        "at rate 1, H⁻¹g",
        "you add 2 to 3",
        "at rate 0.1, H⁻¹g",
        "you add 4 to 5",
        "at rate 10⁻⁵, H⁻¹g",
        "at rate 1, Hg",
    ]
    assert merged([*sentences, sentences[0]]) == [
        "at rate 1, 0.1 or 10⁻⁵, H⁻¹g",
        "you add 2 to 3",
        "you add 4 to 5",
        "at rate 1, Hg",
    ]


def in_short(sentence):
    """Write a sentence without spaces, signs and the values of its numbers."""
    text = sentence.translate(str.maketrans("’“”", '\'""'))
    text = re.sub(rf"[\s`_{JOINER}]", "", text).lower()
    return re.sub(rf"{NUMBER}(?:(?:,|or){NUMBER})*", "#", text)


def test_every_misconception_is_on_the_page(book):
    page = (book / "book/misconceptions.html").read_text("utf-8")
    article = BeautifulSoup(page, "html.parser").select_one("article")
    ids = {(label, find(id_).name): id_ for id_, label in exercises(COURSE).items()}
    folds = article.select("details")
    for fold, (concept, tasks) in zip(folds, tasks_by_concept().items(), strict=True):
        title = f"{concept} ({len(fold.select('li'))})"
        assert fold.summary.get_text() == title
        shown = {}
        for of in fold.select("details > p"):
            label = of.a["href"].partition("#")[2]
            sentences = [one.get_text() for one in of.find_next_sibling("ul")("li")]
            shown[ids[label, of.code.get_text()]] = set(map(in_short, sentences))
        mistakes = {id_: find(id_).misconceptions for id_ in tasks}
        assert shown == {
            id_: {in_short(one.hint) for one in known}
            for id_, known in mistakes.items()
        }
