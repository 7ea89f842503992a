"""Search a student's cells, without running them, for code that a person should read.

It finds code that reaches into Python's internals or patches modules, blobs that code could
hide in, and code that was copied from the checks. None of this changes a grade.
"""

from __future__ import annotations

import ast
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import course
from grading.submissions.effects import Effects
from grading.submissions.forms import parsed
from grading.submissions.harmless import PURE
from grading.submissions.sources import MAX_SOURCE
from grading.submissions.tokens import flat, origins

NAMES = {"__builtins__", "__import__", "compile", "eval", "exec"}
PACKAGES = {"builtins", "ctypes"}
# Members of these modules that are commonly used.
USUAL = {
    "gc": {"collect", "disable", "enable"},
    "inspect": {"getdoc", "getsource", "isclass", "isfunction", "signature"},
}
ATTRIBUTES = {
    *("currentframe", "get_objects", "get_referents", "get_referrers"),
    *("__builtins__", "__closure__", "__code__", "__globals__", "__subclasses__"),
    *("_getframe", "f_back", "f_builtins", "f_globals", "f_locals", "settrace"),
    *("setprofile", "tb_frame"),
}
DECODERS = {
    *("a2b_base64", "a85decode", "b16decode", "b32decode", "b64decode", "b85decode"),
    *("bytearray", "chr", "codecs", "decodebytes", "decompress", "frombuffer"),
    *("fromhex", "maketrans", "translate", "unhexlify"),
}
# Settings that are commonly changed.
SETTINGS = {"ast_node_interactivity", "backends", "config", "options", "rcParams"}
LOOKED_AT = 200_000  # characters of all cells together; an exercise has 50,000
LONG = 600  # bytes of a cell's compressed literals; right answers have at most 465
DIGITS = 4_000  # bits; Python does not write out numbers of too many decimal digits
# Runs of this many nodes of a tree are compared.
RUN = 8
LEAST = 30  # nodes of an oracle; shorter ones prove nothing
NEAR = 0.5  # share of an oracle's runs; right answers have at most 0.3
CHECKS = Path(course.__file__).parent / "checks"


def suspicions(
    cells: Mapping[str, str], released: Mapping[str, str] | None = None
) -> Iterator[tuple[str, str, str]]:
    """Yield what a person should look at: the flag's code, the cell's id and a detail.

    The time taken is linear in the length of the sources, and their total length is limited.

    Args:
        cells: the sources that a student wrote, by the id of the cell.
        released: the sources of the release, whose imports the student's cells use.
    """
    read, left = {}, LOOKED_AT
    for id_, text in cells.items():
        if len(text) > MAX_SOURCE:
            continue
        left -= len(text)
        if left < 0:
            yield "much-code", id_, ""
            break
        read[id_] = text
    effects = Effects([*read.values(), *(released or {}).values()])
    trees = {id_: parsed(source) for id_, source in read.items()}
    own = {
        node.name
        for tree in trees.values()
        if tree is not None
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    } & {"compile", "eval"}
    for id_, tree in trees.items():
        if tree is None:
            continue
        nodes = list(ast.walk(tree))
        named = sorted({name for node in nodes for name in _inner(node, effects)} - own)
        if named:
            yield "interpreter", id_, ", ".join(named)
        old = {id(target) for node in nodes for target in _restored(node)}
        if any(_patches(node, effects) for node in nodes if id(node) not in old):
            yield "patched-module", id_, ""
        if _is_long(nodes):
            yield "long-literal", id_, ""
        found = _runs(flat(tree, origins(nodes)))
        if any(len(found & one) >= NEAR * len(one) for one in oracles().values()):
            yield "like-checks", id_, ""


def _inner(node: ast.AST, effects: Effects) -> Iterator[str]:
    """Yield the names of Python's internals in a node."""
    match node:
        case ast.Name(id=name) if name in NAMES:
            yield name
        case ast.Attribute(attr=name) if name in ATTRIBUTES:
            yield name
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            path = effects.paths.get(owner, [""])
            if len(path) == 1 and name not in USUAL.get(path[0], {name}):
                yield f"{path[0]}.{name}"
        case ast.Constant(value=str(text)) if text in ATTRIBUTES | {"builtins"}:
            yield text
        case ast.Import(names=names):
            packages = {name.name.partition(".")[0] for name in names}
            yield from packages & PACKAGES
        case ast.ImportFrom(module=str(module), names=names):
            yield from {module.partition(".")[0]} & PACKAGES
            named = {name.name for name in names}
            yield from named & (ATTRIBUTES | PACKAGES)
            yield from named - USUAL.get(module, named)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield from {name} & {"__import__", "__builtins__"}


def _restored(node: ast.AST) -> list[ast.expr]:
    """The targets of ``np.float = float`` and the like, which restore old aliases of NumPy."""
    match node:
        case ast.Assign(targets=targets, value=ast.Name(id=name)) if name in PURE:
            return [
                t for t in targets if isinstance(t, ast.Attribute) and t.attr == name
            ]
    return []


def _patches(node: ast.AST, effects: Effects) -> bool:
    match node:
        case ast.Attribute(ctx=ast.Store() | ast.Del()):
            inside = {part.attr for part in _chain(node)}
            return not inside & SETTINGS and effects.patches(node)
        case ast.Subscript(ctx=ast.Store() | ast.Del(), value=ast.Attribute(attr=name)):
            return name in ("modules", "__dict__")
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[owner, *_]):
            return effects.outside(owner)
    return False


def _chain(node: ast.expr) -> Iterator[ast.Attribute]:
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            yield node
        node = node.value


def _is_long(nodes: list[ast.AST]) -> bool:
    """Are a cell's literals so long that code could hide in them, or is one decoded?

    Docstrings count only if the cell reads a docstring.
    """
    texts: list[str] = []
    standing = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    if any(
        isinstance(node, ast.Attribute) and node.attr == "__doc__" for node in nodes
    ):
        standing = set()
    for node in nodes:
        match node:
            case ast.Constant(value=int(number)):
                large = number.bit_length() > DIGITS
                texts.append(hex(number) if large else str(number))
            case ast.Constant(value=str() | bytes() | float() | complex() as value):
                if id(node) not in standing:
                    texts.append(str(value))
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in DECODERS:
                return True
            case ast.Call(func=ast.Name(id="bytes" | "int"), args=[_, *rest]) if rest:
                return True  # digits in some base, or text in some encoding
            case ast.Attribute(attr="loads", value=ast.Name(id="marshal" | "pickle")):
                return True
    data = "\n".join(texts).encode("utf-8", "surrogatepass")
    return len(zlib.compress(data)) >= LONG


def _runs(nodes: list[str]) -> frozenset[int]:
    texts = ("\0".join(nodes[n : n + RUN]) for n in range(len(nodes) - RUN + 1))
    return frozenset(zlib.crc32(text.encode("utf-8", "replace")) for text in texts)


@lru_cache(maxsize=1)
def oracles() -> dict[str, frozenset[int]]:
    """The runs of each oracle of the checks that is long enough, and of functions they call."""
    # Probes are in every graded notebook, with the functions that they share.
    trees = {
        path: ast.parse(path.read_text("utf-8"))
        for path in CHECKS.rglob("*.py")
        if path.name != "probing.py"
    }
    named: dict[str, list[tuple[str, ast.AST, dict[str, str]]]] = {}
    waiting: list[tuple[str, ast.AST, dict[str, str]]] = []
    for path, tree in sorted(trees.items()):
        nodes = list(ast.walk(tree))
        names = origins(nodes)
        place = path.relative_to(CHECKS).with_suffix("").as_posix()
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                where = f"{place}:{node.lineno}"
                named.setdefault(node.name, []).append((where, node, names))
        for node in nodes:
            if isinstance(node, ast.keyword) and node.arg == "oracle":
                where = f"{place}:{node.value.lineno}"
                waiting.append((where, node.value, names))
    found, seen = {}, set()
    while waiting:
        where, node, names = waiting.pop()
        nodes = flat(node, names)
        if len(nodes) >= LEAST:
            found[where] = _runs(nodes)
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id not in seen:
                seen.add(part.id)
                waiting += named.get(part.id, ())
    return found
