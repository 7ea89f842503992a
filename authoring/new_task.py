"""Writes the skeleton of a new task, in every file that a task needs."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import symtable
from dataclasses import dataclass
from pathlib import Path

from course.task import task_id
from project.errors import CourseError
from project.files import all_or_none, read_text, write_whole
from project.practicals import Course, Lab
from project.source import files_of

SOLUTION = '''

def {name}(x: {array}) -> {array}:
    """TODO: what it computes, in a line.

    Args:
        x: TODO, shape (N,).

    Returns:
        TODO, shape (N,).
    """
    ### BEGIN SOLUTION
    raise NotImplementedError("TODO: the reference solution")
    ### END SOLUTION
'''
CHECK = """

def _{name}_cases(rng):
    # TODO: inputs that tell mistakes apart
    return [{{"x": rng.normal(size=n)}} for n in (4, 3, 1)]


def _{name}_probe(answer, x):
    {framework}

    return {{"value": answer({array}(x))}}


def _{name}_oracle(x):
    raise NotImplementedError("TODO: the right value, by an independent way")
    return {{"value": Close(x, rtol=1e-5, because="TODO")}}


{constant} = Task(
    name="{name}",
    points=1,
    cases=_{name}_cases,
    probe=_{name}_probe,
    oracle=_{name}_oracle,
    misconceptions=[
        # TODO: at least two, such as
        # Misconception(lambda x: 2 * x, "you double the value."),
    ],
    hints=[],  # TODO: one to three
)
"""
CHECK_MODULE = '''"""TODO: what these tasks are about."""

from __future__ import annotations

from course.task import Close, Misconception, Task
'''
CHAPTER = """
+++

````{{exercise}} TODO: title
:label: {id}

*Goal: TODO, in half a sentence.*

TODO: the prompt.

```{{task-info}} {id}
:minutes: 5
:level: core
```
````

```{{code-cell}} ipython3
:tags: [task]

from solutions.{stem} import {name}
```

```{{code-cell}} ipython3
:tags: [check]

check("{id}", {name})
```
"""
NO_ANSWERS = """\"\"\"{title}.\"\"\"

ANSWERS = {{
}}
"""
ANSWERS = """    "{name}": {{
        # "what it does": lambda x: …,
    }},
}}
"""
# Of each framework: its import and conversion in probes, the type in solutions, and its import.
ARRAYS = {
    "jax": ("import jax.numpy as jnp", "jnp.asarray", "Array", "from jax import Array"),
    "torch": (
        "import torch",
        "torch.as_tensor",
        "Tensor",
        "from torch import Tensor",
    ),
    "numpy": ("import numpy as np", "np.asarray", "np.ndarray", "import numpy as np"),
}


@dataclass(frozen=True)
class Edit:
    """The new text of a file, and what is left to do there."""

    path: Path
    text: str
    left: str


def new_task(course: Course, lab: str, name: str, module: str = "") -> list[Edit]:
    """Write the skeleton of a task, to all files or to none.

    Args:
        course: the checkout.
        lab: the name of a lab, which is the stem of a practical with only one.
        name: of the function that a student writes.
        module: the name of its file in ``solutions/<stem>/`` and in the checks; by default
            the last one that the package imports.

    Raises:
        CourseError: there is no such practical or module, the name is none of a function or is taken, or a
            file does not end as it is expected to.
    """
    chosen = course.lab(lab)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        problem = f"{name!r} is not the name of a function."
        remedy = "Use small letters and underscores, and no keyword of Python."
        raise CourseError(course.root, None, problem, remedy)
    solutions = chosen.solutions()
    definitions, id_ = solutions.definitions, task_id(chosen.stem, name)
    same = [one for one in definitions if task_id(chosen.stem, one) == id_]
    taken = {*solutions.imports, *dir(builtins), "check"}
    if same or name in taken:
        place = definitions[same[0]].path if same else chosen.chapter
        problem = f"There is a {same[0] if same else name} already."
        raise CourseError(
            place, None, problem, "Choose another name, or undo with git."
        )
    solution = _solution(chosen, module)
    for path in _checks(chosen, solution):
        if path.exists() and name.upper() in _bound(read_text(path)):
            problem = f"There is a {name.upper()} already, the task's name in checks."
            raise CourseError(path, None, problem, "Choose another name.")
    edits = _edits(chosen, name, solution)
    with all_or_none():
        for edit in edits:
            write_whole(edit.path, edit.text)
    return edits


def _checks(lab: Lab, solution: Path) -> tuple[Path, Path]:
    """The module of a solution's checks, and the package that lists them."""
    folder = lab.root / "course" / "checks" / lab.stem
    return folder / solution.name, folder / "__init__.py"  # as test_structure.py wants


def _edits(lab: Lab, name: str, solution: Path) -> list[Edit]:
    root, stem, chapter = lab.root, lab.stem, lab.chapter
    source = read_text(solution)
    used = re.compile(r"^(?:import|from) (jax|torch)\b", re.MULTILINE).search(source)
    framework = used[1] if used else "numpy"
    imported, array, annotation, annotated = ARRAYS[framework]
    check, init = _checks(lab, solution)
    check_text = read_text(check) if check.exists() else CHECK_MODULE
    for used_name in ("Close", "Misconception", "Task"):
        check_text = _imported(check_text, "course.task", used_name)
    constant = name.upper()
    module = f"course.checks.{stem}.{check.stem}"
    listed = _listed(init, _imported(read_text(init), module, constant), constant)
    id_ = task_id(stem, name)
    edits = [
        Edit(
            solution,
            _binding(source, annotated) + SOLUTION.format(name=name, array=annotation),
            "the docstring and the reference solution",
        ),
        Edit(
            check,
            check_text
            + CHECK.format(
                name=name, constant=constant, framework=imported, array=array
            ),
            "inputs, oracle, misconceptions and hints"
            + ("" if check.exists() else "; and what its tasks are about"),
        ),
        Edit(init, listed, "the task's place in the order of the practical"),
        Edit(
            chapter,
            read_text(chapter) + CHAPTER.format(id=id_, stem=stem, name=name),
            "the place and the text of the prompt",
        ),
    ]
    if solution.parent.name == stem:
        package = solution.parent / "__init__.py"
        module = f"solutions.{stem}.{solution.stem}"
        text = _imported(read_text(package), module, name)
        edits.append(Edit(package, text, "nothing"))
    for kind in ("right", "wrong"):
        path = root / "tests" / f"{kind}_answers" / f"{stem}.py"
        old = (
            read_text(path)
            if path.exists()
            else NO_ANSWERS.format(title=stem.replace("_", " ").capitalize())
        )
        text = _replaced(path, old, r"\}\s*\Z", ANSWERS.format(name=name))
        edits.append(Edit(path, text, f"{kind} answers, written in other ways"))
    return edits


def _bound(text: str) -> set[str]:
    """The names that a module binds, but not those within functions and classes."""
    symbols = symtable.symtable(text, "", "exec").get_symbols()
    return {one.get_name() for one in symbols if one.is_assigned() or one.is_imported()}


def _binding(text: str, statement: str) -> str:
    """Return the text of a module with an import of one name, unless that is bound."""
    (node,) = ast.parse(statement).body
    (name,) = _bound(statement)
    if name in _bound(text):
        return text
    if isinstance(node, ast.ImportFrom):
        return _imported(text, node.module or "", name)
    return _after_imports(text, statement)


def _after_imports(text: str, statement: str) -> str:
    imports = [
        one
        for one in ast.parse(text).body
        if isinstance(one, ast.Import | ast.ImportFrom)
    ]
    lines = text.splitlines(keepends=True)
    end = max((one.end_lineno or 0 for one in imports), default=len(lines))
    return "".join([*lines[:end], f"{statement}\n", *lines[end:]])


def _imported(text: str, module: str, name: str) -> str:
    """Return the text of a module, importing one more name of another one.

    Where nothing is imported from that yet, the import follows the last one.
    """
    imports = [one for one in ast.parse(text).body if isinstance(one, ast.ImportFrom)]
    lines = text.splitlines(keepends=True)
    for node in imports:
        if node.module == module:
            names = [*map(ast.unparse, node.names), name]
            if names.index(name) < len(names) - 1:
                return text
            listed = "".join(f"    {one},\n" for one in names)
            new = [f"from {module} import (\n{listed})\n"]
            lines[node.lineno - 1 : node.end_lineno] = new
            return "".join(lines)
    return _after_imports(text, f"from {module} import {name}")


def _listed(path: Path, text: str, constant: str) -> str:
    """Return the text of a package of checks with one more task in ``TASKS = tasks(…)``.

    Raises:
        CourseError: there is no such statement.
    """
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets) == "TASKS":
            lines = text.splitlines(keepends=True)
            end = sum(map(len, lines[: (node.end_lineno or 0) - 1]))
            end += len(
                lines[(node.end_lineno or 0) - 1]
                .encode()[: node.end_col_offset]
                .decode()
            )
            head = text[:end].rstrip().removesuffix(")").rstrip().removesuffix(",")
            return f"{head},\n    {constant},\n){text[end:]}"
    problem = "It has no `TASKS = tasks(…)`."
    raise CourseError(path, None, problem, "Add the task by hand.")


def _solution(lab: Lab, module: str) -> Path:
    paths = files_of(lab.root, lab.stem)
    if not module:
        return paths[-1]
    for path in paths:
        if path.stem == module:
            return path
    raise CourseError(
        lab.root / "solutions" / lab.stem,
        None,
        f"There is no module {module!r}.",
        f"There are {', '.join(path.stem for path in paths)}; a new one has to be imported "
        "in __init__.py.",
    )


def _replaced(path: Path, old: str, pattern: str, new: str) -> str:
    """The text of a file with the first match of a pattern replaced.

    Raises:
        CourseError: nothing matches.
    """
    text, count = re.subn(pattern, new, old, count=1)
    if not count:
        problem = f"Nothing in it matches {pattern!r}."
        raise CourseError(path, None, problem, "Add the task by hand.")
    return text
