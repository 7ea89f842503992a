"""Run an exercise with the reference solutions put in, as a student would run it."""

from __future__ import annotations

import tempfile

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import (
    CellExecutionError,
    CellTimeoutError,
    DeadKernelError,
)
from rich.progress import Progress

from authoring.exercises import generate
from project.practicals import Lab

SECONDS = 600  # for one cell


def run_solved(lab: Lab) -> str | None:
    """Run a lab's solved exercise from top to bottom; return the problem, or ``None``."""
    notebook = nbformat.reads(generate(lab, solved=True), as_version=4)
    with tempfile.TemporaryDirectory() as folder, Progress(transient=True) as progress:
        bar = progress.add_task(lab.exercise.stem, total=len(notebook.cells))
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            resources={"metadata": {"path": folder}},
            on_cell_complete=lambda cell, cell_index: progress.update(
                bar, completed=cell_index + 1
            ),
        )
        try:
            client.execute()
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            return str(error)
    ticked = {
        cell.metadata.course["task"]
        for cell in notebook.cells
        if cell.metadata.get("course", {}).get("role") == "check"
        and any(output.get("text", "").startswith("✓") for output in cell.outputs)
    }
    wanted = {
        c.metadata.course["task"]
        for c in notebook.cells
        if c.metadata.get("course", {}).get("role") == "check"
    }
    return (
        None
        if ticked == wanted
        else f"not ticked: {', '.join(sorted(wanted - ticked))}"
    )
