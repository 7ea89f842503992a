"""The reference solutions of a practical: shown sources, stubs and dependencies.

Solutions are parsed, never imported. The part that a student writes is between ``### BEGIN
SOLUTION`` and ``### END SOLUTION``; a comment above it stays in the stub as a hint.
"""

from __future__ import annotations

import ast
import re
import symtable
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from project.errors import CourseError
from project.files import read_text

DEFINING = (ast.FunctionDef, ast.ClassDef)
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
        """Whether it contains a part that the student writes."""
        return any(line.strip() == BEGIN for line in self.source.splitlines())

    def shown(self) -> str:
        """Return the source without the markers."""
        lines = self.source.splitlines()
        return "\n".join(line for line in lines if line.strip() not in (BEGIN, END))

    def stub(self) -> str:
        """Return the source with a ``NotImplementedError`` in place of every solution.

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
    """A practical's reference solutions: imports, constants, and definitions by name."""

    path: Path
    setup: str
    definitions: dict[str, Definition]

    @property
    def imports(self) -> dict[str, str]:
        """The import statement of each name: ``{"jnp": "import jax.numpy as jnp"}``."""
        return imports_of(self.setup)


def files_of(root: Path, stem: str) -> list[Path]:
    """List the files that contain a practical's solutions; empty if there are none.

    They are ``solutions/<stem>.py``, or the modules of a package of that name in the order
    in which its ``__init__.py`` imports them.
    """
    folder = root / "solutions" / stem
    if folder.with_suffix(".py").is_file():
        return [folder.with_suffix(".py")]
    init = folder / "__init__.py"
    if not init.is_file():
        return []
    own = f"solutions.{stem}."
    modules = [
        node.module.removeprefix(own)
        for node in _parse(init).body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(own)
    ]
    return [folder / f"{module}.py" for module in dict.fromkeys(modules)]


def read_solutions(root: Path, stem: str) -> Module:
    """Parse the reference solutions of a practical; several files are read as one module.

    Raises:
        CourseError: there are none, one does not parse, its markers do not match, a name is
            defined twice, another practical's solutions are imported, a constant uses a
            function or class, or there is a statement of another kind.
    """
    paths = files_of(root, stem)
    package = root / "solutions" / stem
    if not paths:
        raise CourseError(
            package.with_suffix(".py"),
            None,
            "There is no such module.",
            "Add it, or correct the import.",
        )
    trees = {path: _parse(path) for path in paths}
    names = {
        node.name
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, DEFINING)
    }
    imports: list[ast.stmt] = []
    constants: list[str] = []
    definitions: dict[str, Definition] = {}
    for path, tree in trees.items():
        lines = read_text(path).splitlines()
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                if not _is_ours(path, node, stem):
                    imports.append(node)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                constant = _source(node, lines)
                _check_constant(path, node.lineno, names & _names(constant))
                constants.append(constant)
            elif isinstance(node, DEFINING):
                found = _definition(path, node, lines, names)
                if found.name in definitions:
                    raise CourseError(
                        path,
                        found.line,
                        f"{found.name} is defined in {definitions[found.name].path} as well.",
                        "Keep one of them: in the exercise they share a notebook.",
                    )
                definitions[found.name] = found
            elif not _is_text(node):
                raise CourseError(
                    path,
                    node.lineno,
                    "An exercise has no place for this statement.",
                    "Move it into a function: a module of solutions has imports, "
                    "constants, functions and classes.",
                )
    setup = "\n".join(_merged(imports))
    setup += "\n\n" + "\n".join(constants) if constants else ""
    return Module(package if len(paths) > 1 else paths[0], setup, definitions)


def imports_of(source: str) -> dict[str, str]:
    """Map each name that a source imports at its top level to its own import statement."""
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            start = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                found[name] = f"{start}import {ast.unparse(alias)}"
    return found


def _parse(path: Path) -> ast.Module:
    try:
        text = read_text(path)
        tree = ast.parse(text)
    except FileNotFoundError:
        raise CourseError(
            path, None, "There is no such module.", "Add it, or correct the import."
        ) from None
    except SyntaxError as error:
        raise CourseError(
            path, error.lineno, f"{error.msg}.", "Correct the syntax."
        ) from None
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            problem = "It imports relatively, which an exercise cannot."
            remedy = "Write the full name, as in `from solutions.<stem>.… import …`."
            raise CourseError(path, node.lineno, problem, remedy)
    _check_markers(path, text)
    return tree


def _definition(
    path: Path, node: ast.stmt, lines: list[str], names: set[str]
) -> Definition:
    decorators = [decorator.lineno for decorator in node.decorator_list]
    start = min([node.lineno, *decorators])
    source = _source(node, lines, start)
    written = [line.strip() for line in source.splitlines()]
    if written.count(BEGIN) != written.count(END):
        problem = f"A solution region of {node.name} does not end in it."
        raise CourseError(path, start, problem, f"Put `{END}` where it should.")
    needs = frozenset(_names(source) & names - {node.name})
    return Definition(node.name, path, start, source, needs)


def _is_text(node: ast.stmt) -> bool:
    """Is this a docstring?"""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _source(node: ast.stmt, lines: list[str], start: int | None = None) -> str:
    # Comments after the last statement, such as a marker, are not counted in end_lineno.
    end = node.end_lineno
    for number, line in enumerate(lines[end:], end + 1):
        if line.strip() == END:
            end = number
        elif line.strip() and not re.match(r"\s+#", line):
            break
    return "\n".join(lines[(start or node.lineno) - 1 : end])


def _is_ours(path: Path, node: ast.Import | ast.ImportFrom, stem: str) -> bool:
    """Is this import of the same solutions, or one that a notebook does not need?"""
    modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    modules += [alias.name for alias in node.names if isinstance(node, ast.Import)]
    if any(f"{module}.".startswith(f"solutions.{stem}.") for module in modules):
        return True
    if any(module.partition(".")[0] == "solutions" for module in modules):
        raise CourseError(
            path,
            node.lineno,
            "It imports from another practical's solutions.",
            "An exercise holds those of one practical: define here what is needed.",
        )
    return modules == ["__future__"]


def _check_constant(path: Path, line: int, needed: set[str]) -> None:
    if needed:
        raise CourseError(
            path,
            line,
            f"A module constant uses {', '.join(sorted(needed))}.",
            "Constants go to the top of the exercise, before every definition: "
            "move it into the function that uses it.",
        )


def _merged(imports: list[ast.stmt]) -> list[str]:
    """Merge all imports without repetition, in isort's order: standard library first."""
    plain: set[str] = set()
    named: dict[str, set[str]] = {}
    for node in imports:
        for alias in node.names:
            text = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
            if isinstance(node, ast.Import):
                plain.add(text)
            else:
                # An import with `as` gets a line of its own.
                place = f"{node.module} {text}" if alias.asname else node.module
                named.setdefault(place, set()).add(text)
    lines = [(name, f"import {name}") for name in sorted(plain)]
    lines += [
        (place, f"from {place.split()[0]} import {', '.join(sorted(texts, key=_kind))}")
        for place, texts in sorted(named.items())
    ]
    # Sorting is stable: within a section, plain imports stay first.
    return [line for _, line in sorted(lines, key=lambda pair: _is_foreign(pair[0]))]


def _kind(name: str) -> tuple[int, str]:
    """Sort key of isort: constants, then classes, then functions."""
    return (
        0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
    ), name


def _is_foreign(module: str) -> bool:
    return module.split()[0].partition(".")[0] not in sys.stdlib_module_names


def _names(source: str) -> set[str]:
    """Return the global names that a statement uses, without its parameters and variables."""

    def used(scope: symtable.SymbolTable) -> Iterator[str]:
        outermost = scope.get_type() == "module"
        for symbol in scope.get_symbols():
            if symbol.is_referenced() and (outermost or symbol.is_global()):
                yield symbol.get_name()
        for inner in scope.get_children():
            yield from used(inner)

    return {*used(symtable.symtable(source, "", "exec"))}


def _check_markers(path: Path, text: str) -> None:
    opened: int | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() == BEGIN:
            if opened is not None:
                raise CourseError(
                    path,
                    number,
                    f"`{BEGIN}` is inside the region of line {opened}.",
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
