"""The index of mistakes: every task has a concept, every misconception is on the page."""

import re

from bs4 import BeautifulSoup
from labs import COURSE

from authoring.misconceptions import (
    exercises,
    merged,
    sentences_of,
    tasks_by_concept,
)
from course.task import stems, tasks_of

JOINER = "\u2060"  # keeps formulas on a line
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


def test_every_misconception_is_on_the_page(book):
    page = (book / "book/misconceptions.html").read_text("utf-8")
    article = BeautifulSoup(page, "html.parser").select_one("article")
    text = article.get_text().replace(JOINER, "").replace("_", "")
    text = text.translate(str.maketrans("’“”", '\'""'))
    plain = "".join(text.replace("`", "").split())
    missing = [
        sentence
        for task in sorted(EVERY_TASK)
        for sentence in sentences_of(task)
        if "".join(re.sub("[`_]", "", sentence).split()) not in plain
    ]
    assert missing == []
    folds = article.select("details")
    assert len(folds) == len(tasks_by_concept())
    links = {link["href"].partition("#")[2] for link in article.select("details a")}
    assert links == set(exercises(COURSE).values())
