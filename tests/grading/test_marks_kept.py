"""Tables of marks that somebody has filled in: what is kept, and answers that change later."""

import csv
import io
from dataclasses import replace

import nbformat
import pytest
from classroom import classroom
from graded_class import finish, start, table, write_submissions
from test_marking import ONE, STEM, TWO, result

from grading.record import Written
from grading.reports.alike import version_of
from grading.reports.difference import surprises
from grading.reports.grades import grades
from grading.reports.marking import (
    filled_table,
    marking_page,
    read_comments,
    read_marks,
    write_marking,
)
from grading.reports.roster import Roster
from project.errors import CourseError

BECAUSE, TWO_HOURS = version_of("Because."), version_of("Two hours.")


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


def test_other_entries_in_the_column_of_versions_are_ignored(tmp_path):
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


def test_a_row_gets_the_marks_of_a_row_that_no_longer_exists(tmp_path):
    class_ = [*three_with_the_same_text(tmp_path), result("dan")]
    class_[0] = result("ada", written=(Written(ONE, 3, ""),))
    write_marking(Roster(class_), tmp_path, {})
    table = tmp_path / "marks-new.csv"
    # Ada's own marks stay, too, though her answer is blank now: she may have said it by mail.
    again = read_marks(table, class_)
    assert [one.written[0].marks for one in again] == [2, 2, 2, 2]
    lines = table.read_text("utf-8").splitlines()
    kept = [line for line in lines if not line.startswith(f"ada,{STEM},{ONE}")]
    table.write_text("\n".join(kept), "utf-8")
    again = read_marks(table, class_)
    assert [one.written[0].marks for one in again] == [None, 2, 2, 2]


def test_marks_of_what_is_not_graded_this_time_are_kept(tmp_path):
    """A notebook fails once, another is a PDF now, a blank answer has marks by hand."""
    class_ = [result(name) for name in ("ada", "bob", "cy")]
    blank = result("dan", written=(Written(ONE, 3, ""),))
    write_marking(Roster([*class_, blank]), tmp_path, {})
    path = tmp_path / "marks.csv"
    rows = [
        "student,practical,question,marks,comment,Marker",
        f"ada,{STEM},{ONE},1,,Kim",
        f"bob,{STEM},{ONE},2,Good.,Kim",
        f"cy,{STEM},{TWO},.5,,Lee",
        f"dan,{STEM},{ONE},3,By mail.,",
    ]
    path.write_text("\n".join(rows), "utf-8")
    failed = replace(class_[1], graded=False, problem="Oh.", verdicts=(), written=())
    pdf = replace(failed, student="cy", practical="", part="", notebook="cy.pdf")
    for now in ([class_[0], failed, pdf, blank], [failed, pdf, class_[0], blank]):
        marked = read_marks(path, now)
        assert {a.marks for one in marked for a in one.written} == {1, None, 3}
        write_marking(Roster([*marked, result("eve")]), tmp_path, {})
    new = tmp_path / "marks-new.csv"
    found = {row[:3]: (row[3], row[4], row[-1]) for row in rows_in(new)}
    assert found["bob", STEM, ONE] == ("2", "Good.", "Kim")
    assert found["cy", STEM, TWO] == (".5", "", "Lee")
    assert found["dan", STEM, ONE] == ("3", "By mail.", "")
    again = read_marks(new, [*class_, blank, result("eve")])
    marks = [[answer.marks for answer in one.written] for one in again]
    assert marks == [
        [1, None],
        [2, None],
        [None, 0.5],
        [3],
        [1, None],
    ]  # eve wrote the same


def test_questions_of_labs_that_are_not_graded_are_no_mistake(tmp_path):
    path = tmp_path / "marks.csv"
    row = f"ada,{STEM},{STEM}/other,2,\n"
    path.write_text(f"student,practical,question,marks,comment\n{row}", "utf-8")
    with pytest.raises(CourseError, match=":2: There is no question of"):
        read_marks(path, [result("ada")])
    asked = {STEM: [ONE, TWO, f"{STEM}/other"]}
    assert read_marks(path, [result("ada")], asked) == [result("ada")]


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
