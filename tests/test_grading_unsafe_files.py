"""What is handed in and must not be read: links, secrets, bombs, pipes, broken zips."""

import io
import os
import stat
import zipfile
from pathlib import Path

import pytest
from handed_in import DEEP, codes, notebook, tree, zipped

from course.grading.handed_in import intake
from course.grading.handed_in.cells import MAX_BYTES, NotGradable
from course.grading.handed_in.files import READS_BADLY
from course.grading.handed_in.intake import find_submissions, take_in


def test_links_are_not_followed(tmp_path):
    secret = tree(tmp_path / "secret", {"deep.ipynb": notebook(note="secret")})
    root = tree(tmp_path / "class", {"ann/deep.ipynb": notebook()})
    (root / "ann/link.ipynb").symlink_to(secret / "deep.ipynb")
    (root / "bo").symlink_to(secret)
    (root / "cy").mkdir()
    (root / "cy/deep.ipynb").symlink_to(secret / "deep.ipynb")
    (root / "cy/loop").symlink_to(root)
    (root / "cy/broken.ipynb").symlink_to("nowhere")
    ann, bo, cy = find_submissions(root)
    assert codes(ann) == ["link"]
    assert ann.read() == notebook()
    assert codes(bo) == ["link"]
    assert set(codes(cy)) == {"link"}
    for one in (bo, cy):
        with pytest.raises(NotGradable, match="link"):
            one.read()


def test_a_file_that_becomes_a_link_is_not_read(tmp_path):
    secret = tree(tmp_path, {"secret.ipynb": notebook()}) / "secret.ipynb"
    root = tree(tmp_path / "class", {"ann/deep.ipynb": notebook()})
    (ann,) = find_submissions(root)
    ann.path.unlink()
    ann.path.symlink_to(secret)
    with pytest.raises(NotGradable, match="cannot be read"):
        ann.read()
    ann.path.unlink()
    with pytest.raises(NotGradable, match="cannot be read"):
        ann.read()
    ann.path.write_bytes(notebook(note="other"))
    with pytest.raises(NotGradable, match="was changed"):
        ann.read()


def test_links_and_secrets_in_a_zip_are_flagged(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("ann/deep.ipynb")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
        archive.writestr("bo/deep.ipynb", notebook())
    data = bytearray(path.read_bytes())
    central = data.rindex(b"PK\x01\x02")
    data[central + 8] |= 1  # says that it is encrypted
    path.write_bytes(data)
    ann, bo = find_submissions(path)
    assert codes(ann) == ["link"]
    assert codes(bo) == ["encrypted"]


def test_a_zip_in_a_zip_is_flagged_and_not_opened(tmp_path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("deep.ipynb", notebook())
    files = {
        "ann/work.zip": inner.getvalue(),
        "bo/work.zip": inner.getvalue(),
        "bo/deep.ipynb": notebook(),
        "cy.zip": inner.getvalue(),
    }
    for path in (tree(tmp_path / "a", files), zipped(tmp_path / "a.zip", files)):
        found = find_submissions(path)
        assert [one.student for one in found] == ["ann", "bo", "cy"]
        assert [codes(one) for one in found] == [["nested-zip"]] * 3
        assert [one.problem == "" for one in found] == [False, True, False]


def test_a_zip_bomb_is_not_inflated(tmp_path):
    files = {"ann/deep-ensembles.ipynb": b" " * 60_000_000, "bo/deep.ipynb": notebook()}
    path = zipped(tmp_path / "bomb.zip", files)
    assert path.stat().st_size < 100_000
    ann, bo = find_submissions(path)
    assert codes(ann) == ["too-large"]
    assert ann.practical == DEEP
    assert ann.size == MAX_BYTES + 1
    assert bo.read()


def test_a_bomb_of_many_files_uses_up_its_own_students_share(tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "MAX_BYTES", 10_000)
    monkeypatch.setattr(intake, "MAX_BYTES_EACH", 50_000)
    monkeypatch.setattr(intake, "MAX_FILES_EACH", 20)
    files = {f"ann/deep-ensembles-{n}.ipynb": b" " * 9_000 for n in range(8)}
    files |= {f"bo/{n}.ipynb": notebook() for n in range(30)}
    files |= {"cy/deep.ipynb": notebook()}
    found = take_in(zipped(tmp_path / "bomb.zip", files))
    assert found.ignored == 10
    assert [one.student for one in found.submissions] == ["ann", "bo", "cy"]
    assert not found.submissions[2].problem


def test_a_large_file_is_not_read_whole(tmp_path):
    root = tree(tmp_path, {"ann/01-deep-ensembles.ipynb": b"{"})
    with open(root / "ann/01-deep-ensembles.ipynb", "r+b") as file:
        file.truncate(500_000_000)  # takes no room on the disk
    (one,) = find_submissions(root)
    assert codes(one) == ["too-large"]
    assert one.size == 500_000_000
    assert one.practical == DEEP
    with pytest.raises(NotGradable, match="larger"):
        one.read()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_does_not_make_it_wait(tmp_path):
    root = tree(tmp_path, {"bo/deep.ipynb": notebook()})
    (root / "ann").mkdir()
    os.mkfifo(root / "ann/deep.ipynb")
    ann, bo = find_submissions(root)
    assert codes(ann) == ["unreadable"]
    assert not bo.problem


def test_what_may_not_be_read_is_flagged(tmp_path, monkeypatch):
    root = tree(tmp_path, {f"{name}/deep.ipynb": notebook() for name in ("ann", "bo")})
    scandir, open_ = os.scandir, os.open

    def no_scandir(path):
        if Path(path).name == "ann":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    def no_open(path, *arguments, **options):
        if "bo" in Path(path).parts:
            raise PermissionError(13, "Permission denied")
        return open_(path, *arguments, **options)

    monkeypatch.setattr(os, "scandir", no_scandir)
    monkeypatch.setattr(os, "open", no_open)
    found = find_submissions(root)
    assert [codes(one) for one in found] == [["unreadable"], ["unreadable"]]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no such rights here")
def test_a_folder_that_may_not_be_listed_is_its_students(tmp_path, monkeypatch):
    tree(tmp_path, {"class/ana_b/x.ipynb": notebook(), "class/bo/x.ipynb": notebook()})
    (tmp_path / "class" / "ana_b").chmod(0o300)
    monkeypatch.chdir(tmp_path)  # what lies above may be for root alone
    root = os.geteuid() == 0
    if root:
        tmp_path.chmod(0o755)
        os.chown(tmp_path / "class" / "ana_b", 65534, 65534)
        os.seteuid(65534)
    try:
        found = take_in(Path("class")).submissions
    finally:
        if root:
            os.seteuid(0)
        (tmp_path / "class" / "ana_b").chmod(0o700)
    assert [(one.student, codes(one)) for one in found] == [
        ("ana_b", ["unreadable"]),
        ("bo", []),
    ]


def test_one_student_with_a_platforms_name_for_a_file_stays_that_student(tmp_path):
    name = "bobobo_4321_98765_deep.ipynb"
    path = tree(tmp_path / "class", {f"ana/{name}": notebook()})
    assert [one.student for one in find_submissions(path)] == ["ana"]
    # Around the files of several students stands no student's folder.
    tree(path, {"ana/cyc_4322_98766_deep.ipynb": notebook()})
    assert [one.student for one in find_submissions(path)] == ["bobobo", "cyc"]


def test_broken_members_of_a_zip_are_flagged(tmp_path):
    path = zipped(tmp_path / "a.zip", {"ann/deep.ipynb": notebook(note="n" * 500)})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("bo/deep.ipynb", notebook())
    data = bytearray(path.read_bytes())
    data[60:70] = b"\xff" * 10  # in the middle of the first member's content
    path.write_bytes(data)
    ann, bo = find_submissions(path)
    assert codes(ann) == ["unreadable"]
    assert bo.read()
    assert zipfile.BadZipFile in READS_BADLY
