"""The gradebook over the term: several classes in one table and one page."""

import csv
import io

import pytest
from classroom import classroom
from click.testing import CliRunner
from pages import assert_harmless, assert_readable, text_of

from commands import main
from grading.record import Result, Verdict, Written
from grading.reports.gradebook import gradebook, gradebook_csv, write_gradebook
from grading.reports.roster import Roster
from grading.reports.sheets import write_sheets
from project.errors import CourseError


def result(student, practical, earned, *, part="", marks=None, **changes):
    verdicts = tuple(
        Verdict(f"{practical}/{k}", 1, "right" if k < earned else "wrong")
        for k in range(4)
    )
    written = (Written(f"{practical}/q", 2, "Because.", marks),)
    given = {"verdicts": verdicts, "written": written, "part": part} | changes
    return Result(student, practical, "a.ipynb", "0" * 64, **given)


def graded(folder, *results):
    write_sheets(Roster(results), folder)
    return folder / "grades.json"


def rows(book):
    return list(csv.DictReader(io.StringIO(gradebook_csv(book).removeprefix("\ufeff"))))


def test_labs_of_all_files_are_columns(tmp_path):
    one = graded(
        tmp_path / "1",
        result("ada", "first", 4, marks=1.5),
        result("=bob", "first", 1),
        result("di", "first", 1, written=(Written("first/q", 2, " "),)),
        result(
            "cy", "first", 0, graded=False, problem="Empty.", verdicts=(), written=()
        ),
    )
    two = graded(
        tmp_path / "2",
        result("ada", "second", 2, part="a", marks=2),
        result("ada", "second", 3, part="b", marks=0),
    )
    bob, ada, cy, di = rows(gradebook([one, two]))
    assert list(ada)[:4] == ["student", "first", "second_a", "second_b"]
    assert [ada[name] for name in list(ada)[1:]] == ["5.5", "4", "3", "12.5", "18", "0"]
    assert (bob["student"], bob["first"], bob["second_a"]) == ("'=bob", "1", "")
    assert (bob["total"], bob["possible"], bob["unmarked"]) == ("1", "6", "1")
    assert di["unmarked"] == "0"
    assert [cy[name] for name in list(cy)[1:]] == [""] * 6


def test_labs_of_one_file_are_in_the_order_of_the_course(tmp_path):
    """Ann, who is first, handed in the last lab only."""
    ann = result("ann", "acting_on_uncertainty", 1, part="b")
    bo = [result("bo", "acting_on_uncertainty", 1, part=part) for part in ("a", "b")]
    more = [result("bo", "warm_up", 1, part="a"), result("bo", "another", 1)]
    book = gradebook([graded(tmp_path, ann, *bo, *more)])
    assert book.labs == (
        ("warm_up", "a"),
        ("acting_on_uncertainty", "a"),
        ("acting_on_uncertainty", "b"),
        ("another", ""),
    )


def test_the_platforms_numbers_make_no_second_row(tmp_path):
    """Moodle gives a student another number in each assignment."""

    def numbered(name, number, practical, earned):
        return result(f"{name}_{number}", practical, earned, identifier=number)

    one = graded(
        tmp_path / "1",
        numbered("Ada Lovelace", "1041", "first", 4),
        numbered("Bo Ek", "1042", "first", 1),
        numbered("Bo Ek", "1043", "first", 2),
    )
    two = graded(
        tmp_path / "2",
        numbered("Ada Lovelace", "2257", "second", 3),
        numbered("Bo Ek", "2258", "second", 3),
        result("cy", "second", 1),
    )
    out = tmp_path / "out"
    given = ["gradebook", str(one), str(two), "--out", str(out)]
    done = CliRunner().invoke(main, given)
    assert done.exit_code == 0, done.output
    lines = (out / "gradebook.csv").read_text("utf-8-sig").splitlines()
    found = [(r["student"], r["first"], r["second"]) for r in csv.DictReader(lines)]
    assert found == [
        ("Ada Lovelace", "4", "3"),
        ("Bo Ek_1042", "1", ""),
        ("Bo Ek_1043", "2", ""),
        ("Bo Ek_2258", "", "3"),
        ("cy", "", "1"),
    ]
    said = "Several students are called 'Bo Ek'"
    assert said in done.output
    assert said in text_of((out / "gradebook.html").read_text("utf-8"))
    three = graded(tmp_path / "3", numbered("Di", "7", "first", 1))
    assert gradebook([two, three]).note == ""


def test_a_lab_that_is_in_two_files_is_refused(tmp_path):
    one = graded(tmp_path / "1", result("ada", "first", 4))
    two = graded(tmp_path / "2", result("bob", "first", 4))
    with pytest.raises(CourseError, match=r"First is also in .* --practical leaves it"):
        gradebook([one, two])


def test_the_command(tmp_path):
    one = graded(tmp_path / "1", *classroom(30))
    two = graded(tmp_path / "2", *classroom(30, ("bayes_by_backprop",), seed=1))
    out = tmp_path / "out"
    done = CliRunner().invoke(
        main, ["gradebook", str(one), str(two), "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    assert {path.name for path in out.iterdir()} == {"gradebook.csv", "gradebook.html"}
    page = text_of((out / "gradebook.html").read_text("utf-8"))
    assert "30 students, 2 labs" in page
    done = CliRunner().invoke(main, ["gradebook", str(tmp_path), "--out", str(out)])
    assert done.exit_code == 2


@pytest.mark.browser
def test_page_is_harmless_and_readable(browser, tmp_path):
    one = graded(tmp_path / "1", *classroom(48))
    two = graded(tmp_path / "2", *classroom(48, ("bayes_by_backprop",)))
    _, page = write_gradebook(gradebook([one, two]), tmp_path)
    assert_harmless(browser, page)
    assert_readable(browser, page)


@pytest.mark.browser
def test_a_phone_shows_two_labs_beside_the_students(browser, tmp_path):
    """Titles of labs are long, and numbers are short."""
    lab = "acting_on_uncertainty", 4
    results = [result("ann", *lab, part=part) for part in ("a", "b")]
    _, page = write_gradebook(gradebook([graded(tmp_path / "in", *results)]), tmp_path)
    phone = browser.new_page(viewport={"width": 390, "height": 700})
    phone.goto(page.as_uri())
    ends = "cells => cells.map(cell => cell.getBoundingClientRect().right)"
    _, *labs, _, _ = phone.eval_on_selector_all("thead th", ends)
    assert max(labs) <= 390
    phone.close()
