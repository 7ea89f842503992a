"""Reading any mutated notebook gives answers, or a reason why there are none."""

import contextlib
import json
import random
import time

import pytest
from assembled import NAMES, order, released, tasks_in
from cell_edits import read, solved
from labs import COURSE
from seeds import SOAK, first_seed
from student_notebook import ONE, cell, code, exercise

from grading.execution.analysis import analyse
from grading.execution.assemble import assemble
from grading.submissions.answers import read_answers
from grading.submissions.cells import NotGradable
from grading.submissions.excerpts import additions, definitions
from grading.submissions.labs import known_labs, lab_of
from grading.submissions.sources import acts, free, problem_of, reached
from grading.submissions.statements import Release, split

# Sources that Python parses but a later reader does not accept, or the reverse.
SOURCES = [
    "def f(a, a): pass",
    "[x := 1 for x in range(3)]",
    "def f():\n    global a\n    nonlocal a",
    "x = 0x" + "f" * 5_000,
    "x = " + "9" * 5_000,
    "x = f'{1!r:{2}}' f\"{'a' 'b'}\" f'{chr(10)}\\n{{'",
    "f = " + "-" * 600 + "1",
    "f = " + "-" * 600 + "1.b",
    "x = " + "a." * 900 + "b",
    "return 1",
    "yield",
    "await x",
    "from __future__ import braces",
    "x = 1\nfrom __future__ import annotations",
    "from . import *",
    "import a.b as c, d.e",
    "global x\nx: int = 1",
    "class C:\n    nonlocal x",
    "x = lambda: (yield)",
    "(a, *b), c[0], d.e = f",
    "match x:\n    case [a, *_] | {'k': a, **r}: pass",
    "try: pass\nexcept* E: pass",
    "@(x := print)\ndef f(): ...",
    "x = 1; y = 2; check('bayes-by-backprop/log-prior', lambda: 1)",
    "check('bayes-by-backprop/log-prior', *x); check(); check.hint()",
    "check('bayes-by-backprop/log-prior', (lambda: " + "9" * 4_000 + "))",
    "\ud800 = 1",
    "x = '\ud800'",
    "x\x00y",
    "\x0cdef f():\n\x0c    pass\u2028",
    "%%time\ndef f(): pass",
    "%%",
    "%%\n",
    "!",
    "?",
    "x?\n(",
    "\\",
    '"""',
    "\tif x:\n  y",
    "# only a comment",
    "def log_prior(a, a): pass",
    "log_prior: int = [log_prior := 1 for x in y]",
    "class log_prior(" + "(" * 90 + ")" * 90 + "): ...",
    "import numpy as log_prior",
    "def log_prior(w, prior_std):\n    return 0x" + "f" * 5_000,
    "x" * 29_990 + " y?",
]
KNOWN = known_labs(COURSE)
RELEASED = {name: released(name) for name in NAMES}
TASKS = {name: set(order(name)) for name in NAMES}
# Some of them also inside compound statements, which may define names.
SOURCES += [
    head + source.replace("\n", "\n    ") + tail
    for source in SOURCES[:11]
    for head, tail in (("if True:\n    ", ""), ("try:\n    ", "\nexcept E: pass"))
]
JUNK = [None, 0, -1.5, True, "", "code", [], {}, [[]], {"id": []}, ["\ud800"], 10**30]


@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: ascii(source)[:30])
def test_source_that_is_read_differently_by_every_reader_is_survived(source):
    release = Release.of(RELEASED["bayes_by_backprop_a"])
    split(source, release)
    problem_of(source)
    free(source)
    acts(source)
    reached("f", {"f": source})
    definitions(source, {"f", "x", "a", "d"})
    additions(source, "import os")
    additions(f"import os\n{source}", "import os")
    notebook = exercise()
    for id_ in (ONE, f"{ONE}--check", "given--imports", "given--history", "c003"):
        cell(notebook, id_)["source"] = "".join(cell(notebook, id_)["source"]) + (
            f"\n{source}"
        )
    cell(notebook, "bayes-by-backprop--log-prior")["source"] = source
    notebook["cells"] += [code(source), code("def f(): return x")]
    notebook["cells"].insert(0, code(f"{source}\nprint(1)"))
    take(json.dumps(notebook).encode(), "bayes_by_backprop_a")


def take(data, lab):
    """Read a notebook and assemble it, as grading does."""
    with contextlib.suppress(NotGradable):
        answers = read_answers(data, RELEASED[lab])
        lab_of(data, "x.ipynb", KNOWN)
        judged = TASKS[lab] & answers.tasks.keys()
        added = {one.id for one in answers.added}
        names = {id_: task.name for id_, task in tasks_in(lab).items()}
        todo = [id_ for id_ in judged if not answers.tasks[id_].problem]
        known = analyse(answers, RELEASED[lab], todo, names, {})
        probes = dict.fromkeys(judged, "probe = 1")
        assemble(RELEASED[lab], answers, judged, {}, probes, effects=known.effects)
        for reduced in (set(), added):
            assemble(RELEASED[lab], answers, judged, probes, probes, (), reduced)


# --- mutants --------------------------------------------------------------------------


def spots(value, found):
    """List every container with each of its keys or indices."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(pairs):
        found.append((value, key))
        if isinstance(inner, dict | list):
            spots(inner, found)
    return found


def mutate_json(notebook, rng):
    """Replace, delete or copy something anywhere in the file."""
    found = spots(notebook, [])
    holder, key = rng.choice(found)
    kind = rng.randrange(4)
    if kind == 0:
        holder[key] = rng.choice(JUNK)
    elif kind == 1:
        del holder[key]
    else:
        other, at = rng.choice(found)
        with contextlib.suppress(LookupError, ValueError):
            holder[key] = json.loads(json.dumps(other[at]))


def mutate_source(notebook, rng):
    """Cut, double, mix or replace the source of a cell."""
    cells = notebook.get("cells")
    cells = cells if isinstance(cells, list) else []
    cells = [c for c in cells if isinstance(c, dict)]
    cells = [c for c in cells if isinstance(c.get("source"), list | str)]
    if not cells:
        return
    one, two = rng.choice(cells), rng.choice(cells)
    text, other = ("".join(map(str, c["source"])) for c in (one, two))
    at, to = sorted(rng.randrange(len(text) + 1) for _ in "ab")
    one["source"] = rng.choice(
        [
            text[:at] + text[to:],
            text[:at] + text[at:to] * 2 + text[to:],
            text[:at] + other + text[at:],
            f"{text}\n{rng.choice(SOURCES)}",
            f"{rng.choice(SOURCES)}\n{text}",
            rng.choice(SOURCES),
            text[:at]
            + rng.choice("()[]{}'\"\\\t\n\r\x0c\x00:;,=%!?@\u2028")
            + text[at:],
            other,
        ]
    )


def mutate_cells(notebook, rng):
    """Move, copy or delete a cell, or remove ids and metadata."""
    cells = notebook.get("cells")
    if not isinstance(cells, list) or not cells:
        return
    at = rng.randrange(len(cells))
    kind = rng.randrange(5)
    if kind == 0:
        cells.insert(rng.randrange(len(cells)), cells.pop(at))
    elif kind == 1:
        cells.insert(rng.randrange(len(cells)), json.loads(json.dumps(cells[at])))
    elif kind == 2:
        del cells[at]
    else:
        for one in cells if kind == 3 else cells[at : at + 1]:
            if isinstance(one, dict):
                one.pop("id", None)
                one["metadata"] = {}


def mutant(lab, rng):
    notebook = solved(lab) if rng.random() < 0.7 else solved(lab, tasks=["none"])
    for _ in range(rng.choice([1, 2, 4, 8, 16])):
        rng.choice([mutate_json, mutate_source, mutate_source, mutate_cells])(
            notebook, rng
        )
    return json.dumps(notebook).encode()


def fuzz(count, seed):
    rng = random.Random(seed)
    for number in range(count):
        lab = rng.choice(NAMES)
        data = mutant(lab, rng)
        try:
            take(data, lab)
        except Exception as error:
            raise AssertionError(f"mutant {number} of seed {seed}") from error


@pytest.mark.parametrize("seed", range(40) if SOAK else [first_seed()])
def test_mutated_notebooks_give_answers_or_not_gradable(seed):
    fuzz(25, seed)


# --- time to read ---------------------------------------------------------------------

LARGE = {
    "statements": lambda: [code("a;" * 49_000)] * 150,
    "definitions": lambda: [
        code("\n".join(f"def f{n}_{m}(): f{n + 1}_{m}" for n in range(4_000)))
        for m in range(100)
    ],
    "needs": lambda: [
        code("\n".join(f"a{n} = a{n + 1}" for n in range(5_000))),
        code("def log_prior(w, s):\n    return a0"),
    ],
    "answers": lambda: [code("def log_prior(): 0\n" * 5_000)] * 150,
    "blank lines": lambda: [code("x = 1\n" + "\n" * 99_000)] * 90,
    "tokens": lambda: [code("( a , b )" * 2_000)] * 1_000,
    "brackets": lambda: [code("(" * 99_000)] * 150,
    "texts": lambda: (
        [{"cell_type": "markdown", "metadata": {}, "source": "# " * 9_000}] * 1_000
    ),
    "copies": lambda: [code("".join(cell(exercise(), "c008")["source"]))] * 10_000,
    "words": lambda: [{"cell_type": "markdown", "source": "so"}] * 100_000,
}


@pytest.mark.long
@pytest.mark.parametrize("what", LARGE)
def test_a_large_notebook_takes_seconds(what):
    notebook = exercise()
    notebook["cells"] += LARGE[what]()
    start = time.process_time()
    read(notebook)
    assert time.process_time() - start < 12
