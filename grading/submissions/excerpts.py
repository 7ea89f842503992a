"""Extract from a student's cell the statements that other cells need, without running it.

A cell that trains or draws is not run while grading, but answers may use what it imports
and defines; a locked cell is restored, but additions to it count.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection, Iterator

from grading.submissions.effects import Effects
from grading.submissions.forms import (
    COMPOUND,
    FUNCTIONS,
    at_once,
    extended,
    filled,
    parsed,
)
from grading.submissions.sources import (
    GIVES_UP,
    REACHING,
    bound,
    free,
    kept,
    quietly,
)

APART = ("course", "matplotlib")  # their functions draw, train or check
EVERYTHING = (
    "*"  # of imports that bind names, or change how code is read, without saying so
)
WITHIN = (*COMPOUND, ast.AugAssign, ast.Expr)  # may bind or fill names
INNER = (*FUNCTIONS, ast.Lambda)


def definitions(
    source: str,
    names: Collection[str],
    barred: Collection[str] = (),
    effects: Effects | None = None,
    left_out: Collection[str] = (),
) -> list[str]:
    """The statements that define these names, from a cell that is not run as a whole.

    They are imports, functions, classes and assignments that call only quick functions when
    they run, like ``partial(f, 2)`` or ``@jax.jit``, and none of the course or of plotting.

    Args:
        source: the cell.
        names: the names that other cells use; what their definitions use is included.
        barred: names that must not be called, such as given functions that train.
        effects: of the notebook; if it is given, statements that act are left out.
        left_out: names whose definitions are left out.

    Returns:
        Pieces to run in order. Consecutive plain functions and constants are one piece; any
        other statement is a piece of its own, so that its exceptions affect nothing else.
    """
    try:
        body = _statements(source)
    except GIVES_UP:
        return []
    barred = {*barred, *REACHING, *imported(source, APART)}
    binding: dict[str, list[int]] = {}
    for index, (node, called) in enumerate(zip(body, _calls(source), strict=True)):
        for name in _defined(node, called, barred, effects).difference(left_out):
            binding.setdefault(name, []).append(index)
    taken: dict[int, str] = {}
    waiting, seen = [*names, EVERYTHING], {*names, EVERYTHING}
    while waiting:  # include what a definition uses
        for index in binding.get(waiting.pop(), ()):
            if index not in taken:
                try:
                    taken[index] = quietly(ast.unparse, body[index])
                except GIVES_UP:  # unparse has tighter limits than parse
                    taken[index] = ""
                new = free(taken[index]) - seen
                seen |= new
                waiting += new
    groups = itertools.groupby(sorted(taken), lambda index: _sure(body[index]))
    return [
        piece
        for sure, group in groups
        for piece in _pieces([taken[index] for index in group], together=sure)
    ]


def additions(source: str, released: str) -> tuple[str, bool]:
    """The code that an edited cell adds to the released one, and whether that is intact.

    A statement that rebinds a name of the released cell is not an addition, as it removes
    something.
    """
    try:
        own, theirs = _statements(source), _statements(released)
        there = [quietly(ast.dump, node) for node in own]
        wanted = set(map(ast.dump, theirs))
        new = [
            node for node, text in zip(own, there, strict=True) if text not in wanted
        ]
        names = {name for node in theirs for name in bound(ast.unparse(node))}
        sources = [quietly(ast.unparse, node) for node in new]
        added = [text for text in sources if not bound(text) & names]
    except GIVES_UP:
        return "", False
    return "\n".join(added), wanted <= set(there) and len(added) == len(new)


def defined(source: str) -> set[str]:
    """The names of a cell's functions and classes."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return {node.name for node in _statements(source) if isinstance(node, kinds)}


def definitions_of(source: str) -> Iterator[tuple[str, str]]:
    """Yield each name that a statement of a cell binds or fills, with its source."""
    try:
        body = _statements(source)
    except GIVES_UP:
        return
    for node in body:
        try:
            text = quietly(ast.unparse, node)
            names = bound(text) | {*filled(node)}
        except GIVES_UP:
            continue
        yield from ((name, text) for name in sorted(names))


def imported(source: str, packages: Collection[str]) -> set[str]:
    """The names that a cell imports from these packages."""
    try:
        body = _statements(source)
    except GIVES_UP:
        return set()
    return {
        _alias(node)
        for node in body
        if isinstance(node, ast.Import | ast.ImportFrom) and _package(node) in packages
    }


def _pieces(sources: list[str], *, together: bool) -> list[str]:
    return ["\n".join(sources)] if together else sources


def _sure(node: ast.stmt) -> bool:
    """Is it certain that running the statement raises no exception?"""
    if isinstance(node, ast.FunctionDef):
        given = (*node.args.defaults, *node.args.kw_defaults)
        return not node.decorator_list and not node.returns and not any(given)
    try:
        quietly(ast.literal_eval, getattr(node, "value", None))
    except GIVES_UP:
        return False
    return True


@kept
def _statements(source: str) -> list[ast.stmt]:
    """A cell's statements; an import of several names counts as several imports.

    Raises:
        SyntaxError: it does not compile.
    """
    tree = parsed(source)
    if tree is None:
        raise SyntaxError("The cell does not compile.")
    return [one for node in tree.body for one in _one_by_one(node)]


@kept
def _calls(source: str) -> list[set[str]]:
    """The names that each statement of a cell calls when it runs."""
    return [*map(_called, _statements(source))]


def _one_by_one(node: ast.stmt) -> list[ast.stmt]:
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return [node]
    rest = {name: value for name, value in ast.iter_fields(node) if name != "names"}
    return [type(node)(names=[alias], **rest) for alias in node.names]


def _alias(node: ast.Import | ast.ImportFrom) -> str:
    (alias,) = node.names
    return (alias.asname or alias.name).partition(".")[0]


def _package(node: ast.Import | ast.ImportFrom) -> str:
    module = node.names[0].name if isinstance(node, ast.Import) else node.module
    return (module or "").partition(".")[0]


def _defined(
    node: ast.stmt, called: set[str], barred: set[str], effects: Effects | None = None
) -> set[str]:
    """The names that a statement defines, provided that it is quick and can run anywhere."""
    is_quick = called.isdisjoint(barred)
    if effects is not None:
        if not effects.defines(node):
            return set()
        if extended(node):
            return {extended(node)}
        if isinstance(node, WITHIN) and is_quick:
            return _bound_within(node)
    if isinstance(node, ast.Import | ast.ImportFrom):
        package = _package(node)
        if package in ("", *APART):
            return set()
        return {EVERYTHING if package == "__future__" else _alias(node)}
    if not is_quick:
        return set()
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return {name}
        case ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            parts = [part for target in targets for part in ast.walk(target)]
            return {part.id for part in parts if isinstance(part, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return {name}
    return set()


def _bound_within(node: ast.stmt) -> set[str]:
    """The names that a loop, an ``if`` or the like binds or fills; none if it is not valid."""
    try:
        names = bound(quietly(ast.unparse, node))
    except GIVES_UP:
        return set()
    return names | {*filled(node)}


def quick(node: ast.stmt, barred: Collection[str]) -> bool:
    """Does it call none of the barred names, which may be slow or affect other code?"""
    return _called(node).isdisjoint(barred)


def _called(node: ast.stmt) -> set[str]:
    """The names that a statement calls when it runs, also as parts, like ``jax.jit``."""
    decorators = getattr(node, "decorator_list", [])
    calls = [part.func for part in at_once(node) if isinstance(part, ast.Call)]
    names = set()
    for function in [*calls, *decorators]:
        while isinstance(function, ast.Call | ast.Attribute | ast.Subscript):
            function = (
                function.func if isinstance(function, ast.Call) else function.value
            )
        if isinstance(function, ast.Name):
            names.add(function.id)
    return names
