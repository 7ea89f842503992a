"""Reads a student's Python without running it: does it compile, and which names does it use?

Whatever is handed in is cut off at a length, and every way in which the parser gives up
on hostile nesting is an answer, not a crash.
"""

from __future__ import annotations

import ast
import re
import symtable
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

MAX_SOURCE = 100_000  # characters of one cell
MAX_READ = 200_000  # IPython reads the whole cell once more for every magic
MAGIC = re.compile(r"^[ \t]*[%!?,;/].*$|=[ \t]*[%!].*$|\?[ \t]*$", re.MULTILINE)
DEFINING = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom),
    *(ast.Assign, ast.AnnAssign),
)
REACHING = {
    *("__import__", "display", "eval", "exec", "exit", "get_ipython", "globals"),
    *("quit", "setattr", "vars"),
}
QUIET = {
    *("__future__", "abc", "collections", "copy", "dataclasses", "enum", "functools"),
    *("itertools", "jax", "math", "numpy", "operator", "random", "scipy", "statistics"),
    *("torch", "typing", "course"),
}
GIVES_UP = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


def problem_of(source: str) -> str:
    """Why a cell cannot run at all, in one sentence; empty if it compiles."""
    if not source.strip():
        return "The cell is empty."
    if len(source) > MAX_SOURCE:
        return f"The cell is longer than {MAX_SOURCE:,} characters."
    try:
        _quietly(ast.parse, source)
    except SyntaxError as error:
        if len(MAGIC.findall(source)) * len(source) > MAX_READ:
            return ""  # the kernel will tell
        try:
            _quietly(ast.parse, TransformerManager().transform_cell(source))
        except SyntaxError:
            line = f" in line {error.lineno}" if error.lineno else ""
            return f"The cell is not valid Python: {error.msg}{line}."
        except Exception:  # IPython reads what is no Python as well as it can
            return "The cell is not valid Python."
    except (RecursionError, MemoryError):
        return "The code is nested too deeply for Python."
    except GIVES_UP:
        return "The cell holds characters that Python does not read."
    return ""


def uses(source: str, names: Iterable[str]) -> set[str]:
    """Which of ``names`` a cell or a definition takes from outside.

    Names that it defines itself do not count, nor do its functions' own parameters. Of
    source that does not compile, nothing is used.
    """
    return set(free(source) & set(names))


def reached(name: str, sources: Mapping[str, str]) -> set[str]:
    """The names among ``sources`` that one of them uses, directly or through others."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = uses(sources.get(waiting.pop(), ""), sources) - found
        found |= new
        waiting += new
    return found - {name}


@lru_cache(maxsize=512)
def free(source: str) -> frozenset[str]:
    """The names that a cell takes from outside, those of Python itself included."""
    if len(source) > MAX_SOURCE:
        return frozenset()
    for text in (source, MAGIC.sub("", source)):
        try:
            table = _quietly(symtable.symtable, text, "cell", "exec")
            break
        except GIVES_UP:
            continue
    else:
        return frozenset()
    top = table.get_symbols()
    own = {s.get_name() for s in top if s.is_assigned() or s.is_imported()}
    # What is both read and bound on the top level may be read first.
    found = {s.get_name() for s in top if s.is_referenced()}
    inner = table.get_children()
    while inner:  # not by recursion: lambdas nest deeply
        table = inner.pop()
        inner += table.get_children()
        symbols = (s for s in table.get_symbols() if s.is_global())
        found |= {s.get_name() for s in symbols if s.is_referenced()} - own
    return frozenset(found)


def acts(source: str) -> bool:
    """May a cell do more than define, and so touch what is not its own?

    A student who hides it from this spoils no work but the own.
    """
    try:
        tree = _quietly(ast.parse, source[:MAX_SOURCE])
    except GIVES_UP:
        return True
    for node in tree.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if not isinstance(node, DEFINING):
            return True
    return any(_reaches(node) for node in ast.walk(tree))


def _reaches(node: ast.AST) -> bool:
    """Does it set an attribute of another object, or name what can?"""
    match node:
        case ast.Attribute(value=ast.Name(id="self")):
            return False
        case ast.Attribute(ctx=context):
            return not isinstance(context, ast.Load)
        case ast.Name(id=name):
            return name in REACHING
        case ast.Import(names=names):
            return any(name.name.partition(".")[0] not in QUIET for name in names)
        case ast.ImportFrom(module=module):
            return (module or "").partition(".")[0] not in QUIET
    return False


def definitions(source: str, names: set[str]) -> str:
    """Of a cell that is not run as a whole, the statements that define these names.

    Imports, functions without decorators and constants alone are taken, since they run
    quickly anywhere; nothing of the course itself or of plots.
    """
    try:
        parsed = _quietly(ast.parse, source[:MAX_SOURCE]).body
    except GIVES_UP:
        return ""
    body = [one for node in parsed for one in _one_by_one(node)]
    binding: dict[str, list[int]] = {}
    for index, node in enumerate(body):
        for name in _defined(node):
            binding.setdefault(name, []).append(index)
    kept: dict[int, str] = {}
    waiting, seen = list(names), set(names)
    while waiting:  # a function brings along what it uses
        for index in binding.get(waiting.pop(), ()):
            if index not in kept:
                try:
                    kept[index] = ast.unparse(body[index])
                except RecursionError:  # the parser goes deeper than that
                    kept[index] = ""
                new = free(kept[index]) - seen
                seen |= new
                waiting += new
    return "\n".join(kept[index] for index in sorted(kept))


def _one_by_one(node: ast.stmt) -> list[ast.stmt]:
    """An import of several names as several imports."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return [node]
    rest = {name: value for name, value in ast.iter_fields(node) if name != "names"}
    return [type(node)(names=[alias], **rest) for alias in node.names]


def _defined(node: ast.stmt) -> set[str]:
    """The names that a statement defines, if it is one that runs quickly anywhere."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        (alias,) = node.names
        module = alias.name if isinstance(node, ast.Import) else node.module
        if module is None or module.partition(".")[0] in ("course", "matplotlib"):
            return set()
        return {(alias.asname or alias.name).partition(".")[0]}
    if isinstance(node, ast.FunctionDef) and not node.decorator_list:
        return {node.name}
    if isinstance(node, ast.Assign) and _constant(node.value):
        return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return set()


def _constant(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except GIVES_UP:
        return False
    return True


def _quietly(parser: Callable[..., Any], *arguments: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as an invalid escape in a student's text
        return parser(*arguments)
