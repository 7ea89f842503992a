"""The release bundle for a class: exercises, the modules they need, and instructions.

The bundle contains only those modules of ``course`` that the chosen exercises import,
directly or indirectly; a new module is included as soon as one of them uses it. Solutions and
grader are never included, and a notebook is refused if a cell is not what the chapter gives, or
has outputs: it might contain an answer. The class edition
of the book is included on request.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from authoring.exercises import generate, packages_of
from project.errors import CourseError
from project.practicals import Course, Lab
from project.publication import bracketed

NAME = "known-unknowns"
MARK = "# Written by `course release`."
BOOK = "_build/class/_build/html"  # where `make book EDITION=class` writes
COPIED = ("LICENSE", "LICENSE-text", "constraints.txt")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest date that a zip can store

PROJECT = """\
{mark}
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "{name}"
version = "{version}"
description = {description}
requires-python = "{python}"
dependencies = [
{dependencies}
]

[project.optional-dependencies]
{extras}

[tool.setuptools]
packages.find = {{ include = ["course*"] }}
package-data = {{ course = {data} }}
"""

REQUIREMENTS = """\
{mark}
# In this folder: python -m pip install -r requirements.txt
-c constraints.txt
.{extras}
jupyterlab
"""

README = """\
# Known Unknowns: exercises

## Install

You need Python {python}. In a terminal, in the folder of this file:

```sh
python3 -m venv .venv
.venv/bin/python -m pip install -r requirements.txt
```

On Windows, write `py` for `python3` and `.venv\\Scripts` for `.venv/bin`. It takes some
minutes, most of them for PyTorch or JAX.{torch}

## Work

```sh
.venv/bin/jupyter lab exercises
```

{exercises}

1. Run the cells from top to bottom (Shift+Enter).
2. Where a cell says `# YOUR CODE HERE`, put your code in place of
   `raise NotImplementedError()`, and run the cell.
3. Run the check below it. It ticks your answer, or says what came out wrong on which input,
   and names the mistake if it knows it.
4. Stuck? `check.hint("…")` with the task's id gives up to three hints.
5. Answer questions in words in the cell that says *Write your answer here*.

You may add cells wherever you like. Leave checks and given code as they are, and do not
delete the cells of tasks, even of those that you skip: the grader finds your answers by
these cells.

## Hand in

Save the notebook and hand in the `.ipynb` file itself: no zip, no PDF, no copied text.
*Kernel → Restart Kernel and Run All Cells…* first shows whether it all still works; it stops
at the first check that is not ticked; run the cells below it by hand. Each task
is graded on its own, on inputs other than those of the checks; a wrong answer early on does
not cost the points of those that build on it. A cell of your own should not need files,
the network, plots or anything that takes long: it may not find them when it is graded.

## When something fails

- `No module named 'course'`: Jupyter runs another Python. Start it as shown above.
- *Kernel → Restart Kernel* and run all cells from the top: this solves most problems.
- A notebook that is beyond repair: take a fresh one from the bundle and paste your answers
  into the cells of their tasks.
"""


OF_TORCH = """ On Linux, pip installs PyTorch for NVIDIA's
graphics cards, which takes several gigabytes more. The build for the processor is enough: choose
*CPU* on <https://pytorch.org/get-started/locally/>, and before the second command run the one
shown there, with `.venv/bin/python -m pip` and the version of torch in `constraints.txt`."""


def release(
    course: Course, folder: Path, names: Iterable[str] = (), *, book: bool = False
) -> list[Path]:
    """Write the bundle as ``known-unknowns/`` and ``known-unknowns.zip``, both or neither.

    The same sources give the same bytes. An older bundle is replaced.

    Args:
        course: with the labs.
        folder: the folder to write to; created if it does not exist.
        names: stems of practicals or names of labs; by default all.
        book: include the class edition of the book.

    Returns:
        The folder and the zip.

    Raises:
        CourseError: there is no such practical, an exercise is not what its chapter gives, the book is
            not built, the bundle cannot be written, or its place is taken by something that is
            not a bundle.
    """
    files = bundle(course, names, book=book)
    target, archive = folder / NAME, folder / f"{NAME}.zip"
    try:
        for path, ours in ((target, _is_bundle), (archive, _is_archive)):
            if path.is_symlink() or (path.exists() and not ours(path)):
                raise CourseError(
                    path,
                    None,
                    "It exists, and is not a bundle.",
                    "Move it away, or choose another folder.",
                )
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=f".{NAME}.") as scratch:
            new = Path(scratch) / "new"
            for name, data in files.items():
                path = new / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            packed = Path(scratch) / "new.zip"
            packed.write_bytes(zipped(files))
            _put_in_place(new, packed, target, archive, Path(scratch) / "old")
    except OSError as error:
        raise CourseError(
            folder,
            None,
            f"The bundle cannot be written: {error.strerror or error}.",
            "Choose another folder.",
        ) from None
    return [target, archive]


def bundle(
    course: Course, names: Iterable[str] = (), *, book: bool = False
) -> dict[str, bytes]:
    """Return the files of a bundle by name, in order.

    Raises:
        CourseError: there is no such practical, an exercise is not what its chapter gives, the book is
            not built, or an exercise or a check needs a file outside ``course``.
    """
    root = course.root
    files = _book(root) if book else {}
    wanted: set[Path] = set()
    packages: set[str] = set()
    lines = []
    for lab in course.labs(*names):
        path, notebook = lab.exercise, lab.released()
        _refuse_answers(lab, notebook)
        files[f"exercises/{path.name}"] = path.read_bytes()
        wanted |= lab.closure()
        packages |= {*packages_of(lab, notebook.cells)}
        title = notebook.cells[0].source.splitlines()[0].lstrip("# ")
        lines.append(f"- `exercises/{path.name}`: {title}")
    if book:
        lines.append("- `book/index.html`: the book, to open in a browser")
    for path in sorted(wanted):
        name = path.relative_to(root.resolve()).as_posix()
        if not name.startswith("course/"):
            raise CourseError(
                path,
                None,
                "Exercises or checks need it, but it is not for students.",
                "Move what they need into a module of its own.",
            )
        files[name] = path.read_bytes()
    files |= {name: (root / name).read_bytes() for name in COPIED}
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    about = project["project"]
    texts = {
        "pyproject.toml": PROJECT.format(
            mark=MARK,
            name=NAME,
            version=about["version"],
            description=_text(about["description"]),
            data=json.dumps(project["tool"]["setuptools"]["package-data"]["course"]),
            python=about["requires-python"],
            dependencies=_list(about["dependencies"]),
            extras="\n".join(
                f"{name} = [\n{_list(about['optional-dependencies'][name])}\n]"
                for name in ("jax", "torch")
            ),
        ),
        "requirements.txt": REQUIREMENTS.format(mark=MARK, extras=bracketed(packages)),
        "README.md": README.format(
            python=re.sub(r">=([\d.]+)", r"\1 or newer", about["requires-python"]),
            exercises="\n".join(lines),
            torch=OF_TORCH * ("torch" in packages),
        ),
    }
    files |= {name: text.encode() for name, text in texts.items()}
    return dict(sorted(files.items()))


def _book(root: Path) -> dict[str, bytes]:
    """Return the files of the class edition as it was built last.

    Raises:
        CourseError: it is not built.
    """
    html = root / BOOK
    if not (html / "index.html").is_file():
        raise CourseError(
            html,
            None,
            "The class edition of the book is not built.",
            "Build it with `make book EDITION=class`.",
        )
    return {
        f"book/{path.relative_to(html).as_posix()}": path.read_bytes()
        for path in html.rglob("*")
        if path.is_file()
        and path.name != ".buildinfo"
        and "_downloads" not in path.parts  # of a build of another version
    }


def zipped(files: dict[str, bytes]) -> bytes:
    """Pack the files into a zip with one folder; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(f"{NAME}/{name}", EPOCH)
            info.create_system, info.external_attr = 3, 0o100644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return buffer.getvalue()


def _refuse_answers(lab: Lab, notebook: NotebookNode) -> None:
    """Check that each cell is what chapter and solutions give, and has no outputs.

    Its id and the metadata that graders read count as well, and so do attachments.

    Raises:
        CourseError: a cell is another, or has outputs.
    """
    right = nbformat.reads(generate(lab), as_version=4)
    for number, cells in enumerate(zip_longest(notebook.cells, right.cells), 1):
        problem = ""
        if len({cell and _content(cell) for cell in cells}) > 1:
            problem = f"Cell {number} is not the one that chapter and solutions give."
        elif cells[0].get("outputs"):
            problem = f"Cell {number} has outputs."
        if problem:
            raise CourseError(lab.exercise, None, problem, "Run `course exercises`.")


def _content(cell: NotebookNode) -> str:
    read = [cell.metadata.get(name) for name in ("course", "nbgrader")]
    parts = [cell.cell_type, cell.source, cell.get("id"), read, cell.get("attachments")]
    return json.dumps(parts, sort_keys=True)


def _list(requirements: list[str]) -> str:
    return "\n".join(f"    {_text(requirement)}," for requirement in requirements)


def _text(text: str) -> str:
    """Write a string as TOML does; what JSON writes is TOML as well."""
    return json.dumps(text, ensure_ascii=False)


def _is_bundle(folder: Path) -> bool:
    """Is the folder empty, or an earlier bundle?"""
    if not folder.is_dir():
        return False
    try:
        text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return not any(folder.iterdir())
    return text.startswith(MARK)


def _is_archive(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.read(f"{NAME}/pyproject.toml").startswith(MARK.encode())
    except (OSError, KeyError, zipfile.BadZipFile):
        return False


def _put_in_place(
    new: Path, packed: Path, target: Path, archive: Path, old: Path
) -> None:
    """Move folder and zip into place; if either fails, restore the previous folder."""
    if target.exists():
        os.replace(target, old)
    try:
        os.replace(new, target)
        os.replace(packed, archive)
    except BaseException:
        if target.exists():
            shutil.rmtree(target)
        if old.exists():
            os.replace(old, target)
        raise
