"""Files are written atomically, single files as well as groups."""

import subprocess
import sys

import pytest
from conftest import ROOT
from submission_files import content

from project.files import all_or_none, discard, remove_unfinished, write_whole


def test_files_are_written_together_or_not_at_all(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "stale").write_text("old")
    (tmp_path / "folder").mkdir()

    def write(last):
        with all_or_none():
            write_whole(tmp_path / "a", "new")
            write_whole(tmp_path / "b" / "c" / "d", "new")
            discard(tmp_path / "stale")
            write_whole(tmp_path / last, "new")
            assert (tmp_path / "a").read_text() == "old"

    before = content(tmp_path)
    for last in ("folder", "a/x", "y" * 300):
        with pytest.raises(OSError, match=last) as failed:
            write(last)
        assert failed.value.filename == str(tmp_path / last)
        assert content(tmp_path) == before
    write("e")
    names = {"a", "b", "b/c", "b/c/d", "e", "folder"}
    assert {str(path) for path in content(tmp_path)} == names
    assert (tmp_path / "a").read_text() == "new"


def test_what_a_killed_process_left_is_found_and_removed(tmp_path):
    code = f"""
import os
from pathlib import Path
from project.files import all_or_none, write_whole
with all_or_none():
    write_whole(Path({str(tmp_path)!r}, "pages", "a.html"), "new")
    os._exit(0)
"""
    (tmp_path / ".mine").touch()
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 2
    remove_unfinished(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [
        tmp_path / ".mine"
    ]
