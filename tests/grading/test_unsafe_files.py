"""Submitted files that must not be read: links, encrypted files, zip bombs, pipes, broken zips."""

import io
import json
import os
import stat
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from graded_class import ROOT
from seeds import SOAK, first_seed
from submission_files import DEEP, codes, found_in, notebook, tree, zipped

from grading.flags import FLAGS
from grading.submissions import files, reading
from grading.submissions.cells import MAX_BYTES, NotGradable
from grading.submissions.files import READS_BADLY

FORMS = ("folder", "zip", "alone")  # of a class of many files; each commit draws one


def test_links_are_not_followed(tmp_path):
    secret = tree(tmp_path / "secret", {"deep.ipynb": notebook(note="secret")})
    root = tree(tmp_path / "class", {"ann/deep.ipynb": notebook()})
    (root / "ann/link.ipynb").symlink_to(secret / "deep.ipynb")
    (root / "bo").symlink_to(secret)
    (root / "cy").mkdir()
    (root / "cy/deep.ipynb").symlink_to(secret / "deep.ipynb")
    (root / "cy/loop").symlink_to(root)
    (root / "cy/broken.ipynb").symlink_to("nowhere")
    ann, bo, cy = found_in(root)
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
    (ann,) = found_in(root)
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
    data[central + 8] |= 1  # sets the flag for encryption
    path.write_bytes(data)
    ann, bo = found_in(path)
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
        found = found_in(path)
        assert [one.student for one in found] == ["ann", "bo", "cy"]
        assert [codes(one) for one in found] == [["nested-zip"]] * 3
        assert [one.problem == "" for one in found] == [False, True, False]


def test_a_zip_bomb_is_not_inflated(tmp_path):
    given = {"ann/deep-ensembles.ipynb": b" " * 60_000_000, "bo/deep.ipynb": notebook()}
    path = zipped(tmp_path / "bomb.zip", given)
    assert path.stat().st_size < 100_000
    ann, bo = found_in(path)
    assert codes(ann) == ["too-large"]
    assert ann.practical == DEEP
    assert ann.size == MAX_BYTES + 1
    assert bo.read()


def test_a_bomb_of_many_files_uses_up_its_own_students_share(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MAX_BYTES", 10_000)
    monkeypatch.setattr(reading, "BYTES_EACH", 50_000)
    monkeypatch.setattr(files, "MAX_FILES_EACH", 20)
    given = {f"ann/deep-ensembles-{n}.ipynb": b" " * 9_000 for n in range(8)}
    given |= {f"bo/{n}.ipynb": notebook() for n in range(30)}
    given |= {f"di/{n}.txt": b"" for n in range(30)}
    given |= {"cy/deep.ipynb": notebook()}
    for path in (tree(tmp_path / "bomb", given), zipped(tmp_path / "bomb.zip", given)):
        ann, bo, cy, di = found_in(path)
        assert [one.student for one in (ann, bo, cy, di)] == ["ann", "bo", "cy", "di"]
        assert codes(bo) == codes(di) == ["too-many-files"]
        assert not bo.problem
        assert "more files than the limit" in di.problem
        assert not cy.flags
        # The first five files take 45,000 of 50,000 bytes: the last three are not read.
        assert ann.notebook == "deep-ensembles-4.ipynb"


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS if SOAK else [FORMS[first_seed() % 3]])
def test_a_student_with_200001_files_is_named_and_stops_nobody(form, tmp_path):
    root = tmp_path / "class"
    names = [f"ann/{n}" for n in range(200_001)]
    honest = {"bo/deep.ipynb": notebook()} if form != "alone" else {}
    if form == "zip":
        root = zipped(tmp_path / "class.zip", dict.fromkeys(names, b"") | honest)
    else:
        tree(root, {"ann/deep.ipynb": notebook(), **honest})
        for name in names:
            (root / name).touch()
    ann, *others = found_in(root)
    assert "too-many-files" in codes(ann)
    assert ann.student == "ann"
    assert [codes(one) for one in others] == [[]] * len(honest)


def test_a_large_file_is_not_read_whole(tmp_path):
    root = tree(tmp_path, {"ann/01a-deep-ensembles.ipynb": b"{"})
    with open(root / "ann/01a-deep-ensembles.ipynb", "r+b") as file:
        file.truncate(500_000_000)  # sparse, so it takes no space on the disk
    (one,) = found_in(root)
    assert codes(one) == ["too-large"]
    assert one.size == 500_000_000
    assert one.practical == DEEP
    with pytest.raises(NotGradable, match="size limit"):
        one.read()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_does_not_make_it_wait(tmp_path):
    root = tree(tmp_path, {"bo/deep.ipynb": notebook()})
    (root / "ann").mkdir()
    os.mkfifo(root / "ann/deep.ipynb")
    ann, bo = found_in(root)
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
    found = found_in(root)
    assert [codes(one) for one in found] == [["unreadable"], ["unreadable"]]


LISTED = """
import json
from pathlib import Path
from grading.submissions.intake import take_in
found = take_in(Path("class")).submissions
print(json.dumps([(one.student, [flag.code for flag in one.flags]) for one in found]))
"""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no such rights here")
def test_a_folder_that_may_not_be_listed_is_its_students(tmp_path):
    tree(tmp_path, {"class/ana_b/x.ipynb": notebook(), "class/bo/x.ipynb": notebook()})
    command = [sys.executable, "-c", LISTED]
    if os.geteuid() == 0:
        # Run as the owner of the repository, who may read it, and drop root's capability to
        # read everything.
        rights, owner = "-dac_override,-dac_read_search", ROOT.stat().st_uid
        drop = [f"--bounding-set={rights}", f"--inh-caps={rights}", f"--reuid={owner}"]
        command = ["setpriv", *drop, *command]
        for path in (tmp_path, *tmp_path.rglob("*")):
            os.chown(path, owner, -1)
    (tmp_path / "class" / "ana_b").chmod(0o300)
    try:
        done = subprocess.run(
            command,
            cwd=tmp_path,  # this user may have no access to the folders above
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
    finally:
        (tmp_path / "class" / "ana_b").chmod(0o700)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [["ana_b", ["unreadable"]], ["bo", []]]


def test_one_student_with_a_platforms_name_for_a_file_stays_that_student(tmp_path):
    name = "bobobo_4321_98765_deep.ipynb"
    path = tree(tmp_path / "class", {f"ana/{name}": notebook()})
    assert [one.student for one in found_in(path)] == ["ana"]
    # A folder with files of several students is not a student's folder.
    tree(path, {"ana/cyc_4322_98766_deep.ipynb": notebook()})
    assert [one.student for one in found_in(path)] == ["bobobo", "cyc"]


def test_broken_members_of_a_zip_are_flagged(tmp_path):
    path = zipped(tmp_path / "a.zip", {"ann/deep.ipynb": notebook(note="n" * 500)})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("bo/deep.ipynb", notebook())
    data = bytearray(path.read_bytes())
    data[60:70] = b"\xff" * 10  # in the middle of the first member's content
    path.write_bytes(data)
    ann, bo = found_in(path)
    assert codes(ann) == ["unreadable"]
    assert bo.read()
    assert zipfile.BadZipFile in READS_BADLY


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_member_that_could_only_be_unpacked_whole_is_not_read(tmp_path, kind):
    """Decompressing 20 kB could produce gigabytes before a limit takes effect."""
    with zipfile.ZipFile(tmp_path / "class.zip", "w", kind) as archive:
        archive.writestr("ann/deep-ensembles.ipynb", b" " * 50_000_000)
        archive.writestr("bo/x.ipynb", notebook(), compress_type=zipfile.ZIP_STORED)
    ann, bo = found_in(tmp_path / "class.zip")
    assert codes(ann) == ["unreadable"]
    assert (ann.problem, bo.problem) == (FLAGS["unreadable"], "")


@pytest.mark.parametrize("piece", ["_a", " (1)", "(", "1_", "é ", "assignsubmission_"])
def test_names_of_64_kilobytes_are_read_as_short_ones(tmp_path, piece):
    """Finding the student's name in one used to take minutes."""
    long = piece * (60_000 // len(piece.encode()))
    names = ("anna_00a-warm-up.ipynb", f"{long}.ipynb", f"{long}x.ipynb")
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        for number, name in enumerate(names):
            archive.writestr(name, notebook(note=str(number)))
    began = time.process_time()
    found = found_in(tmp_path / "class.zip")
    assert len({one.student for one in found}) == 3
    assert all(one.problem == "" for one in found)
    assert time.process_time() - began < 5
