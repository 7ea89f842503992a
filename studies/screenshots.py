"""Screenshots of a real class report for the book, and of a check for README.md.

    python -m studies.screenshots

generates notebooks for 24 fictional students and grades them with ``course grade``, which
takes some minutes. It writes ``report.png``, ``heat-map.png``, ``feedback.png``,
``marking.png`` and ``exercise.png`` to ``book/images``. It needs Chromium.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import Browser

from project.practicals import Course
from studies.chromium import launched
from studies.submissions import write_class

ROOT = Path(__file__).parents[1]
PICTURES = {
    "report": ("report.html", 1000, 668),
    "heat-map": ("report.html#map", 1000, 640),
    "feedback": ("feedback/Lagrange/bayes_by_backprop_a.html", 760, 794),
    "marking": ("marking.html#q1", 1000, 760),
}
# Mistakes are planted with exec, which is flagged; those of students are not.
PLANTED = '.flags, li:has(> a[href="#flagged"]) { display: none }'
TASK = "deep-ensembles--gaussian-mixture-moments"
MISTAKE = "return jnp.mean(means, axis=0), jnp.mean(stds**2, axis=0)"


def exercise(browser: Browser, target: Path) -> None:
    """Run a task with a mistake in it, and take a screenshot of its two cells."""
    notebook = Course.read(ROOT).lab("deep_ensembles_a").released()
    ids = ("given--imports", TASK, f"{TASK}--check")
    notebook.cells = [cell for cell in notebook.cells if cell.id in ids]
    imports, task, check = notebook.cells
    imports.source += "\nfrom course import check"
    task.source = task.source.replace("raise NotImplementedError()", MISTAKE)
    NotebookClient(notebook, allow_errors=True).execute(cwd=ROOT)
    notebook.cells = [task, check]
    page = browser.new_page(
        viewport={"width": 820, "height": 600}, device_scale_factor=1.5
    )
    page.route("https://**", lambda route: route.abort())
    page.set_content(HTMLExporter().from_notebook_node(notebook)[0])
    page.locator("main").screenshot(path=target)
    page.close()


def main() -> None:
    """Generate and grade a class, and take the screenshots."""
    images = ROOT / "book" / "images"
    images.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        submissions, out = Path(folder) / "handed-in", Path(folder) / "grades"
        write_class(submissions, 24, seed=3)
        command = [sys.executable, "-m", "commands", "grade", str(submissions)]
        subprocess.run(
            [*command, "--out", str(out), "--jobs", "2"], cwd=ROOT, check=True
        )
        with launched() as browser:
            for name, (address, width, height) in PICTURES.items():
                page = browser.new_page(
                    viewport={"width": width, "height": height}, device_scale_factor=1.5
                )
                page.goto(f"{out.as_uri()}/{address}")
                page.add_style_tag(content=PLANTED)
                page.screenshot(path=images / f"{name}.png")
                page.close()
            exercise(browser, images / "exercise.png")


if __name__ == "__main__":
    main()
