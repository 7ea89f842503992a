"""The late policy: what it deducts, where it is shown, and errors that name the line."""

import csv
import dataclasses
import io
from datetime import datetime

import msgspec
import pytest
from click.testing import CliRunner
from graded_class import LAB, in_process, write_submissions
from hypothesis import given
from hypothesis import strategies as st
from labs import COURSE
from pages import assert_readable, text_of

from commands import main
from grading import app
from grading.record import Result, Verdict, Written
from grading.reports.difference import changes
from grading.reports.feedback import feedback_page
from grading.reports.gradebook import gradebook, gradebook_csv, write_gradebook
from grading.reports.grades import grades
from grading.reports.late import (
    Policy,
    adjusted,
    moment,
    rate_of,
    seconds_of,
    unmatched,
)
from grading.reports.outcome import class_of
from grading.reports.roster import Roster
from grading.reports.sheets import grades_csv, moodle_csv, write_sheets
from project.errors import CourseError

DUE = datetime(2026, 10, 1, 12)
HOUR, DAY = 3600.0, 86400.0


def result(student, earned=8, *, part="", identifier="", marks=None):
    verdicts = tuple(
        Verdict(f"x/{k}", 1, "right" if k < earned else "wrong") for k in range(8)
    )
    written = (Written("x/q", 2, "Because.", marks),)
    given = {"verdicts": verdicts, "written": written, "part": part}
    return Result(student, "x", "a.ipynb", "0" * 64, identifier, **given)


def policy(tmp_path, rows="", *, due=DUE, header="submission,when", **more):
    path = tmp_path / "times.csv"
    path.write_text(f"{header}\n{rows}\n", encoding="utf-8")
    return Policy(due, path, 0.1, DAY, **more)


def late(tmp_path, rows, *results, **more):
    return [one.late for one in adjusted(results, policy(tmp_path, rows, **more))]


@pytest.mark.parametrize(
    ("seconds", "share"),
    [(-9, 0), (0, 0), (HOUR, 0), (HOUR + 1, 0.1), (DAY, 0.1), (DAY + 1, 0.2), (9 * DAY, 0.5)],
)  # fmt: skip
def test_every_begun_day_costs_a_share(tmp_path, seconds, share):
    rule = Policy(DUE, tmp_path, 0.1, DAY, grace=HOUR, most=0.5)
    assert rule.share(seconds) == pytest.approx(share)


@given(st.floats(0, 1), st.floats(1, 1e6), st.floats(0, 1), *[st.floats(-1e7, 1e7)] * 2)
def test_to_be_later_never_costs_less(rate, unit, most, one, two):
    rule = Policy(DUE, None, rate, unit, most=most)
    low, high = sorted((one, two))
    assert 0 <= rule.share(low) <= rule.share(high) <= most


def test_points_before_and_after_are_kept(tmp_path):
    rows = "ada,2026-10-02T13:00\nbob,\ncy,2027-01-01 00:00"
    results = [result("ada", marks=1.5), result("bob"), result("cy", 1)]
    ada, bob, cy = adjusted(results, policy(tmp_path, rows))
    assert (ada.late.seconds, ada.late.deducted) == (25 * HOUR, 2)  # 20% of 10 points
    assert (bob.late.seconds, bob.late.deducted) == (0, 0)
    assert cy.late.deducted == 1  # no more than it earned
    roster = Roster([ada, bob, cy])
    rows = list(csv.DictReader(io.StringIO(grades_csv(roster).removeprefix("\ufeff"))))
    found = [(row["total"], row["deducted"], row["final"]) for row in rows]
    assert found == [("9.5", "2", "7.5"), ("8", "0", "8"), ("1", "1", "0")]
    first = next(csv.DictReader(io.StringIO(moodle_csv(roster))))
    assert first["Assignment: X (Real)"] == "7.5"
    assert "2 of 9.5 deducted for lateness" in first["Assignment: X (Feedback)"]
    data = msgspec.to_builtins(grades(roster))
    assert data["students"][0] | {"total": 9.5, "final": 7.5} == data["students"][0]
    assert data["results"][0]["late"] == {"seconds": 90_000, "deducted": 2}


def test_a_rounded_deduction_makes_no_grade_negative(tmp_path):
    """0.7 and 0.1 are a little less than the 0.8 that are deducted of them."""
    written = tuple(Written(f"x/{k}", 2, "So.", k) for k in (0.7, 0.1))
    one = dataclasses.replace(result("ada", 0), written=written)
    (one,) = adjusted([one], policy(tmp_path, "ada,2027-01-01 00:00"))
    assert one.late.deducted > 0.7 + 0.1
    write_sheets(Roster([one]), tmp_path)
    assert Roster([one]).score("ada").final == 0
    assert gradebook([tmp_path / "grades.json"]).total("ada")[0] == 0


def test_without_a_policy_nothing_changes():
    results = [result("ada"), result("bob", 2)]
    assert adjusted(results, None) == results
    text = grades_csv(Roster(results))
    assert "final" not in text.splitlines()[0]
    assert "final" not in str(msgspec.to_builtins(grades(Roster(results)))["students"])


def test_two_labs_of_a_practical(tmp_path):
    rows = "ada/a.ipynb,2026-10-01T11:00\nada,2026-10-02T11:00"
    two = dataclasses.replace(result("ada", part="b"), notebook="b.ipynb")
    roster = Roster(adjusted([result("ada", part="a"), two], policy(tmp_path, rows)))
    score = roster.score("ada")
    assert (score.total, score.deducted, score.final) == (16, 1, 15)


def test_marks_come_first(tmp_path):
    """A deduction never exceeds the points, so marks are merged first."""
    (lab,) = COURSE.labs(LAB)
    questions = [c for c in lab.released().cells if c.metadata.get("course", {}).get("role") == "written"]  # fmt: skip
    question = questions[0].metadata.course["task"]
    one = Result("ada", lab.stem, "a.ipynb", "0" * 64, part=lab.part, written=(Written(question, 3, "Yes."),))  # fmt: skip
    marks = tmp_path / "marks.csv"
    marks.write_text(
        f"student,practical,question,marks,comment\nada,{lab.stem},{question},3,\n"
    )
    rule = policy(tmp_path, "ada,2026-10-02T11:00")
    roster, _, _ = class_of([one], COURSE, marks, rule)
    assert roster.score("ada").deducted == 0.3


def test_moodles_worksheet(tmp_path):
    header = "Identifier,Full name,Status,Last modified (submission),Grade"
    rows = (
        'Participant 1000001,Ada Lovelace,Submitted,"Friday, 2 October 2026, 11:58 AM",-\n'
        "Participant 1000002,Ada Lovelace,Submitted,-,\n"
        'Participant 1000003,Nobody,Submitted,"Friday, 2 October 2026, 1:58 PM",'
    )
    ada = result("Ada Lovelace_1000001", identifier="1000001")
    other = result("Ada Lovelace_1000002", identifier="1000002")
    found = late(tmp_path, rows, ada, other, header=header)
    assert [one.deducted for one in found] == [1, 0]


@pytest.mark.parametrize(
    "when",
    [
        *("Friday, 2 October 2026, 11:58 AM", "Friday, October 2, 2026, 11:58 AM"),
        *("Friday, October 2 2026, 11:58", "October 2, 2026, 11:58 AM"),
        *("2 October 2026, 11:58", "2 October 2026, 11:58 am"),
    ],
)
def test_the_times_of_english_moodles(tmp_path, when):
    (ada,) = late(tmp_path, f'ada,"{when}"', result("ada"))
    assert ada.seconds == 23 * 3600 + 58 * 60


def test_rows_with_a_time_that_belong_to_nobody_are_found(tmp_path):
    rows = (
        "ada,2026-10-02T11:00\n*,2026-10-02T11:00\nbob,\nAda/b.ipynb,2026-10-02T11:00"
    )
    rule = policy(tmp_path, rows)
    assert unmatched([result("ada")], rule) == ["*", "Ada/b.ipynb"]
    assert unmatched([result("ada"), result("Ada/b.ipynb")], rule) == ["*"]


def test_time_zones(tmp_path):
    due = moment("2026-10-01T12:00+02:00")
    (ada,) = late(tmp_path, "ada,2026-10-01T10:00:01Z", result("ada"), due=due)
    assert ada.seconds == 1


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("ada,2026-10-01T10:00\nada,", ":3: 'ada' already has a time in line 2"),
        ("ada,2026-10-01", ":2: The time '2026-10-01' cannot be read. Write"),
        ("bob,\nada,yesterday", ":3: The time 'yesterday' cannot be read. Write"),
        ("ada,2026-10-01T10:00Z", ":2: The time '2026-10-01T10:00Z' has a time zone"),
        ("adda,", "It has no time for 'ada'. Add a row; .* Is 'adda' the same student"),
        ("bo,", r"no time for 's1', 's2', 's3', 's4', 's5' and 1 more\. Add a row"),
        ("ada,1,2", ":2: The row has 3 cells"),
        ("Ada,", "It has no time for 'Ada_1', 'Ada_2'"),
    ],
)  # fmt: skip
def test_wrong_tables_are_refused(tmp_path, rows, said):
    results = [result("ada")]
    if rows == "bo,":
        results = [result(f"s{n}") for n in range(1, 7)]
    if rows == "Ada,":  # two students have this name
        results = [result(f"Ada_{n}", identifier=f"{n}") for n in (1, 2)]
    with pytest.raises(CourseError, match=said):
        adjusted(results, policy(tmp_path, rows))


def test_columns_are_checked(tmp_path):
    with pytest.raises(CourseError, match=":1: The header has no column 'when'"):
        adjusted([result("ada")], policy(tmp_path, "ada,1", header="submission,at"))


def test_rates_and_durations():
    assert rate_of("10%/day") == (0.1, DAY)
    assert rate_of("2.5 % / hour") == (0.025, HOUR)
    assert [seconds_of(t) for t in ("15min", "2 hours", "1.5 days")] == [900, 2 * HOUR, 1.5 * DAY]  # fmt: skip
    for text in ("10/day", "101%/day", "10%", "-1%/day", "10%/month"):
        with pytest.raises(ValueError, match="10%/day"):
            rate_of(text)
    for text in ("15", "min", "-1h", "1 month"):
        with pytest.raises(ValueError, match="15min"):
            seconds_of(text)


def test_feedback_gradebook_and_difference(tmp_path):
    before = [result("ada"), result("bob")]
    rule = policy(tmp_path, "ada,2026-10-02T13:00\nbob,2026-10-01T12:05", grace=600)
    after = adjusted(before, rule)
    text = text_of(feedback_page(after[0]))
    assert "Submitted 1 day 1 h after the due time − 2 Total so far = 6 / 10" in text
    text = text_of(feedback_page(after[1]))
    assert "Submitted 5 min 0 s after the due time (nothing is deducted) − 0" in text
    assert "due time" not in text_of(feedback_page(before[0]))
    (one,) = changes(grades(Roster(before)), grades(Roster(after)))
    assert (one.student, one.item, one.by) == ("ada", "Deduction for lateness, X", -2)
    assert one.why == "no deduction → deducted for lateness"
    write_sheets(Roster(after), tmp_path)
    book = gradebook([tmp_path / "grades.json"])
    first = gradebook_csv(book).splitlines()[1]
    assert first == "ada,6,6,10,1,2"
    _, page = write_gradebook(gradebook([tmp_path / "grades.json"]), tmp_path)
    assert "6 (8 − 2)" in text_of(page.read_text("utf-8"))


@pytest.mark.browser
def test_gradebook_is_readable(browser, tmp_path):
    rule = policy(tmp_path, "ada,2026-10-02T13:00")
    write_sheets(Roster(adjusted([result("ada", marks=1.5)], rule)), tmp_path)
    _, page = write_gradebook(gradebook([tmp_path / "grades.json"]), tmp_path)
    assert_readable(browser, page)


def test_the_command_deducts(tmp_path, monkeypatch):
    """Grades of 8 points stand in for those of kernels."""

    def grade(submissions, *_):
        return [dataclasses.replace(result(one.student), practical=COURSE.lab(LAB).stem, part="a") for one in submissions], 0  # fmt: skip

    monkeypatch.setattr(app, "_grade", grade)
    monkeypatch.setattr(app, "examples", lambda *_: {})
    write_submissions(tmp_path / "handed-in", 2)
    times = tmp_path / "times.csv"
    given = ["grade", tmp_path / "handed-in", "--out", tmp_path / "grades"]
    given += ["--due", "2026-10-01T12:00", "--times", times, "--late", "10%/day"]
    monkeypatch.chdir(COURSE.root)
    rows = "student-00,2026-10-03T12:00\nstudent-01,\n*,2026-10-03T12:00\n"
    times.write_text(f"submission,when\n{rows}")
    for more, final in (
        ([], "6"),
        (["--late-most", "10"], "7"),
        (["--grace", "2 days"], "8"),
    ):
        done = CliRunner().invoke(main, [str(one) for one in [*given, *more]])
        assert done.exit_code == 0, done.output
        text = (tmp_path / "grades" / "grades.csv").read_text("utf-8-sig")
        late, punctual = csv.DictReader(io.StringIO(text))
        assert (late["total"], late["final"], punctual["final"]) == ("8", final, "8")
        assert "the last run" not in done.output
        assert f"look: {times} has times for '*', which name no" in done.output
    done = CliRunner().invoke(main, [str(one) for one in [*given, "--late-most", "10"]])
    assert done.exit_code == 0
    done = CliRunner().invoke(main, [str(one) for one in given[:4]])
    assert "deducted points from 1 late notebook (1 in all)" in done.output
    (tmp_path / "grades" / "grades.json").write_text("{}")
    done = CliRunner().invoke(main, [str(one) for one in given[:4]])
    assert (done.exit_code, "look" in done.output) == (0, False)


def test_the_command_checks_the_table_before_it_grades(tmp_path, monkeypatch):
    monkeypatch.setattr(app, "_grade", None)
    write_submissions(tmp_path / "in", 1)
    times = tmp_path / "times.csv"
    times.write_text("submission,when\nstudent-00,soon\n")
    out = tmp_path / "out"
    given = ["grade", tmp_path / "in", "--out", out, "--due", "2026-10-01T12:00"]
    line = in_process(monkeypatch, *given, "--times", times, "--late", "10%/day")
    assert "times.csv:2: The time 'soon' cannot be read." in line
    assert not out.exists()
    for more, said in (
        ([], "--late, --due and --times belong together"),
        (["--late", "10"], "'10' is not understood: write it as 10%/day"),
        (
            ["--answers-from", "31.1.2027"],
            "'31.1.2027' is no day: write it as 2027-01-31",
        ),
    ):
        done = CliRunner().invoke(main, [str(one) for one in [*given, *more]])
        assert done.exit_code == 2
        assert said in done.stderr
