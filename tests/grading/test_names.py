"""Every student who submitted files has a row; rows that several may share are reported."""

import os
import unicodedata
import zipfile

import pytest
from generated_classes import FORMS, classes, laid_out
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from submission_files import BACKPROP, DEEP, codes, notebook, tree, zipped

from course.task import stems
from grading.submissions.cells import NotGradable
from grading.submissions.intake import take_in

QUICK = settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def files_of(path):
    """Return every file of a folder or a zip, as named in ``Intake.fates``."""
    if path.is_dir():
        walk = os.walk(path)
        return {
            (os.path.join(at, name), None) for at, _, names in walk for name in names
        }
    with zipfile.ZipFile(path) as archive:
        infos = enumerate(archive.infolist())
        return {(str(path), number) for number, info in infos if not info.is_dir()}


def check(model, form, root):
    if form.startswith("wrapped") and model.all_usual():
        return  # nested folders, where the student's folder cannot be determined
    if form == "wrapped folder" and len(model.students) < 2:
        return
    if form == "wrapped zip" and len(model.students) < 2 and not model.folders:
        return  # files alone: their folder may be a student's
    path = laid_out(model.files, form, root)
    intake = take_in(path)
    rows = {(one.student, one.identifier) for one in intake.submissions}
    assert len(rows) == len(model.students), (form, rows, model.students)
    said = {
        (one.student, one.identifier)
        for one in intake.submissions
        if "same-name" in codes(one)
    }
    merged = model.merged(form)
    assert len(said) == len(merged)
    assert sum("taken as one student" in note for note in intake.notes) == len(merged)
    graded = {(s.student, s.identifier) for s in intake.submissions if s.practical}
    assert len(graded) >= len(model.readable)
    # Every file has a fate.
    fates = {(str(path), member): fate for (path, member), fate in intake.fates.items()}
    deep = {file for file in files_of(path) if file[0].count("deep/") > 20}
    assert files_of(path) - deep <= fates.keys()
    counted = list(fates.values()).count("submission")
    assert counted == sum(bool(one.digest) for one in intake.submissions)
    for one in intake.submissions:
        assert one.problem or one.practical in stems()
        assert not one.problem or one.flags


@QUICK
@given(classes(), st.sampled_from(FORMS))
def test_every_student_of_any_class_has_one_row(tmp_path_factory, model, form):
    check(model, form, tmp_path_factory.mktemp("any"))


@pytest.mark.long
@settings(QUICK, max_examples=1000)
@given(classes(), st.sampled_from(FORMS))
def test_every_student_of_very_many_classes_has_one_row(tmp_path_factory, model, form):
    check(model, form, tmp_path_factory.mktemp("any"))


# --- names of honest students ---------------------------------------------------------

NFC, NFD = (unicodedata.normalize(form, "José Ek") for form in ("NFC", "NFD"))
FLAT = {
    "anna_maria_homework": "anna_maria",
    "anna_lena_homework": "anna_lena",
    "anna_homework": "anna",
    "bo_homework": "bo",
    "01a-deep-ensembles_carla": "carla",
    "deep_ensembles - Anna Maria": "Anna Maria",
    "01a-deep-ensembles (Dora)": "Dora",
    "emil_01a-deep-ensembles": "emil",
    "fay-deep-ensembles_final": "fay",
    "2719004_deep_ensembles": "2719004",
    "2719011_deep_ensembles": "2719011",
    "01a-deep-ensembles_2719020": "2719020",
    "student_01_deep_ensembles": "student_01",
    "student_02_deep_ensembles": "student_02",
    "homework_deep_ensembles_gil": "gil",
    "team_7": "team_7",
    "team_8": "team_8",
    "hanna": "hanna",
    f"{'i' * 200}_homework": None,
    f"{'i' * 201}_homework": None,
    f"{NFC}_deep_ensembles": NFC,
    "jan_van_der_berg_deep_ensembles": "jan_van_der_berg",
    "jan_van_den_berg_deep_ensembles": "jan_van_den_berg",
    "kim (2)": "kim",
    "lee_DEEP-ENSEMBLES": "lee",
}
FOLDERS = (
    *("Anna Maria", "anna maria", "anna_maria", "Anna-Maria", "AnnaMaria", "Anna"),
    *("n" * 240 + "a", "n" * 240 + "b", "Zoë", "Zoe", ".hidden", "O'Brien", "Ek, Bo"),
    *(
        "con",
        "=1+1",
        "中村",
        "1",
        "2",
        "work",
        "data",
        "01a-deep-ensembles",
        "a.b",
        "a.c",
    ),
)


@pytest.mark.parametrize("form", FORMS)
def test_awkward_names_of_files_are_as_many_students(form, tmp_path):
    files = {f"{name}.ipynb": notebook(note=name[-9:]) for name in FLAT}
    found = take_in(laid_out(files, form, tmp_path)).submissions
    assert len({one.student for one in found}) == len(found) == len(FLAT)
    assert {one.student for one in found} >= {name for name in FLAT.values() if name}


@pytest.mark.parametrize("form", FORMS)
def test_awkward_names_of_folders_are_as_many_students(form, tmp_path):
    files = {
        f"{name}/01a-deep-ensembles.ipynb": notebook(note=n)
        for n, name in enumerate(FOLDERS)
    }
    intake = take_in(laid_out(files, form, tmp_path))
    students = {one.student for one in intake.submissions}
    assert len(students) == len(intake.submissions) == len(FOLDERS)
    near = {one.student for one in intake.submissions if "alike-name" in codes(one)}
    assert near == {
        "Anna Maria",
        "anna maria",
        "anna_maria",
        "Anna-Maria",
        "AnnaMaria",
        "Zoë",
        "Zoe",
    }
    assert sum("nearly the same" in note for note in intake.notes) == 2


@pytest.mark.parametrize(
    "spellings",
    [(NFC, NFD), ("Bo Ek", "Bo  Ek"), ("Bo Ek", "Bo Ek "), ("Bo Ek", "Bo\xa0Ek")],
)
def test_two_spellings_of_one_name_are_one_student_and_said(spellings, tmp_path):
    files = {
        f"{name}/deep.ipynb": notebook(note=ascii(name)[1:-1].replace("\\", ""))
        for name in spellings
    }
    intake = take_in(tree(tmp_path / "class", files | {"cy/deep.ipynb": notebook()}))
    one, cy = intake.submissions
    assert {"same-name", "resubmitted"} <= set(codes(one))
    assert not cy.flags
    assert any("taken as one student" in note for note in intake.notes)
    # With the platform's numbers they are two students.
    numbered = {
        f"{name}_{number}_assignsubmission_file_/deep.ipynb": notebook()
        for number, name in enumerate(spellings)
    }
    found = take_in(tree(tmp_path / "moodle", numbered)).submissions
    assert [codes(one) for one in found] == [[], []]


def test_one_students_folder_is_no_wrapper_and_a_wrapper_no_student(tmp_path):
    own = {
        "01a-deep-ensembles.ipynb": notebook(),
        "week 2/03a-bayes-by-backprop.ipynb": notebook(BACKPROP),
        "data/values.json": b"[]",
        "figures/a.png": b"",
    }
    alone = tree(
        tmp_path / "alone", {f"ann/{name}": data for name, data in own.items()}
    )
    assert {one.student for one in take_in(alone).submissions} == {"ann"}
    for depth in range(1, 6):
        around = "/".join(["handed in", "all", "of", "the", "class"][:depth])
        files = {
            f"{around}/{who}/{name}": data
            for who in ("ann", "bo")
            for name, data in own.items()
        }
        files |= {"__MACOSX/x/._y": b"", f"{around}/.DS_Store": b"", "README.txt": b""}
        for path in (
            tree(tmp_path / str(depth), files),
            zipped(tmp_path / f"{depth}.zip", files),
        ):
            found = take_in(path).submissions
            assert {one.student for one in found} == {"ann", "bo"}


# --- every student who submitted files has a row --------------------------------------


def test_everybody_has_a_row_with_the_reason_or_a_grade(tmp_path):
    nine = "/".join("12345678") + "/9"
    files = {
        "text/deep.ipynb.txt": notebook(),
        "json/deep.ipynb.json": notebook(),
        "other/homework.json": notebook(),
        "capitals/deep.IPYNB": notebook(),
        f"nine/{nine}/deep.ipynb": notebook(),
        "script/deep.py": b"x = 1",
        "pdf/report.pdf": b"%PDF",
        "checkpoint/.ipynb_checkpoints/deep-checkpoint.ipynb": notebook(),
        f"deeper/{'d/' * 30}deep.ipynb": notebook(),
        "honest/deep.ipynb": notebook(),
    }
    root = tree(tmp_path / "class", files)
    (root / "empty/in/itself").mkdir(parents=True)
    found = {one.student: one for one in take_in(root).submissions}
    good = {"text", "json", "other", "capitals", "nine", "honest"}
    assert {name for name, one in found.items() if not one.problem} == good
    for name in ("text", "json", "other", "capitals"):
        assert codes(found[name]) == ["other-suffix"]
    reasons = {
        "script": r"no notebook .*\(1 file: \.py\)",
        "pdf": r"no notebook .*\(1 file: \.pdf\)",
        "checkpoint": "checkpoints",
        "deeper": "nested more deeply",
        "empty": "folder is empty",
    }
    assert found.keys() == good | reasons.keys()
    for name, reason in reasons.items():
        with pytest.raises(NotGradable, match=reason):
            found[name].read()
    assert found["honest"].practical == DEEP


PDF = b"%PDF"


@pytest.mark.parametrize("form", ["folder", "zip"])
@pytest.mark.parametrize(
    "names",
    [
        ("my_deep_ensembles", "new_bayes_by_backprop"),
        ("lab_deep_ensembles", "7_bayes_by_backprop"),
        ("7_deep_ensembles", "8_bayes_by_backprop"),
        ("team", "team_bayes_by_backprop"),
        ("team_deep_ensembles_7", "team_bayes_by_backprop_8"),
        ("team_deep_ensembles_anna", "team_bayes_by_backprop_bo"),
        ("anna-_deep_ensembles", "anna_bayes_by_backprop"),
        ("class/src/x", "class/notebooks/y-bayes_by_backprop"),
        ("class/src/x", "class/data/y-bayes_by_backprop"),
        ("class/a/x", "class/b/y-bayes_by_backprop"),
        ("Section A/anna/x", "Section A/bo/y-bayes_by_backprop", "Section B/cy/z"),
        ("Section A/1/x", "Section A/2/y-bayes_by_backprop", "Section B/2/z"),
        ("A/t/anna/x", "A/t/bo/y-bayes_by_backprop", "B/cy/z"),
        ("week 1/anna_deep", "week 1/bo_deep", "week 2/x"),
        ("week 1/anna_deep_ensembles", "week 1/bo_bayes_by_backprop", "week 2/x"),
    ],
)
def test_files_that_may_be_of_two_students_are_never_merged_unsaid(
    names, form, tmp_path
):
    files = {
        f"{name}.ipynb": notebook((DEEP, BACKPROP, "")[number])
        for number, name in enumerate(names)
    }
    intake = take_in(laid_out(files, form, tmp_path))
    one, two = (one for one in intake.submissions if "same-name" in codes(one))
    assert one.student == two.student
    assert sum("taken as one student" in note for note in intake.notes) == 1


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_a_class_in_which_everybody_keeps_to_one_scheme_is_not_flagged(form, tmp_path):
    names = ("01a-deep-ensembles", "03a-bayes-by-backprop_final")
    stems = (DEEP, BACKPROP)
    for layout in ("{who}/week {n}/{name}", "{who}/{name}/{name}", "{who}_{name}"):
        files = {
            layout.format(who=who, n=n, name=name) + ".ipynb": notebook(stem)
            for who in ("anna", "bo")
            for n, (name, stem) in enumerate(zip(names, stems, strict=True), 1)
        }
        root = tmp_path / str(len(layout))
        root.mkdir()
        intake = take_in(laid_out(files, form, root))
        assert [codes(one) for one in intake.submissions] == [[]] * 4
        assert not intake.notes


@pytest.mark.parametrize("form", ["folder", "zip"])
@pytest.mark.parametrize(
    "documents",
    [
        ("report.pdf",),
        ("ann/report_final.pdf", "ann/notes_final.pdf"),
        ("ann/deep_ensembles_report.docx", "ann/bayes_by_backprop_text.docx"),
        ("report.docx", "ann/report.docx"),
    ],
)
def test_a_document_beside_one_students_folders_is_no_student(
    documents, form, tmp_path
):
    files = {"ann/week 1/x.ipynb": notebook(), "ann/week 2/y.ipynb": notebook(BACKPROP)}
    intake = take_in(laid_out(files | dict.fromkeys(documents, PDF), form, tmp_path))
    assert {one.student for one in intake.submissions} == {"ann"}


@pytest.mark.parametrize("form", FORMS)
def test_documents_of_several_students_are_theirs(form, tmp_path):
    files = {"anna_report.docx": PDF, "bo_report.docx": PDF, "cy_report.pdf": PDF}
    intake = take_in(laid_out(files, form, tmp_path))
    assert {one.student for one in intake.submissions} == {"anna", "bo", "cy"}
