"""Reads a module of reference solutions: what is shown, what becomes a stub, what needs what.

The module is parsed, never imported. The student's part stands between ``### BEGIN
SOLUTION`` and ``### END SOLUTION``; a comment above it stays in the stub as a hint.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from course.errors import CourseError

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
STUB = ("# YOUR CODE HERE", "raise NotImplementedError()")


@dataclass(frozen=True)
class Definition:
    """A function or class of a module, as written."""

    name: str
    path: Path
    line: int
    source: str
    needs: frozenset[str]

    @property
    def has_solution(self) -> bool:
        """Does it hold a part for the student?"""
        return any(line.strip() == BEGIN for line in self.source.splitlines())

    def shown(self) -> str:
        """The source without the markers."""
        lines = self.source.splitlines()
        return "\n".join(line for line in lines if line.strip() not in (BEGIN, END))

    def stub(self) -> str:
        """The source with every solution replaced by a call to write one.

        Raises:
            CourseError: it has no solution.
        """
        if not self.has_solution:
            raise CourseError(
                self.path,
                self.line,
                f"{self.name} is a task, but has no solution region.",
                f"Put `{BEGIN}` and `{END}` around what the student writes.",
            )
        kept, inside = [], False
        for line in self.source.splitlines():
            if line.strip() == BEGIN:
                indent = line[: len(line) - len(line.lstrip())]
                kept += [indent + text for text in STUB]
                inside = True
            elif line.strip() == END:
                inside = False
            elif not inside:
                kept.append(line)
        return "\n".join(kept)


@dataclass(frozen=True)
class Module:
    """A module of reference solutions: its imports and constants, and its definitions by name."""

    path: Path
    setup: str
    definitions: dict[str, Definition]


def read_module(path: Path) -> Module:
    """Parse a module of reference solutions.

    Raises:
        CourseError: it does not exist or parse, its markers do not match, or a constant
            needs a definition.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise CourseError(
            path, None, "There is no such module.", "Add it, or mend the import."
        ) from None
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise CourseError(
            path, error.lineno, f"{error.msg}.", "Mend the syntax."
        ) from None
    _check_markers(path, text)
    lines = text.splitlines()
    names = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    imports, constants, definitions = [], [], {}
    for node in tree.body:
        start = min(
            [node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]
        )
        # A marker after the last statement is a comment, which the parser does not see.
        end = node.end_lineno
        end += any(line.strip() == END for line in lines[end : end + 1])
        source = "\n".join(lines[start - 1 : end])
        if isinstance(node, ast.Import | ast.ImportFrom):
            if getattr(node, "module", None) != "__future__":
                imports.append(source)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            needed = _names(node) & names
            if needed:
                raise CourseError(
                    path,
                    node.lineno,
                    f"A module constant uses {', '.join(sorted(needed))}.",
                    "Constants go to the top of the exercise, before every definition: "
                    "move it into the function that uses it.",
                )
            constants.append(source)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            needs = frozenset(_names(node) & names - {node.name})
            definitions[node.name] = Definition(node.name, path, start, source, needs)
    setup = "\n".join(imports) + ("\n\n" + "\n".join(constants) if constants else "")
    return Module(path, setup, definitions)


def _names(node: ast.AST) -> set[str]:
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}


def _check_markers(path: Path, text: str) -> None:
    opened: int | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() == BEGIN:
            if opened is not None:
                raise CourseError(
                    path,
                    number,
                    f"`{BEGIN}` stands inside the region of line {opened}.",
                    f"Add `{END}` before it.",
                )
            opened = number
        elif line.strip() == END:
            if opened is None:
                raise CourseError(
                    path,
                    number,
                    f"`{END}` closes nothing.",
                    f"Add `{BEGIN}` before it.",
                )
            opened = None
    if opened is not None:
        raise CourseError(
            path,
            opened,
            f"`{BEGIN}` is never closed.",
            f"Add `{END}` after the solution.",
        )
