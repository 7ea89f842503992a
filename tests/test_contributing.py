"""The recipes of CONTRIBUTING.md, followed literally in a temporary copy of the project."""

import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = ("Add a task", "Add a misconception", "Add a chapter")

TASK = '''

def halved(x: float) -> float:
    """Half of a number."""
    # Division does it.
    ### BEGIN SOLUTION
    return x / 2
    ### END SOLUTION
'''
CHECK = """

def _halved_cases(rng):
    return [{"x": float(x)} for x in rng.uniform(1, 2, 3)]


def _halved_probe(answer, x):
    return {"half": answer(x)}


def _halved_oracle(x):
    return {"half": Close(0.5 * x, rtol=1e-12, because="double precision")}


HALVED = Task(
    name="halved",
    points=1,
    cases=_halved_cases,
    probe=_halved_probe,
    oracle=_halved_oracle,
    misconceptions=[
        Misconception(lambda x: 2 * x, "you double the number."),
        Misconception(lambda x: -x / 2, "you flip the sign."),
    ],
    hints=["Divide."],
)
"""
EXERCISE = """
````{{exercise}} Halve it
:label: {stem}/halved

```{{task-info}} {stem}/halved
:minutes: 1
:level: core
```

Write `halved`.
````

```{{code-cell}} ipython3
:tags: [task]

from solutions.{module} import halved
```

```{{code-cell}} ipython3
:tags: [check]

check("{stem}/halved", halved)
```
"""
CHAPTER = """
# Halves

```{code-cell} ipython3
from course import check
```
"""


def recipe(title):
    """Return the numbered lines of a recipe."""
    section = TEXT.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\d+\. .+$", section, re.MULTILINE)


def commands(title, **names):
    """Return the commands of a recipe, with its placeholders filled in."""
    found = re.findall(r"`((?:course|python) [^`]+)`", " ".join(recipe(title)))
    for placeholder, name in names.items():
        found = [line.replace(f"<{placeholder}>", name) for line in found]
    assert found
    assert not any("<" in line for line in found)
    return found


def versioned(pattern="*"):
    """Return the names of existing files under version control."""
    files = subprocess.check_output(
        ["git", "ls-files", "-z", "--", pattern], cwd=ROOT, text=True
    )
    return [name for name in files.split("\0") if (ROOT / name).is_file()]


@pytest.fixture
def copy(tmp_path):
    for name in versioned():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


def run(root, line):
    program, *arguments = line.split()
    module = ["-m", "commands"] if program == "course" else []
    return subprocess.run(
        [sys.executable, *module, *arguments],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def follow(root, title, **names):
    for line in commands(title, **names):
        done = run(root, line)
        assert done.returncode == 0, f"{line}\n{done.stdout[-3000:]}"
    return done.stdout


def append(path, text):
    path.write_text(path.read_text("utf-8") + text, encoding="utf-8")


def replace(path, old, new):
    text = path.read_text("utf-8")
    assert old in text, path
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def fill(path, start, text):
    """Replace everything from ``start`` on."""
    before, found, _ = path.read_text("utf-8").partition(start)
    assert found, path
    path.write_text(before + text, encoding="utf-8")


def todo(root):
    """Return the names of files in which something is left to do."""
    names = [
        p for top in ("book", "course", "solutions") for p in (root / top).rglob("*")
    ]
    return {
        path.relative_to(root).as_posix()
        for path in names
        if path.suffix in (".md", ".py") and "TODO" in path.read_text("utf-8")
    }


def test_nothing_is_left_to_do():
    assert todo(ROOT) == set()


def test_no_python_file_is_longer_than_it_says():
    most = int(re.search(r"longer than (\d+) lines", TEXT)[1])
    names = versioned("*.py")
    assert len(names) > 100
    lines = {name: len((ROOT / name).read_bytes().splitlines()) for name in names}
    assert {name: n for name, n in lines.items() if n > most} == {}


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_has_at_most_ten_lines(title):
    assert 1 <= len(recipe(title)) <= 10


@pytest.mark.long
def test_a_task_and_then_a_misconception_are_added_by_the_book(copy):
    stem = "approximate_inference"
    first, *others = commands("Add a task", lab=f"{stem}_a", name="halved")
    done = run(copy, f"{first} --module hmc")
    assert done.returncode == 0, done.stdout
    left = todo(copy)
    assert {name.split("/")[0] for name in left} == {"book", "course", "solutions"}
    assert all(name in done.stdout for name in left)
    tested = others[-1].replace("tests/course", "tests/course/test_tasks.py")
    done = run(copy, f"{tested} -x")
    assert done.returncode == 1, done.stdout  # a skeleton is no task

    solution = copy / "solutions" / stem / "hmc.py"
    check = copy / "course/checks" / stem / "hmc.py"
    fill(solution, "\n\ndef halved", TASK)
    fill(check, "\n\ndef _halved_cases", CHECK)
    replace(check, '"""TODO: what these tasks are about."""', '"""Halves."""')
    chapter = copy / "book/02a-approximate-inference.md"
    replace(chapter, "TODO: title", "Halve it")
    replace(chapter, "TODO: the prompt.", "Write `halved`.")
    replace(chapter, "TODO, in half a sentence.", "a half.")
    for kind, answer in (("right", "0.5 * x"), ("wrong", "0.5001 * x")):
        answers = copy / f"tests/{kind}_answers/{stem}.py"
        replace(answers, '# "what it does": lambda x: …', f'"one": lambda x: {answer}')
    assert todo(copy) == set()
    for line in others:
        done = run(copy, line)
        assert done.returncode == 0, f"{line}\n{done.stdout[-3000:]}"
    said = done.stdout
    assert " passed" in said
    notebook = (copy / "exercises/02a-approximate-inference.ipynb").read_text()
    assert "approximate-inference--halved--check" in notebook

    # A misconception that is right, and a duplicate of another one, are rejected.
    old = '        Misconception(lambda x: -x / 2, "you flip the sign."),\n'
    wrong = "".join(
        f'        Misconception(lambda x: {answer}, "you {do} it."),\n'
        for answer, do in (("x / 2", "halve"), ("2 * x", "twice"))
    )
    replace(check, old, old + wrong)
    names = {"name": "halved", "id": "approximate-inference/halved"}
    said = run(copy, commands("Add a misconception", **names)[0]).stdout
    assert "2 failed, " in said, said[-3000:]
    assert "DID NOT RAISE" in said, said[-3000:]  # the right one passes the check
    assert "assert 'you twice it.' in" in said, said[-3000:]
    replace(check, old + wrong, old)
    new = '        Misconception(lambda x: x // 2, "you round down."),\n'
    replace(check, old, old + new)
    follow(copy, "Add a misconception", **names)


@pytest.mark.long
def test_a_chapter_is_added_by_the_book(copy):
    head = (copy / "book/04a-calibration-and-flows.md").read_text("utf-8")
    head = head[: head.index("---", 3) + 4]
    exercise = EXERCISE.format(stem="halves", module="halves")
    (copy / "book/09-halves.md").write_text(head + CHAPTER + exercise, "utf-8")
    last = "      - file: book/05-which-method\n"
    replace(copy / "_toc.yml", last, last + "      - file: book/09-halves\n")
    (copy / "solutions/halves.py").write_text('"""Halves."""' + TASK, "utf-8")
    checks = copy / "course/checks/halves/__init__.py"
    checks.parent.mkdir()
    checks.write_text(
        '"""Checks of halves."""\n\n'
        "from course.task import Close, Misconception, Task, tasks\n"
        + CHECK
        + "\nTASKS = tasks(__name__, HALVED)\n",
        "utf-8",
    )
    said = follow(copy, "Add a chapter", stem="halves")
    assert " passed" in said
    assert (copy / "exercises/09-halves.ipynb").exists()
