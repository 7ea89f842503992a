"""Written answers: the questions of the chapters, the page for marking, and reading marks."""

import csv
import dataclasses
import io

import nbformat
import pytest
from bs4 import BeautifulSoup
from classroom import classroom
from graded_class import finish, start, table, write_submissions
from pages import text_of

from grading.record import Result, Written
from grading.reports.alike import version_of
from grading.reports.difference import surprises
from grading.reports.grades import grades
from grading.reports.marking import (
    COLUMNS,
    Question,
    filled_table,
    mark_honest,
    marking_page,
    marks_csv,
    read_comments,
    read_marks,
    write_marking,
)
from grading.reports.roster import Roster
from project.errors import CourseError
from project.practicals import title_of

STEM = "deep_ensembles"
ONE, TWO = "deep-ensembles/overconfident", "deep-ensembles/survey"
HEADER = ",".join(COLUMNS)
BECAUSE, TWO_HOURS = version_of("Because."), version_of("Two hours.")


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
            r":2: There is no practical of 'ada' called 'deep_ensemble'. Did you mean 'deep_ensembles'",
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


# --- filled-in tables are kept ----------------------------------------------------------


def test_filled_table_is_never_written_over(tmp_path):
    path, new = tmp_path / "marks.csv", tmp_path / "marks-new.csv"
    assert write_marking(Roster([result()]), tmp_path, {})[1] == path
    filled = path.read_text("utf-8").replace(f"{ONE},,", f"{ONE},2,fine")
    path.write_text(filled, encoding="utf-8", newline="")

    results = [result(), result("bob")]
    marked = read_marks(path, results)
    comments = read_comments(path, results)
    # This holds whether or not the marks were merged; the new table keeps them.
    for roster, said in ((Roster(marked), comments), (Roster(results), {})):
        new.unlink(missing_ok=True)
        assert write_marking(roster, tmp_path, {}, said)[1] == new
        assert path.read_bytes() == filled.encode("utf-8")
        check_rows_kept(new)


def check_rows_kept(new):
    assert rows_in(new) == [
        ("ada", STEM, ONE, "2", "fine", "", BECAUSE),
        ("bob", STEM, ONE, "", "", "ada", BECAUSE),
        ("ada", STEM, TWO, "", "", "", TWO_HOURS),
        ("bob", STEM, TWO, "", "", "ada", TWO_HOURS),
    ]


def rows_in(path):
    text = path.read_text("utf-8").removeprefix("\ufeff")
    return [tuple(row.values()) for row in csv.DictReader(io.StringIO(text))]


def filled_in(tmp_path, *changes, name="marks.csv"):
    """Make each change, a text and what comes in its place, in the table of marks."""
    text = (tmp_path / name).read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")


def three_with_the_same_text(tmp_path):
    """Mark the first; the marks count for the others, too."""
    class_ = [result(name) for name in ("ada", "bob", "cy")]
    write_marking(Roster(class_), tmp_path, {})
    filled_in(tmp_path, (f"{ONE},,,,", f"{ONE},2,fine,,"))
    return class_


def said_of(results, before=None):
    notes = surprises(before and grades(Roster(before)), grades(Roster(results)))
    return [note.partition(":")[0] for note in notes]


HENCE = (Written(ONE, 3, "Hence."), Written(TWO, 3, " Two\nHours. "))


def test_a_mark_of_an_answer_that_has_changed_gets_a_remark_in_every_run(tmp_path):
    class_ = three_with_the_same_text(tmp_path)
    path = tmp_path / "marks.csv"
    assert said_of(read_marks(path, class_)) == []
    class_[0] = result("ada", written=HENCE)
    marked = read_marks(path, class_)
    assert [one.written[0].marks for one in marked] == [2, 2, 2]
    assert said_of(marked) == said_of(marked, marked) == ["ada · overconfident"]
    page = marking_page(Roster(marked), {})
    assert page.count("This answer has changed since it was marked.") == 1
    # It has changed back: nothing is wrong, whatever the last run was.
    again = read_marks(path, [result("ada"), *class_[1:]])
    assert said_of(again, marked) == []


def test_the_remark_ends_when_the_answer_is_marked_again(tmp_path):
    class_ = three_with_the_same_text(tmp_path)
    class_[0] = result("ada", written=HENCE)
    filled_in(tmp_path, (f"2,fine,,{BECAUSE}", "0,off,,"))
    marked = read_marks(tmp_path / "marks.csv", class_)
    # The others referred to her row for another text than hers is now.
    assert said_of(marked) == ["bob · overconfident", "cy · overconfident"]
    filled_in(
        tmp_path,
        (f"bob,{STEM},{ONE},,,ada", f"bob,{STEM},{ONE},2,,"),
        (f"cy,{STEM},{ONE},,,ada", f"cy,{STEM},{ONE},,,bob"),
    )
    marked = read_marks(tmp_path / "marks.csv", class_)
    assert [one.written[0].marks for one in marked] == [0, 2, 2]
    assert said_of(marked) == []


@pytest.mark.parametrize("name", ["marks.csv", "elsewhere.csv"])
def test_marks_keep_the_version_of_their_text_in_every_table(tmp_path, name):
    class_ = three_with_the_same_text(tmp_path)
    (tmp_path / "marks.csv").rename(tmp_path / name)
    class_[0] = result("ada", written=HENCE)
    class_.append(result("dan"))
    marked = read_marks(tmp_path / name, class_)
    comments = read_comments(tmp_path / name, class_)
    written = write_marking(Roster(marked), tmp_path, {}, comments)[1]
    assert written.name == ("marks-new.csv" if name == "marks.csv" else "marks.csv")
    again = read_marks(written, class_)
    assert [one.written[0].marks for one in again][:3] == [2, 2, 2]
    assert said_of(again) == ["ada · overconfident"]


def test_versions_that_are_none_say_nothing(tmp_path):
    class_ = three_with_the_same_text(tmp_path)
    path = tmp_path / "marks.csv"
    filled_in(tmp_path, (BECAUSE, BECAUSE.upper()))
    assert said_of(read_marks(path, class_)) == []
    filled_in(tmp_path, (BECAUSE.upper(), "2nd version"))
    class_[0] = result("ada", written=HENCE)
    assert said_of(read_marks(path, class_)) == []


def test_marks_that_were_entered_in_the_new_table_are_kept(tmp_path):
    class_ = [*three_with_the_same_text(tmp_path), result("dan", written=HENCE)]
    marked = read_marks(tmp_path / "marks.csv", class_)
    write_marking(Roster(marked), tmp_path, {})
    mark = f"dan,{STEM},{ONE},,", f"dan,{STEM},{ONE},1,"
    filled_in(tmp_path, mark, name="marks-new.csv")
    write_marking(Roster(marked), tmp_path, {})
    again = read_marks(tmp_path / "marks-new.csv", class_)
    assert [one.written[0].marks for one in again] == [2, 2, 2, 1]


def test_a_row_gets_the_marks_of_one_that_is_there_no_more(tmp_path):
    class_ = [*three_with_the_same_text(tmp_path), result("dan")]
    class_[0] = result("ada", written=(Written(ONE, 3, ""),))
    write_marking(Roster(class_), tmp_path, {})
    again = read_marks(tmp_path / "marks-new.csv", class_)
    assert [one.written[0].marks for one in again] == [None, 2, 2, 2]


def test_filled_table_that_has_every_row_is_enough(tmp_path):
    path = tmp_path / "marks.csv"
    write_marking(Roster([result(), result("bob")]), tmp_path, {})
    path.write_text(
        path.read_text("utf-8").replace(f"{ONE},,", f"{ONE},2,"), encoding="utf-8"
    )
    assert write_marking(Roster([result()]), tmp_path, {})[1] == path
    assert not (tmp_path / "marks-new.csv").exists()


def test_untouched_table_grows_with_the_class(tmp_path):
    path = tmp_path / "marks.csv"
    write_marking(Roster([result()]), tmp_path, {})
    write_marking(Roster([result(), result("bob")]), tmp_path, {})
    assert "bob" in path.read_text("utf-8")
    assert not (tmp_path / "marks-new.csv").exists()


def test_unreadable_table_is_left_alone(tmp_path):
    path = tmp_path / "marks.csv"
    path.write_bytes(b"PK\x03\x04 a spreadsheet by another name \xff")
    write_marking(Roster([result()]), tmp_path, {})
    assert path.read_bytes().startswith(b"PK")
    assert (tmp_path / "marks-new.csv").exists()


def test_a_table_somebody_has_written_in_is_found_in_the_output_folder(tmp_path):
    roster = Roster(classroom(6))
    write_marking(roster, tmp_path, {})
    table = tmp_path / "marks.csv"
    assert filled_table(tmp_path) is None  # no marks yet
    lines = table.read_text("utf-8-sig").splitlines(keepends=True)
    table.write_text(lines[0] + lines[1].replace(",,", ",2,", 1) + "".join(lines[2:]))
    assert filled_table(tmp_path) == table
    table.write_bytes(b"\xff")  # found as well, as merging it reports the error
    assert filled_table(tmp_path) == table
    table.unlink()
    assert filled_table(tmp_path) is None


@pytest.mark.long
@pytest.mark.sandbox
def test_a_filled_table_in_the_output_folder_counts_in_the_next_run(tmp_path):
    write_submissions(tmp_path / "in", 1)
    (path,) = (tmp_path / "in").rglob("*.ipynb")
    notebook = nbformat.read(path, as_version=4)
    question, other, *_ = (
        cell
        for cell in notebook.cells
        if cell.metadata.get("course", {}).get("role") == "written"
    )
    question.source = "Because the posterior is wide there."
    nbformat.write(notebook, path)
    finish(start(tmp_path / "in", tmp_path / "out"))
    marks = tmp_path / "out" / "marks.csv"
    head, row, *_ = marks.read_text("utf-8-sig").splitlines()
    marks.write_text(f"{head}\n{row.replace(',,', ',2,', 1)}\n")
    before = table(tmp_path / "out")
    said = finish(start(tmp_path / "in", tmp_path / "out"))
    assert f"1 mark of {marks} was merged." in said
    assert "1 of 1 notebooks graded, 1 of them by an earlier run." in said
    old, new = (
        list(csv.reader(io.StringIO(text)))[1]
        for text in (before, table(tmp_path / "out"))
    )
    changed = [pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]]
    assert changed[0] == ("", "2")
    question.source = "I do not know."
    other.source = "Because the scores are larger."
    nbformat.write(notebook, path)
    said = finish(start(tmp_path / "in", tmp_path / "out"))
    assert "this answer has changed since it got 2 of" in said
    assert "enter their marks in marks-new.csv" in said
