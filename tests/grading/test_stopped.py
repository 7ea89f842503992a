"""Code that a limit stopped: the report shows it, and says what can be done about it."""

import re

import pytest
from classroom import IMAGE, SCRIPT
from pages import assert_harmless, assert_readable, text_of

from grading.record import STOPPED, Code, Flag, Result, Verdict
from grading.reports.report import report_page, write_report
from grading.reports.roster import Roster
from grading.reports.stopped import advice
from grading.reports.unnamed import LONGEST

FIRST, SECOND = "deep-ensembles/heads", "deep-ensembles/gaussian-nll"
TIME = f"{STOPPED}: it ran for more than 30 s."


def result(name, *verdicts, **more):
    return Result(
        name, "deep_ensembles", "a.ipynb", "0" * 64, verdicts=verdicts, **more
    )


@pytest.mark.parametrize(
    ("because", "said"),
    [
        ("it ran for more than 30 s", "grade again with `--retry`"),
        ("the time for the whole notebook was used up", "a loop that does not end"),
        ("it used more than 3072 MiB of memory", "an array that is far too large"),
        ("it used more than 32 processes", "starts processes"),
        ("it used more than 512 threads", "starts processes"),
        ("it produced more than 8 MiB of output", "a print in a loop"),
        ("it used more than 256 MiB of files", "files that it writes"),
        ("it used more than 256 sockets", "connections that it opens"),
        ("its kernel died", "recursion"),
        ("nbval itself had to be killed", "Grade again"),
    ],
)
def test_every_limit_has_its_advice(because, said):
    assert said in advice(f"{STOPPED}: {because}.")


def test_stopped_code_is_shown_with_its_limit_and_advice():
    code = (
        Code(FIRST, f"while True:\n    pass  # {SCRIPT}"),
        Code(SECOND, "return 7"),
        Code("added--2", "x" * (LONGEST + 1)),
    )
    message = "A cell had to be stopped (it used more than 3072 MiB of memory)."
    verdicts = (
        Verdict(FIRST, 1, "wrong", reason=TIME),
        Verdict(SECOND, 2, "wrong", reason="The value `nll` is not right."),
    )
    ada = result(
        "ada", *verdicts, code=code, flags=(Flag("added-stopped", "added--2", message),)
    )
    bob = result("bob", Verdict(FIRST, 1, "right"))
    page = report_page(Roster([ada, bob]), titles={FIRST: "Two heads"})
    part = re.search(r'<section id="stopped">.*?</section>', page, re.DOTALL)[0]
    text = text_of(f"<main>{part}")
    assert "ada a.ipynb Two heads" in text
    assert "it ran for more than 30 s. Read the code for a loop" in text
    assert "while True: pass # <script>" in text
    assert "own cell 3" in text
    assert "an array that is far too large" in text
    assert "x" * LONGEST + "…" in text
    assert "return 7" not in page
    assert "bob" not in text
    assert "2 pieces of code were stopped by a limit" in text_of(page)
    assert 'id="stopped"' not in report_page(Roster([bob]))


@pytest.mark.browser
def test_hostile_stopped_code_does_nothing(browser, tmp_path):
    code = (Code(FIRST, f"{SCRIPT}{IMAGE}{'x' * 500}"),)
    ada = result(SCRIPT, Verdict(FIRST, 1, "wrong", reason=TIME), code=code)
    path = write_report(Roster([ada]), tmp_path)
    assert_harmless(browser, path, links=("#", "data:,", "items.html"))
    assert_readable(browser, path)
