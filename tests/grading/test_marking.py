"""Written answers: the questions of the chapters, the page for marking, and reading marks."""

import csv
import dataclasses
import io

import pytest
from bs4 import BeautifulSoup
from classroom import classroom
from pages import text_of

from grading.record import Result, Written
from grading.reports.marking import (
    COLUMNS,
    Question,
    mark_honest,
    marking_page,
    marks_csv,
    read_comments,
    read_marks,
)
from grading.reports.roster import Roster
from project.errors import CourseError
from project.practicals import title_of

STEM = "deep_ensembles"
ONE, TWO = "deep-ensembles/overconfident", "deep-ensembles/survey"
HEADER = ",".join(COLUMNS)


def result(student="ada", **changes):
    given = {
        "written": (Written(ONE, 3, "Because."), Written(TWO, 3, "Two hours.")),
    } | changes
    return Result(student, STEM, "a.ipynb", "0" * 64, **given)


def marks_of(results):
    return {
        (found.student, answer.task): answer.marks
        for found in results
        for answer in found.written
    }


def written(tmp_path, *lines, header=HEADER, encoding="utf-8"):
    path = tmp_path / "marks.csv"
    path.write_bytes("\n".join([header, *lines, ""]).encode(encoding))
    return path


# --- the page ---------------------------------------------------------------------------


def test_an_honest_answer_has_full_marks():
    survey = Question(
        TWO, "Survey", "How long? (Any honest answer gets full marks.)", "", ()
    )
    other = Question(ONE, "Overconfidence", "Why?", "It is.", ("1 point: a",))
    blank = Written(TWO, 3, " ")
    less = Written(TWO, 3, "No comment.", 1.0)
    given = [result(), result("bob", written=(blank,)), result("cy", written=(less,))]
    asked = {STEM: [other, survey]}
    results = mark_honest(given, asked)
    assert marks_of(results) == {
        ("ada", ONE): None,
        ("ada", TWO): 3,
        ("bob", TWO): None,
        ("cy", TWO): 1.0,
    }
    table = marks_csv(Roster(results), asked=asked)
    found = list(csv.reader(io.StringIO(table.removeprefix("\ufeff"))))
    assert [(row[0], row[2]) for row in found[1:]] == [("ada", ONE), ("cy", TWO)]
    page = text_of(marking_page(Roster(results), asked))
    assert "all answers that are not blank have them already" in page


def test_page_shows_answers_beside_the_model():
    asked = {
        STEM: [Question(ONE, "Overconfidence", "Why?", "It *is*.", ("1 point: a",))]
    }
    roster = Roster([result(), result("bob", written=(Written(ONE, 3, ""),))])
    text = text_of(marking_page(roster, asked))
    for part in ("Overconfidence", "Why?", "It is .", "1 point: a", "ada", "Because."):
        assert part in text
    assert "1 student did not answer bob" in text
    assert TWO in text
    assert "Nobody was asked" in marking_page(Roster([]), {})


def test_each_question_says_which_lab_asks_it():
    """The list of questions has a heading for each lab, if there are several."""

    def contents(*labs):
        asked = [
            Question(id_, id_, "", "", (), lab)
            for id_, lab in zip((ONE, TWO), labs, strict=True)
        ]
        page = marking_page(Roster([result()]), {STEM: asked})
        found = BeautifulSoup(page, "html.parser")
        assert [one.text for one in found.select(".question .eyebrow")] == [
            f"{lab or title_of(STEM)} · {id_} · 3 points"
            for id_, lab in zip((ONE, TWO), labs, strict=True)
        ]
        return [one.text for one in found.select(".contents .lab")]

    assert contents("Lab 3a: Priors", "Lab 3b: Digits") == [
        "Lab 3a: Priors",
        "Lab 3b: Digits",
    ]
    assert contents("Lab 3a: Priors", "Lab 3a: Priors") == []
    assert contents("", "") == []


# --- the table --------------------------------------------------------------------------


def test_table_comes_back(tmp_path):
    results = classroom(48, (STEM, "bayes_by_backprop"))
    for index, found in enumerate(results):
        results[index] = dataclasses.replace(
            found,
            written=tuple(
                dataclasses.replace(answer, marks=(index % 7) / 2)
                if answer.text.strip() not in ("", "*Write your answer here.*")
                else answer
                for answer in found.written
            ),
        )
    bare = [
        dataclasses.replace(
            found,
            written=tuple(dataclasses.replace(a, marks=None) for a in found.written),
        )
        for found in results
    ]
    path = tmp_path / "marks.csv"
    path.write_text(marks_csv(Roster(results)), encoding="utf-8", newline="")
    assert read_marks(path, bare) == results


def test_rows_follow_the_page():
    table = csv.DictReader(
        io.StringIO(marks_csv(Roster([result("bob"), result()])).removeprefix("\ufeff"))
    )
    assert [(row["question"], row["student"]) for row in table] == [
        (ONE, "ada"),
        (ONE, "bob"),
        (TWO, "ada"),
        (TWO, "bob"),
    ]


@pytest.mark.parametrize(
    ("separator", "encoding", "half"),
    [(",", "utf-8", "2.5"), (";", "utf-8-sig", "2,5"), ("\t", "utf-8-sig", "2.5")],
)
def test_tables_of_all_countries(tmp_path, separator, encoding, half):
    path = written(
        tmp_path,
        separator.join(["zoë", STEM, ONE, half, "gut"]),
        separator * 4,
        separator.join(["ada", "deep-ensembles", TWO, " 3 "]),
        header=separator.join([*COLUMNS, "my own column"]).upper(),
        encoding=encoding,
    )
    results = [result("zoë"), result()]
    assert marks_of(read_marks(path, results)) == {
        ("zoë", ONE): 2.5,
        ("zoë", TWO): None,
        ("ada", ONE): None,
        ("ada", TWO): 3.0,
    }
    assert read_comments(path, results) == {("zoë", STEM, ONE): "gut"}


def test_empty_cells_change_nothing(tmp_path):
    marked = result(written=(Written(ONE, 3, "Because.", 1.0),))
    path = written(tmp_path, f"ada,{STEM},{ONE},,")
    assert read_marks(path, [marked]) == [marked]


def test_marks_go_to_the_notebook_that_counts(tmp_path):
    spare = dataclasses.replace(result(), notebook="z.ipynb")
    path = written(tmp_path, f"ada,{STEM},{ONE},2,")
    one, two = read_marks(path, [spare, result()])
    assert marks_of([one])["ada", ONE] is None
    assert marks_of([two])["ada", ONE] == 2.0


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            [f"adda,{STEM},{ONE},1,"],
            r"marks.csv:2: There is no student called 'adda'. Did you mean 'ada'\?",
        ),
        ([f"zzz,{STEM},{ONE},1,"], r":2: .* Copy the cell from the table"),
        (
            [f"ada,deep_ensemble,{ONE},1,"],
            r":2: There is no practical called 'deep_ensemble'. Did you mean 'deep_ensembles'",
        ),
        (
            [f"ada,{STEM},deep-ensembles/surve,1,"],
            r":2: There is no question of deep_ensembles called .* Did you mean "
            f"'{TWO}'",
        ),
        (
            [f"ada,{STEM},{TWO},3,", f"ada,{STEM},{ONE},good,"],
            r":3: The marks 'good' are not a number. Write a number from 0 to 3",
        ),
        ([f"ada,{STEM},{ONE},nan,"], r":2: The marks 'nan' are not a number"),
        ([f"ada,{STEM},{ONE},1_0,"], r":2: The marks '1_0' are not a number"),
        (
            [f"ada,{STEM},{ONE},4,"],
            r":2: 4 marks .* out of range. Give a number from 0 to 3",
        ),
        ([f"ada,{STEM},{ONE},-1,"], r":2: -1 marks .* are out of range"),
        (
            [f'ada,{STEM},{ONE},1,"two\nlines"', "", f"ada,{STEM},{ONE},1,"],
            r":5: 'ada' already has marks for .* in line 2. Delete one",
        ),
        (
            [f"ada,{STEM},{ONE},1,good, but short"],
            r':2: The row has 6 cells, but the header has 5. Put text that contains ","',
        ),
        ([f'ada,{STEM},{ONE},1,"open'], r":2: It is not a table"),
    ],
)
def test_what_cannot_be_meant(tmp_path, lines, message):
    with pytest.raises(CourseError, match=message):
        read_marks(written(tmp_path, *lines), [result()])


def test_a_row_of_a_notebook_that_could_not_be_graded_stops_nobody(tmp_path):
    ada = result("ada")
    bo = dataclasses.replace(
        result("bo"), graded=False, written=(), problem="It was too large."
    )
    path = written(tmp_path, f"ada,{STEM},{ONE},1,", f"bo,{STEM},{ONE},1,good")
    one, two = read_marks(path, [ada, bo])
    assert [answer.marks for answer in one.written if answer.task == ONE] == [1]
    assert two == bo


def test_wrong_files(tmp_path):
    with pytest.raises(CourseError, match="cannot be read: No such file"):
        read_marks(tmp_path / "no.csv", [])
    with pytest.raises(CourseError, match=r"marks.csv:1: The header has no column 'st"):
        read_marks(written(tmp_path, header="name,marks"), [])
    with pytest.raises(CourseError, match="two columns 'marks'"):
        read_marks(written(tmp_path, header=f"{HEADER},marks"), [])
    with pytest.raises(CourseError, match="It is empty"):
        read_marks(written(tmp_path, header=""), [])
    path = written(tmp_path, f"Zoë,{STEM},{ONE},1,", encoding="cp1252")
    with pytest.raises(
        CourseError, match=r"marks.csv:2: It is not UTF-8. .* “CSV UTF-8"
    ):
        read_marks(path, [result("Zoë")])
