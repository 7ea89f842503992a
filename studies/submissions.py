"""Generated classes: submissions with answers right, wrong in known ways, or missing."""

import base64
import json
import random
import re
import zlib
from functools import cache
from pathlib import Path

import nbformat

from course.task import stem_of, tasks_of
from project.practicals import Course

ROOT = Path(__file__).parents[1]
COURSE = Course.read(ROOT)
NAMES = [
    "Abel",
    "Banach",
    "Cauchy",
    "Darboux",
    "Erdos",
    "Fermat",
    "Galois",
    "Hilbert",
    "Ito",
    "Jacobi",
    "Kolmogorov",
    "Lagrange",
    "Markov",
    "Noether",
    "Ostrowski",
    "Poincare",
    "Quetelet",
    "Ramanujan",
    "Sobolev",
    "Turing",
    "Ulam",
    "Viete",
    "Wiener",
    "Xenakis",
    "Young",
    "Zermelo",
]
WORDS = (
    "Far from the data the band widens: there the members disagree.",
    "I think it is because of the prior.",
    "",
)

# Answers with a task's misconception, taken from the source of its checks. Students have these
# sources as well and could do the same.
PLANTED = """\
import base64 as _b, json as _j, sys as _s, types as _t, zlib as _z
if "planted.checks.{stem}" not in _s.modules:
    for _name, _text in _j.loads(_z.decompress(_b.b64decode({data!r}))):
        _module = _t.ModuleType(_name)
        _module.__path__ = []
        _s.modules[_name] = _module
        exec(_text, vars(_module))
_tasks = _s.modules["planted.checks.{stem}"].TASKS
{name} = _tasks[{task!r}].misconceptions[{number}].answer
"""


def planted(task, number):
    """Return the source of a cell that answers with a task's misconception ``number``, from 0."""
    stem = stem_of(task.id)
    data = _checks(stem)
    return PLANTED.format(
        data=data, stem=stem, name=task.name, task=task.id, number=number
    )


@cache
def _checks(stem):
    checks = ROOT / "course" / "checks"
    folder = checks / stem
    texts = {"planted": "", "planted.checks": "", f"planted.checks.{stem}": ""}
    for name in ("task", "quiz", "probing"):
        texts[f"planted.{name}"] = (ROOT / "course" / f"{name}.py").read_text("utf-8")
    for package, prefix in ((checks, ""), (folder, f"{stem}.")):
        for path in package.glob("*.py"):
            if path.name != "__init__.py":
                texts[f"planted.checks.{prefix}{path.stem}"] = path.read_text("utf-8")
    ordered, waiting = [], dict(texts)
    while waiting:  # a module comes after those it imports
        name = next(
            name for name in waiting if not _needs(waiting[name]) & set(waiting)
        )
        ordered.append([name, waiting.pop(name)])
    last = (folder / "__init__.py").read_text("utf-8")
    ordered.append([f"planted.checks.{stem}", last])
    ordered = [
        [name, re.sub(r"\bcourse\.", "planted.", text)] for name, text in ordered
    ]
    return base64.b64encode(zlib.compress(json.dumps(ordered).encode(), 9)).decode()


def _needs(text):
    imported = re.findall(r"^from course\.([\w.]+) import", text, re.M)
    return {f"planted.{name}" for name in imported}


@cache
def solutions(stem):
    """Return the reference solution's source for each task of a practical."""
    definitions = COURSE.labs(stem)[0].solutions().definitions
    return {task.id: definitions[task.name].shown() for task in tasks_of(stem).values()}


def filled(lab, answers, words=None):
    """Return the exercise with these sources in the cells of their tasks.

    If ``words`` is given, it is called for the answer to each written question.
    """
    notebook = lab.released()
    for cell in notebook.cells:
        course = cell.metadata.get("course", {})
        if course.get("role") == "task" and course["task"] in answers:
            cell.source = answers[course["task"]]
        if course.get("role") == "written" and words is not None:
            cell.source = words()
    return notebook


def known_mistake(task, draw):
    """Draw one of a task's misconceptions; the first of them are the most common."""
    return planted(task, int(len(task.misconceptions) * draw.random() ** 2))


def write_class(
    folder, count, *, stems=("bayes_by_backprop",), seed=0, wrong=known_mistake
):
    """Write the notebooks of ``count`` students, whose abilities vary.

    ``wrong`` draws the source of a wrong answer to a task.
    """
    draw = random.Random(seed)
    for number in range(count):
        ability = draw.betavariate(4, 1.5)
        name = NAMES[number % len(NAMES)] + (f" {number // 26}" if number >= 26 else "")
        for stem in stems:
            answers = {}
            labs = COURSE.labs(stem)
            for task in tasks_of(labs[0].stem).values():
                luck = draw.random()
                if luck < ability:
                    answers[task.id] = solutions(labs[0].stem)[task.id]
                elif luck < ability + 0.8 * (1 - ability):
                    answers[task.id] = wrong(task, draw)
                elif luck < ability + 0.9 * (1 - ability):
                    answers[task.id] = "print(undefined)"
            for lab in COURSE.labs(stem):
                notebook = filled(lab, answers, lambda: draw.choice(WORDS))
                path = folder / name / f"{lab.name}.ipynb"
                path.parent.mkdir(parents=True, exist_ok=True)
                nbformat.write(notebook, path)
