"""Code as a sequence of tokens that renaming and layout do not change.

Tokens are the nodes of the syntax tree in the order of the text, so that parentheses, comments,
docstrings and annotations make no difference either.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from grading.submissions.origins import last_of

# Calls that leave numbers as they are.
AROUND = {"Close", "array", "as_tensor", "asarray", "float", "from_numpy", "tensor"}
MOST = 1e9  # bound on the numbers in oracles


def flat(tree: ast.AST, imported: Mapping[str, str]) -> list[str]:
    """The tokens of ``numbered`` without their lines."""
    return [token for token, _ in numbered(tree, imported)]


def numbered(tree: ast.AST, imported: Mapping[str, str]) -> list[tuple[str, int]]:
    """The kinds of a tree's nodes in order, each with its line, independent of names and imports.

    A name counts as the name of what it imports, if anything, an attribute as its last part,
    a number as its value. Docstrings, annotations, keys of dictionaries, tolerances and
    conversions are left out.

    Args:
        tree: any code.
        imported: the names that it imports, with their original names.
    """
    found: list[tuple[str, int]] = []
    waiting: list[ast.AST] = [tree]
    line = 1
    while waiting:
        node = waiting.pop()
        line = getattr(node, "lineno", line)
        token = ""
        parts = list(ast.iter_child_nodes(node))
        match node:
            case ast.Load() | ast.Store() | ast.Del() | ast.Import() | ast.ImportFrom():
                continue
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Name(id=name):
                token = imported.get(name, "name")
            case ast.Attribute(attr=name, value=owner):
                token = name
                parts = [] if _is_path(owner) else [owner]
            case ast.Constant(value=int() | float() as value):
                token = f"{value:.6g}" if abs(value) < MOST else "number"
            case ast.Constant():
                token = "text"
            case ast.arg() | ast.arguments():
                parts = [
                    *getattr(node, "defaults", ()),
                    *getattr(node, "kw_defaults", ()),
                ]
                parts = [part for part in parts if part]
            case ast.FunctionDef(body=body):
                parts = [node.args, *body]
            case ast.AnnAssign(target=target, value=value):
                token = "Assign"
                parts = [target, *([value] if value else [])]
            case ast.Dict(values=values):
                parts = list(values)
            case ast.Call(func=function, args=[value, *_]) if (
                last_of(function) in AROUND
            ):
                parts = [value]
            case _:
                token = type(node).__name__
        if token:
            found.append((token, line))
        waiting += reversed(parts)
    return found


def _is_path(node: ast.expr) -> bool:
    """Is it ``a.b.c``, such as a module's name?"""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def origins(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """The names imported from modules, except the course's, with their original names."""
    return {
        alias.asname or alias.name: alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        and not (node.module or "").startswith("course")
        for alias in node.names
    }
