"""Distinguish statements that only define from statements that act, without running them.

Imports, functions, classes, constants and tables define. Calls for their effect act, and so
does code that reaches into Python's internals or patches what it imported: while a notebook
is graded, it could change how other answers are judged.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterable
from dataclasses import dataclass

from grading.submissions.forms import (
    FUNCTIONS,
    extended,
    filled,
    only_defines,
    parsed,
    parts_of,
    words_of,
)
from grading.submissions.harmless import (
    IMPURE,
    INNARDS,
    LARGE,
    MEMBERS,
    PURE,
    harmless,
    within,
)
from grading.submissions.origins import (
    bindings_of,
    edges_of,
    last_of,
    names_bound,
    origins_of,
    root_of,
    spread,
)
from grading.submissions.sources import GIVES_UP, MAX_SOURCE, kept, quietly

CALLED = {"getattr", "setattr"}  # allowed only where they are called by name
NAMING = {"Symbol", "init_printing", "symbols"}  # functions of SymPy that take names
# Python looks these up by name, and so does a probe.
HOOKS = {"__builtins__", "__build_class__", "__import__", "__loader__", "__spec__"}
DUNDER = re.compile(r"__[a-z_]+__")
PLAIN = re.compile(r"[\w., |\[\]]*")  # annotations in quotes, which may be evaluated
USUAL = {
    *("__add__", "__all__", "__annotations__", "__call__", "__class__", "__doc__"),
    *("__enter__", "__exit__", "__ge__", "__gt__", "__le__", "__lt__", "__pow__"),
    *("__radd__", "__rmul__", "__rsub__", "__rtruediv__", "__truediv__", "__eq__"),
    *("__getitem__", "__hash__", "__init__", "__iter__", "__len__", "__main__"),
    *("__matmul__", "__mul__", "__name__", "__neg__", "__post_init__"),
    *("__qualname__", "__repr__", "__slots__", "__str__", "__sub__", "__version__"),
}


@dataclass(frozen=True)
class _Cell:
    """What a cell adds to the graph.

    Args:
        bindings: what its edges are made from, among them nodes that are in no tree. While
            these are kept, no other node has the ids in the edges.
        imports: its import statements.
        own: the names that it binds, except by imports.
        parameters: of its functions.
        classes: the names of its classes.
        edges: of the graph.
        strict_edges: those and the edges from what an object was made from.
        same: pairs of names for one object.
        setters: its functions that set parts of their arguments.
    """

    bindings: list[tuple[str, ast.expr]]
    imports: list[ast.Import | ast.ImportFrom]
    own: set[str]
    parameters: set[str]
    classes: set[str]
    edges: list[tuple[str, str]]
    strict_edges: list[tuple[str, str]]
    same: list[tuple[str, str]]
    setters: set[str]


@kept
def _read(source: str) -> _Cell | None:
    """Read a cell; None if it does not compile."""
    tree = parsed(source)
    if tree is None:
        return None
    nodes = list(ast.walk(tree))
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    bindings = [pair for node in nodes for pair in bindings_of(node)]
    methods = {id(one) for node in classes for one in node.body}
    setters = {
        node.name
        for node in nodes
        if isinstance(node, FUNCTIONS) and _sets(node, id(node) in methods)
    }
    setters |= {
        f"{node.name}.{one.name}"
        for node in classes
        for one in node.body
        if isinstance(one, FUNCTIONS) and _sets(one, method=False)
    }
    return _Cell(
        bindings,
        [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)],
        {name for node in nodes for name in names_bound(node)},
        {node.arg for node in nodes if isinstance(node, ast.arg)},
        {node.name for node in classes},
        *(
            [edge for pair in bindings for edge in edges_of(*pair, strictly=strictly)]
            for strictly in (False, True)
        ),
        [
            (name, target.lstrip("."))
            for target, value in bindings
            if isinstance(value, ast.Name | ast.Attribute) and (name := last_of(value))
        ],
        setters,
    )


class Effects:
    """The origins of a notebook's names.

    A name is *from outside* if it was imported, is built in, or holds a part of such an
    object. Names, attributes (``.x``) and return values (``f()``) are the nodes of a graph
    with an edge for each way from one to another; this property spreads along the edges.

    Args:
        sources: all code cells; those that do not compile are skipped.
    """

    def __init__(self, sources: Iterable[str]) -> None:
        cells = [cell for source in sources if (cell := _read(source)) is not None]
        self.modules: set[str] = set()  # imported names that are modules
        self.harmful: set[str] = set()  # imported names not from harmless modules
        self.paths: dict[str, list[str]] = {}  # origins of imported names
        for node in (node for cell in cells for node in cell.imports):
            self._import(node)
        self.own = {name for cell in cells for name in cell.own}
        self.parameters = {name for cell in cells for name in cell.parameters}
        self.classes = {name for cell in cells for name in cell.classes}
        self.aliases = self._outside_of(edge for cell in cells for edge in cell.edges)
        # The notebook's objects may also hold what they were made from, such as a class.
        self.related = self._outside_of(
            edge for cell in cells for edge in cell.strict_edges
        )
        same = [pair for cell in cells for pair in cell.same]
        self.modules = spread(self.modules, same)
        # The notebook's functions that set parts of their arguments.
        self.setters = spread({name for cell in cells for name in cell.setters}, same)

    def quiet(self, source: str) -> bool:
        """Does a cell only define? A cell that is not plain Python may act.

        A cell with loops at its top level is not quiet either, because they may take long;
        its statements that only define can still be used one by one.
        """
        try:
            tree = quietly(ast.parse, source[:MAX_SOURCE])
        except GIVES_UP:
            return False
        return len(source) <= MAX_SOURCE and all(
            self.defines(node) and not isinstance(node, ast.For) for node in tree.body
        )

    def defines(self, node: ast.stmt) -> bool:
        """Does a statement only define something that does not act when it is called later?"""
        changed = [extended(node), *filled(node)]
        if any(name and self._is_outside(name) for name in changed):
            return False
        return only_defines(node) and not self._acts(node)

    def touches(self, source: str) -> bool:
        """May a cell, or a function it defines, change anything but the notebook's own names?"""
        tree = parsed(source)
        return tree is None or any(map(self._acts, tree.body))

    def _acts(self, node: ast.stmt) -> bool:
        parts = list(parts_of(node))
        called = {id(part.func) for part in parts if isinstance(part, ast.Call)}
        # Under another name, the call would not show which attribute is accessed.
        hidden = any(
            isinstance(part, ast.Name) and part.id in CALLED and id(part) not in called
            for part in parts
        )
        if hidden or _impure(node, parts):
            return True
        allowed = {id(part.value) for part in parts if self._is_member(part)}
        return any(self._reaches(part) for part in parts if id(part) not in allowed)

    def outside(self, value: ast.expr | None) -> bool:
        """Is the value part of something imported, or does it hold such a part?"""
        return value is not None and any(map(self._is_outside, origins_of(value)))

    def patches(
        self, node: ast.Attribute | ast.Subscript, *, strictly: bool = False
    ) -> bool:
        """Does it set a part of something that the notebook did not make?

        Args:
            node: the target of an assignment or a deletion.
            strictly: count objects that may hold what they were made from, too.
        """
        found = set(origins_of(node.value, strictly=strictly, stored=True))
        return any(map(self._is_outside, found)) or bool(
            strictly and found & self.related
        )

    def _is_outside(self, node: str) -> bool:
        return node in self.aliases or (node.isidentifier() and node not in self.own)

    def _outside_of(self, edges: Iterable[tuple[str, str]]) -> set[str]:
        # What an object holds, too.
        edges = [*edges, *((name, f"~{name}") for name in self.own)]
        unknown = {one for one, _ in edges if one.isidentifier()} - self.own
        return spread({"type()", *self.paths} | unknown, edges)

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
        if any(map(within, path)) or not harmless(path):
            self.harmful.add(name)

    def _is_member(self, node: ast.AST) -> bool:
        """Is it a harmless attribute of a module that also has others, such as ``sys``?"""
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                path = self.paths.get(name, [])
                return len(path) == 1 and attribute in MEMBERS.get(path[0], ())
        return False

    def _reaches(self, node: ast.AST) -> bool:
        """May this node affect more than the notebook's own names?"""
        if any(word in HOOKS for word in words_of(node)):
            return True
        match node:
            case ast.Constant(value=str(text)):
                return any(word not in USUAL for word in DUNDER.findall(text[:1_000]))
            case ast.Name(id=name, ctx=ast.Load()):
                unknown = name not in self.own and name not in self.paths
                bad = name in self.harmful or (unknown and within(name))
                return bad or (bool(DUNDER.fullmatch(name)) and name not in USUAL)
            case ast.Attribute(attr=name, ctx=context):
                dunder = bool(DUNDER.fullmatch(name))
                stored = not isinstance(context, ast.Load)
                inner = dunder and (stored or name not in USUAL)
                inner = inner or within(name) or not harmless(self._path(node))
                return inner or (stored and self.patches(node, strictly=True))
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                return self.patches(node)
            case ast.ImportFrom(names=[ast.alias(name="*")]):
                return "*" in self.harmful
            case ast.MatchClass(kwd_attrs=names):
                return any(within(name) or DUNDER.fullmatch(name) for name in names)
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
        """The origin of an attribute of an imported name; for others, a harmless module."""
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
        named |= {self.paths[one][-1] for one in named if one in self.paths}
        # Nothing is known of a function without a name.
        known = name in self.own | PURE or isinstance(function, ast.Attribute)
        known = (known and name not in self.parameters) or name in self.paths
        if any(map(self.outside, given)):
            sets = named & {*self.setters, "dataclass"}
            return bool(sets) or (bool(self.setters) and not known)
        held = {one.id for one in given if isinstance(one, ast.Name)}
        return bool(named & self.setters and held & self.related)

    def _key(self, node: ast.expr) -> str:
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                return f"{owner}.{name}" if owner in self.classes else name
        return last_of(node)

    def _reads(self, node: ast.Call) -> bool:
        """Does it pass SymPy a string that is not a name? SymPy evaluates strings as code."""
        root = node.func
        while isinstance(root, ast.Attribute):
            root = root.value
        path = self.paths.get(root.id, [""]) if isinstance(root, ast.Name) else [""]
        return (
            path[0] == "sympy"
            and path[-1] not in NAMING
            and last_of(node.func) not in NAMING
            and any(
                isinstance(one, ast.Constant | ast.JoinedStr)
                and isinstance(getattr(one, "value", ""), str)
                for one in node.args
            )
        )


def _impure(node: ast.stmt, parts: list[ast.AST]) -> bool:
    """Does it use a built-in function that does more than compute?"""
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
    """Is the attribute name that ``getattr`` is given known not to be an internal one?"""
    match asked:
        case ast.Constant(value=str(text)):
            return not within(text)
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            known = text[:1].isalpha() and not any(
                name.startswith(text) for name in INNARDS
            )
            return known
    return False


def _sets(function: ast.FunctionDef | ast.AsyncFunctionDef, method: bool) -> bool:
    """Does it set an attribute of an object, or an item of a parameter, except ``self``?"""
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
                if root_of(root) not in parameters:
                    continue
            case ast.Call(func=ast.Name(id="setattr"), args=[root, *_]):
                pass
            case _:
                continue
        if not (method and isinstance(root, ast.Name) and root.id == "self"):
            return True
    return False
