"""Split a cell into its top-level statements, and determine what each of them is for.

A cell may hold several answers, checks and training code at once. Each statement keeps its
source text, with the comments and decorators above it.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property, lru_cache

from nbformat import NotebookNode

from grading.submissions.cells import course_of
from grading.submissions.excerpts import APART, INNER, defined, imported, quick
from grading.submissions.origins import root_of
from grading.submissions.sources import (
    GIVES_UP,
    MAX_SOURCE,
    free,
    quietly,
    readings,
)
from project.publication import INSTALLS

# Cell magics that run the cell as Python.
PYTHON_MAGICS = {"%%time", "%%timeit", "%%capture", "%%prun"}
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Rank(IntEnum):
    """The degree to which a statement looks like the answer whose name it binds."""

    NONE = 0
    BLANK = 1  # the stub, or an empty body
    WEAK = 2  # may be a variable that happens to have this name
    WRITTEN = 3


@dataclass(frozen=True)
class Release:
    """The release's code, which a student's statements are compared with.

    Args:
        names: the name of each task's answer, by task.
        stubs: the body of each stub, by name, as text that ignores layout.
        parameters: the parameters of each stub, by name.
        idle: statements that train or draw, without their layout.
        slow: functions that train, draw or check, directly or through others.
        bound: the index of the first cell that binds each name of the release's code.
    """

    names: Mapping[str, str]
    stubs: Mapping[str, str]
    parameters: Mapping[str, tuple[str, ...]]
    idle: frozenset[str]
    slow: frozenset[str]
    bound: Mapping[str, int]

    @classmethod
    def of(cls, released: NotebookNode) -> Release:
        """Analyse the code of a release."""
        return _release(
            tuple(
                (*course_of(cell.metadata), cell.source, place)
                for place, cell in enumerate(released.cells)
                if cell.cell_type == "code"
            )
        )


@lru_cache(maxsize=16)
def _release(cells: tuple[tuple[str, str, str, int], ...]) -> Release:
    slow: set[str] = set()
    names, stubs, parameters, parsed = {}, {}, {}, []
    functions: dict[str, frozenset[str]] = {}
    for role, task, source, place in cells:
        lines, body = source.split("\n"), ast.parse(source).body
        parsed += [(place, role, lines, node) for node in body]
        slow |= imported(source, APART)
        if role == "given":
            slow |= defined(source)
        if not role:
            for node in body:
                if isinstance(node, DEFINITIONS):
                    functions[node.name] = free(ast.unparse(node))
        for node in body if role == "task" else ():
            if isinstance(node, DEFINITIONS):
                names[task] = node.name
                stubs[node.name] = _body(node)
                parameters[node.name] = _parameters(node)
    more = slow
    while more:
        more = {name for name, used in functions.items() if used & more} - slow
        slow |= more
    idle = {
        squeezed(_lines(lines, node))
        for _, role, lines, node in parsed
        if role in ("", "ready") and not _only_defines(node, slow | {*stubs})
    }
    bound: dict[str, int] = {}
    for place, _, _, node in parsed:
        for name in _binds(node):
            bound.setdefault(name, place)
    return Release(names, stubs, parameters, frozenset(idle), frozenset(slow), bound)


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement at the top level of a cell.

    Args:
        text: its source, with comments and blank lines above it.
        binds: the names that it defines, imports or assigns.
        changes: the names of objects that it changes in place.
        answers: the degree to which it looks like an answer, by the answer's name.
        alike: those of these names that it defines with the parameters of the stub.
        check: the task whose check it calls.
        idle: it checks, installs the course, or trains or draws as the release does, and is
            not run.
        fixed: it is an import or a definition, not a value that other statements may change.
    """

    text: str
    binds: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    answers: Mapping[str, Rank] = field(default_factory=dict)
    alike: frozenset[str] = frozenset()
    check: str = ""
    idle: bool = False
    fixed: bool = False

    @cached_property
    def uses(self) -> frozenset[str]:
        """The names that it uses but does not define."""
        return free(self.text)


def split(source: str, release: Release) -> list[Statement] | None:
    """Split a cell into statements; None if it cannot be parsed or is too long."""
    if len(source) > MAX_SOURCE:
        return None
    lines = source.split("\n")
    if lines[0].startswith("%%"):
        if lines[0].split()[0] not in PYTHON_MAGICS:
            return None
        lines[0] = ""
    try:
        body, plain = _parse("\n".join(lines))
        return _put_together(body, lines, plain, release)
    except GIVES_UP:
        return None


def squeezed(source: str) -> str:
    """A source with single blanks for its layout, for comparison."""
    return " ".join(source.split())


def _parse(source: str) -> tuple[list[ast.stmt], list[str]]:
    """The statements of a cell, and its lines, without magics if it contains any."""
    *likely, last = readings(source)
    for text in likely:
        with contextlib.suppress(SyntaxError):
            return quietly(ast.parse, text).body, text.split("\n")
    return quietly(ast.parse, last).body, last.split("\n")


def _put_together(
    body: list[ast.stmt], lines: list[str], plain: list[str], release: Release
) -> list[Statement]:
    """Combine statements with their texts; magics between them belong to none of them."""
    found: list[Statement] = []
    done, index = 0, 0
    while index < len(body):
        first, last, group = index, body[index].end_lineno or 0, [body[index]]
        while index + 1 < len(body) and _start(body[index + 1]) <= last:
            index += 1  # statements on one line, separated by semicolons
            group.append(body[index])
            last = body[index].end_lineno or last
        index += 1
        end = len(lines) if index == len(body) else last
        if len(group) == 1:
            start = _start(body[first]) - 1
            own = "\n".join(lines[start:last])
            text = "\n".join([*plain[done:start], own, *plain[last:end]])
            found.append(_statement(body[first], text, own, release))
        else:
            for node in group:
                text = quietly(ast.unparse, node)
                found.append(_statement(node, text, text, release))
        done = last
    return found


def _statement(node: ast.stmt, text: str, own: str, release: Release) -> Statement:
    check = _check(node, release)
    if check is not None:
        task, argument = check
        name = release.names.get(task, "")
        other = isinstance(argument, ast.Lambda | ast.Attribute)
        other = other or (isinstance(argument, ast.Name) and argument.id != name)
        if name and other:
            # A check that is given a function of another name shows which is the answer.
            text = f"{name} = {quietly(ast.unparse, argument)}"
            return Statement(text, answers={name: Rank.WEAK}, idle=True)
        return Statement(text, check=task, idle=True)
    names, plain = _binds(node), squeezed(own)
    answers = {name: _rank(node, name, release) for name in names & {*release.stubs}}
    alike = {
        name
        for name in answers
        if isinstance(node, DEFINITIONS)
        and _parameters(node) == release.parameters[name]
    }
    return Statement(
        text,
        frozenset(names),
        frozenset(_changes(node)),
        {name: rank for name, rank in answers.items() if rank},
        frozenset(alike),
        idle=plain in release.idle or plain.startswith(INSTALLS),
        fixed=isinstance(node, (*DEFINITIONS, ast.Import, ast.ImportFrom)),
    )


def _check(node: ast.stmt, release: Release) -> tuple[str, ast.expr | None] | None:
    """The task and the answer in a call of the course's ``check``, else None.

    Both are empty if the call asks for a hint, or answers a guess or a quiz.
    """
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return None
    call = node.value
    match call.func:
        case ast.Name(id="check"):
            answer = call.args[1] if len(call.args) == 2 else None
        case ast.Attribute(value=ast.Name(id="check"), attr="hint"):
            answer = None
        case ast.Attribute(value=ast.Name(id="check"), attr="guess" | "quiz"):
            return "", None
        case _:
            return None
    if call.args and isinstance(call.args[0], ast.Constant):
        task = call.args[0].value
        if isinstance(task, str) and task in release.names:
            return (task if answer is not None else "", answer)
    return None


def _rank(node: ast.stmt, name: str, release: Release) -> Rank:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            body = _body(node)
            blank = body == release.stubs[name] or body in _NOTHING
            return Rank.BLANK if blank else Rank.WRITTEN
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            match value:
                case ast.Name() | ast.Attribute() | ast.Lambda():
                    return Rank.WRITTEN
                case ast.Call() | ast.Tuple() | ast.IfExp() | ast.Subscript():
                    return Rank.WEAK
        case ast.Import() | ast.ImportFrom() | ast.If() | ast.Try() | ast.With():
            return Rank.WEAK
    return Rank.NONE


def _body(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """The body of a definition without its docstring, in a form that ignores layout."""
    body = node.body
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        body = body[1:] if isinstance(first.value.value, str) else body
    return "\n".join(quietly(ast.dump, part) for part in body)


_NOTHING = {
    "\n".join(ast.dump(node) for node in ast.parse(source).body)
    for source in ("", "pass", "...", "raise NotImplementedError")
} | {ast.dump(ast.parse("raise NotImplementedError()").body[0])}


def _parameters(node: ast.stmt) -> tuple[str, ...]:
    if isinstance(node, ast.ClassDef):
        return ("class",)
    given = node.args
    names = (*given.posonlyargs, *given.args, *given.kwonlyargs)
    return tuple(name.arg for name in names)


def _only_defines(node: ast.stmt, barred: Collection[str]) -> bool:
    kinds = (*DEFINITIONS, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
    return isinstance(node, kinds) and quick(node, barred)


def _binds(node: ast.stmt) -> set[str]:
    """The names that a statement binds at the top level."""
    if isinstance(node, DEFINITIONS):
        return {node.name}
    found = set()
    for part in _at_once(node):
        match part:
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add((other or name).partition(".")[0])
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
    return found


def _changes(node: ast.stmt) -> set[str]:
    """The names of objects that a statement changes, as ``table[0] = 1`` does."""
    if isinstance(node, DEFINITIONS):
        return set()
    found = set()
    for part in _at_once(node):
        match part:
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                found.add(root_of(part))
            case ast.Expr(value=ast.Call(func=ast.Attribute() as method)):
                found.add(root_of(method))
    return found - {""}


def _at_once(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a statement that have an effect on names at the top level."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, ast.comprehension):
            waiting += [part.iter, *part.ifs]
        elif not isinstance(part, (*INNER, ast.ClassDef)):
            waiting += ast.iter_child_nodes(part)


def _start(node: ast.stmt) -> int:
    """The first line of a statement, counted from 1, decorators included."""
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def _lines(lines: list[str], node: ast.stmt) -> str:
    return "\n".join(lines[_start(node) - 1 : node.end_lineno])
