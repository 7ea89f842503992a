"""Analyse a student's Python without running it: whether it compiles, which names it uses.

Sources are limited in length, and every exception that the parser raises on hostile nesting
is handled.
"""

from __future__ import annotations

import ast
import builtins
import gc
import re
import symtable
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, TypeVar

from IPython.core.inputtransformer2 import TransformerManager

Found = TypeVar("Found")

BUILT_IN = frozenset(dir(builtins))
MAX_SOURCE = 100_000  # characters of one cell
# Characters and number of all cells that are kept: their trees take 150 MB at most.
KEPT, MANY = 400_000, 1_000
MAX_READ = 60_000  # IPython reads the whole cell again for every magic
MAX_TOKENS = 1_000  # IPython takes long for many signs in a row
MAX_LINE = 1_000  # IPython takes quadratic time for a line that ends in "?"
TOKEN = re.compile(r"\w+|[^\w\s]")
MAGIC = re.compile(r"^[ \t]*[%!?,;/].*$|=[ \t]*[%!].*$|\?[ \t]*$", re.MULTILINE)
# The usual ones, which are not looked for in brackets and texts.
USUAL = re.compile(
    r"""^[ \t]*[%!?].*$|^([^=%!'"#\n]*)=[ \t]*[%!].*$|\?[ \t]*$""", re.MULTILINE
)
# Input that IPython turns into Python: magics, copied prompts, an indented first line.
IPYTHON = re.compile(rf"{MAGIC.pattern}|^[ \t]*(>>>|In \[)|\A[ \t]", re.MULTILINE)
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


def kept(function: Callable[[str], Found]) -> Callable[[str], Found]:
    """Keep what a function finds in sources: most cells are the same in all submissions.

    Nobody may change what it returns.
    """
    found: dict[str, Found] = {}  # the source asked for last comes last

    @wraps(function)
    def called(source: str) -> Found:
        if source in found:
            found[source] = found.pop(source)
            return found[source]
        found[source] = result = function(source)
        while len(found) > MANY or sum(map(len, found)) > KEPT:
            del found[next(iter(found))]
        return result

    return called


def problem_of(source: str) -> str:
    """The reason why a cell cannot run at all, in one sentence; empty if it compiles."""
    if not source.strip():
        return "The cell is empty."
    if len(source) > MAX_SOURCE:
        return f"The cell is longer than {MAX_SOURCE:,} characters."
    try:
        quietly(ast.parse, source)
    except SyntaxError as error:
        line = f" in line {error.lineno}" if error.lineno else ""
        problem = f"The cell is not valid Python: {error.msg}{line}."
        if not IPYTHON.search(source):
            return problem
        long = (1 + len(MAGIC.findall(source))) * len(source) > MAX_READ
        long = long or any(len(x.strip()) > MAX_LINE for x in source.splitlines())
        if long or len(TOKEN.findall(source)) > MAX_TOKENS:
            return ""  # the kernel will report it
        try:
            transformed = quietly(TransformerManager().transform_cell, source)
            quietly(ast.parse, transformed)
        except SyntaxError:
            return problem
        except Exception:  # IPython may fail on text that is not Python
            return "The cell is not valid Python."
    except (RecursionError, MemoryError):
        return "The code is nested too deeply for Python."
    except GIVES_UP:
        return "The cell holds characters that Python does not read."
    return ""


def reached(name: str, sources: Mapping[str, str]) -> set[str]:
    """The names in ``sources`` that one of them uses, directly or through others."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = (sources.keys() & free(sources.get(waiting.pop(), ""))) - found
        found |= new
        waiting += new
    return found - {name}


def readings(source: str) -> Iterator[str]:
    """A cell's source, and what is left of it without magics, the likely reading first."""
    yield source
    yield USUAL.sub(lambda found: found[1] or "", source)
    yield MAGIC.sub("", source)


@kept
def free(source: str) -> frozenset[str]:
    """The names that a cell uses but does not define, including built-in ones."""
    if len(source) > MAX_SOURCE:
        return frozenset()
    for text in readings(source):
        try:
            table = quietly(symtable.symtable, text, "cell", "exec")
            break
        except GIVES_UP:
            continue
    else:
        return frozenset()
    top = table.get_symbols()
    own = {s.get_name() for s in top if s.is_assigned() or s.is_imported()}
    # A name that is both read and bound at the top level may be read first.
    found = {s.get_name() for s in top if s.is_referenced()}
    inner = table.get_children()
    while inner:  # without recursion, because lambdas may nest deeply
        table = inner.pop()
        inner += table.get_children()
        symbols = (s for s in table.get_symbols() if s.is_global())
        found |= {s.get_name() for s in symbols if s.is_referenced()} - own
    return frozenset(found)


def acts(source: str) -> bool:
    """May a cell do more than define, and so change what is not its own?

    Students who hide it from this function spoil only their own work.
    """
    try:
        tree = quietly(ast.parse, source[:MAX_SOURCE])
    except GIVES_UP:
        return True
    for node in tree.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if not isinstance(node, DEFINING):
            return True
    return any(_reaches(node) for node in ast.walk(tree))


def _reaches(node: ast.AST) -> bool:
    """Does it set an attribute of another object, or name something that can?"""
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


def bound(source: str) -> set[str]:
    """The names that a cell defines, assigns or imports.

    Raises:
        SyntaxError, …: one of ``GIVES_UP``, if it does not compile.
    """
    top = quietly(symtable.symtable, source, "cell", "exec").get_symbols()
    return {s.get_name() for s in top if s.is_assigned() or s.is_imported()}


def quietly(parser: Callable[..., Any], *arguments: Any) -> Any:
    """Call a parser without warnings and with garbage collection disabled.

    Hostile nesting can exhaust Python's stack within the parser, and objects that are
    collected then could not be finalized.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as an invalid escape in a string
            return parser(*arguments)
    finally:
        if collects:
            gc.enable()
