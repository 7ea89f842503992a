"""Generate the exercise notebooks from the chapters and the reference solutions.

A chapter's cells are processed in order: a ``task`` import is replaced with a stub, a
``given`` import with its full source (also a task's, in a later lab of its practical); the
imports and constants of the solutions go into one locked cell at the top; ``book-only`` cells
are left out; a guess is followed by a cell to guess in; Markdown is translated. The same input
gives the same bytes.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import json
import re
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from authoring.chapter import (
    Chapter,
    ChapterCell,
    asked_earlier,
    is_long,
    read_chapter,
)
from authoring.markdown import Translator, macros
from authoring.references import references
from course.quiz import find_guess, guess_cell
from course.task import find
from project.closure import closure
from project.errors import CourseError
from project.files import all_or_none, read_text, write_whole
from project.practicals import ANSWER_HERE, Course, Lab, cell_id
from project.publication import EXTRAS, Publication, readme
from project.source import Definition, Module, imports_of

KERNEL = {
    "display_name": "Python 3 (ipykernel)",
    "language": "python",
    "name": "python3",
}
BEGIN_HERE = """**How to begin.** Run the cells from top to bottom (Shift+Enter). Where a \
cell says `# YOUR CODE HERE`, put your code in place of `raise NotImplementedError()`, run \
the cell, then run the check below it: it ticks your answer, or says what came out wrong on \
which input. `check.hint("…")` helps, with up to three hints for each task. Locked cells are \
given; the long ones are collapsed, and need no reading.

{tasks} tasks give {points} points in all. Answers in words: {questions}, for up to 3 points \
each. You may leave a task out; the \
cells that train or draw need the tasks above them, and some of them take ten seconds, or half \
a minute if the machine is busy."""
READY = """# Is everything here? If not, this cell says what to do.
from importlib.util import find_spec

needed = {packages}
missing = [name for name in needed if find_spec(name) is None]
if missing:
    raise ModuleNotFoundError(
        ", ".join(missing) + " cannot be found by the Python that runs this notebook. In the "
        "folder that holds `exercises`, README.md says how to install everything and how to "
        "start Jupyter there: `.venv/bin/jupyter lab exercises`. Then open it again."
    )
print("All that this notebook needs is here.")"""


def generate(lab: Lab, *, solved: bool = False, marked: bool = False) -> str:
    """Generate the exercise of one lab, as the text of a notebook.

    Args:
        lab: whose chapter and solutions are read.
        solved: put the reference solutions in place of the stubs.
        marked: the same, and keep the markers between which nbgrader puts its stubs.

    Raises:
        CourseError: the chapter and its solutions do not fit together.
    """
    chapter, module = read_chapter(lab.chapter), lab.solutions()
    translator = translator_of(lab, chapter)
    _refuse_skeletons(chapter)
    cells, seen = [], set()
    write = _writer(solved, marked)
    earlier = asked_earlier(lab)
    for cell in chapter.cells:
        if cell.role == "book-only":
            continue
        if cell.kind == "markdown":
            cells += _markdown_cells(cell, translator)
        else:
            cells += _code_cells(cell, chapter, module, seen, write, earlier)
            if cell.caption:
                caption = translator.translate(cell.caption, cell.line)
                cells.append(new_markdown_cell(f"*{caption.strip()}*"))
    cells = [cell for cell in cells if cell.source.strip()]
    cells.insert(
        _first(cells, "code"),
        _locked(new_code_cell(module.setup), "given--imports", "given"),
    )
    cells.insert(1, new_markdown_cell(_how_to_begin(chapter)))
    for index, cell in enumerate(cells):
        if "course" not in cell.metadata:
            cell["id"] = f"c{index:03d}"
    packages = packages_of(lab, cells)
    first = {
        "install": Publication.read(lab.root).install_cell(packages),
        "ready": READY.format(packages=json.dumps(packages)),
    }
    place = _first(cells, "code")
    cells[place:place] = [
        _locked(new_code_cell(source), role, role)
        for role, source in first.items()
        if source
    ]
    metadata = {
        "kernelspec": KERNEL,
        "language_info": {"name": "python"},
        "course": {"practical": lab.stem} | ({"lab": lab.part} if lab.part else {}),
    }
    notebook = new_notebook(cells=cells, metadata=metadata)
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


def translator_of(lab: Lab, chapter: Chapter, *, whole: bool = False) -> Translator:
    """Return what translates the Markdown of a lab's chapter for Jupyter.

    Equations have the numbers that they have in the exercise; if the chapter is translated as a
    ``whole``, those that the exercise leaves out are numbered after them.
    """
    site, entries = Publication.read(lab.root).site, references(lab.root)
    translator = Translator(lab.chapter, entries, macros(lab.root), site)
    for left_out in (False, True) if whole else (False,):
        for cell in chapter.cells:
            if cell.kind == "markdown" and (cell.role == "book-only") is left_out:
                translator.number(cell.source)
    return translator


def differences(course: Course, names: Iterable[str] = ()) -> str:
    """Return a diff from the committed to the generated files; empty if they agree.

    ``names`` are stems or names of labs; without any, all labs are compared.
    """
    report = []
    for path, text in _generated(course, names).items():
        now = read_text(path).splitlines(keepends=True) if path.exists() else []
        new = text.splitlines(keepends=True)
        name = path.relative_to(course.root)
        report += difflib.unified_diff(
            now, new, f"{name} (committed)", f"{name} (generated)"
        )
    expected = {lab.exercise for lab in course.labs()}
    for stray in sorted({*(course.root / "exercises").glob("*.ipynb")} - expected):
        report.append(
            f"exercises/{stray.name} belongs to no chapter: move or delete it.\n"
        )
    return "".join(report)


def _generated(course: Course, names: Iterable[str]) -> dict[Path, str]:
    """Return the texts of the generated files: exercises, and README with its clone command."""
    texts = {lab.exercise: generate(lab) for lab in course.labs(*names)}
    return texts | readme(course.root)


def write(course: Course, names: Iterable[str] = ()) -> list[Path]:
    """Write what is generated, all files or none.

    Raises:
        CourseError: a notebook there holds answers, which would be lost.
    """
    texts = _generated(course, names)
    for path in texts:
        if path.suffix == ".ipynb" and (answered := _answered(path)):
            problem = f"It holds an answer, in the cell {answered}."
            raise CourseError(path, None, problem, "Move it to another folder first.")
    with all_or_none():
        for path, text in texts.items():
            write_whole(path, text)
    return list(texts)


def _answered(path: Path) -> str:
    """The id of a cell in which a task or a question is answered; empty if there is none."""
    with contextlib.suppress(OSError, ValueError, LookupError, AttributeError):
        for cell in json.loads(path.read_bytes())["cells"]:
            role = cell["metadata"].get("course", {}).get("role")
            stub = {"task": "NotImplementedError", "written": ANSWER_HERE}.get(role)
            source = "".join(cell["source"]).strip()
            if stub and source and stub not in source:
                return cell["id"]
    return ""


def _first(cells: list, kind: str) -> int:
    return next(
        (index for index, cell in enumerate(cells) if cell.cell_type == kind),
        len(cells),
    )


def packages_of(lab: Lab, cells: list) -> list[str]:
    """List the import names of the packages that the cells of a lab's exercise need.

    Of the packages that modules of the course import in turn, only the frameworks are
    listed. The checks are left out: they use the notebook's own framework.
    """
    source = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    modules = closure(lab.root, source, lab.exercise.resolve())
    indirect = {
        name
        for path in modules
        if path.suffix == ".py"
        for name in _imported(path.read_text("utf-8"))
    }
    names = _imported(source) | (indirect & {*EXTRAS})
    return sorted(names - sys.stdlib_module_names)


@lru_cache(maxsize=1024)  # the labs import mostly the same modules
def _imported(source: str) -> frozenset[str]:
    """Return the names of the top-level packages that a source imports."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return frozenset(names)


def _how_to_begin(chapter: Chapter) -> str:
    points = sum(find(task).points for task in chapter.tasks)
    questions = sum(cell.role == "written" for cell in chapter.cells)
    return BEGIN_HERE.format(
        tasks=len(chapter.tasks), points=points, questions=questions
    )


def _markdown_cells(cell: ChapterCell, translator: Translator) -> list:
    text = translator.translate(cell.source, cell.line)
    if cell.guess:
        source = guess_cell(cell.guess, find_guess(cell.guess))
        return [new_markdown_cell(text), new_code_cell(source)]
    if cell.role != "written":
        return [new_markdown_cell(text)]
    answer = new_markdown_cell(ANSWER_HERE)
    answer["id"] = cell_id(cell.task)
    answer.metadata["course"] = {"task": cell.task, "role": "written"}
    answer.metadata["nbgrader"] = _nbgrader(
        answer["id"], grade=True, solution=True, locked=False, points=3
    )
    return [new_markdown_cell(text), answer]


def _writer(solved: bool, marked: bool) -> Callable[[Definition], str]:
    """Return the function that writes the source of a task cell."""
    if marked:
        return lambda definition: definition.source
    return Definition.shown if solved else Definition.stub


def _code_cells(
    cell: ChapterCell,
    chapter: Chapter,
    module: Module,
    seen: set[str],
    write: Callable[[Definition], str],
    earlier: frozenset[str],
) -> list:
    if cell.role in ("task", "given"):
        parts = []
        for name in cell.names:
            definition = module.definitions.get(name)
            if definition is None:
                raise CourseError(
                    chapter.path,
                    cell.line,
                    f"{module.path} does not define {name}.",
                    "Correct the import.",
                )
            missing = definition.needs - seen - set(cell.names)
            if missing:
                raise CourseError(
                    chapter.path,
                    cell.line,
                    f"{name} uses {', '.join(sorted(missing))}, which no cell above imports.",
                    "Import it in a task or given cell before this one.",
                )
            seen.add(name)
            parts.append(
                write(definition) if cell.role == "task" else definition.shown()
            )
            if cell.role == "given" and definition.has_solution and name not in earlier:
                raise CourseError(
                    chapter.path,
                    cell.line,
                    f"{name} has a solution region, but is given, and no earlier lab asks for it.",
                    "Tag the cell task.",
                )
        new = new_code_cell("\n\n\n".join(parts))
        if cell.role == "given":
            name = cell.names[0].lower().replace("_", "-")
            if is_long(new.source):
                new.metadata["jupyter"] = {"source_hidden": True}
            return [_locked(new, f"given--{name}", "given")]
        new["id"] = cell_id(cell.task)
        new.metadata["course"] = {"task": cell.task, "role": "task"}
        new.metadata["nbgrader"] = _nbgrader(
            new["id"], grade=False, solution=True, locked=False
        )
        return [new]
    if cell.role == "check":
        new = _locked(
            new_code_cell(cell.source),
            cell_id(cell.task, "check"),
            "check",
        )
        new.metadata["course"]["task"] = cell.task
        new.metadata["nbgrader"] |= {"grade": True, "points": find(cell.task).points}
        return [new]
    _refuse_other_imports(cell, chapter, module)
    folded = {"jupyter": {"source_hidden": True}} if cell.folded else {}
    return [new_code_cell(cell.source, metadata=folded)]


def _refuse_skeletons(chapter: Chapter) -> None:
    """Refuse a chapter with a prompt that ``course new-task`` left to write.

    Raises:
        CourseError: it holds a TODO.
    """
    for cell in chapter.cells:
        if match := re.search(r"\bTODO\b.*", cell.source):
            line = cell.line + cell.source[: match.start()].count("\n")
            problem = f"Something is left to write: {match[0]}"
            raise CourseError(chapter.path, line, problem, "Write it.")


def _refuse_other_imports(cell: ChapterCell, chapter: Chapter, module: Module) -> None:
    """Refuse a chapter's import if the solutions use its name for something else.

    In an exercise both are in one notebook.

    Raises:
        CourseError: a name is taken.
    """
    given = module.imports
    for name, imported in imports_of(cell.source).items():
        if name in module.definitions or given.get(name, imported) != imported:
            other = given.get(name, f"the definition of {name}")
            raise CourseError(
                chapter.path,
                cell.line,
                f"`{imported}` takes the name of `{other}` in {module.path}.",
                "In the exercise both are in one notebook: import it `as` something else.",
            )


def _locked(cell, id_: str, role: str):
    cell["id"] = id_
    cell.metadata["course"] = {"role": role}
    cell.metadata["nbgrader"] = _nbgrader(id_, grade=False, solution=False, locked=True)
    cell.metadata["editable"] = False
    cell.metadata["deletable"] = False
    return cell


def _nbgrader(
    grade_id: str,
    *,
    grade: bool,
    solution: bool,
    locked: bool,
    points: int | None = None,
) -> dict:
    """Return nbgrader's cell metadata, schema 3, so that nbgrader can use the notebooks."""
    metadata = {
        "grade": grade,
        "grade_id": grade_id,
        "locked": locked,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    return metadata if points is None else metadata | {"points": points}
