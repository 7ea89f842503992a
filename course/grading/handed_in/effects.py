"""Tells statements that only define from statements that act, without running them.

Imports, functions, classes and constants define. Calls for their effect, loops and code that
reaches into Python or patches what it imported act: while a notebook is graded, they could
change how other answers are judged.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator

from course.grading.handed_in.sources import (
    GIVES_UP,
    MAGIC,
    MAX_SOURCE,
    QUIET,
    quietly,
)

# Modules whose functions change nothing outside of what they are given.
HARMLESS = QUIET | {
    *("arviz", "bisect", "blackjax", "cmath", "contextlib", "datetime", "decimal"),
    *("equinox", "flax", "fractions", "heapq", "logging", "matplotlib", "numbers"),
    *("numpyro", "optax", "pprint", "re", "seaborn", "sklearn", "string", "sympy"),
    *("textwrap", "time", "tqdm", "types", "warnings"),
}
# Names that reach other names, files or the interpreter.
REACHING = {
    *("breakpoint", "compile", "delattr", "display", "eval", "exec", "exit"),
    *("get_ipython", "globals", "input", "locals", "open", "quit", "setattr", "vars"),
}
# Attributes that do, of whatever object.
INNARDS = {
    *("ForwardRef", "_getframe", "ag_frame", "attrgetter", "cr_frame", "f_back"),
    *("f_builtins", "f_code", "f_globals", "f_locals", "get_objects", "get_referents"),
    *("get_referrers", "get_type_hints", "gi_frame", "methodcaller", "parse_expr"),
    *("setprofile", "settrace", "showtraceback", "sympify", "tb_frame", "tb_next"),
    *("user_ns",),
    # Of NumPy and PyTorch: they run texts, compile them, or read objects from files.
    *("cpp_extension", "ctypeslib", "f2py", "fromfile", "hub", "load", "load_library"),
    *("memmap", "rundocs", "runstring", "testing"),
}
MODULES = {
    *("atexit", "builtins", "ctypes", "gc", "importlib", "inspect", "os"),
    *("subprocess", "sys", "threading"),
}
# Python looks these up by name, and so does a probe.
HOOKS = {"__builtins__", "__build_class__", "__import__", "__loader__", "__spec__"}
DUNDER = re.compile(r"__[a-z_]+__")
PLAIN = re.compile(r"[\w., |\[\]]*")  # of an annotation in quotes: it may be evaluated
USUAL = {
    *("__add__", "__all__", "__annotations__", "__call__", "__class__", "__doc__"),
    *("__eq__", "__getitem__", "__hash__", "__init__", "__iter__", "__len__"),
    *("__main__", "__matmul__", "__mul__", "__name__", "__neg__", "__post_init__"),
    *("__qualname__", "__repr__", "__slots__", "__str__", "__sub__", "__version__"),
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
CONTAINERS = (
    ast.List,
    ast.Tuple,
    ast.Set,
    ast.Dict,
    ast.IfExp,
    ast.BoolOp,
    ast.Starred,
)
# Methods by which a function of one's own gets its gradient or a case of its own.
RULES = {
    "defjvp",
    "defjvps",
    "defvjp",
    "register",
    "register_autograd",
    "register_fake",
}
ROUNDS = 3  # names given to names given to names of what is imported


class Effects:
    """The origins of a notebook's names.

    Args:
        sources: all code cells; those that do not compile are passed over.
    """

    def __init__(self, sources: Iterable[str]) -> None:
        trees = [tree for source in sources if (tree := parsed(source)) is not None]
        nodes = [node for tree in trees for node in ast.walk(tree)]
        self.imported: set[str] = set()  # names from anywhere outside
        self.modules: set[str] = set()  # those that are modules
        self.harmful: set[str] = set()  # those that are not from harmless modules
        for node in nodes:
            self._import(node)
        self.aliases = set(self.imported)
        bindings = [pair for node in nodes for pair in _bindings(node)]
        for _ in range(ROUNDS):
            new = {name for name, value in bindings if self.outside(value)}
            if new <= self.aliases:
                break
            self.aliases |= new
        # Own functions that set attributes of what they are given.
        self.setters = {
            node.name for node in nodes if isinstance(node, FUNCTIONS) and _sets(node)
        }

    def quiet(self, source: str) -> bool:
        """Does a cell only define? One that is not plain Python may act."""
        try:
            tree = quietly(ast.parse, source[:MAX_SOURCE])
        except GIVES_UP:
            return False
        return len(source) <= MAX_SOURCE and all(map(self.defines, tree.body))

    def defines(self, node: ast.stmt) -> bool:
        """Does a statement only define, and cannot act when it is called later?"""
        if extended(node) in self.aliases:
            return False
        parts = list(_walk(node))
        called = {id(part.func) for part in parts if isinstance(part, ast.Call)}
        # Under another name, no call would show which attribute is asked for.
        hidden = any(
            isinstance(part, ast.Name)
            and part.id == "getattr"
            and id(part) not in called
            for part in parts
        )
        return _defines(node) and not hidden and not any(map(self._reaches, parts))

    def _import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                package, name = alias.name.partition(".")[0], alias.asname or alias.name
                name = name.partition(".")[0]
                self.modules.add(name)
                self._note(name, package in HARMLESS, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            package = (node.module or "").partition(".")[0]
            harmless = package in HARMLESS and not node.level
            for alias in node.names:
                path = [*(node.module or "").split("."), alias.name]
                self._note(alias.asname or alias.name, harmless, path)

    def _note(self, name: str, harmless: bool, path: list[str]) -> None:
        self.imported.add(name)
        if not harmless or any(_within(part) for part in path):
            self.harmful.add(name)

    def outside(self, value: ast.expr | None) -> bool:
        """Is it a part of what was imported, or does it hold one?"""
        waiting = [value]
        while waiting:
            part = waiting.pop()
            if isinstance(part, CONTAINERS):
                waiting += ast.iter_child_nodes(part)
                continue
            while isinstance(part, ast.Attribute | ast.Subscript):
                part = part.value
            if isinstance(part, CONTAINERS):
                waiting.append(part)
            elif isinstance(part, ast.Name) and part.id in self.aliases:
                return True
        return False

    def _reaches(self, node: ast.AST) -> bool:
        """May this part of some code reach further than the notebook's own names?"""
        if any(word in HOOKS for word in _words(node)):
            return True
        match node:
            case ast.Constant(value=str(text)):
                return any(word not in USUAL for word in DUNDER.findall(text[:1_000]))
            case ast.Name(id=name, ctx=ast.Load()):
                bad = name in REACHING or name in self.harmful
                return bad or (bool(DUNDER.fullmatch(name)) and name not in USUAL)
            case ast.Attribute(attr=name, ctx=context):
                dunder = bool(DUNDER.fullmatch(name))
                stored = not isinstance(context, ast.Load)
                inner = dunder and (stored or name not in USUAL)
                return inner or _within(name) or (stored and self.patches(node))
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                return self.patches(node)
            case ast.MatchClass(kwd_attrs=names):
                return any(_within(name) or DUNDER.fullmatch(name) for name in names)
            case ast.arg(annotation=ast.Constant(value=str(text))):
                return not PLAIN.fullmatch(text)
            case ast.FunctionDef(returns=ast.Constant(value=str(text))):
                return not PLAIN.fullmatch(text)
            case ast.AnnAssign(annotation=ast.Constant(value=str(text))):
                return not PLAIN.fullmatch(text)
            case ast.Call():
                return self._calls(node)
            case ast.keyword(value=value) | ast.Return(value=value):
                return isinstance(value, ast.Name) and value.id in self.modules
            case ast.Assign(value=ast.Name(id=name)):
                return name in self.modules
        return False

    def patches(self, node: ast.Attribute | ast.Subscript) -> bool:
        """Is what it sets a part of something that the notebook did not make?"""
        root: ast.expr = node
        while not isinstance(root, ast.Name):
            if isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            elif isinstance(root, ast.Call):
                root = root.func
            else:
                return True
        if root.id in ("next", "super"):
            return False
        of_python = hasattr(builtins, root.id) or root.id in REACHING
        return of_python or root.id in self.aliases

    def _calls(self, node: ast.Call) -> bool:
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if any(isinstance(one, ast.Name) and one.id in self.modules for one in given):
            return True
        function = node.func
        name = getattr(function, "id", getattr(function, "attr", ""))
        if isinstance(function, ast.Name) and name == "getattr":
            own = given and isinstance(given[0], ast.Name) and given[0].id == "self"
            asked = given[1] if len(given) > 1 else None
            text = asked.value if isinstance(asked, ast.Constant) else None
            return not own and (not isinstance(text, str) or _within(text))
        named = {name, *(one.id for one in given if isinstance(one, ast.Name))}
        return bool(named & self.setters) and any(map(self.outside, given))


def parsed(source: str) -> ast.Module | None:
    """The tree of a cell, without its magics; None if it does not compile."""
    for text in (source[:MAX_SOURCE], MAGIC.sub("", source[:MAX_SOURCE])):
        try:
            return quietly(ast.parse, text)
        except GIVES_UP:
            continue
    return None


def extended(node: ast.stmt) -> str:
    """The function that a statement such as ``f.defvjp(forward, backward)`` completes, or empty."""
    match node:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=rule))
        ) if rule in RULES:
            return name
    return ""


def _defines(node: ast.stmt) -> bool:
    """By its form: does a statement of the top level define, and nothing else?"""
    waiting = [node]
    while waiting:
        match waiting.pop():
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Import() | ast.ImportFrom() | ast.FunctionDef():
                pass
            case ast.AsyncFunctionDef() | ast.AnnAssign(target=ast.Name()):
                pass
            case ast.ClassDef(body=body):
                waiting += body
            case ast.Expr() as one if extended(one):
                pass
            case ast.Assign(targets=targets) if all(map(_names, targets)):
                pass
            case ast.If(body=body, orelse=others):
                waiting += [*body, *others]
            case ast.Try(body=body, handlers=caught, orelse=others, finalbody=last):
                waiting += [*body, *others, *last]
                waiting += [one for handler in caught for one in handler.body]
            case _:
                return False
    return not any(
        isinstance(part, ast.Name) and part.id == "print" for part in _at_once(node)
    )


def _names(target: ast.expr) -> bool:
    """Does it bind names, or items of a name?"""
    if isinstance(target, ast.Tuple | ast.List):
        return all(isinstance(one, ast.Name | ast.Starred) for one in target.elts)
    while isinstance(target, ast.Subscript):
        target = target.value
    return isinstance(target, ast.Name)


def _at_once(node: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement that run with it, without the bodies of functions."""
    waiting: list[ast.AST] = [node]
    while waiting:
        part = waiting.pop()
        yield part
        later = set(part.body) if isinstance(part, FUNCTIONS) else set()
        if isinstance(part, ast.Lambda):
            later = {part.body}
        waiting += [one for one in ast.iter_child_nodes(part) if one not in later]


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """All parts of a statement but its docstrings."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += [
            one
            for one in ast.iter_child_nodes(part)
            if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        ]


def _words(node: ast.AST) -> Iterator[str]:
    """The identifiers that stand in a part of a tree itself."""
    for _, value in ast.iter_fields(node):
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (one for one in value if isinstance(one, str))


def _within(name: str) -> bool:
    """Is it the name of something inside Python, or of a module that reaches there?"""
    return name in INNARDS or name.lstrip("_") in MODULES


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """The names that a part of a tree binds, with the value that they come from."""
    pairs: list[tuple[ast.AST, ast.expr | None]] = []
    match node:
        case ast.Assign(targets=targets, value=value):
            pairs = [(target, value) for target in targets]
        case ast.AnnAssign(target=target, value=value):
            pairs = [(target, value)]
        case ast.NamedExpr(target=target, value=value):
            pairs = [(target, value)]
        case (
            ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value)
        ):
            pairs = [(target, value)]
        case ast.comprehension(target=target, iter=value):
            pairs = [(target, value)]
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            pairs = [(target, value)]
        case ast.arguments(posonlyargs=first, args=rest, defaults=values):
            named = [*first, *rest]
            late = zip(node.kwonlyargs, node.kw_defaults, strict=True)
            given = zip(named[len(named) - len(values) :], values, strict=True)
            yield from ((one.arg, value) for one, value in [*given, *late])
    for target, value in pairs:
        parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        yield from ((one.id, value) for one in parts if isinstance(one, ast.Name))


def _sets(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Does it set an attribute of anything but its own object?"""
    return any(
        isinstance(part, ast.Attribute)
        and not isinstance(part.ctx, ast.Load)
        and not (isinstance(part.value, ast.Name) and part.value.id == "self")
        for part in ast.walk(function)
    )
