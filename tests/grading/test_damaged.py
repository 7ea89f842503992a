"""Reading a student's answers from files that are damaged, junk or far too large."""

import contextlib
import copy
import gc
import json
import random
import sys
import time

import pytest
from student_notebook import (
    ANSWER,
    FIRST,
    ONE,
    PATH,
    QUESTION,
    RELEASED,
    cell,
    code,
    codes,
    exercise,
    index,
    problems,
    read,
)

from course.task import stems
from grading.submissions.answers import MAX_ADDED, read_answers
from grading.submissions.cells import MAX_BYTES, NotGradable, load
from grading.submissions.excerpts import additions, definitions
from grading.submissions.labs import KnownLab, lab_of
from grading.submissions.sources import (
    MAX_SOURCE,
    problem_of,
)

KNOWN = {stem: KnownLab(stem) for stem in stems()}

# Python parses it, but cannot traverse the tree recursively.
DEEP = "f = " + "-" * 600 + "1"


@pytest.fixture
def notebook():
    return exercise()


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


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda: load(b"[" * 200_000), id="json"),
        pytest.param(lambda: load(b'{"a":' * 200_000), id="json objects"),
        pytest.param(lambda: problem_of("-" * 90_000 + "1"), id="python"),
        pytest.param(lambda: problem_of("%x\n" + "-" * 90_000 + "1"), id="magic"),
        pytest.param(lambda: definitions(DEEP, ["f"]), id="definition"),
        pytest.param(lambda: definitions(DEEP + ".b", ["f"]), id="value"),
        pytest.param(lambda: additions(DEEP, ""), id="added"),
    ],
)
def test_no_garbage_is_collected_at_the_bottom_of_the_stack(read, collected_in):
    # Near the recursion limit a finalizer would fail, and pytest would report that.
    with contextlib.suppress(NotGradable):
        read()
    assert not collected_in & {"raw_decode", "parse", "visit", "dump", "literal_eval"}
    assert gc.isenabled()


@pytest.fixture
def collected_in():
    """Collect garbage as often as possible; record all functions on the stack then."""
    found = set()

    def note(phase, info):
        frame = sys._getframe()
        while frame := frame.f_back:
            found.add(frame.f_code.co_name)

    before = gc.get_threshold()
    gc.callbacks.append(note)
    gc.set_threshold(1)
    try:
        yield found
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(note)


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
    lab_of(json.dumps(notebook).encode(), "x.ipynb", KNOWN)


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
    start = time.process_time()
    answers = read(notebook)
    assert time.process_time() - start < 30
    assert answers.tasks[FIRST].source == ANSWER
    assert len(answers.added) == MAX_ADDED
    assert codes(answers) == {("too-many-cells", "")}


def test_a_hundred_thousand_copies_of_an_answer_are_survived(notebook):
    same = {"id": ONE, "cell_type": "code"}
    notebook["cells"] += [same | {"source": f"x = {n}"} for n in range(100_000)]
    start = time.process_time()
    answers = read(notebook)
    assert time.process_time() - start < 30
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
    """After flipping, cutting and doubling bytes, only ``NotGradable`` is raised."""
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
        lab_of(bytes(data), "x.ipynb", KNOWN)
        with contextlib.suppress(NotGradable):
            read_answers(bytes(data), RELEASED)
