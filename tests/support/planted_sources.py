"""The sources of the planted answers, read without importing a framework."""

import ast
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]


def sources(stem, folder="right_answers"):
    """Return the source of each planted answer of a practical, by task and label.

    Functions that several answers use are left out: these answers have them in common.
    """
    path = TESTS / folder / f"{stem}.py"
    tree = ast.parse(path.read_text("utf-8"))
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "ANSWERS":
            for task, answers in zip(node.value.keys, node.value.values, strict=True):
                for part in ast.walk(answers):
                    if isinstance(part, ast.Dict):
                        rows = zip(part.keys, part.values, strict=True)
                        found |= {(task.value, ast.unparse(k)): v for k, v in rows if k}
    used = {key: _names(value) & functions.keys() for key, value in found.items()}
    count = Counter(name for names in used.values() for name in names)
    return {
        key: "\n\n".join(
            [
                ast.unparse(functions[name])
                for name in sorted(used[key])
                if count[name] == 1
            ]
            + [f"answer = {ast.unparse(value)}"] * (not isinstance(value, ast.Name))
        )
        for key, value in found.items()
    }


def _names(tree):
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
