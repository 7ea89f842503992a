"""The written questions of the chapters, with stored numbers and typeset formulas."""

import contextlib
import json
import re

import pytest
from labs import COURSE, LABS, each_lab

from authoring.chapter import read_chapter
from authoring.mathematics import Typesetter
from authoring.model_answers import for_browsers, formulas, numbers, typeset
from authoring.questions import STORED, formula, places, prompts
from course.task import stems, tasks_of
from grading.reports.marking import questions, titles
from grading.reports.pages import markdown
from project.errors import CourseError


@each_lab
def test_every_question_has_a_model_answer_and_a_rubric(lab):
    cells = [cell for cell in read_chapter(lab.chapter).cells if cell.role == "written"]
    found = questions(lab)
    assert [question.id for question in found] == [cell.task for cell in cells]
    for question in found:
        assert question.title
        assert question.prompt
        if question.id.endswith("/survey"):
            assert (question.model_answer, question.rubric) == ("", ())
            continue
        assert len(question.model_answer) > 100
        assert len(question.rubric) == 3
        assert all(point.startswith("1 point: ") for point in question.rubric)
        text = "".join([question.prompt, question.model_answer, *question.rubric])
        for mark in ("{glue", "{eq}", "{cite", "Rubric", ":class:", "```"):
            assert mark not in text, (question.id, mark)


@each_lab
def test_every_task_has_a_prompt(lab):
    found = prompts(lab)
    assert found.keys() >= {*lab.tasks()}
    for task, text in found.items():
        assert len(text) > 50
        for mark in ("{glue", "{eq", "{cite", "{ref", "task-info", "Stuck?", "⟨"):
            assert mark not in text, (task, mark)
        for tex, display in formulas(text):
            assert formula(tex, display=display), (task, tex)


@each_lab
def test_prompts_read_as_in_the_exercise(lab):
    """The numbers of their equations, too."""
    page = re.compile(r" \(in the book, the page `[^`]*`\)")  # said once in a notebook
    exercise = page.sub("", "\n".join(cell.source for cell in lab.released().cells))
    asked = [question.prompt for question in questions(lab)]
    for text in (*prompts(lab).values(), *asked):
        for line in page.sub("", text).splitlines():
            assert line in exercise


@each_lab
def test_every_number_and_formula_is_stored(lab):
    """After ``make book``, ``make model-answers`` stores what is missing."""
    for question in questions(lab):
        for text in (question.prompt, question.model_answer, *question.rubric):
            assert "⟨" not in text, question.id
            for tex, display in formulas(text):
                assert formula(tex, display=display), (question.id, tex)


def test_numbers_have_the_format_of_the_page(monkeypatch):
    lab = COURSE.lab("deep_ensembles_b")
    known = {"spirals-adversarial-nll": "0.17149", "spirals-plain-nll": "-1.5"}
    stored = {"numbers": {lab.name: known}}
    monkeypatch.setattr("authoring.questions._stored", lambda: stored)
    (question,) = [q for q in questions(lab) if q.id.endswith("spirals")]
    text = question.model_answer
    assert "the NLL is 0.171 with and −1.500 without" in text
    assert "accuracy is ⟨spirals-adversarial-accuracy⟩" in text


def test_stored_formulas_are_those_of_katex():
    stored = json.loads(STORED.read_text("utf-8"))["formulas"]
    assert stored == typeset(COURSE)


@pytest.mark.parametrize(
    ("tex", "part"),
    [
        (r"(-1, x > -1)", '<mo stretchy="false">(</mo><mo form="prefix">−</mo>'),
        (r"x > -1", '<mo>&gt;</mo><mo form="prefix">−</mo>'),
        (r"a - 1", "<mi>a</mi><mo>−</mo><mn>1</mn>"),
        (r"\mathbf{w}", "<mi>𝐰</mi>"),
        (r"\mathcal{L}", "<mi>ℒ</mi>"),
        (r"\boldsymbol{\mu}", "<mi>𝝁</mi>"),
        (r"\boldsymbol{\epsilon}\boldsymbol\phi", "<mi>𝝐</mi><mi>𝝓</mi>"),
        (r"\mathbf{0}", "<mn>𝟎</mn>"),
        (r"\mathbb{1}", "<mn>𝟙</mn>"),
        (r"\left(p\right)", '<mo fence="true" stretchy="false">(</mo>'),
    ],
)
def test_browsers_show_formulas_as_katex_does(tex, part):
    with contextlib.closing(Typesetter({})) as typesetter:
        typesetter.options["output"] = "mathml"
        assert part in for_browsers(typesetter.typeset(tex, display=False))


def test_formulas_of_the_course_are_typeset():
    tex = next(iter(json.loads(STORED.read_text("utf-8"))["formulas"]))
    assert "<math" in markdown(tex, trusted=True)
    unknown = markdown("$<img src=x>$", trusted=True)
    assert "<img" not in unknown
    assert "$&lt;img src=x&gt;$" in unknown


def test_titles_of_all_tasks_and_questions():
    found = titles(LABS)
    assert found["deep-ensembles/gaussian-nll"] == "The Gaussian NLL"
    assert found["bayes-by-backprop/log-prior"] == "Three log-densities: log_prior"
    for stem in stems():
        assert set(tasks_of(stem)) <= set(found)
    for lab in LABS:
        assert {question.id for question in questions(lab)} <= set(found)


def test_every_task_has_a_place_in_the_book():
    found = places(LABS)
    assert all(set(tasks_of(stem)) <= set(found) for stem in stems())
    assert "“”" not in "".join(found.values())
    assert found["deep-ensembles/gaussian-nll"].startswith("lab 1a, “")


def test_unknown_practical():
    with pytest.raises(CourseError, match="nothing: There is no such practical or lab"):
        questions(COURSE.lab("nothing"))


def test_numbers_need_a_built_book(tmp_path):
    with pytest.raises(CourseError, match="make book"):
        numbers(COURSE, tmp_path / "none")
