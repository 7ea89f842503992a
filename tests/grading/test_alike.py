"""Answers with the same or nearly the same text: together, and marked once."""

import csv
import dataclasses
import io
import re
import time

import pytest
from classroom import IMAGE, REMOTE, SCRIPT
from labs import COURSE
from pages import assert_harmless, assert_readable, text_of

from grading.record import Result, Written
from grading.reports.alike import grouped, version_of
from grading.reports.feedback import feedback_page
from grading.reports.marking import (
    COLUMNS,
    marking_page,
    marks_csv,
    questions,
    read_comments,
    read_marks,
    write_marking,
)
from grading.reports.roster import Roster
from project.errors import CourseError

STEM, ONE = "deep_ensembles", "deep-ensembles/overconfident"
HEADER = ",".join((*COLUMNS, "same as"))

SENTENCE = (
    "The band is too narrow far from the data, as the noise is all that it has. " * 2
)


def a_class(**texts):
    return [
        Result(name, STEM, "a.ipynb", "0" * 64, written=(Written(ONE, 3, text),))
        for name, text in texts.items()
    ]


def written(tmp_path, *lines):
    path = tmp_path / "marks.csv"
    path.write_text("\n".join([HEADER, *lines, ""]), encoding="utf-8")
    return path


def groups_of(results):
    given = [(one.student, one.written[0]) for one in results]
    return [[v.students for v in group] for group in grouped(given)]


def test_answers_alike_are_together_on_the_page_and_in_the_table():
    results = a_class(
        ada=SENTENCE,
        bob="Because.",
        cy=SENTENCE.upper().replace(" ", "\n"),
        di=SENTENCE.replace("too narrow", "not too narrow"),
        eve="Because.",
        fay="The band widens with the distance from the data: the networks disagree.",
    )
    assert groups_of(results) == [[["ada", "cy"], ["di"]], [["bob", "eve"]], [["fay"]]]
    page = text_of(marking_page(Roster(results), {}))
    assert page.count("2 students have this text") == 2
    assert "Marks in the row of ada count for all of them." in page
    assert "2 texts that are nearly the same" in page
    assert re.search(r"Other than ada : not · not The band is not too", page)
    order = [page.index(f" {name} ") for name in ("ada", "cy", "di", "bob", "eve")]
    assert order == sorted(order)
    table = marks_csv(Roster(results)).removeprefix("\ufeff")
    rows = [(r["student"], r["same as"]) for r in csv.DictReader(io.StringIO(table))]
    assert rows == [
        *(("ada", ""), ("cy", "ada"), ("di", ""), ("bob", ""), ("eve", "bob")),
        ("fay", ""),
    ]


def test_a_version_is_no_number_for_a_spreadsheet():
    versions = {version_of(str(n)) for n in range(1000)}
    assert len(versions) == 1000
    assert all(re.fullmatch("[a-p]{8}", one) for one in versions)
    assert version_of(" a\n B") == version_of("A b") != version_of("ab")
    assert version_of("\udc80") != version_of("")


def test_a_class_of_a_thousand_is_grouped_at_once():
    words = SENTENCE.split()
    texts = {
        f"s{n:04}": " ".join([*words[:5], f"a{n}", f"b{n}", f"c{n}", *words[5:9]] * 2)
        for n in range(1000)
    }
    start = time.process_time()
    assert len(groups_of(a_class(**texts))) == 1000
    hostile = a_class(ada="a " * 90_000, bob="a b " * 45_000, cy="a " * 399 + "b")
    assert groups_of(hostile)
    assert time.process_time() - start < 10


def test_marks_and_comment_of_the_first_count_for_the_same_text(tmp_path):
    results = a_class(ada=SENTENCE, bob=SENTENCE, cy=SENTENCE, di=SENTENCE)
    path = written(
        tmp_path,
        f"bob,{STEM},{ONE},,,ada",
        f"cy,{STEM},{ONE},1,,ada",
        f"ada,{STEM},{ONE},2,Say why.,",
        f"di,{STEM},{ONE},,Late.,ada",
    )
    marked = read_marks(path, results)
    assert [one.written[0].marks for one in marked] == [2, 2, 1, 2]
    comments = read_comments(path, results)
    assert {key[0]: text for key, text in comments.items()} == {
        "ada": "Say why.",
        "bob": "Say why.",
        "di": "Late.",
    }
    # The next table says the same in the same way, and is read with the same result.
    again = marks_csv(Roster(marked), comments)
    assert f"bob,{STEM},{ONE},,,ada" in again
    path.write_text(again, encoding="utf-8")
    assert read_marks(path, results) == marked
    assert read_comments(path, results) == comments
    page = text_of(marking_page(Roster(marked), {}, comments))
    assert page.count("Comment. Say why.") == 2
    assert "Comment. Late." in page


@pytest.mark.parametrize("version", ["", ",abcdabcd"])
def test_marks_of_a_notebook_that_cannot_be_graded_now_still_count_for_others(
    tmp_path, version
):
    """Its questions are not known, but another row may refer to its own."""
    ada, bob = a_class(ada=SENTENCE, bob=SENTENCE)
    ada = dataclasses.replace(ada, graded=False, problem="Unreadable.", written=())
    path = tmp_path / "marks.csv"
    path.write_text(
        f"{','.join(COLUMNS)},same as{',version' if version else ''}\n"
        f"ada,{STEM},{ONE},2,Say why.,\n"
        f"bob,{STEM},{ONE},,,ada{version}\n"
    )
    unmarked, marked = read_marks(path, [ada, bob])
    assert unmarked == ada
    assert marked.written[0].marks == 2
    assert read_comments(path, [ada, bob]) == {("bob", STEM, ONE): "Say why."}
    for marks, said in (
        ("7", "7 marks for"),
        ("-1", "-1 marks for"),
        ("x", "'x' are not"),
    ):
        path.write_text(
            path.read_text("utf-8").replace(f",{ONE},2,", f",{ONE},{marks},")
        )
        with pytest.raises(CourseError, match=rf"marks\.csv:2: .*{said}"):
            read_marks(path, [ada, bob])
        path.write_text(
            path.read_text("utf-8").replace(f",{ONE},{marks},", f",{ONE},2,")
        )


def test_marks_of_one_lab_stay_where_another_cannot_be_graded_now(tmp_path):
    (ada,) = a_class(ada=SENTENCE)
    first = dataclasses.replace(ada, part="a")
    second = dataclasses.replace(ada, part="b", graded=False, written=())
    other = "deep-ensembles/of-lab-b"
    path = written(tmp_path, f"ada,{STEM},{ONE},2,,", f"ada,{STEM},{other},1,,")
    assert read_marks(path, [first, second])[0].written[0].marks == 2


@pytest.mark.parametrize("marks", ["", "2"])
def test_nobody_has_the_marks_of_a_row_that_is_not_there(tmp_path, marks):
    results = a_class(ada=SENTENCE, bob=SENTENCE)
    row = f"bob,{STEM},{ONE},{marks},,adda"
    if marks:  # of its own
        path = written(tmp_path, row)
        assert read_marks(path, results)[1].written[0].marks == 2
    else:
        with pytest.raises(CourseError, match=":2: There is no row for 'adda'"):
            read_marks(written(tmp_path, row), results)
    rows = [f"ada,{STEM},{ONE},,,bob", f"bob,{STEM},{ONE},{marks},,ada"]
    first = read_marks(written(tmp_path, *rows), results)[0]
    assert first.written[0].marks == (float(marks) if marks else None)


def test_comments_may_contain_formulas(tmp_path):
    (ada,) = a_class(ada="It is.")
    path = written(tmp_path, f"ada,{STEM},{ONE},1,It is $\\sigma^2$.")
    comments = read_comments(path, [ada])
    for page in (
        marking_page(Roster([ada]), {}, comments),
        feedback_page(ada, comments=comments),
    ):
        assert "<b>Comment.</b> <p>It is" in page
        assert "<msup><mi>σ</mi><mn>2</mn></msup>" in page


@pytest.mark.browser
def test_hostile_answers_do_nothing(browser, tmp_path):
    nasty = f"{SCRIPT}\n\n{IMAGE}\n\n{REMOTE}\n\n# {'W' * 500}\n\n`{'x' * 500}`"
    texts = {SCRIPT + IMAGE: nasty, "ada": SENTENCE, "ann": f"{nasty} {SENTENCE}"}
    texts |= {"bo": texts["ann"], "di": f"{nasty} {SENTENCE} {IMAGE}"}
    texts |= dict.fromkeys("stuvwxyz", nasty)
    texts["em"] = f"So $$\\frac{{{IMAGE}}}{{2}} + {'x' * 300}$$, $\\text{{{nasty}}}$"
    roster = Roster(a_class(**texts))
    asked = [one for lab in COURSE.labs(STEM) for one in questions(lab)]
    said = {(SCRIPT + IMAGE, STEM, ONE): nasty}
    page, _ = write_marking(roster, tmp_path, {STEM: asked}, said)
    links = ("#", "data:,", "https://doi.org/", "report.html")
    assert_harmless(browser, page, links=links)
    assert_readable(browser, page)
