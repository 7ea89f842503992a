"""The regrade difference: whose points move, by how much and why."""

import csv
import dataclasses
import io

import msgspec
import pytest
from classroom import IMAGE, SCRIPT, classroom
from click.testing import CliRunner
from graded_class import FILE, ROOT, write_submissions
from pages import assert_harmless, assert_readable, text_of

from commands import main
from grading import app
from grading.record import Late, Result, Verdict, Written
from grading.reports.alike import version_of
from grading.reports.difference import (
    changes,
    read_grades,
    surprises,
    write_difference,
)
from grading.reports.grades import grades
from grading.reports.roster import Roster
from grading.reports.sheets import write_sheets
from project.errors import CourseError

WRONG = Verdict("x/a", 2, "wrong", reason="The loss is not right.")


def result(student, verdict, marks=None):
    written = (Written("x/q", 3, "Because.", marks),)
    return Result(
        student, "x", "a.ipynb", "0" * 64, verdicts=(verdict,), written=written
    )


def found(before, after):
    return changes(grades(Roster(before)), grades(Roster(after)))


def test_moved_points_and_the_reason():
    right = dataclasses.replace(WRONG, status="right", reason="")
    before = [result("ada", WRONG), result("bob", right, 1.5)]
    after = [result("ada", right), result("bob", right, 2.0), result("cy", WRONG)]
    ada, bob, cy, *rest = found(before, after)
    assert (ada.student, ada.item, ada.before, ada.after, ada.by) == (
        "ada",
        "x/a",
        0,
        2,
        2,
    )
    assert ada.why == "not right yet: The loss is not right. → right"
    assert (bob.item, bob.by) == ("x/q", 0.5)
    assert (cy.before, cy.after) == (None, 0)
    assert rest == []


def test_marks_of_answers_that_have_changed_are_told():
    because, hence = version_of("Because."), version_of("Hence.")
    written = {
        "ada": Written("x/q", 3, "Hence.", 2.0, because),
        "bob": Written("x/q", 3, " Because. \n", 2.0, because),
        "cy": Written("x/q", 3, "Hence.", 2.0, hence),
        "di": Written("x/q", 3, "Hence.", 2.0),  # not known
    }
    after = [
        dataclasses.replace(result(name, WRONG), written=(answer,))
        for name, answer in written.items()
    ]
    now = grades(Roster(after))
    for before in (None, now):
        (said,) = surprises(before, now)
        assert said == (
            "ada · q: this answer has changed since it got 2 of 3; mark it again and empty its "
            f"cell in the column version; if it is empty, enter {hence}"
        )
    assert list(surprises(now, now, honest={"x/q"})) == []


def test_deductions_that_are_gone_are_told():
    late = [
        dataclasses.replace(result(name, WRONG, 3.0), late=Late(90_000, points))
        for name, points in (("ada", 1.5), ("bob", 2.0), ("cy", 0.0))
    ]
    before = grades(Roster(late))
    without = [dataclasses.replace(one, late=None) for one in late]
    (said,) = surprises(before, grades(Roster(without)))
    assert said.startswith(
        "the last run deducted points from 2 late notebooks (3.5 in all)"
    )
    assert list(surprises(before, before)) == []
    assert list(surprises(grades(Roster(without)), before)) == []


def test_a_deduction_is_a_number_and_was_none_before(tmp_path):
    ada = result("ada", WRONG, 3.0)
    write_sheets(Roster([ada]), tmp_path)
    late = dataclasses.replace(ada, late=Late(90_000, 2.0))
    write_difference(tmp_path / "grades.json", Roster([late]))
    text = (tmp_path / "difference.csv").read_text("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["before"], row["after"], row["change"]) == ("", "-2", "-2")
    assert "0 → -2" in text_of((tmp_path / "difference.html").read_text("utf-8"))


@pytest.mark.parametrize(
    ("practical", "part", "item"),
    [
        ("acting_on_uncertainty", "a", "Deduction for lateness, lab 6a"),
        ("x", "", "Deduction for lateness, X"),
    ],
)
def test_a_deduction_names_its_lab_once(tmp_path, practical, part, item):
    verdict = dataclasses.replace(WRONG, reason="The value `loss` is `<b>`.")
    ada = dataclasses.replace(result("ada", verdict), practical=practical, part=part)
    write_sheets(Roster([ada]), tmp_path)
    right = dataclasses.replace(WRONG, status="right")
    late = dataclasses.replace(ada, late=Late(90_000, 2.0), verdicts=(right,))
    write_difference(tmp_path / "grades.json", Roster([late]))
    text = (tmp_path / "difference.csv").read_text("utf-8-sig")
    assert item in [row["item"] for row in csv.DictReader(io.StringIO(text))]
    page = (tmp_path / "difference.html").read_text("utf-8")
    assert f"ada {item} 0 → -2 no deduction" in text_of(page)
    assert "The value <code>loss</code> is <code>&lt;b&gt;</code>." in page


def test_nothing_moves():
    results = classroom(40)
    assert found(results, results[::-1]) == []
    other = dataclasses.replace(WRONG, reason="Another reason.")
    assert found([result("ada", WRONG)], [result("ada", other)]) == []


def test_grades_of_the_first_layout_are_read(tmp_path):
    """They call a task wrong that was not attempted: its points are the same."""
    skipped = dataclasses.replace(WRONG, status="not-attempted")
    data = msgspec.to_builtins(grades(Roster([result("ada", WRONG)]))) | {"version": 1}
    path = tmp_path / "grades.json"
    path.write_bytes(msgspec.json.encode(data))
    assert write_difference(path, Roster([result("ada", skipped)])) == []


@pytest.mark.parametrize("text", [None, "", "[]", "{", '{"version": 9}', "[" * 100_000])
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "grades.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(CourseError, match="course grade"):
        read_grades(path)


def test_the_table_has_no_formulas(tmp_path):
    write_sheets(Roster([result("=1+1", WRONG)]), tmp_path)
    right = dataclasses.replace(WRONG, status="right")
    write_difference(tmp_path / "grades.json", Roster([result("=1+1", right)]))
    text = (tmp_path / "difference.csv").read_text("utf-8-sig")
    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["student"], row["change"]) == ("'=1+1", "2")
    page = text_of((tmp_path / "difference.html").read_text("utf-8"))
    assert "1 item of 1 student, +2.00 points in all" in page


def test_the_command_names_tasks_by_their_titles(tmp_path, monkeypatch):
    """Made-up grades stand in for those of kernels; the path is no markup."""
    task = "acting-on-uncertainty/pinball-loss"

    def one(status):
        verdicts = (Verdict(task, 2, status),)
        return Result("student-00", "acting_on_uncertainty", FILE, "0" * 64, verdicts=verdicts, part="a")  # fmt: skip

    write_submissions(tmp_path / "in", 1)
    out = tmp_path / "out [/here]"
    write_sheets(Roster([one("wrong")]), out)
    monkeypatch.setattr(app, "_grade", lambda *_: ([one("right")], 0))
    monkeypatch.chdir(ROOT)
    given = ["grade", str(tmp_path / "in"), "--out", str(out), "--diff"]
    done = CliRunner().invoke(main, given)
    assert done.exit_code == 0, done.output
    text = text_of((out / "difference.html").read_text("utf-8"))
    assert f"student-00 The pinball loss {task}" in text
    failed = dataclasses.replace(one("wrong"), graded=False, problem="It is empty.")
    monkeypatch.setattr(app, "_grade", lambda *_: ([failed], 0))
    said = CliRunner().invoke(main, given).output
    assert f"not graded: student-00 · {FILE}: It is empty." in said.splitlines()
    monkeypatch.setattr(app, "_grade", lambda *_: ([one("right")], 0))
    monkeypatch.setattr(app, "examples", lambda *_: {})
    done = CliRunner().invoke(main, given[:-1])
    assert done.exit_code == 0, done.output
    assert [*out.glob("difference.*")] == []


def test_the_command_says_how_many_marks_were_merged(tmp_path, monkeypatch):
    """Made-up grades stand in for those of kernels."""
    asked = [f"acting-on-uncertainty/{name}" for name in ("q", "r", "s")]

    def grade(submissions, *_):
        written = tuple(Written(one, 3, "Because.") for one in asked)
        made = {"verdicts": (Verdict("acting-on-uncertainty/pinball-loss", 2, "right"),), "written": written}  # fmt: skip
        return [Result(one.student, "acting_on_uncertainty", FILE, "0" * 64, part="a", **made) for one in submissions], 1  # fmt: skip

    monkeypatch.setattr(app, "_grade", grade)
    monkeypatch.setattr(app, "examples", lambda *_: {})
    monkeypatch.setattr(app, "check_marks", lambda *_: None)
    monkeypatch.chdir(ROOT)
    write_submissions(tmp_path / "in", 2)
    folder = tmp_path / "in" / "student-00"
    for number in range(7):
        (folder / f"{number}.pdf").write_bytes(b"%PDF")
    marks = tmp_path / "given.csv"
    rows = [f"student-00,acting_on_uncertainty,{asked[0]},2,Good.", f"student-01,acting_on_uncertainty,{asked[1]},0,", f"student-01,acting_on_uncertainty,{asked[2]},,"]  # fmt: skip
    marks.write_text("student,practical,question,marks,comment\n" + "\n".join(rows))
    given = ["grade", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(main, [*given, "--manual", str(marks)])
    assert done.exit_code == 0, done.output
    assert f"2 marks and 1 comment of {marks} were merged." in done.output
    assert "other marks" not in done.output
    own = tmp_path / "out" / "marks.csv"
    marks.write_text(marks.read_text().replace(",2,Good.", ",3,Good.") + "\n" + rows[0].replace("00", "01").replace("2,Good.", "1,"))  # fmt: skip
    done = CliRunner().invoke(main, [*given, "--manual", str(marks)])
    assert (
        f"look: {own} has other marks for 2 answers, which the next run" in done.output
    )
    marks.write_text("student,practical,question,marks,comment\n" + rows[0].replace(asked[0], "acting-on-uncertainty/left"))  # fmt: skip
    monkeypatch.setattr(app, "asked_in", lambda _: {"acting_on_uncertainty": [*asked, "acting-on-uncertainty/left"]})  # fmt: skip
    monkeypatch.setattr("grading.reports.outcome.asked_in", app.asked_in)
    done = CliRunner().invoke(main, [*given, "--manual", str(marks)])
    assert f"0 marks of {marks} were merged. 1 mark of answers that were not graded this time stays" in done.output  # fmt: skip
    own.unlink()
    done = CliRunner().invoke(main, [*given])
    said = "2 of 2 notebooks graded, 1 of them by an earlier run."
    assert said in done.output
    skipped = ", ".join(f"student-00/{number}.pdf" for number in range(5))
    said = f"Skipped files that are not submitted notebooks: {skipped} and 2 more."
    assert said in done.output


@pytest.mark.browser
def test_page_is_harmless_and_readable(browser, tmp_path):
    hostile = SCRIPT + IMAGE
    old = [result(hostile, dataclasses.replace(WRONG, reason=hostile))]
    write_sheets(Roster([*old, *classroom(40)]), tmp_path)
    new = [result(hostile, dataclasses.replace(WRONG, status="right"))]
    roster = Roster([*new, *classroom(40, seed=1)])
    assert write_difference(tmp_path / "grades.json", roster)
    assert_harmless(browser, tmp_path / "difference.html")
    assert_readable(browser, tmp_path / "difference.html")
