"""Cells of the release are recognised after editors have changed ids, metadata and layout."""

import copy
import json

import nbformat
import pytest
from assembled import each_name, order, released
from cell_edits import LAB, read, solved
from student_notebook import cell, code, problems

from grading.submissions.answers import read_answers


def stripped(notebook, how):
    notebook = copy.deepcopy(notebook)
    for number, each in enumerate(notebook["cells"]):
        old = each.pop("id")
        if how == "colab":
            each["metadata"] = {"id": old, "colab": {"base_uri": "https://colab"}}
        elif how == "vscode":
            each["id"] = f"{number:08x}"
            each["metadata"]["vscode"] = {"languageId": "python"}
        elif how == "new ids":
            each |= {"id": f"{number:08x}", "metadata": {}}
        else:
            each["metadata"] = {}
    return notebook


@each_name
def test_a_round_trip_through_another_editor_changes_nothing(name):
    notebook = solved(name)
    intact = read(notebook, name)
    assert len(intact.tasks) == len(order(name))
    assert (intact.added, intact.around, intact.flags) == ((), {}, ())
    bare = {"recovered", "recovered-words"}
    for how, flags in {
        "colab": {"no-ids"},
        "vscode": {"renamed", "found-by-text"},
        "new ids": {"found-by-text", *bare},
        "nothing": {"no-ids", *bare},
    }.items():
        same = read(stripped(notebook, how), name)
        assert (same.tasks, same.written) == (intact.tasks, intact.written), how
        assert (same.added, same.around) == ((), {}), how
        assert problems(same) == flags, how


@pytest.mark.parametrize("bare", [False, True])
def test_version_3_of_a_solved_notebook_changes_nothing(bare):
    notebook = nbformat.reads(json.dumps(solved()), as_version=4)
    old = nbformat.convert(notebook, 3)
    for each in old.worksheets[0].cells if bare else ():
        each.metadata = {}
    answers = read_answers(nbformat.v3.writes_json(old).encode(), released(LAB))
    intact = read(solved())
    assert (answers.tasks, answers.written) == (intact.tasks, intact.written)
    assert (answers.added, answers.around) == ((), {})


@each_name
def test_edited_cells_of_the_release_are_known_without_ids(name):
    notebook = solved(name)
    edited = {}
    for each in released(name).cells:
        longer = len(each.source.splitlines()) > 3
        if each.cell_type == "code" and "course" not in each.metadata and longer:
            source = f"# mine\n{each.source}\nprint('edited')"
            edited[each["id"]] = cell(notebook, each["id"])["source"] = source
    answers = read(stripped(notebook, "new ids"), name)
    assert answers.around == edited
    assert answers.added == ()


def test_a_copy_of_a_released_cell_is_not_the_students_own():
    notebook = solved()
    for each in released(LAB).cells:
        if each.cell_type == "code" and each.metadata.get("course", {}).get("role") != "task":  # fmt: skip
            notebook["cells"].append(code(each.source))
    notebook["cells"].append(code("own = 1"))
    answers = read(notebook)
    assert [own.source for own in answers.added] == ["own = 1"]
    assert answers.around == {}
    assert problems(answers) == set()


def test_what_jupyter_does_changes_nothing():
    notebook, intact = solved(), read(solved())
    for number, each in enumerate(notebook["cells"]):
        each["metadata"] |= {
            "collapsed": True,
            "scrolled": False,
            "editable": True,
            "tags": ["a"],
            "slideshow": {"slide_type": "slide"},
            "jupyter": {"source_hidden": True, "outputs_hidden": True},
        }
        if each["cell_type"] == "code":
            output = {"output_type": "stream", "name": "stdout", "text": ["✓\n"]}
            each |= {"execution_count": number, "outputs": [output] * 3}
        else:
            each["attachments"] = {"image.png": {"image/png": "iVBORw0KGgo="}}
        text = "".join(each["source"])
        each["source"] = text.replace("\n", " \r\n") + "\r\n\r\n"
    answers = read(notebook)
    assert {t: a.source.split() for t, a in answers.tasks.items()} == {
        t: a.source.split() for t, a in intact.tasks.items()
    }
    assert answers.written == {
        t: w.replace("\r", "") for t, w in intact.written.items()
    }
    assert (answers.added, answers.around, answers.flags) == ((), {}, ())
