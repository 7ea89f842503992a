"""The grade sheets: correct sums and columns, no formulas, reproducible bytes."""

import csv
import dataclasses
import io
import json
import random

import jsonschema
import msgspec
import pytest
from classroom import HOSTILE, classroom, number_of

from grading.record import Result, Verdict, Written
from grading.reports.difference import changes
from grading.reports.gradebook import gradebook
from grading.reports.grades import grades, schema
from grading.reports.report import histogram
from grading.reports.roster import Roster
from grading.reports.sheets import (
    Identity,
    canvas_csv,
    grades_csv,
    guarded,
    identity,
    moodle_csv,
    plain,
    worksheet_csv,
    write_sheets,
)

STEMS = ("deep_ensembles", "bayes_by_backprop")
FORMULA = tuple("=+-@\t\r\n＝＋－＠")


def rows(text, separator=","):
    return list(
        csv.reader(io.StringIO(text.removeprefix("\ufeff")), delimiter=separator)
    )


def result(student="ada", right=True, marks=None, text="An answer.", **changes):
    status = "right" if right else "wrong"
    given = {
        "student": student,
        "practical": "deep_ensembles",
        "notebook": "a.ipynb",
        "digest": "0" * 64,
        "identifier": number_of(student),
        "verdicts": (
            Verdict("deep-ensembles/heads", 1, status),
            Verdict("deep-ensembles/fgsm", 2, "right"),
        ),
        "written": (Written("deep-ensembles/survey", 3, text, marks),),
    }
    return Result(**given | changes)


@pytest.fixture(scope="module")
def roster():
    return Roster(classroom(48, STEMS), STEMS)


# --- order ------------------------------------------------------------------------------


def test_every_table_sorts_names_as_people_do(tmp_path):
    names = ["Abel", "Øgaard", "Östlund", "Eve", "Émile", "ève", "Eva", "Zoe", "Zoë", "łukasz", "Lutz"]  # fmt: skip
    wanted = ["Abel", "Émile", "Eva", "Eve", "ève", "łukasz", "Lutz", "Øgaard", "Östlund", "Zoe", "Zoë"]  # fmt: skip
    class_ = Roster([result(name, right=False) for name in names])
    assert class_.students == wanted
    assert Roster([result(name) for name in names[::-1]]).students == wanted
    write_sheets(class_, tmp_path)
    assert [*gradebook([tmp_path / "grades.json"]).students] == wanted
    better = Roster([result(name) for name in names])
    found = changes(grades(class_), grades(better))
    assert [one.student for one in found] == wanted
    for sheet in (grades_csv, moodle_csv, canvas_csv):
        column = [row[0] for row in rows(sheet(class_))[1:]]
        assert [name for name in column if name in names] == wanted


# --- formulas ---------------------------------------------------------------------------


def test_an_apostrophe_that_a_person_typed_stays():
    for text in ("'Epistemic' is the word", "'bias','variance' are swapped"):
        assert plain(text) == text


def test_guard_can_be_undone():
    rng = random.Random(0)
    alphabet = "".join(("ab '\";,é\udcff🦊", *FORMULA))
    for _ in range(5000):
        text = "".join(rng.choices(alphabet, k=rng.randrange(9)))
        assert plain(guarded(text)) == text
        assert not guarded(text).startswith(FORMULA)


@pytest.mark.parametrize("name", ["Ada Lovelace", "o'brien", "x=1", "Zoë-Anne", ""])
def test_usual_names_stay_as_they_are(name):
    assert guarded(name) == name


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_is_a_formula_whatever_the_separator(roster, separator):
    sheets = [grades_csv(roster), moodle_csv(roster), canvas_csv(roster)]
    sheets += [worksheet_csv(roster, practical) for practical in roster.practicals]
    for sheet in sheets:
        for row in rows(sheet, separator):
            for cell in row:
                assert cell == "-" or not cell.startswith(FORMULA)


def test_every_student_is_found_again(roster):
    names = [plain(row[0]) for row in rows(grades_csv(roster))[1:]]
    known = [
        name.encode("utf-8", "backslashreplace").decode() for name in roster.students
    ]
    assert names == known
    assert set(HOSTILE) < set(roster.students)


# --- sums -------------------------------------------------------------------------------


def test_sums(roster):
    for row in csv.DictReader(io.StringIO(grades_csv(roster).removeprefix("\ufeff"))):
        tasks = [cell for name, cell in row.items() if "/" in name]
        if not any(tasks):  # nothing could be graded, so the sums are empty
            sums = ("points", "written", "total", "possible", "unmarked")
            assert [row[name] for name in sums] == [""] * 5
            continue
        assert float(row["total"]) == sum(float(cell) for cell in tasks if cell)
        assert float(row["total"]) == float(row["points"]) + float(row["written"])
        assert float(row["total"]) <= float(row["possible"])


def test_unknown_is_not_zero():
    broken = result("eve", graded=False, problem="Empty file.", verdicts=(), written=())
    unclear = dataclasses.replace(
        result("uri"), verdicts=(Verdict("deep-ensembles/heads", 1, "not-graded"),)
    )
    roster = Roster(
        [result("ada", right=False), broken, unclear, result("bob", text="")]
    )
    ada, bob, eve, uri = csv.DictReader(
        io.StringIO(grades_csv(roster).removeprefix("\ufeff"))
    )
    assert (ada["deep-ensembles/heads"], ada["deep-ensembles/survey"]) == ("0", "")
    assert (ada["unmarked"], bob["unmarked"]) == ("1", "0")
    assert bob["deep-ensembles/survey"] == "0"
    assert eve["deep-ensembles/heads"] == eve["deep_ensembles points"] == ""
    assert (eve["points"], eve["total"], eve["possible"]) == ("", "", "")
    assert eve["not graded"] == "a.ipynb: Empty file."
    assert uri["deep-ensembles/heads"] == ""
    canvas = {row[0]: row[5] for row in rows(canvas_csv(roster))[2:]}
    assert canvas == {"ada": "2", "bob": "3", "eve": "", "uri": "0"}


def test_marks_are_added():
    roster = Roster([result(marks=2.5)])
    (row,) = csv.DictReader(io.StringIO(grades_csv(roster).removeprefix("\ufeff")))
    assert row["deep-ensembles/survey"] == row["written"] == "2.5"
    assert (row["total"], row["possible"], row["unmarked"]) == ("5.5", "6", "0")


def test_best_of_several_notebooks_counts():
    good = result(notebook="b.ipynb")
    poor = result(right=False)
    broken = result(notebook="0.ipynb", graded=False, problem="No.", verdicts=())
    for order in ([good, poor, broken], [broken, poor, good]):
        roster = Roster(order)
        assert roster.counting("ada", "deep_ensembles") == good
        assert roster.spare == [broken, poor]
        assert roster.score("ada").points == 3


def test_practicals_and_tasks_keep_their_order(roster):
    assert [practical.stem for practical in roster.practicals] == list(STEMS)
    first = roster.practicals[0].tasks
    assert [item.id for item in first[:2]] == [
        "deep-ensembles/gaussian-nll-expression",
        "deep-ensembles/laplace-nll-expression",
    ]
    assert len(first) == 15


# --- platforms --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("student", "identifier", "who"),
    [
        ("Ada Lovelace_1000001", "1000001", Identity("Ada Lovelace", number="1000001")),
        ("Participant_77", "77", Identity("Participant", number="77")),
        ("Bob_99999_12345", "12345", Identity("Bob_99999", number="12345")),
        ("Team_2024", "", Identity("Team_2024", login="Team_2024")),
        (
            "ada@example.org",
            "",
            Identity(
                "ada@example.org", email="ada@example.org", login="ada@example.org"
            ),
        ),
        ("s2719004", "", Identity("s2719004", login="s2719004")),
        ("Ada Lovelace", "", Identity("Ada Lovelace")),
        ("=cmd()_1000001", "1000001", Identity("=cmd()", number="1000001")),
    ],
)
def test_identity(student, identifier, who):
    assert identity(student, identifier) == who


def test_canvas_layout():
    roster = Roster([result("lovelaceada_12345"), result("s27", marks=3)])
    assert rows(canvas_csv(roster)) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Deep ensembles"],
        ["    Points Possible", "", "", "", "", "6"],
        ["lovelaceada", "12345", "", "", "", "3"],
        ["s27", "", "s27", "s27", "", "6"],
    ]


def test_moodle_layout():
    roster = Roster([result("Ada_1000001"), result("ada@example.org", marks=3)])
    open_answer = "2 of 2 tasks right; 1 answer in words not marked yet."
    assert rows(moodle_csv(roster)) == [
        [
            "Full name",
            "Username",
            "ID number",
            "Email address",
            "Assignment: Deep ensembles (Real)",
            "Assignment: Deep ensembles (Feedback)",
        ],
        ["ada@example.org", "", "", "ada@example.org", "6", "2 of 2 tasks right."],
        ["Ada", "", "", "", "3", open_answer],
    ]
    (sheet,) = csv.DictReader(io.StringIO(worksheet_csv(roster, roster.practicals[0])))
    assert sheet["Identifier"] == "Participant 1000001"
    assert (sheet["Grade"], sheet["Maximum grade"]) == ("3", "6")
    assert sheet["Last modified (grade)"] == "-"
    assert sheet["Feedback comments"] == open_answer


def test_a_lab_that_was_not_handed_in_or_not_graded_is_no_zero_on_a_platform():
    """Ada has both labs, Bo only the second, and of Cy's it is not known which one it is."""
    both = [result("ada_1", part=part, identifier="1", marks=3) for part in "ab"]
    unknown = {"graded": False, "problem": "Damaged.", "verdicts": (), "written": ()}
    others = [result("bo", part="b", marks=1), result("cy", part="", **unknown)]
    roster = Roster([*both, *others])
    header, possible, *students = rows(canvas_csv(roster))
    assert [title.split(":")[0] for title in header[5:]] == ["Lab 1a", "Lab 1b"]
    assert possible[5:] == ["6", "6"]
    assert [row[5:] for row in students] == [["6", "6"], ["", "4"], ["", ""]]
    _, bo, cy = rows(moodle_csv(roster))[1:]
    assert bo[4:] == ["", "", "4", "2 of 2 tasks right."]
    assert cy[4:] == ["", "Could not be graded: Damaged."] * 2
    (sheet,) = csv.DictReader(io.StringIO(worksheet_csv(roster, roster.by_lab()[1])))
    assert (sheet["Grade"], sheet["Maximum grade"]) == ("6", "6")


# --- programs ---------------------------------------------------------------------------


def test_json_fits_its_schema(roster, tmp_path):
    jsonschema.Draft202012Validator.check_schema(schema())
    write_sheets(roster, tmp_path)
    data = json.loads((tmp_path / "grades.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, schema(), cls=jsonschema.Draft202012Validator)
    assert data == msgspec.to_builtins(grades(roster))
    jsonschema.validate(msgspec.to_builtins(grades(Roster([]))), schema())
    for wrong in ({"version": 3}, {"more": 1}, {"results": [{}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(data | wrong, schema())


def test_same_submissions_give_same_bytes(tmp_path):
    results = classroom(30, STEMS)
    again = [
        dataclasses.replace(
            found,
            seconds=found.seconds * 3,
            verdicts=tuple(
                dataclasses.replace(verdict, seconds=9.0) for verdict in found.verdicts
            ),
        )
        for found in random.Random(1).sample(results, len(results))
    ]
    names = []
    for folder, given in (("one", results), ("two", again)):
        names = [path.name for path in write_sheets(Roster(given), tmp_path / folder)]
    same = {
        name: (tmp_path / "one" / name).read_bytes()
        == (tmp_path / "two" / name).read_bytes()
        for name in names
    }
    assert same == {name: name != "timings.json" for name in names}
    assert "seconds" not in (tmp_path / "one" / "grades.json").read_text("utf-8")


def test_written_whole_and_nothing_else(roster, tmp_path):
    written = write_sheets(roster, tmp_path)
    assert {path.name for path in written} == {
        "grades.csv",
        "moodle.csv",
        "moodle-deep_ensembles.csv",
        "moodle-bayes_by_backprop.csv",
        "canvas.csv",
        "grades.json",
        "timings.json",
    }
    assert set(tmp_path.iterdir()) == set(written)


def test_worksheets_of_an_earlier_class_are_removed_and_no_other_file(tmp_path):
    (tmp_path / "moodle-export.csv").write_text("mine")
    both = Roster(classroom(9, STEMS), STEMS)
    write_sheets(both, tmp_path)
    one = [result for result in both.results if result.practical != STEMS[1]]
    write_sheets(Roster(one, STEMS), tmp_path)
    found = {path.name for path in tmp_path.glob("moodle-*.csv")}
    assert found == {f"moodle-{STEMS[0]}.csv", "moodle-export.csv"}


def test_a_lab_that_could_not_be_graded_costs_no_points():
    """Another lab of the same practical was graded."""
    failed = (Verdict("deep-ensembles/lost", 12, "not-graded"),)
    lost = {
        "graded": False,
        "problem": "Unreadable.",
        "verdicts": failed,
        "written": (),
    }
    roster = Roster([result(part="a", marks=1), result(part="b", **lost)])
    assert roster.score("ada").possible == 6
    assert rows(grades_csv(roster))[1][-3] == "6"
    told = rows(moodle_csv(roster))[1][-4:]
    assert told == ["4", "2 of 2 tasks right.", "", "Could not be graded: Unreadable."]
    assert histogram(roster, roster.practicals[0]).shares == (1.0,)


def test_empty_class(tmp_path):
    write_sheets(Roster([]), tmp_path)
    assert rows((tmp_path / "moodle.csv").read_text("utf-8")) == [
        ["Full name", "Username", "ID number", "Email address"]
    ]
