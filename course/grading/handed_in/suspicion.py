"""Looks at a student's cells, without running them, for code that a person should read.

It finds code that reaches into Python or patches modules, blobs that code could hide in, and
code that was copied from the checks. None of it changes a grade.
"""

from __future__ import annotations

import ast
import io
import keyword
import tokenize
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import course
from course.grading.handed_in.effects import Effects, parsed
from course.grading.handed_in.sources import GIVES_UP, MAX_SOURCE, quietly

NAMES = {"__builtins__", "__import__", "compile", "eval", "exec"}
PACKAGES = {"builtins", "ctypes", "gc", "inspect"}
ATTRIBUTES = {
    *("__builtins__", "__closure__", "__code__", "__globals__", "__subclasses__"),
    *("_getframe", "f_back", "f_builtins", "f_globals", "f_locals", "settrace"),
    *("setprofile", "tb_frame"),
}
DECODERS = {
    *("a2b_base64", "a85decode", "b16decode", "b32decode", "b64decode", "b85decode"),
    *("bytearray", "chr", "codecs", "decodebytes", "decompress", "frombuffer"),
    *("fromhex", "maketrans", "translate", "unhexlify"),
}
SETTINGS = {"backends", "config", "options", "rcParams"}  # that people do set
WORD = 20  # characters of a text without a blank before it counts
LOOKED_AT = 200_000  # characters of all cells together; an exercise has 50,000
LONG = 1_000  # characters of such texts in a cell, or digits of a number
MANY = 400  # constants in one literal
# Runs of this many tokens are compared; names count as one and the same.
RUN = 12
LEAST = 20  # tokens of a function of the checks; shorter ones prove nothing
NEAR = 0.85  # of a function's runs
CHECKS = Path(course.__file__).parent / "checks"


def suspicions(
    cells: Mapping[str, str], released: Mapping[str, str] | None = None
) -> Iterator[tuple[str, str, str]]:
    """What a person should look at: the flag's code, the cell's id and a detail.

    The time that it takes grows linearly with the sources, and only so many are looked at.

    Args:
        cells: the sources that a student wrote, by the id of the cell.
        released: the sources of the release, whose imports they use.
    """
    read, left = {}, LOOKED_AT
    for id_, text in cells.items():
        left -= len(text)
        if left < 0:
            yield "much-code", id_, ""
            break
        if len(text) <= MAX_SOURCE:
            read[id_] = text
    effects = Effects([*read.values(), *(released or {}).values()])
    for id_, source in read.items():
        tree = parsed(source)
        if tree is None:
            continue
        nodes = list(ast.walk(tree))
        named = sorted({name for node in nodes for name in _inner(node)})
        if named:
            yield "interpreter", id_, ", ".join(named)
        if any(_patches(node, effects) for node in nodes):
            yield "patched-module", id_, ""
        if _is_long(nodes):
            yield "long-literal", id_, ""
        found = _runs(_tokens(_plain(tree) or source))
        if any(len(found & one) >= NEAR * len(one) for one in _checks()):
            yield "like-checks", id_, ""


def _inner(node: ast.AST) -> Iterator[str]:
    """What a part of a tree names of the inside of Python."""
    match node:
        case ast.Name(id=name) if name in NAMES:
            yield name
        case ast.Attribute(attr=name) if name in ATTRIBUTES:
            yield name
        case ast.Constant(value=str(text)) if text in ATTRIBUTES | {"builtins"}:
            yield text
        case ast.Import(names=names):
            packages = {name.name.partition(".")[0] for name in names}
            yield from packages & PACKAGES
        case ast.ImportFrom(module=str(module), names=names):
            yield from {module.partition(".")[0]} & PACKAGES
            yield from {name.name for name in names} & (ATTRIBUTES | PACKAGES)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield from {name} & {"__import__", "__builtins__"}


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
    """Is there a literal that code could hide in, or is one decoded?"""
    size = 0
    for node in nodes:
        match node:
            case ast.Constant(value=str() | bytes() as text):
                size += sum(len(word) for word in text.split() if len(word) > WORD)
            case ast.Constant(value=int(number)):
                size += number.bit_length() // 4
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                if sum(isinstance(one, ast.Constant) for one in parts) >= MANY:
                    return True
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in DECODERS:
                return True
            case ast.Call(func=ast.Name(id="bytes" | "int"), args=[_, *rest]) if rest:
                return True  # of digits to some base, or in some encoding
            case ast.Attribute(attr="loads", value=ast.Name(id="marshal" | "pickle")):
                return True
    return size >= LONG


def _plain(tree: ast.AST) -> str:
    """The source without comments, in one layout; empty if it is nested too deeply."""
    try:
        return quietly(ast.unparse, tree)
    except GIVES_UP:
        return ""


def _tokens(source: str) -> list[str]:
    """A source's tokens; texts are alike, and so are all names but those behind a dot."""
    found: list[str] = []
    before, start = "", True
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            kind, text = token.type, token.string
            if kind in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
                start = True
                continue
            if kind in (tokenize.COMMENT, tokenize.NL, tokenize.ENDMARKER):
                continue
            if kind == tokenize.STRING:
                if start:  # a docstring
                    continue
                text = "''"
            elif kind == tokenize.NAME and not keyword.iskeyword(text):
                text = text if before == "." else "name"
            found.append(text)
            before, start = text, False
    except (tokenize.TokenError, *GIVES_UP):
        pass  # magics, or an end that is missing: what was read counts
    return found


def _runs(tokens: list[str]) -> frozenset[int]:
    texts = (
        "\0".join(tokens[n : n + RUN]) for n in range(max(0, len(tokens) - RUN + 1))
    )
    return frozenset(zlib.crc32(text.encode("utf-8", "replace")) for text in texts)


@lru_cache(maxsize=1)
def _checks() -> tuple[frozenset[int], ...]:
    """The runs of each function of the checks."""
    found = set()
    for path in sorted(CHECKS.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                tokens = _tokens(_plain(node))
                if len(tokens) >= LEAST:
                    found.add(_runs(tokens))
    return tuple(found)
