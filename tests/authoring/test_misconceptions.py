"""The index of mistakes: every task has a concept, every misconception is on the page."""

import pytest
from bs4 import BeautifulSoup
from labs import COURSE

from authoring.misconceptions import CODE, exercises, sentences_of, tasks_by_concept
from course.task import stems, tasks_of

EVERY_TASK = {id_ for stem in stems() for id_ in tasks_of(stem)}


def test_every_task_uses_a_concept():
    assert {id_ for ids in tasks_by_concept().values() for id_ in ids} == EVERY_TASK


def test_no_concept_names_a_task_twice():
    for concept, ids in tasks_by_concept().items():
        assert len(ids) == len(set(ids)), concept


@pytest.mark.parametrize(
    ("sentence", "code"),
    [
        ("you use torch.rand where torch.randn is needed.", "torch.rand torch.randn"),
        ("End with `.detach().requires_grad_()`.", "`.detach().requires_grad_()`"),
        ("you leave out .sum() at the end.", ".sum()"),
        ('take method="higher" at the level k/n.', 'method="higher"'),
        ("a slope of 0.5, not exp(ρ) or p(1 − p).", ""),
    ],
)
def test_names_in_sentences_are_code(sentence, code):
    assert CODE.findall(sentence) == code.split()


def test_every_misconception_is_on_the_page(book):
    page = (book / "book/misconceptions.html").read_text("utf-8")
    article = BeautifulSoup(page, "html.parser").select_one("article")
    text = article.get_text().translate(str.maketrans("’“”", '\'""'))
    plain = "".join(text.replace("`", "").split())
    missing = [
        sentence
        for task in sorted(EVERY_TASK)
        for sentence in sentences_of(task)
        if "".join(sentence.replace("`", "").split()) not in plain
    ]
    assert missing == []
    folds = article.select("details")
    assert len(folds) == len(tasks_by_concept())
    links = {link["href"].partition("#")[2] for link in article.select("details a")}
    assert links == set(exercises(COURSE).values())
