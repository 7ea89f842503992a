"""Feedback pages for students, safe against hostile names and answers."""

import csv
import dataclasses
import html
import random
import re
import zipfile
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from classroom import HOSTILE, IMAGE, REMOTE, SCRIPT, classroom, everybody
from click.testing import CliRunner
from labs import COURSE
from pages import assert_harmless, assert_readable, text_of

from authoring.questions import Question
from commands import main
from grading import app
from grading.execution.examples import Example, Shown
from grading.execution.grader import STOOD_IN
from grading.record import Flag, Late, Result, Verdict, Written
from grading.reports.feedback import (
    feedback_page,
    page_paths,
    slug,
    write_feedback,
)
from grading.reports.sheets import plain

RIGHT = Verdict("deep-ensembles/heads", 1, "right")
WRONG = Verdict(
    "deep-ensembles/gaussian-nll",
    2,
    "wrong",
    reason="Expected 1.08, got 0.94.",
    hint="you take the standard deviation for the variance.",
    key="deep-ensembles/gaussian-nll#0",
)


def result(student="ada", notebook="a.ipynb", digest="0", **changes):
    given = {"verdicts": (RIGHT, WRONG)} | changes
    return Result(student, "deep_ensembles", notebook, digest * 64, **given)


# --- names ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["ada", "Ada Lovelace_1000001_assignsubmission_file_", "01a-deep-ensembles", "a.b"],
)
def test_plain_names_stay(name):
    assert slug(name) == name


@pytest.mark.parametrize(
    "name",
    [
        *sorted({*HOSTILE} - {"anna", "Anna"}),
        *(
            "",
            ".",
            "..",
            ".hidden",
            "-rf",
            "a/b",
            "a\\b",
            "a\0b",
            "C:",
            "NUL.txt",
            "lpt1",
            "Pages.csv",
        ),
        *("trailing.", "trailing ", "x" * 81, "x-0123456789abcdef", "Zoë", "a\nb"),
    ],
)
def test_other_names_are_rewritten(name):
    safe = slug(name)
    assert re.fullmatch(r"[a-z0-9-]{1,60}-[0-9a-f]{16}", safe)
    assert safe == slug(name)
    assert slug(safe) != safe


def test_no_two_students_share_a_folder():
    rng = random.Random(0)
    names = {*everybody(300), "Con", "ANNA", "x" * 301}
    names |= {"".join(rng.choices("aAäÄ./ -", k=rng.randrange(6))) for _ in range(900)}
    names |= {slug(name) for name in names}
    results = [result(name) for name in names]
    folders = {path.parts[0].casefold() for path in page_paths(results).values()}
    assert len(folders) == len(names)


def test_two_notebooks_never_share_a_page():
    results = [
        result(notebook=name, digest=digest)
        for name, digest in (
            ("a.ipynb", "0"),
            ("A.ipynb", "0"),
            ("a", "1"),
            ("../a.ipynb", "0"),
            ("a.ipynb", "2"),
            ("a.html", "0"),
        )
    ]
    paths = page_paths(results)
    assert len({str(path).casefold() for path in paths.values()}) == len(results)
    assert all(len(path.parts) == 2 for path in paths.values())


def test_paths_do_not_depend_on_the_order():
    results = classroom(60, ("deep_ensembles", "bayes_by_backprop"))
    one, two = page_paths(results), page_paths(results[::-1])
    assert one == two


# --- contents of a page -----------------------------------------------------------------


def test_page_says_what_went_wrong():
    flag = Flag("check-edited", "deep-ensembles--heads--check", "A check was edited.")
    text = text_of(
        feedback_page(
            result(flags=(flag,), written=(Written("q", 3, "Because **so**.", 2.5),)),
            titles={"deep-ensembles/gaussian-nll": "The Gaussian NLL"},
            comments={("ada", "deep_ensembles", "q"): "Say why."},
        )
    )
    for part in (
        "3.5 / 6 points: 1 of 2 tasks right",
        "The Gaussian NLL",
        "Not right yet. Expected 1.08, got 0.94.",
        "You get this if you take the standard deviation for the variance.",
        "A check was edited.",
        "Because so .",
        "2.5 / 3",
        "Tasks 1 / 3 Answers in words + 2.5 / 3 Total = 3.5 / 6",
        "Comment. Say why.",
    ):
        assert part in text, part


def test_not_attempted_is_not_called_wrong():
    begun = dataclasses.replace(WRONG, status="not-attempted", reason="", hint="")
    text = text_of(feedback_page(result(verdicts=(RIGHT, begun))))
    assert "1 of 2 tasks right, 1 not attempted" in text
    assert "Not attempted." in text
    assert "ot right" not in text


LATE = re.compile(r"after the due time( \(nothing is deducted\))? − ([\d.]+)")
SUMS = re.compile(r"Tasks ([\d.]+) / (\d+) Answers in words \+ ([\d.]+) / (\d+)")


@pytest.mark.parametrize(
    ("late", "said"),
    [
        (None, ""),
        (Late(0, 0), "Submitted in time."),
        (Late(300, 0), "Submitted 5 min 0 s after the due time (nothing is deducted)"),
        (Late(90_000, 0.6), "Submitted 1 day 1 h after the due time − 0.6"),
        (Late(0, 0.3), "Submitted less than 1 s after the due time − 0.3"),
        (Late(900_000, 3.5), "Submitted 10 days 10 h after the due time − 3.5"),
    ],
)
def test_points_marks_and_deduction_add_up(late, said):
    graded = result(written=(Written("q", 3, "So.", 2.5),), late=late)
    text = text_of(feedback_page(graded))
    assert said in text
    ((points, worth, marks, most),) = SUMS.findall(text)
    deducted = sum(float(found[1]) for found in LATE.findall(text))
    total = float(points) + float(marks) - deducted
    assert f"Total = {total:g} / {int(worth) + int(most)}" in text
    assert f"{total:g} / 6 points: 1 of 2" in text
    assert ("Before the deduction = 3.5 / 6" in text) == bool(
        late and late != Late(0, 0)
    )
    assert ("ubmitted" in text) == (late is not None)


EXAMPLE = Example(
    ("Look at σ.", "Square it."), {WRONG.hint: Shown("    y = <1>", "    nll = 0.5")}
)


def test_names_in_backticks_are_set_as_code_and_nothing_else_is_markup():
    verdict = dataclasses.replace(
        WRONG, reason="raised NameError about `a<b`: <i>no</i>"
    )
    page = feedback_page(result(verdicts=(verdict,)))
    assert "about <code>a&lt;b</code>: &lt;i&gt;no&lt;/i&gt;" in page


def test_examples_hints_and_a_running_total():
    shown = {WRONG.task: EXAMPLE, RIGHT.task: EXAMPLE}
    begun = dataclasses.replace(WRONG, task="x", status="not-attempted", reason="")
    verdicts = (RIGHT, WRONG, begun)
    page = feedback_page(result(verdicts=verdicts), examples=shown | {"x": EXAMPLE})
    assert page.count("y = &lt;1&gt;") == 1  # of the wrong one only
    assert page.count("nll = 0.5") == 1
    assert page.count("Hint 2 of 2") == 2
    text = text_of(page)
    totals = re.findall(r"so far (\d) / (\d)", text)
    assert totals == [("1", "1"), ("1", "3"), ("1", "5")]


def test_the_prompt_of_a_task_that_is_not_right():
    prompts = {WRONG.task: "Write the *NLL*.", RIGHT.task: "Write the heads."}
    text = text_of(feedback_page(result(), prompts=prompts))
    assert "The task Write the NLL ." in text
    assert "Write the heads." not in text


def test_question_rubric_and_a_model_answer_when_the_time_has_come():
    question = Question(
        "q", "Q", "Why *so*?", "It is $x$.", ("1 point: a", "1 point: b")
    )
    given = {"asked": {"q": question}}
    for marks, line in (
        (2, "✓ 1 point: a met"),
        (0, "✗ 1 point: a not met"),
        (1, "• 1"),
    ):
        graded = result(written=(Written("q", 2, "Because.", marks),))
        text = text_of(feedback_page(graded, **given))
        assert line in text
        assert "Why so ?" in text
        assert "It is" not in text
    assert "A model answer It is" in text_of(
        feedback_page(graded, answers=True, **given)
    )
    open_ = result(written=(Written("q", 2, "Because."),))
    assert "1 point: a" not in feedback_page(open_, **given)


@pytest.mark.parametrize(("days", "shown"), [(-1, True), (0, True), (1, False)])
def test_model_answers_are_shown_from_the_day_that_the_command_names(
    monkeypatch, days, shown
):
    asked = []
    monkeypatch.setattr(
        app, "grade_folder", lambda *_, **given: asked.append(given["answers"]) or []
    )
    monkeypatch.chdir(COURSE.root)
    day = (datetime.now() + timedelta(days=days)).date().isoformat()
    given = ["grade", "in", "--out", "out", "--answers-from", day]
    assert CliRunner().invoke(main, given).exit_code == 0
    assert asked == [shown]


def test_nothing_that_python_printed():
    reason = "It failed. Traceback (most recent call last):\n  File 'probe.py' secret"
    wrong = dataclasses.replace(WRONG, reason=reason)
    page = feedback_page(result(verdicts=(wrong,)))
    assert "It failed." in page
    assert "Traceback" not in page
    assert "secret" not in page
    long = dataclasses.replace(WRONG, reason="spam " * 10_000)
    assert len(feedback_page(result(verdicts=(long,)))) < 20_000


def test_what_is_not_marked_or_answered_or_graded():
    page = feedback_page(result(written=(Written("q", 3, "Because."),)))
    assert "1 / 6 points so far" in text_of(page)
    assert "Answers in words (1 not marked yet) + 0 / 3 Total so far = 1 / 6" in (
        text_of(page)
    )
    page = feedback_page(result(written=(Written("q", 3, " \n"),)))
    assert "No answer was written." in text_of(page)
    page = feedback_page(
        result(graded=False, problem="The file is empty.", verdicts=())
    )
    assert "could not be graded" in page
    assert "The file is empty." in page
    assert "Total" not in page


def test_later_tasks_say_that_they_were_judged_apart():
    later = dataclasses.replace(RIGHT, attempt=2, reason=STOOD_IN)
    page = feedback_page(result(verdicts=(WRONG, later)))
    assert "in place of an earlier task" in page
    without = dataclasses.replace(later, reason="")  # judged again, beside no reference
    assert "in place of" not in feedback_page(result(verdicts=(WRONG, without)))


def test_write_removes_only_pages_of_ours_that_are_stale(tmp_path):
    write_feedback([result("anna")], tmp_path)
    own = tmp_path / "feedback" / "anna" / "a.html"
    other = tmp_path / "feedback" / "anna" / "notes.html"
    other.write_text("mine", encoding="utf-8")
    assert own.exists()
    written = write_feedback([result("anna"), result("Anna")], tmp_path)
    assert not own.exists()
    assert other.exists()
    assert len(set(written)) == 2
    assert all(path.exists() for path in written)


# --- back to the students ---------------------------------------------------------------


def moodles_reading(entry):
    """The participant and the file that Moodle's importer takes from a path in a zip."""
    parts = entry.split("/")
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) >= 4 and info[1].isdecimal():
            assert info[2:4] == ["assignfeedback", "file"]
            return info[1], "/".join([*info[4:], *parts]).lstrip("/")
    return None


def test_moodle_gives_the_pages_to_their_students(tmp_path):
    names = {"1001": "Ada Lovelace", "1002": "Zoë_X", "1003": "../=1", "1004": "7_8_a"}
    names |= {"1005": "Ada Lovelace", "1006": ".hidden"}
    results = [
        result(f"{name}_{number}", identifier=number) for number, name in names.items()
    ]
    results.append(result("Ada Lovelace_1001", "b.ipynb", "1", identifier="1001"))
    results.append(result("nobody"))
    pages, archive = write_feedback(results, tmp_path), tmp_path / "moodle-feedback.zip"
    with zipfile.ZipFile(archive) as zipped:
        entries = {moodles_reading(name): name for name in zipped.namelist()}
        assert entries.keys() == {(number, "a.html") for number in names} | {
            ("1001", "b.html")
        }
        for number, name in names.items():
            page = zipped.read(entries[number, "a.html"]).decode("utf-8")
            assert f"{html.escape(name)}_{number}</bdi>" in page
    assert not any(
        Path(name).is_absolute() or ".." in name for name in entries.values()
    )
    before = archive.read_bytes()
    assert write_feedback(results, tmp_path) == pages
    assert archive.read_bytes() == before
    text = (tmp_path / "feedback" / "pages.csv").read_text("utf-8-sig")
    table = csv.DictReader(text.splitlines())
    listed = {(plain(row["student"]), row["page"]) for row in table}
    assert {tmp_path / "feedback" / page for _, page in listed} == set(pages)
    assert ("Ada Lovelace_1001", "Ada Lovelace_1001/b.html") in listed
    assert {name for name, _ in listed} == {one.student for one in results}
    write_feedback([result("nobody")], tmp_path)
    assert not archive.exists()


# --- in a browser -----------------------------------------------------------------------


@pytest.mark.browser
def test_hostile_page_does_nothing(browser, tmp_path):
    hostile = f"{SCRIPT}{IMAGE}"
    nasty = Result(
        student=hostile,
        practical="deep_ensembles",
        notebook=f"{hostile}\udcff.ipynb",
        digest="0" * 64,
        verdicts=(dataclasses.replace(WRONG, reason=hostile, hint=hostile),),
        written=(Written(f'q"{IMAGE}', 3, f"{hostile}\n\n{REMOTE}\n\n$x{IMAGE}$"),),
        flags=(Flag(hostile, hostile, hostile),),
    )
    comments = {(hostile, "deep_ensembles", f'q"{IMAGE}'): hostile}
    (path,) = write_feedback([nasty], tmp_path, comments=comments)
    assert_harmless(browser, path)
    assert_readable(browser, path)


@pytest.mark.browser
def test_usual_pages_are_readable(browser, tmp_path):
    results = sorted(classroom(12), key=lambda found: found.earned)
    paths = write_feedback([results[0], results[-1]], tmp_path)
    for path in paths:
        assert_harmless(browser, path)
        assert_readable(browser, path)
