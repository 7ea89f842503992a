"""Mutation score of the checks: first-order mutants of the reference solutions, judged.

``python -m studies.mutants`` writes ``mutants.json``, which a page of the book reads. A mutant
that differs from its solution in no input that the task allows is listed, with the reason, in
``equivalent_mutants.toml``.
"""

from __future__ import annotations

import ast
import copy
import json
import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from course.judge import answered, compare, expected
from course.task import Task, stem_of, stems, tasks_of
from project.files import write_whole
from project.source import BEGIN, END, Definition, Module, read_solutions

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).with_name("mutants.json")
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
SEEDS = (0, 1, 2)
SECONDS = 20  # of one mutant; endless loops are refused as they are in a notebook

OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
# Functions and methods that are taken for one another.
NAMES = {
    "sum": "mean",
    "mean": "sum",
    "var": "std",
    "std": "var",
    "max": "min",
    "min": "max",
    "argmax": "argmin",
    "argsort": "sort",
    "log": "log1p",
    "log1p": "log",
    "exp": "expm1",
    "softplus": "exp",
    "sigmoid": "tanh",
    "tanh": "sigmoid",
    "log_softmax": "softmax",
    "softmax": "log_softmax",
    "logsumexp": "sum",
    "zeros": "ones",
    "ones": "zeros",
    "randn": "rand",
    "rand": "randn",
    "normal": "uniform",
    "sqrt": "square",
    "square": "sqrt",
    "cdf": "pdf",
    "pdf": "cdf",
}
TEXTS = {"sum": "mean", "none": "mean", "mean": "sum"}  # such as reduction="sum"


def _replacements(node: ast.AST) -> Iterator[tuple[str, ast.AST | None]]:
    """Yield what may stand in place of a node, and why; None removes a statement."""
    if isinstance(node, ast.BinOp):
        other = OPERATORS.get(type(node.op))
        if other:
            yield "operator", ast.BinOp(node.left, other(), node.right)
            yield "dropped right operand", node.left
            yield "dropped left operand", node.right
        if isinstance(node.op, ast.MatMult):
            yield "swapped operands", ast.BinOp(node.right, node.op, node.left)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield "dropped sign", node.operand
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in COMPARISONS.get(type(node.ops[0]), ()):
            yield "comparison", ast.Compare(node.left, [other()], node.comparators)
    elif isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            yield "constant", ast.Constant(not value)
        elif isinstance(value, int | float):
            yield "constant", ast.Constant(value + 1)
            if value not in (0, 1):
                yield "constant", ast.Constant(value / 2)
        elif value in TEXTS:
            yield "constant", ast.Constant(TEXTS[value])
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, ast.AugAssign):
        other = OPERATORS.get(type(node.op))
        if other:
            yield "operator", ast.AugAssign(node.target, other(), node.value)
        yield "dropped statement", None
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "dropped statement", None
    elif isinstance(node, ast.IfExp):
        yield "condition", node.body
        yield "condition", node.orelse


def _calls(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    function = node.func
    called = getattr(function, "attr", getattr(function, "id", ""))
    if called in NAMES:
        renamed = copy.deepcopy(function)
        setattr(renamed, "attr" if hasattr(renamed, "attr") else "id", NAMES[called])
        yield "function", ast.Call(renamed, node.args, node.keywords)
    if node.args:
        yield "dropped call", node.args[0]
    elif isinstance(function, ast.Attribute):
        yield "dropped call", function.value
    if len(node.args) > 1 and not any(isinstance(a, ast.Starred) for a in node.args):
        first, second, *others = node.args
        yield (
            "swapped arguments",
            ast.Call(function, [second, first, *others], node.keywords),
        )
    for index, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            rest = node.keywords[:index] + node.keywords[index + 1 :]
            yield "dropped argument", ast.Call(function, node.args, rest)


def mutants(definition: Definition) -> dict[str, str]:
    """Return the source of each mutant of a solution by what was changed.

    Only what students write is mutated, the lines between the markers. A change is named by
    its kind, the code before and the code after, such as ``operator: a + b -> a - b``.
    """
    lines = definition.source.splitlines()
    inside, marked = set(), False
    for number, line in enumerate(lines, 1):
        marked = (marked or line.strip() == BEGIN) and line.strip() != END
        if marked:
            inside.add(number)
    tree = ast.parse(definition.source)
    original = ast.unparse(tree)
    found: dict[str, str] = {}
    for index, node in enumerate(ast.walk(tree)):
        if getattr(node, "lineno", None) not in inside or _is_docstring(node):
            continue
        for kind, other in _replacements(node):
            changed = _Replace(index, other).run(tree)
            source = ast.unparse(ast.fix_missing_locations(changed))
            if source == original or source in found.values():
                continue
            after = "" if other is None else ast.unparse(other)
            name = f"{kind}: {ast.unparse(node)} -> {after}".rstrip()
            count = sum(known.partition(" #")[0] == name for known in found)
            found[f"{name} #{count + 1}" if count else name] = source
    return found


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


class _Replace(ast.NodeTransformer):
    """Replace the node with this index in the order of ``ast.walk``."""

    def __init__(self, index: int, other: ast.AST | None) -> None:
        self.index, self.other = index, other

    def run(self, tree: ast.AST) -> ast.AST:
        fresh = copy.deepcopy(tree)
        self.target = list(ast.walk(fresh))[self.index]
        return self.visit(fresh)

    def visit(self, node: ast.AST) -> ast.AST | None:
        if node is self.target:
            return ast.Pass() if self.other is None else copy.deepcopy(self.other)
        return self.generic_visit(node)


def namespace_of(module: Module) -> dict[str, Any]:
    """Execute a practical's solutions as a notebook would, in one namespace."""
    names: dict[str, Any] = {"__name__": "notebook"}
    parts = [module.setup, *(one.source for one in module.definitions.values())]
    exec("\n\n\n".join(parts), names)
    return names


class _TooLong(BaseException):
    """A mutant did not return in time."""


def _interrupt(*_: Any) -> None:
    raise _TooLong


def survives(task: Task, source: str, names: dict[str, Any]) -> bool:
    """Is a mutant taken for right on every seed?"""
    own = dict(names)
    signal.signal(signal.SIGALRM, _interrupt)
    signal.alarm(SECONDS)
    try:
        exec(source, own)
        for seed in SEEDS:
            for case in task.cases(np.random.default_rng(seed)):
                left: list[tuple[str, str]] = []
                values = answered(task, own[task.name], [case], left)
                if left or compare(values, expected(task, [case])) is not None:
                    return False
        return task.proof is None or task.proof(own[task.name]) is None
    except (Exception, _TooLong):
        return False
    finally:
        signal.alarm(0)


def equivalents(task_id: str) -> dict[str, str]:
    """Return the reasons why mutants of a task are no mistakes, by what was changed."""
    return tomllib.loads(EQUIVALENT.read_text("utf-8")).get(task_id, {})


def judged(*ids: str) -> dict[str, dict[str, Any]]:
    """Judge the mutants of tasks.

    Returns:
        By task id: how many ``mutants`` there are, how many are ``equivalent``, the ``passed``,
        which are neither equivalent nor refused, and the ``obsolete``, which are listed as
        equivalent and are refused.
    """
    found = {}
    for stem in dict.fromkeys(map(stem_of, ids)):
        module = read_solutions(ROOT, stem)
        known = namespace_of(module)
        for id_, task in tasks_of(stem).items():
            if id_ not in ids:
                continue
            made, reasons = mutants(module.definitions[task.name]), equivalents(id_)
            passed = [
                what for what, source in made.items() if survives(task, source, known)
            ]
            found[id_] = {
                "mutants": len(made),
                "equivalent": len([what for what in passed if what in reasons]),
                "passed": [what for what in passed if what not in reasons],
                "obsolete": sorted(reasons.keys() - set(passed)),
            }
    return found


def main() -> None:
    """Judge all mutants, each practical in its own process, and write the results."""
    results = {}
    for stem in sys.argv[1:] or stems():
        code = (
            "import json; from studies.mutants import judged, tasks_of; "
            f"print(json.dumps(judged(*tasks_of({stem!r}))))"
        )
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        results |= json.loads(done.stdout.splitlines()[-1])
    for id_, row in results.items():
        for what in row["passed"]:
            print(f"{id_}: {what}")
    made, equivalent = (
        sum(row[what] for row in results.values()) for what in ("mutants", "equivalent")
    )
    print(f"{made} mutants, {equivalent} of them equivalent")
    if not sys.argv[1:]:
        write_whole(RESULTS, json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
