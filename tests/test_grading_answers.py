"""A student's answers, taken out of notebooks of every condition."""

import contextlib
import copy
import json
import random
import re
import time
from pathlib import Path

import nbformat
import pytest

from course.grading.answers import MAX_ADDED, practical_of, read_answers
from course.grading.cells import MAX_BYTES, NotGradable
from course.grading.excerpts import additions, definitions
from course.grading.flags import FLAGS, LOOK, flag
from course.grading.sources import (
    MAX_SOURCE,
    free,
    problem_of,
    uses,
)
from course.task import stems

ROOT = Path(__file__).parents[1]
PATH = ROOT / "exercises/03-bayes-by-backprop.ipynb"
RELEASED = nbformat.read(PATH, as_version=4)
FIRST, SECOND = "bayes-by-backprop/reparametrise", "bayes-by-backprop/log-posterior"
ONE, TWO = "bayes-by-backprop--reparametrise", "bayes-by-backprop--log-posterior"
TASKS = [
    cell.metadata.course["task"]
    for cell in RELEASED.cells
    if cell.metadata.get("course", {}).get("role") == "task"
]
ANSWER = "def reparametrise(mu, rho, epsilon):\n    return mu"
QUESTION = next(
    cell for cell in RELEASED.cells if cell.metadata.get("course", {}).get("role") == "written"
)  # fmt: skip


@pytest.fixture
def notebook():
    """The exercise as a student opens it, as JSON."""
    return json.loads(PATH.read_text(encoding="utf-8"))


def cell(notebook, id_):
    return next(cell for cell in notebook["cells"] if cell.get("id") == id_)


def index(notebook, id_):
    return [cell.get("id") for cell in notebook["cells"]].index(id_)


def code(source, **rest):
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": []} | rest


def read(notebook):
    return read_answers(json.dumps(notebook).encode(), RELEASED)


def codes(answers):
    return {(flag.code, flag.where) for flag in answers.flags}


def problems(answers):
    return {flag.code for flag in answers.flags}


# --- what is found --------------------------------------------------------------------


def test_an_untouched_notebook_has_every_stub_and_no_flag(notebook):
    answers = read(notebook)
    assert list(answers.tasks) == TASKS
    assert all(answer.untouched for answer in answers.tasks.values())
    assert not any(answer.problem for answer in answers.tasks.values())
    assert set(answers.written.values()) == {""}
    assert answers.added == ()
    assert answers.around == {}
    assert answers.flags == ()


def test_an_answer_is_found_by_id_and_its_lines_may_be_a_list(notebook):
    cell(notebook, ONE)["source"] = ANSWER.splitlines(keepends=True)
    cell(notebook, QUESTION["id"])["source"] = "Because it *is*.\n"
    answers = read(notebook)
    assert answers.tasks[FIRST].source == ANSWER
    assert not answers.tasks[FIRST].untouched
    assert answers.tasks[SECOND].untouched
    assert answers.written[QUESTION.metadata.course["task"]] == "Because it *is*."
    assert answers.flags == ()


def test_whitespace_alone_leaves_a_stub_untouched(notebook):
    stub = cell(notebook, ONE)
    text = "".join(stub["source"])
    stub["source"] = "\n" + text.replace("\n", "  \r\n") + "\n\n"
    assert read(notebook).tasks[FIRST].untouched


def test_code_of_the_students_own_stays_before_the_next_released_cell(notebook):
    at = index(notebook, ONE)
    notebook["cells"].insert(at + 1, code("between = 1"))
    notebook["cells"].insert(at, code("helper = 1"))
    notebook["cells"].insert(at, {"cell_type": "markdown", "source": "note"})
    notebook["cells"].insert(at, {"cell_type": "raw", "source": "raw"})
    notebook["cells"].append(code("last = 1", id="mine"))
    notebook["cells"].append(code("  \n"))
    answers = read(notebook)
    assert [(own.before, own.source) for own in answers.added] == [
        (ONE, "helper = 1"),
        (f"{ONE}--check", "between = 1"),
        ("", "last = 1"),
    ]
    assert len({own.id for own in answers.added}) == 3
    assert answers.flags == ()


def test_an_edited_cell_without_a_role_is_kept_aside(notebook):
    cell(notebook, "c006")["source"] = "def helper(): ..."
    del notebook["cells"][index(notebook, "c008")]
    answers = read(notebook)
    assert answers.around == {"c006": "def helper(): ..."}
    assert answers.flags == ()


def test_text_turned_into_code_is_the_students_own(notebook):
    at = next(i for i, c in enumerate(notebook["cells"]) if c["id"] == ONE) - 1
    assert notebook["cells"][at]["cell_type"] == "markdown"
    notebook["cells"][at] |= code("helper = 1")
    assert [own.before for own in read(notebook).added] == [ONE]


# --- what students and tools do to cells ----------------------------------------------


def test_without_ids_the_metadata_tell(notebook):
    """As nbformat 4.0 and its converters have it."""
    cell(notebook, ONE)["source"] = ANSWER
    notebook["nbformat_minor"] = 0
    for each in notebook["cells"]:
        del each["id"]
    answers = read(notebook)
    assert answers.tasks[FIRST].source == ANSWER
    assert len(answers.tasks) == len(TASKS)
    assert problems(answers) == {"no-ids"}


def test_nbgraders_metadata_tell_too(notebook):
    cell(notebook, ONE)["source"] = ANSWER
    for each in notebook["cells"]:
        del each["id"]
        each["metadata"].pop("course", None)
    answers = read(notebook)
    assert answers.tasks[FIRST].source == ANSWER
    assert problems(answers) == {"no-ids"}


def test_without_any_metadata_the_name_tells(notebook):
    cell(notebook, ONE)["source"] = "# a first try\n" + ANSWER
    for each in notebook["cells"]:
        each["id"] = f"new-{random.random()}"
        each["metadata"] = {}
    answers = read(notebook)
    assert answers.tasks[FIRST].source == "# a first try\n" + ANSWER
    assert len(answers.tasks) == len(TASKS)
    assert ("recovered", ONE) in codes(answers)
    assert not any(ANSWER in own.source for own in answers.added)


def test_version_3_is_read():
    old = nbformat.v3.new_notebook(
        worksheets=[
            nbformat.v3.new_worksheet(
                cells=[
                    nbformat.v3.new_text_cell("markdown", source="words"),
                    nbformat.v3.new_code_cell(input=ANSWER),
                ]
            )
        ]
    )
    answers = read_answers(nbformat.v3.writes_json(old).encode(), RELEASED)
    assert answers.tasks[FIRST].source == ANSWER
    assert {"old-format", "no-ids", "recovered"} <= problems(answers)


def test_version_3_of_the_exercise_itself_keeps_its_metadata(notebook):
    cell(notebook, ONE)["source"] = ANSWER
    cells = [{**each, "input": each.pop("source")} for each in notebook.pop("cells")]
    for each in cells:
        each.pop("id")
    notebook |= {"nbformat": 3, "worksheets": [{"cells": cells}, "nothing"]}
    answers = read(notebook)
    assert answers.tasks[FIRST].source == ANSWER
    assert problems(answers) == {"old-format", "no-ids"}


def test_a_missing_answer_is_flagged(notebook):
    del notebook["cells"][index(notebook, ONE)]
    del notebook["cells"][index(notebook, QUESTION["id"])]
    answers = read(notebook)
    assert FIRST not in answers.tasks
    assert codes(answers) == {
        ("missing-answer", ONE),
        ("missing-written", QUESTION["id"]),
    }


def test_an_empty_answer_is_flagged(notebook):
    cell(notebook, ONE)["source"] = " \n"
    answers = read(notebook)
    assert FIRST not in answers.tasks
    assert codes(answers) == {("empty-answer", ONE)}


@pytest.mark.parametrize("same_id", [True, False])
def test_several_cells_are_joined_in_order(notebook, same_id):
    at = index(notebook, ONE)
    second = copy.deepcopy(notebook["cells"][at]) | {"source": "def more(): ..."}
    if not same_id:
        second["id"] = "pasted"
    notebook["cells"][at]["source"] = ANSWER
    notebook["cells"].insert(at + 2, second)
    answers = read(notebook)
    assert answers.tasks[FIRST].source == f"{ANSWER}\n\ndef more(): ..."
    assert ("duplicated", ONE) in codes(answers)
    assert problems(answers) <= {"duplicated", "reordered"}


def test_a_copy_of_the_stub_does_not_undo_an_answer(notebook):
    at = index(notebook, ONE)
    notebook["cells"].insert(at + 1, copy.deepcopy(notebook["cells"][at]))
    notebook["cells"][at]["source"] = ANSWER
    answers = read(notebook)
    assert answers.tasks[FIRST].source == ANSWER
    assert codes(answers) == {("duplicated", ONE)}


def test_cells_in_another_order_are_found(notebook):
    cell(notebook, ONE)["source"] = ANSWER
    notebook["cells"].reverse()
    answers = read(notebook)
    assert answers.tasks[FIRST].source == ANSWER
    assert problems(answers) == {"reordered"}
    assert next(iter(answers.tasks)) == FIRST


def test_a_cell_with_a_new_id_is_found_and_flagged(notebook):
    cell(notebook, ONE) | {"id": "x"}
    cell(notebook, ONE).update(source=ANSWER, id="3b9c-pasted")
    answers = read(notebook)
    assert answers.tasks[FIRST].source == ANSWER
    assert codes(answers) == {("renamed", ONE)}


def test_the_id_counts_before_the_metadata(notebook):
    one, two = cell(notebook, ONE), cell(notebook, TWO)
    one["metadata"], two["metadata"] = two["metadata"], one["metadata"]
    one["source"], two["source"] = ANSWER, "other = 1"
    answers = read(notebook)
    assert answers.tasks[FIRST].source == ANSWER
    assert answers.tasks[SECOND].source == "other = 1"
    assert codes(answers) == {("retagged", ONE), ("retagged", TWO)}


def test_an_answer_whose_cell_became_text_is_taken(notebook):
    cell(notebook, ONE).update(cell_type="markdown", source=ANSWER)
    cell(notebook, QUESTION["id"]).update(cell_type="code", source="Because.")
    answers = read(notebook)
    assert answers.tasks[FIRST].source == ANSWER
    assert answers.written[QUESTION.metadata.course["task"]] == "Because."
    assert codes(answers) == {("wrong-type", ONE), ("wrong-type", QUESTION["id"])}


def test_checks_and_given_code_that_differ_are_flagged(notebook):
    cell(notebook, f"{ONE}--check")["source"] = "print('✓')"
    cell(notebook, "given--history")["source"] = "train = None"
    del notebook["cells"][index(notebook, f"{TWO}--check")]
    del notebook["cells"][index(notebook, "given--imports")]
    assert codes(read(notebook)) == {
        ("check-edited", f"{ONE}--check"),
        ("given-edited", "given--history"),
        ("check-deleted", f"{TWO}--check"),
        ("given-deleted", "given--imports"),
    }


def test_nbvals_tags_and_comments_are_flagged(notebook):
    cell(notebook, ONE)["metadata"]["tags"] = ["nbval-skip", "mine"]
    cell(notebook, TWO)["metadata"]["tags"] = ["raises-exception"]
    cell(notebook, f"{ONE}--check")["metadata"]["tags"] = ["mine"]
    cell(notebook, TWO)["source"] = "  ##  NBVAL_IGNORE_OUTPUT\nx = 1"
    cell(notebook, "c003")["source"] = "x = '# NBVAL_SKIP'"
    notebook["cells"].append(code("# PYTEST_VALIDATE_IGNORE_OUTPUT"))
    assert codes(read(notebook)) == {
        ("nbval-tag", ONE),
        ("nbval-tag", TWO),
        ("nbval-comment", TWO),
        ("nbval-comment", ""),
    }


def test_another_kernel_or_format_is_flagged(notebook):
    notebook["metadata"]["kernelspec"]["name"] = "ir"
    notebook["nbformat"] = 5
    assert problems(read(notebook)) == {"other-kernel", "old-format"}


# --- what is broken -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b" \n ", "is empty"),
        (b"not json", "not valid JSON from line 1"),
        (b'{"cells": [\n{"cell_type"', "not valid JSON from line 2 on: it may be cut"),
        ('{"cells": []}'.encode("utf-16"), "not text in UTF-8"),
        (b'{"cells": "\xe9"}', "not text in UTF-8"),
        (b"\x89PNG\r\n\x1a\n", "not text in UTF-8"),
        (b"[]", "not a notebook"),
        (b'"cells"', "not a notebook"),
        (b"null", "not a notebook"),
        (b"{}", "no list of cells"),
        (b'{"cells": {}}', "no list of cells"),
        (b'{"worksheets": 3}', "no list of cells"),
        (b'{"cells": []}', "no cells"),
        (b'{"cells": [1, "a", null]}', "no cells"),
        (b'{"worksheets": [{"cells": 3}]}', "no cells"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b'{"cells": ' + b"1" * 10_000 + b"}", "too long a number"),
        (b" " * (MAX_BYTES + 1), "larger than 20 MB"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_no_notebook_is_not_gradable(data, reason):
    with pytest.raises(NotGradable, match=reason) as error:
        read_answers(data, RELEASED)
    assert error.value.reason.endswith(".")
    assert error.value.reason.count(".") == 1


def test_a_byte_order_mark_is_read_over(notebook):
    data = b"\xef\xbb\xbf" + json.dumps(notebook).encode()
    assert read_answers(data, RELEASED).flags == ()


JUNK = [None, 1, 1.5, True, "text", [], {}, [1], {"a": 1}, ["a", 1], [[[]]]]


@pytest.mark.parametrize("junk", JUNK, ids=repr)
def test_junk_anywhere_in_a_notebook_is_survived(notebook, junk):
    cell(notebook, ONE)["source"] = ANSWER
    at = index(notebook, ONE)
    for key in ("cell_type", "id", "metadata", "source", "outputs"):
        broken = copy.deepcopy(notebook["cells"][at]) | {key: junk}
        notebook["cells"].append(broken)
    for key in ("course", "nbgrader", "tags"):
        broken = copy.deepcopy(notebook["cells"][at])
        broken["metadata"][key] = junk
        notebook["cells"].append(broken)
    for key in ("role", "task"):
        broken = copy.deepcopy(notebook["cells"][at])
        broken["metadata"]["course"][key] = junk
        notebook["cells"].append(broken)
    notebook["cells"].append(junk)
    notebook |= {"metadata": junk, "nbformat": junk, "worksheets": junk}
    answers = read(notebook)
    assert answers.tasks[FIRST].source.startswith(ANSWER)
    assert "duplicated" in problems(answers)
    practical_of(json.dumps(notebook).encode(), "x.ipynb", stems())


def test_lone_surrogates_are_replaced_and_pairs_are_kept(notebook):
    cell(notebook, ONE)["source"] = "x = 'SURROGATE \U0001f600'"
    data = json.dumps(notebook).replace("SURROGATE", r"\udc00 \ud83d")
    answers = read_answers(data.encode(), RELEASED)
    assert answers.tasks[FIRST].source == "x = '\ufffd \ufffd \U0001f600'"
    assert problems(answers) == {"bad-characters"}


def test_deep_nesting_in_metadata_is_survived(notebook):
    deep = "[" * 900 + "]" * 900
    cell(notebook, ONE)["metadata"]["course"] = "DEEP"
    data = json.dumps(notebook).replace('"DEEP"', deep)
    assert FIRST in read_answers(data.encode(), RELEASED).tasks


def test_a_hundred_thousand_cells_take_seconds_and_lose_no_answer(notebook):
    cell(notebook, ONE)["source"] = ANSWER
    many = [code("x = 1") for _ in range(100_000)]
    notebook["cells"] = many[:50_000] + notebook["cells"] + many[50_000:]
    start = time.monotonic()
    answers = read(notebook)
    assert time.monotonic() - start < 30
    assert answers.tasks[FIRST].source == ANSWER
    assert len(answers.added) == MAX_ADDED
    assert codes(answers) == {("too-many-cells", "")}


def test_a_hundred_thousand_copies_of_an_answer_are_survived(notebook):
    same = {"id": ONE, "cell_type": "code"}
    notebook["cells"] += [same | {"source": f"x = {n}"} for n in range(100_000)]
    start = time.monotonic()
    answers = read(notebook)
    assert time.monotonic() - start < 30
    assert "longer than" in answers.tasks[FIRST].problem
    assert problems(answers) == {"duplicated"}


def test_huge_sources_are_flagged(notebook):
    cell(notebook, ONE)["source"] = "x = 1\n" * MAX_SOURCE
    cell(notebook, QUESTION["id"])["source"] = "words " * MAX_SOURCE
    notebook["cells"].append(code("#" * (MAX_SOURCE + 1)))
    answers = read(notebook)
    assert "longer than 100,000 characters" in answers.tasks[FIRST].problem
    assert len(answers.written[QUESTION.metadata.course["task"]]) == MAX_SOURCE
    assert answers.added == ()
    assert codes(answers) == {("too-long", ""), ("too-long", QUESTION["id"])}


def test_random_damage_gives_answers_or_not_gradable(notebook):
    """Bytes flipped, cut and doubled: nothing but ``NotGradable`` comes out."""
    rng, original = random.Random(0), PATH.read_bytes()
    for _ in range(60):
        data = bytearray(original)
        for _ in range(rng.choice([1, 3, 30])):
            at = rng.randrange(len(data))
            kind = rng.randrange(3)
            if kind == 0:
                data[at] = rng.randrange(256)
            elif kind == 1:
                del data[at : at + rng.randrange(2000)]
            else:
                data[at:at] = data[at : at + rng.randrange(2000)]
        practical_of(bytes(data), "x.ipynb", stems())
        with contextlib.suppress(NotGradable):
            read_answers(bytes(data), RELEASED)


# --- which practical ------------------------------------------------------------------


def test_the_practical_is_told_by_metadata_then_ids_then_name(notebook):
    def stem(name="submission.ipynb"):
        return practical_of(json.dumps(notebook).encode(), name, stems())

    assert stem("01-deep-ensembles.ipynb") == "bayes_by_backprop"
    notebook["metadata"]["course"] = {"practical": "no_such"}
    assert stem("01-deep-ensembles.ipynb") == "bayes_by_backprop"
    for each in notebook["cells"]:
        each.pop("id")
    assert stem() == "bayes_by_backprop"
    for each in notebook["cells"]:
        each["metadata"] = {}
    assert stem() == ""
    assert stem("doe_77_01-Deep Ensembles (2).ipynb") == "deep_ensembles"
    assert practical_of(b"\xff", "a/deep-ensembles/x.ipynb", stems()) == ""
    assert practical_of(b"\xff", "deep_ensembles.ipynb", stems()) == "deep_ensembles"


# --- sources --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "x = 1",
        "%matplotlib inline\nx = 1",
        "%%time\nx = 1",
        "!ls\nfiles = !ls",
        "x = %timeit -o 1\nint?",
        "    x = 1",
        ">>> x = 1\n>>> y = 2",
        "await something()",
        "'\\d'",
        "def f():\n    return '%' % 1",
        "ls = [1\n, 2]",
        "%pwd\n" * 300 + "(",
    ],
)
def test_what_compiles_in_jupyter_has_no_problem(source):
    assert problem_of(source) == ""


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "empty"),
        ("def f(:\n    pass", "not valid Python: .* in line 1"),
        ("x = (1", "never closed"),
        ("if x:\ny", "expected an indented block"),
        ("x = 1\x00", ""),
        ("\ud800", ""),
        ("x" * (MAX_SOURCE + 1), "longer"),
        ("a" + ".b" * 40_000, "nested too deeply"),
        ("-" * 90_000 + "1", "nested too deeply"),
        ("(" * 90_000, "too many nested parentheses"),
        ("lambda:" * 14_000 + "1", "nested too deeply"),
        ("1" + "+1" * 49_000, "nested too deeply"),
        ("f" + "()" * 49_000, "nested too deeply"),
        ("\t" * 50_000 + "x\n x", ""),
        ("\n".join(" " * n + "if x:" for n in range(200)), ""),
        ("%%time\n(", ""),
        ("=%\\", "not valid Python"),  # IPython raises IndexError
    ],
    ids=lambda value: value[:12],
)
def test_what_does_not_compile_has_one(source, words):
    problem = problem_of(source)
    if source.startswith("%%"):  # IPython hands the body on as text
        assert problem == ""
        return
    assert problem.endswith(".")
    assert re.search(words, problem)


@pytest.mark.parametrize(
    "line", ["%pwd", "x = !ls", "int?", ",f a b", "/f x", "!" * 300, "=%" * 500]
)
def test_many_magics_take_seconds_at_most(line):
    start = time.monotonic()
    problem_of(f"{line}\n" * (MAX_SOURCE // (len(line) + 1)) + "(")
    problem_of(f"{line}\n" * 20 + "x = 1\n" * 16_000 + "(")
    assert time.monotonic() - start < 30


def test_what_a_source_uses():
    source = """
import numpy as np
%timeit f(1)
def g(h, k=default):
    own = h + other
    def inner():
        return own, deep
    return [item for item in items], np, g
class C(Base):
    field = early
    def method(self):
        return later(self.attribute)
lambda x: x + anywhere
before = before + 1
def k(): return own_too
own_too = 1
"""
    right = {"default", "other", "deep", "items", "Base", "early", "later", "anywhere"}
    right |= {"before"}
    own = {"f", "h", "k", "own", "item", "np", "g", "field", "attribute", "x", "C"}
    assert uses(source, right | own | {"own_too"}) == right
    assert uses("x = (", ["x"]) == set()
    assert free("%%time\nf(x)") == {"f", "x"}
    assert free("a" + ".b" * 40_000) == set()
    assert free("a;" * MAX_SOURCE) == set()


def test_definitions_are_whatever_runs_quickly():
    source = """
import os.path, sys, matplotlib.pyplot as plt
from course import check
from . import local
from functools import cache
SIZE, OTHER = 3, 4
rate = train()
@cache
def quick(): ...
@train
def slow(): ...
def helper(x, n=SIZE): return sys, second(x), train()
def second(x): return x
half: object = partial(second, 2)
drawn = plt.figure(1)
shown = check.hint(1)
class Plain(Base):
    def method(self): return train()
class Trained(Base):
    field = train()
helper(1)
%magic
"""
    names = {"os", "plt", "check", "local", "rate", "quick", "slow", "half", "helper"}
    names |= {"drawn", "shown", "Plain", "Trained"}
    assert definitions(source, names, barred={"train"}) == [
        "import os.path",
        "import sys",
        "from functools import cache",
        "SIZE, OTHER = (3, 4)",
        "@cache\ndef quick():\n    ...",
        "def helper(x, n=SIZE):\n    return (sys, second(x), train())",
        "def second(x):\n    return x",
        "half: object = partial(second, 2)",
        "class Plain(Base):\n\n    def method(self):\n        return train()",
    ]
    assert definitions("import sys\n(", {"sys"}) == []


@pytest.mark.parametrize(
    ("edited", "new", "whole"),
    [
        ("import os, sys\nK = 2  # two\ndef f(): ...", "", True),
        ("import os\n%pylab\nimport sys, re\nK = 2\ndef f(): ...", "import re", True),
        ("import os, sys\nK = 2\ndef f(): ...\ng = f()", "g = f()", True),
        ("import os\nK = 2\ndef f(): ...", "", False),  # one is missing
        ("import os, sys\nK = 3\ndef f(): ...\nL = 4", "L = 4", False),
        ("import os, sys, re as f\nK = 2\ndef f(): ...", "", False),
        ("import (", "", False),
    ],
)
def test_what_was_added_to_given_code_is_found(edited, new, whole):
    released = "import os, sys\nK = 2\n\ndef f():\n    ..."
    assert additions(edited, released) == (new, whole)


def test_an_import_added_to_the_given_ones_is_run_and_looks_honest():
    notebook = copy.deepcopy(RELEASED)
    (imports,) = [cell for cell in notebook.cells if cell.id == "given--imports"]
    imports.source += "\nimport scipy.stats as st"
    place = next(n for n, cell in enumerate(notebook.cells) if cell.id == ONE)
    notebook.cells.insert(place, nbformat.v4.new_code_cell("own = 1"))
    answers = read_answers(nbformat.writes(notebook).encode(), RELEASED)
    ids = [cell.id for cell in RELEASED.cells]
    after = ids[ids.index("given--imports") + 1]
    assert {(a.before, a.source) for a in answers.added} == {
        (after, "import scipy.stats as st"),
        (ONE, "own = 1"),
    }
    assert len({a.id for a in answers.added}) == 2
    (extended,) = answers.flags
    assert extended.code == "given-extended"
    assert extended.code not in LOOK


def test_definitions_in_a_long_chain_take_seconds():
    chain = [f"def f{n}(): f{n + 1}" for n in reversed(range(4_000))]
    start = time.monotonic()
    (piece,) = definitions("\n".join(chain), {"f0"})
    assert piece.count("def ") == 4_000
    assert time.monotonic() - start < 30


# --- flags ----------------------------------------------------------------------------


def test_every_flag_is_one_sentence():
    for name, sentence in FLAGS.items():
        assert sentence.endswith(".")
        assert sentence[0].isupper()
        assert name == name.lower()
    assert FLAGS.keys() >= LOOK
    assert flag("link", "a.ipynb", detail="to b").message.endswith("own (to b).")
    with pytest.raises(KeyError):
        flag("no-such-flag")
