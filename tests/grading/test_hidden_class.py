"""Submissions are hidden from one another wherever their folder is."""

import csv
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest
from graded_class import FILE, LAB, finish, start, table, write_submissions
from labs import COURSE


@pytest.mark.long
@pytest.mark.sandbox
def test_a_class_in_a_folder_that_kernels_see_is_hidden_in_it(tmp_path):
    lab = COURSE.lab(LAB)
    notebook = lab.released()
    (cell,) = (one for one in notebook.cells if one["id"].endswith("--pinball-loss"))
    answer = lab.solutions().definitions["pinball_loss"].shown()
    with tempfile.TemporaryDirectory(dir=sys.prefix) as folder:
        write_submissions(Path(folder), 1)
        (other,) = Path(folder).glob("*/*.ipynb")
        looks = f"    if __import__('os').path.exists({str(other)!r}):\n        return None\n"
        cell.source = answer.replace("    return", f"{looks}    return")
        (Path(folder) / "ann").mkdir()
        nbformat.write(notebook, Path(folder) / "ann" / FILE)
        finish(start(folder, tmp_path / "out"))
    rows = csv.DictReader(table(tmp_path / "out").removeprefix("\ufeff").splitlines())
    ann = next(row for row in rows if "ann" in row.values())
    (points,) = (n for name, n in ann.items() if name.endswith("pinball-loss"))
    assert float(points) > 0
