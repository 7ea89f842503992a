"""Reading a student's answers from notebooks that students and tools have edited."""

import copy
import json
import random

import nbformat
import pytest
from student_notebook import (
    ANSWER,
    FIRST,
    ONE,
    QUESTION,
    RELEASED,
    SECOND,
    TASKS,
    TWO,
    cell,
    code,
    codes,
    exercise,
    index,
    problems,
    read,
)

from course.task import stems
from grading.flags import FLAGS, LOOK, flag
from grading.submissions.answers import read_answers
from grading.submissions.labs import KnownLab, lab_of

KNOWN = {stem: KnownLab(stem) for stem in stems()}


@pytest.fixture
def notebook():
    return exercise()


# --- reading answers ------------------------------------------------------------------


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


# --- cells edited by students and tools -----------------------------------------------


def test_without_ids_the_metadata_tell(notebook):
    """nbformat 4.0 has no cell ids, and converters to it drop them."""
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


@pytest.mark.parametrize("first", [True, False])
def test_an_unfinished_copy_does_not_undo_an_answer(notebook, first):
    at = index(notebook, ONE)
    copied = copy.deepcopy(notebook["cells"][at]) | {"source": "def half(x:\n    re"}
    notebook["cells"][at]["source"] = ANSWER
    notebook["cells"].insert(at + (not first), copied)
    answers = read(notebook)
    assert answers.tasks[FIRST].source == ANSWER
    assert answers.tasks[FIRST].problem == ""


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


@pytest.mark.parametrize("source", ["", "# {}", "# tried: {}\n# later"])
def test_a_check_that_is_commented_out_is_deleted_and_no_reason_to_look(
    notebook, source
):
    one = cell(notebook, f"{ONE}--check")
    one["source"] = source.format(one["source"])
    assert codes(read(notebook)) == {("check-deleted", f"{ONE}--check")}
    assert "check-deleted" not in LOOK


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


# --- identifying the practical --------------------------------------------------------


def test_the_practical_is_told_by_metadata_then_ids_then_checks_then_name(notebook):
    def stem(name="submission.ipynb"):
        return lab_of(json.dumps(notebook).encode(), name, KNOWN)[0]

    assert stem("01a-deep-ensembles.ipynb") == "bayes_by_backprop"
    notebook["metadata"]["course"] = {"practical": "no_such"}
    assert stem("01a-deep-ensembles.ipynb") == "bayes_by_backprop"
    for each in notebook["cells"]:
        each["metadata"]["id"] = each.pop("id")  # as Colab does
    notebook["cells"][50]["metadata"].pop("course", None)
    assert stem() == "bayes_by_backprop"
    for each in notebook["cells"]:
        each["metadata"] = {}
    assert stem("01a-deep-ensembles.ipynb") == "bayes_by_backprop"
    notebook["cells"] = [c for c in notebook["cells"] if c["source"][0][:6] != "check("]
    assert stem() == ""
    assert stem("doe_77_01-Deep Ensembles (2).ipynb") == "deep_ensembles"
    assert lab_of(b"\xff", "a/deep-ensembles/x.ipynb", KNOWN)[0] == ""
    assert lab_of(b"\xff", "deep_ensembles.ipynb", KNOWN)[0] == "deep_ensembles"


# --- flags ----------------------------------------------------------------------------


def test_every_flag_is_one_sentence():
    for name, sentence in FLAGS.items():
        assert sentence.endswith(".")
        assert sentence[0].isupper()
        assert name == name.lower()
    assert FLAGS.keys() >= LOOK
    assert flag("link", "a.ipynb", detail="to b").message.endswith("itself (to b).")
    with pytest.raises(KeyError):
        flag("no-such-flag")
