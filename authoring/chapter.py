"""Read a chapter: its cells, with the role and line number of each."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import jupytext
from jupytext.myst import MystMetadataParsingError
from nbformat import NotebookNode
from nbformat.validator import NotebookValidationError
from yaml import YAMLError

from course.task import task_id
from project.closure import closure
from project.errors import CourseError
from project.files import read_text
from project.practicals import Course, Lab, lab_of

ROLES = ("task", "given", "check", "written", "book-only")
STYLING = (
    "hide-input",
    "hide-output",
    "remove-input",
    "remove-output",
    "hide-cell",
    "remove-cell",
    "scroll-output",
)
LABEL = re.compile(r"^:label:\s*(\S+)\s*$", re.MULTILINE)
LONG = 25  # lines of given code: more are collapsed, in pages and in notebooks
GUESS = re.compile(r"^```\{guess\}\s*(\S+)\s*\n```$", re.MULTILINE)
TASK_INFO = re.compile(r"^```\{task-info\}\s*(\S+)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class ChapterCell:
    """One cell of a chapter.

    ``names`` are the names that a task or given cell imports, or the name that a check cell
    checks; ``task`` is the task's id, if the cell belongs to one; ``guess`` is the id of the guess
    that ends a Markdown cell. The code of a ``folded`` cell only makes a figure or a table: page
    and exercise show it on demand.
    """

    kind: str
    role: str | None
    source: str
    line: int
    names: tuple[str, ...] = ()
    task: str | None = None
    caption: str | None = None
    folded: bool = False
    guess: str | None = None


@dataclass(frozen=True)
class Chapter:
    """A chapter and its cells, in order."""

    path: Path
    stem: str
    cells: tuple[ChapterCell, ...]

    @property
    def tasks(self) -> list[str]:
        """Ids of the chapter's tasks, in order."""
        return [cell.task for cell in self.cells if cell.role == "task"]


def read_chapter(path: Path) -> Chapter:
    """Read a chapter and check that each cell fits its tags.

    Raises:
        CourseError: a cell's tags are unknown or conflict, its contents do not fit its role,
            or tasks and checks do not match.
    """
    return _chapter(path, read_text(path))


@lru_cache(maxsize=64)
def _chapter(path: Path, text: str) -> Chapter:
    stem = lab_of(path).stem
    notebook = _notebook(path, text)
    lines, cursor, cells = text.splitlines(), 0, []
    for raw in notebook.cells:
        start = _find(lines, raw.source.splitlines(), cursor)
        cells.append(_cell(path, stem, raw, start + 1))
        cursor = start + len(raw.source.splitlines())
    chapter = Chapter(path, stem, tuple(cells))
    _check_order(chapter)
    return chapter


def notebook_of(path: Path) -> NotebookNode:
    """Read a page as a notebook, which has no outputs.

    Raises:
        CourseError: its head, or the options of a cell, cannot be read.
    """
    return _notebook(path, read_text(path))


def _notebook(path: Path, text: str) -> NotebookNode:
    try:
        return jupytext.reads(text, fmt="md:myst")
    except (MystMetadataParsingError, NotebookValidationError, YAMLError) as error:
        reason = str(error).splitlines()[0].rstrip(".:")
        what = (
            "head of the page" if isinstance(error, YAMLError) else "options of a cell"
        )
        problem = f"The {what} cannot be read: {reason}."
        raise CourseError(path, None, problem, "Correct them.") from None


def asked_earlier(lab: Lab) -> frozenset[str]:
    """Return the names of the tasks of the labs of its practical that come before a lab."""
    labs = Course.read(lab.root).labs(lab.stem)
    return frozenset(
        cell.names[0]
        for earlier in labs[: labs.index(lab)]
        for cell in read_chapter(earlier.chapter).cells
        if cell.role == "task"
    )


def answers_in(lab: Lab) -> list[str]:
    """List the tasks of earlier labs whose answers a lab gives, because it builds on them."""
    earlier = asked_earlier(lab)
    return [
        task_id(lab.stem, name)
        for cell in read_chapter(lab.chapter).cells
        if cell.role == "given"
        for name in cell.names
        if name in earlier
    ]


def needs(root: Path, path: Path) -> frozenset[Path]:
    """Find the files that the outputs of a page depend on, without the page itself.

    Raises:
        CourseError: its code does not parse, or options of a cell cannot be read.
    """
    cells = notebook_of(path).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    # check() imports the practical's checks by task id, so no import in the page shows it.
    try:
        return closure(
            root, code, path, *([lab_of(path).checks] if "check(" in code else [])
        )
    except SyntaxError as error:
        raise CourseError(
            path, None, f"Its code does not parse: {error}.", "Correct the syntax."
        ) from None


def is_long(source: str) -> bool:
    """Are these lines of given code collapsed, in the page and in the notebook?"""
    return len(source.splitlines()) > LONG


def _find(lines: list[str], source: list[str], cursor: int) -> int:
    """Return the index of a cell's first line, from ``cursor`` on; ``cursor`` if there is none."""
    for index in range(cursor, len(lines)):
        if lines[index : index + len(source)] == source:
            return index
    return cursor


def _cell(path: Path, stem: str, raw, line: int) -> ChapterCell:
    tags = raw.metadata.get("tags", [])
    unknown = [tag for tag in tags if tag not in ROLES + STYLING]
    if unknown:
        raise CourseError(
            path,
            line,
            f"The tag {unknown[0]!r} is unknown.",
            f"Known are {', '.join(ROLES + STYLING)}.",
        )
    roles = [tag for tag in tags if tag in ROLES]
    if len(roles) > 1:
        raise CourseError(
            path,
            line,
            f"The cell has the roles {' and '.join(roles)}.",
            "Keep one of them.",
        )
    role = roles[0] if roles else None
    if raw.cell_type == "code":
        figure = (raw.metadata.get("mystnb") or {}).get("figure") or {}
        cell = _code_cell(path, stem, role, raw.source, line)
        caption = figure.get("caption")
        return replace(
            cell, caption=caption, folded=bool(caption) or "hide-input" in tags
        )
    if role not in (None, "written", "book-only"):
        raise CourseError(
            path,
            line,
            f"A Markdown cell is tagged {role}.",
            "Use written, book-only or no tag.",
        )
    task = None
    if role == "written":
        label = LABEL.search(raw.source)
        if not label:
            raise CourseError(
                path,
                line,
                "A written question has no label.",
                "Add `:label: <stem>/<name>`.",
            )
        task = label[1]
    guess = GUESS.search(raw.source)
    if guess and (role == "written" or raw.source[guess.end() :].strip()):
        raise CourseError(
            path,
            line,
            f"The guess {guess[1]} is not the end of a Markdown cell.",
            "Put `+++` after it: in the notebook, a code cell follows in which to guess.",
        )
    return ChapterCell(
        "markdown", role, raw.source, line, task=task, guess=guess and guess[1]
    )


def _code_cell(
    path: Path,
    stem: str,
    role: str | None,
    source: str,
    line: int,
) -> ChapterCell:
    if role in ("task", "given"):
        names = names_imported(source, f"solutions.{stem}")
        wanted = "one name" if role == "task" else "names"
        if not names or (role == "task" and len(names) > 1):
            raise CourseError(
                path,
                line,
                f"A cell tagged {role} must hold one import and nothing else.",
                f"Write `from solutions.{stem} import …` with {wanted}.",
            )
        return ChapterCell(
            "code",
            role,
            source,
            line,
            names,
            task_id(stem, names[0]) if role == "task" else None,
        )
    if role == "check":
        task, name = _checked(source)
        if name is None or task != task_id(stem, name):
            raise CourseError(
                path,
                line,
                "A check cell must check one task.",
                'Write `check("<stem>/<name>", <name>)`.',
            )
        return ChapterCell("code", role, source.strip(), line, (name,), task)
    if role == "written":
        raise CourseError(
            path,
            line,
            "A code cell is tagged written.",
            "Only Markdown cells are answers in words.",
        )
    if role is None and re.search(r"\bsolutions\b", source):
        raise CourseError(
            path,
            line,
            "An untagged cell names `solutions`.",
            "Tag it task, given or book-only: students have none.",
        )
    if role is None and re.search(r"\bglue\(|\bmyst_nb\b", source):
        raise CourseError(
            path,
            line,
            "An untagged cell glues a number.",
            "Move the glue into a cell of its own tagged book-only.",
        )
    if role is None:
        try:
            ast.parse(source)
        except SyntaxError as error:
            at = line + (error.lineno or 1) - 1
            problem = f"The code does not parse: {error.msg}."
            raise CourseError(path, at, problem, "Correct the syntax.") from None
    return ChapterCell("code", role, source, line)


def _checked(source: str) -> tuple[str | None, str | None]:
    """Return the id and the name in ``check("<id>", <name>)``, else ``None`` twice."""
    try:
        match ast.parse(source).body:
            case [
                ast.Expr(
                    ast.Call(
                        ast.Name("check"), [ast.Constant(task), ast.Name(name)], []
                    )
                )
            ]:
                return task, name
    except SyntaxError:
        pass
    return None, None


def names_imported(source: str, module: str) -> tuple[str, ...]:
    """Return the names that a cell imports from a module; none if it does anything else."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return ()
    if (
        len(body) != 1
        or not isinstance(body[0], ast.ImportFrom)
        or body[0].module != module
    ):
        return ()
    if any(alias.asname or alias.name == "*" for alias in body[0].names):
        return ()
    return tuple(alias.name for alias in body[0].names)


def _check_order(chapter: Chapter) -> None:
    """Check that every task has its exercise before it and its check after it, by id."""
    asked: list[str] = []
    waiting: ChapterCell | None = None
    for cell in chapter.cells:
        if cell.kind == "markdown":
            asked += TASK_INFO.findall(cell.source)
        elif cell.role == "task":
            if cell.task not in asked:
                raise CourseError(
                    chapter.path,
                    cell.line,
                    f"No exercise above this task asks for {cell.task}.",
                    f"Add `{{task-info}} {cell.task}` to its {{exercise}} directive.",
                )
            if waiting is not None:
                raise CourseError(
                    chapter.path,
                    waiting.line,
                    f"{waiting.task} is never checked.",
                    "Add a check cell.",
                )
            waiting = cell
        elif cell.role == "check":
            if waiting is None or waiting.task != cell.task:
                raise CourseError(
                    chapter.path,
                    cell.line,
                    f"This checks {cell.task}, which no task before it asks for.",
                    "Move it.",
                )
            waiting = None
    if waiting is not None:
        raise CourseError(
            chapter.path,
            waiting.line,
            f"{waiting.task} is never checked.",
            "Add a check cell.",
        )
