"""Every guess: its choices, where it stands, and how it is answered in a notebook."""

import html
import re
from collections import Counter

import pytest
from labs import LABS, each_lab

from authoring.chapter import GUESS, read_chapter
from authoring.typography import CODE
from course import check
from course.errors import WrongUse
from course.quiz import (
    LETTERS,
    Choice,
    QuizQuestion,
    guess_cell,
    guess_html,
    guesses_of,
)
from course.task import UnknownTask, stems
from grading.submissions.statements import Release, split

GUESSES = {id_: guess for stem in stems() for id_, guess in guesses_of(stem).items()}
each_guess = pytest.mark.parametrize("id_", GUESSES)


def placed(lab):
    """Return the ids of the guesses of a lab's page, in order."""
    return GUESS.findall(lab.chapter.read_text("utf-8"))


@each_lab
def test_a_lab_has_at_least_three_guesses(lab):
    assert len(placed(lab)) >= 3


def test_each_guess_is_on_one_page_of_its_practical():
    pages = {id_: [lab for lab in LABS if id_ in placed(lab)] for id_ in GUESSES}
    assert {id_ for lab in LABS for id_ in placed(lab)} == {*GUESSES}
    assert max(n for lab in LABS for n in Counter(placed(lab)).values()) == 1
    for id_, labs in pages.items():
        assert [lab.stem for lab in labs] == [id_.partition("/")[0].replace("-", "_")]


@each_guess
def test_a_guess_has_one_right_choice_and_a_sentence_for_each(id_):
    question = GUESSES[id_]
    assert 3 <= len(question.choices) <= 4
    assert sum(choice.right for choice in question.choices) == 1
    assert question.text.endswith(("?", "?)"))
    for said in ("text", "why"):
        texts = [getattr(choice, said) for choice in question.choices]
        assert len({*texts}) == len(texts)
    for choice in question.choices:
        assert re.search(r"\w.*[.!]$", choice.why), choice
        assert not choice.text.endswith("."), choice
    # Nothing typesets it, in the notebook's comments and in the labels of the page.
    assert not re.search(r"[$*]\S", question.text.replace("** 2", ""))
    shown = guess_html(id_, question)
    assert "`" not in shown
    for code in CODE.findall(question.text):
        assert f"<code>{html.escape(code.strip('`'))}</code>" in shown


def test_the_right_choices_stand_in_all_places():
    places = Counter(
        next(n for n, choice in enumerate(question.choices) if choice.right)
        for question in GUESSES.values()
    )
    assert min(places[n] for n in range(3)) > 0.15 * len(GUESSES)
    assert max(places.values()) < 0.5 * len(GUESSES)


@each_lab
def test_the_notebook_asks_what_the_page_asks(lab):
    """Guesses in ``book-only`` cells stand before what notebooks do not have."""
    wanted = [
        cell.guess
        for cell in read_chapter(lab.chapter).cells
        if cell.guess and cell.role != "book-only"
    ]
    cells = lab.released().cells
    asked = [
        (n, found[1])
        for n, cell in enumerate(cells)
        if (found := re.search(r'^check\.guess\("(.*)", "…"\)$', cell.source, re.M))
    ]
    assert [id_ for _, id_ in asked] == wanted
    for n, id_ in asked:
        question = GUESSES[id_]
        assert cells[n].source == guess_cell(id_, question)
        assert cells[n - 1].source.endswith(f"**Guess first.** {question.text}")
        assert "nbgrader" not in cells[n].metadata
        assert max(map(len, cells[n].source.splitlines())) <= 79
        shown = guess_html(id_, question)
        assert shown.count("<input") == len(question.choices) + 1
        assert all(f"{letter}: " in cells[n].source for letter in LETTERS[:3])


@each_guess
def test_each_choice_is_answered_and_a_wrong_one_is_no_error(id_, capsys):
    for letter, choice in zip(LETTERS, GUESSES[id_].choices, strict=False):
        check.guess(id_, letter)
        said = capsys.readouterr().out
        assert said.startswith(f"{'✓' if choice.right else '✗'} {choice.text}")
        assert " ".join(choice.why.split()) in " ".join(said.split())


def test_dots_are_no_guess_and_no_error(capsys):
    check.guess("warm-up/two-directions", "…")
    assert "a to c" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (("warm-up/two-direction", "a"), UnknownTask, "mean warm-up/two-directions"),
        (("nothing/like-it", "a"), UnknownTask, "There is no guess"),
        (("warm-up/two-directions", "d"), WrongUse, "a to c, but no 'd'"),
        (("warm-up/two-directions", ""), WrongUse, "no ''"),
        (("warm-up/two-directions", None), WrongUse, "no None"),
    ],
)
def test_wrong_use_says_what_there_is(wrong, error, says):
    with pytest.raises(error, match=says):
        check.guess(*wrong)


@pytest.mark.parametrize(
    "call", ['guess("warm-up/two-directions", "b")', 'quiz("warm-up/basics", 1, "a")']
)
def test_grading_runs_no_guess_and_no_quiz(call):
    release = Release.of(LABS[0].released())
    (statement,) = split(f"check.{call}", release)
    assert statement.idle
    assert not statement.check
    assert not statement.answers


def test_texts_are_escaped():
    choices = (Choice("<b>", "a < b.", right=True), Choice("&", "no."))
    shown = guess_html("x/y", QuizQuestion("1 < 2?", choices))
    assert "1 &lt; 2?" in shown
    assert "<span>&lt;b&gt;</span>" in shown
    assert "a &lt; b." in shown
