"""Errors of a student's own code, in a real kernel."""

import nbformat
import pytest
from nbclient import NotebookClient

from course.errors import CELLS_ABOVE


@pytest.mark.parametrize(
    ("code", "advised"),
    [
        ("history = fitted(3)", True),
        ("def f():\n    x += 1\nf()", False),  # an UnboundLocalError
        ("1 / 0", False),
    ],
)
def test_a_name_from_a_cell_that_was_not_run_points_to_the_cells_above(code, advised):
    cells = [
        nbformat.v4.new_code_cell(text) for text in ("from course import check", code)
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, allow_errors=True, kernel_name="python3").execute()
    (error,) = notebook.cells[1].outputs
    shown = "\n".join(error.traceback)
    assert (CELLS_ABOVE in shown) == advised
    assert CELLS_ABOVE not in error.evalue
    assert error.evalue in shown
