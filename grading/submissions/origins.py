"""The origins of the objects behind a notebook's names, as a graph.

Its nodes are names, attributes (``.x``) and return values (``f()``), with an edge for each way
in which an object gets from one to another.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from grading.submissions.harmless import PURE

# Methods that add something to a container.
ADDING = {
    *("add", "append", "appendleft", "extend", "insert", "setdefault", "update"),
}
# Attributes of modules that are plain values and cannot be patched.
VALUES = {
    *("bfloat16", "bool", "complex64", "complex128", "double", "e", "eps", "float"),
    *("float16", "float32", "float64", "inf", "int", "int32", "int64", "long"),
    *("nan", "newaxis", "pi", "strided", "uint8"),
}


def root_of(node: ast.expr) -> str:
    """The name that ``a.b[0].c`` begins with, or empty."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def spread(start: Iterable[str], edges: Iterable[tuple[str, str]]) -> set[str]:
    """The nodes that can be reached along the edges, with the start."""
    following: dict[str, list[str]] = {}
    for one, other in edges:
        following.setdefault(one, []).append(other)
    found = set(start)
    waiting = list(found)
    while waiting:
        new = {*following.get(waiting.pop(), ())} - found
        found |= new
        waiting += new
    return found


def last_of(node: ast.expr) -> str:
    """The last name of ``a.b.c``, or empty."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def origins_of(
    value: ast.expr, *, strictly: bool = False, stored: bool = False
) -> Iterator[str]:
    """Yield the nodes of the graph that a value may be a part of, or hold.

    Args:
        value: an expression.
        strictly: also count the arguments of a call.
        stored: an attribute of the value is set; also count the function that a call
            names, and the object whose method it is.
    """
    waiting: list[ast.AST] = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Attribute) and part.attr in VALUES:
            continue
        while isinstance(part, ast.Attribute | ast.Subscript):
            if isinstance(part, ast.Attribute):
                yield "type()" if part.attr == "__class__" else f".{part.attr}"
            part = part.value
        match part:
            case ast.Name(id=name):
                yield name
            case ast.IfExp(body=one, orelse=other):
                waiting += [one, other]
            case ast.DictComp(key=one, value=other):
                waiting += [one, other]
            case ast.ListComp(elt=one) | ast.SetComp(elt=one):
                waiting.append(one)
            case ast.GeneratorExp(elt=one) | ast.Starred(value=one):
                waiting.append(one)
            case ast.NamedExpr(value=one) | ast.Await(value=one):
                waiting.append(one)
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict() | ast.BoolOp():
                waiting += ast.iter_child_nodes(part)
            case ast.BinOp(left=one, right=other) if strictly:
                waiting += [one, other]
            case ast.Call(func=function):
                given = [*part.args, *(keyword.value for keyword in part.keywords)]
                if isinstance(function, ast.Lambda):
                    waiting.append(function.body)
                elif isinstance(function, ast.Name) and function.id in PURE:
                    if function.id != "type" or len(given) == 1:
                        yield f"{function.id}()"
                    waiting += given
                    continue
                yield f"{last_of(function)}()"
                if strictly:
                    waiting += given
                    if isinstance(function, ast.Attribute) and root_of(function):
                        yield f"~{root_of(function)}"
                if stored:
                    waiting.append(function)


def edges_of(
    target: str, value: ast.expr, *, strictly: bool
) -> Iterator[tuple[str, str]]:
    """Yield the edges of the graph to a name, an attribute or a function with this value."""
    for origin in origins_of(value, strictly=strictly):
        yield origin, target
    if isinstance(value, ast.Name | ast.Attribute):
        yield f"{last_of(value)}()", f"{target.lstrip('.')}()"
    elif isinstance(value, ast.Lambda):
        for origin in origins_of(value.body, strictly=strictly):
            yield origin, f"{target.lstrip('.')}()"


def names_bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a part of a tree binds, except by imports."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name


def bindings_of(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the nodes of the graph that a part of a tree binds, with their values."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _bind(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _bind(target, value)
        case ast.AugAssign(target=target, value=value):
            yield from _bind(target, value)
        case ast.NamedExpr(target=target, value=value):
            yield from _bind(target, value)
        case ast.For(target=target, iter=value):
            for one in _items(target, value):
                yield from _bind(target, one)
        case ast.AsyncFor(target=target, iter=value):
            for one in _items(target, value):
                yield from _bind(target, one)
        case ast.comprehension(target=target, iter=value):
            for one in _items(target, value):
                yield from _bind(target, one)
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield from _bind(target, value)
        case ast.arguments(posonlyargs=first, args=rest, defaults=values):
            named = [*first, *rest]
            late = zip(node.kwonlyargs, node.kw_defaults, strict=True)
            given = zip(named[len(named) - len(values) :], values, strict=True)
            yield from ((one.arg, value) for one, value in [*given, *late] if value)
        case ast.Match(subject=value, cases=cases):
            for part in (part for case in cases for part in ast.walk(case.pattern)):
                yield from ((name, value) for name in names_bound(part))
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in ADDING:
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            yield from (pair for one in given for pair in _bind(owner, one))
        case ast.ClassDef(body=body):
            for one in body:
                if isinstance(one, ast.Assign):
                    named = [n for n in one.targets if isinstance(n, ast.Name)]
                    yield from ((f".{name.id}", one.value) for name in named)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            for part in ast.walk(node):
                if isinstance(part, ast.Return | ast.Yield) and part.value:
                    yield f"{name}()", part.value
                    yield f".{name}", part.value  # as a property


def _items(target: ast.expr, value: ast.expr) -> list[ast.expr]:
    """The values of a loop's target, one by one if they are literal and match its shape."""
    if not isinstance(value, ast.List | ast.Tuple | ast.Set):
        return [value]
    if isinstance(target, ast.Tuple | ast.List):
        count = len(target.elts)
        fit = (
            isinstance(one, ast.Tuple | ast.List) and len(one.elts) == count
            for one in value.elts
        )
        return value.elts if all(fit) else [value]
    return value.elts


def _bind(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield the nodes of the graph that a target binds, with the value of each."""
    while isinstance(target, ast.Subscript | ast.Starred):
        target = target.value
    match target:
        case ast.Name(id=name):
            yield name, value
        case ast.Attribute(attr=name):
            yield f".{name}", value
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            some = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            if len(some) == len(parts):
                for part, one in zip(parts, some, strict=True):
                    yield from _bind(part, one)
            else:
                joint = ast.Name(f"#{id(value)}")  # fewer edges than one by one
                yield joint.id, value
                for part in parts:
                    yield from _bind(part, joint)
