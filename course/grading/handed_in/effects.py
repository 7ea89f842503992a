"""Tells statements that only define from statements that act, without running them.

Imports, functions, classes, constants and tables define. Calls for their effect and code that
reaches into Python or patches what it imported act: while a notebook is graded, they could
change how other answers are judged.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import pkgutil
import re
import symtable
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache

from course.grading.handed_in.sources import (
    GIVES_UP,
    MAGIC,
    MAX_SOURCE,
    QUIET,
    quietly,
)

# Modules whose functions change nothing outside of what they are given.
HARMLESS = QUIET | {
    *("bisect", "cmath", "contextlib", "datetime", "decimal", "fractions", "heapq"),
    *("matplotlib", "numbers", "optax", "re", "sklearn", "textwrap", "time"),
    "warnings",
}
# Of these modules only some members are; others run texts, or reach into Python.
MEMBERS = {
    "concurrent": {"futures"},
    "numpyro": {"distributions"},
    "sympy": {
        *("Abs", "E", "Expr", "Float", "I", "Integer", "Rational", "S", "Symbol"),
        *("cosh", "cos", "diff", "erf", "exp", "expand", "expand_log", "factor"),
        *("gamma", "init_printing", "integrate", "latex", "ln", "log", "loggamma"),
        *("logcombine", "oo", "pi", "simplify", "sin", "sinh", "solve", "sqrt"),
        *("symbols", "tanh"),
    },
    "sys": {"float_info", "maxsize", "version", "version_info"},
    "tqdm": {"auto", "notebook", "tqdm", "trange"},
    "types": {"MappingProxyType", "SimpleNamespace"},
}
# The parts of the large packages that are used; others load files, or compile texts.
LARGE = ("jax", "matplotlib", "numpy", "optax", "scipy", "sklearn", "torch")
PARTS = {
    *("autograd", "backends", "calibration", "cluster", "constants", "cuda"),
    *("datasets", "distributions", "dtypes", "ensemble", "fft", "flatten_util"),
    *("func", "functional", "integrate", "interpolate", "isotonic", "lax"),
    *("linalg", "linear_model", "losses", "ma", "metrics", "mixture"),
    *("model_selection", "naive_bayes", "ndimage", "neighbors", "nn", "numpy"),
    *("ops", "optim", "optimize", "polynomial", "preprocessing", "pyplot"),
    *("random", "scipy", "sharding", "signal", "sparse", "spatial", "special"),
    *("stats", "svm", "tree", "tree_util", "typing", "version"),
}
# The functions of Python that only compute, besides its exceptions.
PURE = {
    *("Ellipsis", "NotImplemented", "abs", "all", "any", "ascii", "bin", "bool"),
    *("bytearray", "bytes", "callable", "chr", "classmethod", "complex", "dict"),
    *("dir", "display", "divmod", "enumerate", "filter", "float", "format"),
    *("frozenset", "getattr", "hasattr", "hash", "hex", "id", "int", "isinstance"),
    *("issubclass", "iter", "len", "list", "map", "max", "memoryview", "min"),
    *("next", "object", "oct", "ord", "pow", "print", "property", "range", "repr"),
    *("reversed", "round", "set", "setattr", "slice", "sorted", "staticmethod"),
    *("str", "sum", "super", "tuple", "type", "zip"),
} | {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}
CALLED = {"getattr", "setattr"}  # of these, only when they are called by name
# Python's other functions, and what IPython adds.
IMPURE = (
    {*dir(builtins), "In", "Out", "exit", "get_ipython", "quit"}
    - PURE
    - {
        *("False", "None", "True"),
        *(name for name in dir(builtins) if name.startswith("_")),
    }
)
SHOWING = {"HTML", "Image", "Latex", "Markdown", "Math", "display"}  # of IPython
NAMING = {"Symbol", "init_printing", "symbols"}  # of SymPy, which are given names
# Attributes that reach other names, files or the interpreter, of whatever object.
INNARDS = {
    *("CodeType", "Formatter", "ForwardRef", "FunctionType", "_getframe"),
    *("ag_frame", "attrgetter", "benchmark", "bltns", "cr_frame", "f_back"),
    *("f_builtins", "f_code", "f_globals", "f_locals", "get_objects"),
    *("get_referents", "get_referrers", "get_type_hints", "gi_frame", "lambdify"),
    *("methodcaller", "parse_expr", "setprofile", "settrace", "showtraceback"),
    *("sympify", "tb_frame", "tb_next", "user_ns"),
    # Of NumPy and PyTorch: they run texts, compile them, or read objects from files.
    *("cpp_extension", "ctypeslib", "f2py", "fromfile", "hub", "load"),
    *("load_library", "memmap", "rundocs", "runstring", "testing"),
}
# Python's own modules, but for those whose names other attributes have as well.
MODULES = sys.stdlib_module_names - {
    *HARMLESS,
    *("array", "calendar", "chunk", "code", "concurrent", "html", "platform"),
    *("profile", "queue", "select", "signal", "site", "stat", "string", "symbol"),
    *("test", "this", "token", "trace", "types"),
}
# Python looks these up by name, and so does a probe.
HOOKS = {"__builtins__", "__build_class__", "__import__", "__loader__", "__spec__"}
DUNDER = re.compile(r"__[a-z_]+__")
PLAIN = re.compile(r"[\w., |\[\]]*")  # of an annotation in quotes: it may be evaluated
USUAL = {
    *("__add__", "__all__", "__annotations__", "__call__", "__class__", "__doc__"),
    *("__enter__", "__exit__", "__ge__", "__gt__", "__le__", "__lt__", "__pow__"),
    *("__radd__", "__rmul__", "__rsub__", "__rtruediv__", "__truediv__", "__eq__"),
    *("__getitem__", "__hash__", "__init__", "__iter__", "__len__", "__main__"),
    *("__matmul__", "__mul__", "__name__", "__neg__", "__post_init__"),
    *("__qualname__", "__repr__", "__slots__", "__str__", "__sub__", "__version__"),
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPOUND = (ast.For, ast.If, ast.Try, ast.With)
# Methods that put something into a container.
ADDING = {
    *("add", "append", "appendleft", "extend", "insert", "setdefault", "update"),
}
# Attributes of modules that are values, not something that could be patched.
VALUES = {
    *("bfloat16", "bool", "complex64", "complex128", "double", "e", "eps", "float"),
    *("float16", "float32", "float64", "inf", "int", "int32", "int64", "long"),
    *("nan", "newaxis", "pi", "strided", "uint8"),
}
# Methods by which a function of one's own gets its gradient or a case of its own.
RULES = {
    "defjvp",
    "defjvps",
    "defvjp",
    "register",
    "register_autograd",
    "register_fake",
}


class Effects:
    """The origins of a notebook's names.

    A name is *from outside* if it was imported, belongs to Python, or holds a part of such.
    Names, attributes (``.x``) and what functions return (``f()``) are the nodes of a graph
    with an edge for each way from one to another, along which that spreads.

    Args:
        sources: all code cells; those that do not compile are passed over.
    """

    def __init__(self, sources: Iterable[str]) -> None:
        trees = [tree for source in sources if (tree := parsed(source)) is not None]
        nodes = [node for tree in trees for node in ast.walk(tree)]
        self.modules: set[str] = set()  # imported names that are modules
        self.harmful: set[str] = set()  # those that are not from harmless modules
        self.paths: dict[str, list[str]] = {}  # where imported names are from
        for node in nodes:
            self._import(node)
        self.own = {name for node in nodes for name in _bound(node)}
        self.parameters = {node.arg for node in nodes if isinstance(node, ast.arg)}
        self.classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
        bindings = [pair for node in nodes for pair in _bindings(node)]
        self.aliases = self._outside_of(bindings, strictly=False)
        # Own objects may also hold what they were made of, such as a class.
        self.related = self._outside_of(bindings, strictly=True)
        same = [
            (name, target.lstrip("."))
            for target, value in bindings
            if isinstance(value, ast.Name | ast.Attribute) and (name := _last(value))
        ]
        self.modules = _spread(self.modules, same)
        methods = {
            id(one) for n in nodes if isinstance(n, ast.ClassDef) for one in n.body
        }
        found = {
            node.name
            for node in nodes
            if isinstance(node, FUNCTIONS) and _sets(node, id(node) in methods)
        }
        found |= {
            f"{node.name}.{one.name}"
            for node in nodes
            if isinstance(node, ast.ClassDef)
            for one in node.body
            if isinstance(one, FUNCTIONS) and _sets(one, method=False)
        }
        # Own functions that set parts of what they are given.
        self.setters = _spread(found, same)

    def quiet(self, source: str) -> bool:
        """Does a cell only define? One that is not plain Python may act.

        Nor is one with loops at its top level quiet, since they may take long; of such a
        cell each statement that defines can be used.
        """
        try:
            tree = quietly(ast.parse, source[:MAX_SOURCE])
        except GIVES_UP:
            return False
        return len(source) <= MAX_SOURCE and all(
            self.defines(node) and not isinstance(node, ast.For) for node in tree.body
        )

    def defines(self, node: ast.stmt) -> bool:
        """Does a statement only define, and cannot act when it is called later?"""
        changed = [extended(node), *filled(node)]
        if any(name and self._is_outside(name) for name in changed):
            return False
        return _defines(node) and not self._acts(node)

    def touches(self, source: str) -> bool:
        """May a cell change anything but the notebook's own names, now or when it is called?"""
        tree = parsed(source)
        return tree is None or any(map(self._acts, tree.body))

    def _acts(self, node: ast.stmt) -> bool:
        parts = list(_walk(node))
        called = {id(part.func) for part in parts if isinstance(part, ast.Call)}
        # Under another name, no call would show which attribute is asked for.
        hidden = any(
            isinstance(part, ast.Name) and part.id in CALLED and id(part) not in called
            for part in parts
        )
        if hidden or _impure(node, parts):
            return True
        allowed = {id(part.value) for part in parts if self._is_member(part)}
        return any(self._reaches(part) for part in parts if id(part) not in allowed)

    def outside(self, value: ast.expr | None) -> bool:
        """Is it a part of what was imported, or does it hold one?"""
        return value is not None and any(map(self._is_outside, _origins(value)))

    def patches(
        self, node: ast.Attribute | ast.Subscript, *, strictly: bool = False
    ) -> bool:
        """Does it set a part of something that the notebook did not make?

        Args:
            node: the target of an assignment, or what is deleted.
            strictly: also of something that may hold what its making was given.
        """
        found = set(_origins(node.value, strictly=strictly, stored=True))
        return any(map(self._is_outside, found)) or bool(
            strictly and found & self.related
        )

    def _is_outside(self, node: str) -> bool:
        return node in self.aliases or (node.isidentifier() and node not in self.own)

    def _outside_of(
        self, bindings: list[tuple[str, ast.expr]], *, strictly: bool
    ) -> set[str]:
        edges = [edge for pair in bindings for edge in _edges(*pair, strictly=strictly)]
        edges += [(name, f"~{name}") for name in self.own]  # what an own object holds
        unknown = {one for one, _ in edges if one.isidentifier()} - self.own
        return _spread({"type()", *self.paths} | unknown, edges)

    def _import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                path = alias.name.split(".")
                name = alias.asname or path[0]
                self.paths[name] = path if alias.asname else path[:1]
                self.modules.add(name)
                self._note(name, path)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                path = [*(node.module or "").split("."), alias.name]
                self.paths[alias.asname or alias.name] = path
                self._note(alias.asname or alias.name, path if not node.level else [""])

    def _note(self, name: str, path: list[str]) -> None:
        if any(map(_within, path)) or not _harmless(path):
            self.harmful.add(name)

    def _is_member(self, node: ast.AST) -> bool:
        """Is it a harmless attribute of a module that has others, such as ``sys``?"""
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                path = self.paths.get(name, [])
                return len(path) == 1 and attribute in MEMBERS.get(path[0], ())
        return False

    def _reaches(self, node: ast.AST) -> bool:
        """May this part of some code reach further than the notebook's own names?"""
        if any(word in HOOKS for word in _words(node)):
            return True
        match node:
            case ast.Constant(value=str(text)):
                return any(word not in USUAL for word in DUNDER.findall(text[:1_000]))
            case ast.Name(id=name, ctx=ast.Load()):
                unknown = name not in self.own and name not in self.paths
                bad = name in self.harmful or (unknown and _within(name))
                return bad or (bool(DUNDER.fullmatch(name)) and name not in USUAL)
            case ast.Attribute(attr=name, ctx=context):
                dunder = bool(DUNDER.fullmatch(name))
                stored = not isinstance(context, ast.Load)
                inner = dunder and (stored or name not in USUAL)
                inner = inner or _within(name) or not _harmless(self._path(node))
                return inner or (stored and self.patches(node, strictly=True))
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                return self.patches(node)
            case ast.ImportFrom(names=[ast.alias(name="*")]):
                return "*" in self.harmful
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
        return False

    def _path(self, node: ast.Attribute) -> list[str]:
        """Where an attribute of an imported name is from; of others, a harmless place."""
        if isinstance(node.value, ast.Name) and node.value.id in self.paths:
            path = [*self.paths[node.value.id], node.attr]
            return path if path[0] in LARGE else ["math"]
        return ["math"]

    def _calls(self, node: ast.Call) -> bool:
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if any(isinstance(one, ast.Name) and one.id in self.modules for one in given):
            return True
        function = node.func
        name = function.id if isinstance(function, ast.Name) else ""
        if name in CALLED:
            own = given and isinstance(given[0], ast.Name) and given[0].id == "self"
            asked = given[1] if len(given) > 1 else None
            return not _plainly(asked) or (name == "setattr" and not own)
        if self._reads(node):
            return True
        named = {self._key(one) for one in (function, *given)}
        # Of a function without a name, nothing is known.
        known = name in self.own | PURE or isinstance(function, ast.Attribute)
        known = (known and name not in self.parameters) or name in self.paths
        if any(map(self.outside, given)):
            return bool(named & self.setters) or (bool(self.setters) and not known)
        held = {one.id for one in given if isinstance(one, ast.Name)}
        return bool(named & self.setters and held & self.related)

    def _key(self, node: ast.expr) -> str:
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                return f"{owner}.{name}" if owner in self.classes else name
        return _last(node)

    def _reads(self, node: ast.Call) -> bool:
        """Does it give SymPy a text? SymPy runs texts, unless they are only numbers."""
        root = node.func
        while isinstance(root, ast.Attribute):
            root = root.value
        path = self.paths.get(root.id, [""]) if isinstance(root, ast.Name) else [""]
        return (
            path[0] == "sympy"
            and path[-1] not in NAMING
            and _last(node.func) not in NAMING
            and any(
                isinstance(one, ast.Constant | ast.JoinedStr)
                and isinstance(getattr(one, "value", ""), str)
                for one in node.args
            )
        )


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


def filled(node: ast.stmt) -> list[str]:
    """The containers that statements such as ``rows.append(1)`` fill, also within loops."""
    found = []
    for part in ast.walk(node) if isinstance(node, COMPOUND) else [node]:
        if isinstance(part, ast.Expr):
            found.append(_filled(part))
        elif isinstance(part, ast.Subscript) and not isinstance(part.ctx, ast.Load):
            found.append(_root(part))
    return [name for name in found if name]


def _filled(node: ast.Expr) -> str:
    match node.value:
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in ADDING:
            return _root(owner)
    return ""


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _defines(node: ast.stmt) -> bool:
    """By its form: does a statement of the top level define, and nothing else?"""
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
        for part in _at_once(node)
    )


def _names(target: ast.expr) -> bool:
    """Does it bind names, or items of a name?"""
    if isinstance(target, ast.Tuple | ast.List):
        return all(map(_names, target.elts))
    while isinstance(target, ast.Subscript | ast.Starred):
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
    return name in INNARDS or name in MODULES or name.lstrip("_") in MODULES


def _harmless(path: list[str]) -> bool:
    """Is what an import or an attribute names harmless?"""
    package, rest = path[0], path[1:]
    if package == "IPython":
        return bool(rest) and {*rest} <= SHOWING
    if package in MEMBERS:
        whole = package == "sympy" and rest == ["*"]
        return whole or bool(rest and rest[0] in MEMBERS[package])
    if package in LARGE and rest and rest[0] in _parts(package):
        return rest[0] in PARTS or rest[:2] == ["utils", "data"]
    return package in HARMLESS


@lru_cache(maxsize=len(LARGE))
def _parts(package: str) -> frozenset[str]:
    """The modules of a package, which is not imported for it."""
    found = importlib.util.find_spec(package)
    places = list(found.submodule_search_locations or ()) if found else []
    return frozenset(one.name for one in pkgutil.iter_modules(places))


def _impure(node: ast.stmt, parts: list[ast.AST]) -> bool:
    """Does it use a function of Python that does more than compute?"""
    named = {part.id for part in parts if isinstance(part, ast.Name)} & IMPURE
    if not named:
        return False
    try:
        tables = [quietly(symtable.symtable, ast.unparse(node), "cell", "exec")]
    except GIVES_UP:
        return True
    top = tables[0]
    while tables:  # a parameter may have such a name
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            here = symbol.is_referenced() and symbol.get_name() in named
            if here and (table is top or table.get_type() == "class"):
                return True
            if here and symbol.is_global():
                return True
    return False


def _plainly(asked: ast.expr | None) -> bool:
    """Is the name of an attribute, as ``getattr`` has it, known not to be of the inside?"""
    match asked:
        case ast.Constant(value=str(text)):
            return not _within(text)
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            known = text[:1].isalpha() and not any(
                name.startswith(text) for name in INNARDS
            )
            return known
    return False


def _spread(start: Iterable[str], edges: Iterable[tuple[str, str]]) -> set[str]:
    """What can be reached along the edges."""
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


def _last(node: ast.expr) -> str:
    """The last name of ``a.b.c``, or empty."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _origins(
    value: ast.expr, *, strictly: bool = False, stored: bool = False
) -> Iterator[str]:
    """The nodes of the graph that a value may be a part of, or hold.

    Args:
        value: an expression.
        strictly: count what a call is given, too.
        stored: an attribute of it is set, so it is an object of whom a call asks for it.
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
                yield f"{_last(function)}()"
                if strictly:
                    waiting += given
                    if isinstance(function, ast.Attribute) and _root(function):
                        yield f"~{_root(function)}"
                if stored:
                    waiting.append(function)


def _edges(
    target: str, value: ast.expr, *, strictly: bool
) -> Iterator[tuple[str, str]]:
    """The edges of the graph to a name, an attribute or a function with this value."""
    for origin in _origins(value, strictly=strictly):
        yield origin, target
    if isinstance(value, ast.Name | ast.Attribute):
        yield f"{_last(value)}()", f"{target.lstrip('.')}()"
    elif isinstance(value, ast.Lambda):
        for origin in _origins(value.body, strictly=strictly):
            yield origin, f"{target.lstrip('.')}()"


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a part of a tree binds, but for imports."""
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


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The nodes of the graph that a part of a tree binds, with the value that they get."""
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
                yield from ((name, value) for name in _bound(part))
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
    """The values of a loop's target, one by one where they are written out and fit."""
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
    """The nodes of the graph that a target stands for, with what each of them gets."""
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
                joint = ast.Name(f"#{id(value)}")  # fewer edges than for each of them
                yield joint.id, value
                for part in parts:
                    yield from _bind(part, joint)


def _sets(function: ast.FunctionDef | ast.AsyncFunctionDef, method: bool) -> bool:
    """Does it set a part of anything that it is given, but for a method's own object?"""
    given = function.args
    parameters = {
        one.arg
        for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg)
        if one
    }
    for part in ast.walk(function):
        match part:
            case ast.Attribute(ctx=ast.Store() | ast.Del()):
                root = part.value
            case ast.Subscript(ctx=ast.Store() | ast.Del(), value=root):
                if _root(root) not in parameters:
                    continue
            case ast.Call(func=ast.Name(id="setattr"), args=[root, *_]):
                pass
            case _:
                continue
        if not (method and isinstance(root, ast.Name) and root.id == "self"):
            return True
    return False
