"""Classify statements by their form: they define, fill a container, or do more."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from grading.submissions.origins import ADDING, root_of
from grading.submissions.sources import (
    GIVES_UP,
    MAX_SOURCE,
    kept,
    quietly,
    readings,
)

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPOUND = (ast.For, ast.If, ast.Try, ast.With)
# Methods that give a user-defined function its gradient or a special case.
RULES = {
    "defjvp",
    "defjvps",
    "defvjp",
    "register",
    "register_autograd",
    "register_fake",
}
# Built-in functions, and methods, that change nothing.
SHOWING = {"abs", "display", "float", "int", "len", "print", "repr", "round", "str"}
READING = {
    *("abs", "cpu", "detach", "dim", "item", "max", "mean", "median", "min", "numpy"),
    *("round", "size", "std", "sum", "tolist", "var"),
}
RUNNING = (  # expressions that run code of others, or bind a name
    *(ast.Await, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.ListComp),
    *(ast.NamedExpr, ast.SetComp, ast.Yield, ast.YieldFrom),
)


@kept
def parsed(source: str) -> ast.Module | None:
    """The syntax tree of a cell, without its magics; None if it does not compile."""
    for text in readings(source[:MAX_SOURCE]):
        try:
            return quietly(ast.parse, text)
        except GIVES_UP:
            continue
    return None


def extended(node: ast.stmt) -> str:
    """The function that a statement like ``f.defvjp(forward, backward)`` completes, or empty."""
    match node:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=rule))
        ) if rule in RULES:
            return name
    return ""


def filled(node: ast.stmt) -> list[str]:
    """The containers that statements such as ``rows.append(1)`` fill, also inside loops."""
    found = []
    for part in ast.walk(node) if isinstance(node, COMPOUND) else [node]:
        if isinstance(part, ast.Expr):
            found.append(_filled(part))
        elif isinstance(part, ast.Subscript) and not isinstance(part.ctx, ast.Load):
            found.append(root_of(part))
    return [name for name in found if name]


def _filled(node: ast.Expr) -> str:
    match node.value:
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in ADDING:
            return root_of(owner)
    return ""


def only_defines(node: ast.stmt) -> bool:
    """Does a top-level statement only define, judging by its form?"""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        match part:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Import() | ast.ImportFrom() | ast.FunctionDef():
                pass
            case ast.AsyncFunctionDef() | ast.AnnAssign(target=ast.Name()):
                pass
            case ast.ClassDef(body=body):
                waiting += body
            case ast.Expr() if extended(part) or _filled(part):
                pass
            case ast.Assign(targets=targets) if all(map(_names, targets)):
                pass
            case ast.AugAssign(target=target) if _names(target):
                pass
            case ast.If(body=body, orelse=others):
                waiting += [*body, *others]
            case ast.For(target=target, body=body, orelse=others) if _names(target):
                waiting += [*body, *others]
            case ast.With(body=body):
                waiting += body
            case ast.Assert() | ast.Break() | ast.Continue() if part is not node:
                pass
            case ast.Try(body=body, handlers=caught, orelse=others, finalbody=last):
                waiting += [*body, *others, *last]
                waiting += [one for handler in caught for one in handler.body]
            case _:
                return False
    return not any(
        isinstance(part, ast.Name) and part.id in ("print", "display")
        for part in at_once(node)
    )


def without_shows(source: str, own: Collection[str]) -> str:
    """A cell without the statements that only show values; the others keep their lines.

    Args:
        source: the cell.
        own: the names that the notebook binds, also of its methods: nothing is known of them.
    """
    try:
        tree = quietly(ast.parse, source[:MAX_SOURCE])
    except GIVES_UP:
        return source
    if "\r" in source:  # Python's lines are others
        return source
    lines = source.split("\n")
    begins = [*(node.lineno for node in tree.body[1:]), len(lines) + 1]
    before = 0  # the line where the statement before ends
    for node, then in zip(tree.body, begins, strict=False):
        first, last = node.lineno, node.end_lineno
        if before < first and last < then and _only_shows(node, own):
            lines[first - 1 : last] = [""] * (last - first + 1)
        before = last
    return "\n".join(lines)


def _only_shows(node: ast.stmt, own: Collection[str]) -> bool:
    if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Constant):
        return False
    parts = list(ast.walk(node.value))
    calls = [part.func for part in parts if isinstance(part, ast.Call)]
    running = any(isinstance(part, RUNNING) for part in parts)
    return not running and all(_changes_nothing(one, own) for one in calls)


def _changes_nothing(function: ast.expr, own: Collection[str]) -> bool:
    match function:
        case ast.Name(id=name):
            return name in SHOWING and name not in own
        case ast.Attribute(attr=name):
            return name in READING and name not in own
    return False


def _names(target: ast.expr) -> bool:
    """Does it bind names, or items of a name?"""
    if isinstance(target, ast.Tuple | ast.List):
        return all(map(_names, target.elts))
    while isinstance(target, ast.Subscript | ast.Starred):
        target = target.value
    return isinstance(target, ast.Name)


def at_once(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a statement that run with it, without the bodies of functions."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        later = set(part.body) if isinstance(part, FUNCTIONS) else set()
        if isinstance(part, ast.Lambda):
            later = {part.body}
        waiting += [one for one in ast.iter_child_nodes(part) if one not in later]


def parts_of(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all parts of a statement except its docstrings."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += [
            one
            for one in ast.iter_child_nodes(part)
            if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        ]


def words_of(node: ast.AST) -> Iterator[str]:
    """Yield the identifiers in a node itself, without its children."""
    for _, value in ast.iter_fields(node):
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (one for one in value if isinstance(one, str))
