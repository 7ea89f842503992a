"""The names of labs and practicals."""

import pytest

from project.errors import CourseError
from project.practicals import ROOT, Course, Lab, title_of


def test_a_lab_is_called_by_the_heading_of_its_page():
    course = Course.read(ROOT)
    assert course.lab("acting_on_uncertainty_a").title == "Lab 6a: Conformal prediction"
    assert course.lab("warm_up_a").title == "Lab 0a: Warm-up: background"
    labs = course.labs()
    assert [title_of(lab.stem, lab.part) for lab in labs] == [
        f"Lab {lab.label}: {heading_of(lab)}" for lab in labs
    ]


def test_other_names_are_made_of_the_stem(tmp_path):
    names = ["Warm-up", "Bayes by Backprop", "Unknown practical"]
    assert [title_of(s) for s in ("warm_up", "bayes_by_backprop", "")] == names
    assert title_of("own_topic", "b") == "Own topic b"
    assert title_of("warm_up", "a", tmp_path) == "Warm-up a"


def test_an_exercise_that_is_no_notebook_is_named(tmp_path):
    lab = Lab(tmp_path, tmp_path / "book" / "00a-warm-up.md")
    lab.exercise.parent.mkdir()
    for text in (
        "<<<<<<< HEAD\n{}\n",
        "{}",
        '{"nbformat": 4}',
        "[]",
        '{"nbformat": 5}',
    ):
        lab.exercise.write_text(text)
        with pytest.raises(CourseError, match=r"warm-up\.ipynb: It is not a notebook"):
            lab.released()


def heading_of(lab):
    lines = lab.chapter.read_text("utf-8").splitlines()
    return next(line for line in lines if line.startswith("# ")).removeprefix("# ")
