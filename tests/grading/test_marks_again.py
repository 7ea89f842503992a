"""Answers that are marked again: the program stores which version of the text was marked."""

from dataclasses import replace

import pytest
from labs import COURSE
from test_marking import ONE, STEM, result
from test_marks_kept import filled_in

from grading.record import Written
from grading.reports.alike import version_of
from grading.reports.difference import read_grades, surprises
from grading.reports.marking import filled_table
from grading.reports.outcome import write_outcome
from grading.reports.versions import FILE, Versions
from grading.settings import STATE

TEXTS = ["Because.", "Because of the prior.", "The prior is too narrow.", "Who knows?"]


def row(marks, comment="", same="", version="", student="ada"):
    return f"{student},{STEM},{ONE},{marks},{comment},{same},{version}\n"


def answers(text, *names):
    written = (Written(ONE, 3, text),)
    return [result(name, written=written) for name in names or ("ada",)]


def run(out, results):
    """Grade; return what the output and the page say."""
    path = out / "grades.json"
    before = read_grades(path) if path.exists() else None
    write_outcome(results, out, course=COURSE, marks=filled_table(out))
    page = (out / "marking.html").read_text("utf-8")
    said = list(surprises(before, read_grades(path)))
    return len(said), page.count("This answer has changed since it was marked.")


def test_a_change_after_an_answer_was_marked_again_is_told_in_every_run(tmp_path):
    one, _, three, _ = map(version_of, TEXTS)
    run(tmp_path, answers(TEXTS[0]))
    filled_in(tmp_path, (row("", version=one), row(3, version=one)))
    for text, told in zip(TEXTS[:2], (0, 1), strict=True):
        assert run(tmp_path, answers(text)) == (told, told)
    filled_in(tmp_path, (row(3, version=one), row(3)))  # with the same marks
    assert run(tmp_path, answers(TEXTS[1])) == (0, 0)
    # It changes, and cannot be graded once.
    (failed,) = answers(TEXTS[2])
    failed = replace(failed, graded=False, problem="Oh.", written=())
    for results, told in [(answers(TEXTS[2]), 1)] * 2 + [([failed], 0)]:
        assert run(tmp_path, results) == (told, told)
    for _ in range(2):
        assert run(tmp_path, answers(TEXTS[2])) == (1, 1)
    filled_in(tmp_path, (row(3), row(3, version=three)))
    assert run(tmp_path, answers(TEXTS[2])) == (0, 0)
    assert run(tmp_path, answers(TEXTS[3])) == (1, 1)
    filled_in(tmp_path, (row(3, version=three), row(2)))
    assert run(tmp_path, answers(TEXTS[3])) == (0, 0)
    assert run(tmp_path, answers(TEXTS[2])) == (1, 1)
    filled_in(tmp_path, (row(2), row(1)))  # new marks are enough
    assert run(tmp_path, answers(TEXTS[2])) == (0, 0)


def test_marks_are_for_the_text_of_the_last_page(tmp_path):
    """The answer changed again, unseen, before the run that merges the new marks."""
    run(tmp_path, answers(TEXTS[0]))
    filled_in(tmp_path, (row("", version=version_of(TEXTS[0])), row(2)))
    for _ in range(2):
        assert run(tmp_path, answers(TEXTS[1])) == (1, 1)


def test_the_same_text_of_another_student_was_marked_again_as_well(tmp_path):
    """The version stays the one that was marked when only the first text changes."""
    one = version_of(TEXTS[0])
    old = (row("", version=one), row("", same="ada", version=one, student="bob"))
    run(tmp_path, answers(TEXTS[0], "ada", "bob"))
    filled_in(tmp_path, (old[0], row(3)))
    assert run(tmp_path, answers(TEXTS[0], "ada", "bob")) == (0, 0)
    both = answers(TEXTS[1]) + answers(TEXTS[0], "bob")
    for _ in range(2):
        assert run(tmp_path, both) == (1, 1)
    filled_in(tmp_path, (old[1], row("", same="ada", student="bob")))
    assert run(tmp_path, both) == (1, 1)


@pytest.mark.parametrize("text", ["", "{", '[["ada", 1]]', "[" * 100_000, "\xff"])
def test_a_damaged_record_is_replaced(tmp_path, text):
    run(tmp_path, answers(TEXTS[0]))
    filled_in(tmp_path, (row("", version=version_of(TEXTS[0])), row(2)))
    run(tmp_path, answers(TEXTS[0]))
    path = tmp_path / STATE / FILE
    path.write_bytes(text.encode("latin-1"))
    assert Versions.read(tmp_path).marked == {}
    assert run(tmp_path, answers(TEXTS[1])) == (1, 1)
    assert list(Versions.read(tmp_path).marked) == [("ada", STEM, ONE)]


def test_names_that_are_not_utf8_are_stored(tmp_path):
    name = "\udcff not UTF-8"
    run(tmp_path, answers(TEXTS[0], name))
    filled_in(tmp_path, (f"{ONE},,,,{version_of(TEXTS[0])}", f"{ONE},2,,,"))
    run(tmp_path, answers(TEXTS[0], name))
    for _ in range(2):
        assert run(tmp_path, answers(TEXTS[1], name)) == (1, 1)
