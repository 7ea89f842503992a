"""Answers in words are found beside their cells, too."""

import pytest
from assembled import released
from cell_edits import read, solved
from student_notebook import cell, codes, index
from test_recovery import delete, write

LAB = "which_method"


def questions():
    """The numbers of the cells for answers in words."""
    cells = released(LAB).cells
    roles = [c.metadata.get("course", {}).get("role") for c in cells]
    return [number for number, role in enumerate(roles) if role == "written"]


def test_an_answer_in_words_is_found_beside_its_cell():
    before = [c["id"] for c in released(LAB).cells]
    notebook = solved(LAB)
    kept, missing, added = (before[number] for number in questions())
    delete(notebook, missing)
    at = index(notebook, kept)
    text = {"cell_type": "markdown", "metadata": {}, "id": "mine", "source": "So."}
    notebook["cells"].insert(at + 1, text)  # a note below an answer is not part of it
    at = index(notebook, before[before.index(missing) - 1])
    notebook["cells"].insert(at + 1, text | {"source": "Because."})
    write(notebook, added, "*Write your answer here.*")
    notebook["cells"].insert(
        index(notebook, added) + 1, text | {"source": "Two hours."}
    )
    answers = read(notebook, LAB)
    assert [*answers.written.values()] == [
        f"Because of {kept}.",
        "Because.",
        "Two hours.",
    ]
    assert codes(answers) == {("recovered-words", missing), ("recovered-words", added)}


@pytest.mark.parametrize("added", ["\n\nBecause.\n\nOf that.", " Because.\n\nOf that."])
def test_an_answer_in_words_is_found_in_the_cell_of_its_question(added):
    ids = [c["id"] for c in released(LAB).cells]
    notebook = solved(LAB)
    for number in questions():
        cell(notebook, ids[number - 1])["source"] += added
    kept, blank, gone = (ids[number] for number in questions())
    write(notebook, blank, "*Write your answer here.*")
    delete(notebook, gone)
    answers = read(notebook, LAB)
    own = f"Because of {kept}."
    assert [*answers.written.values()] == [own, *["Because.\n\nOf that."] * 2]
    assert codes(answers) == {("recovered-words", id_) for id_ in (blank, gone)}
