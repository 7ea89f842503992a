"""Answers in words are found beside their cells, too."""

import pytest
from assembled import released
from cell_edits import read, solved
from student_notebook import cell, codes, index
from test_recovery import delete, write

LAB, STUB = "which_method", "*Write your answer here.*"


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
    typed = "Because.\n\nOf that."
    own = f"Because of {kept}.\n\n{typed}"
    assert [*answers.written.values()] == [own, typed, typed]
    assert codes(answers) == {("recovered-words", ids[n]) for n in questions()}


CODE = "Because:\n\n```\nfor x in y:\n    print(x)\n```"


@pytest.mark.parametrize(
    ("above", "own", "text"),
    [
        (lambda q: f"{q}\n\n{CODE}", STUB, CODE),
        (lambda q: f"> {q}\n\n{CODE}", STUB, CODE),
        (lambda q: f"> {q}", STUB, ""),  # only the question was edited
        (lambda q: q.upper(), STUB, ""),
        (lambda q: f"{q}\n\n{STUB}", None, None),  # merged
        (lambda q: f"{q}\n\nSo.", "See above.", "See above.\n\nSo."),
    ],
    ids=["indented", "edited", "quoted", "capitals", "merged", "both"],
)
def test_what_is_new_in_the_cell_of_a_question_is_the_answer(above, own, text):
    ids = [c["id"] for c in released(LAB).cells]
    notebook, number = solved(LAB), questions()[1]
    asked = cell(notebook, ids[number - 1])
    asked["source"] = above("".join(asked["source"]))
    write(notebook, ids[number], own) if own else delete(notebook, ids[number])
    answers = read(notebook, LAB)
    written = answers.written.get(ids[number].replace("--", "/"))
    assert written == text
    assert (("recovered-words", ids[number]) in codes(answers)) == bool(text)


def test_an_answer_in_words_is_found_in_the_text_below_its_cell():
    cells = released(LAB).cells
    notebook = solved(LAB)
    number = next(n for n in questions() if n + 2 not in questions())
    write(notebook, cells[number]["id"], STUB)
    below = cell(notebook, cells[number + 1]["id"])
    below["source"] = f"Because.\n\n{''.join(below['source'])}"
    answers = read(notebook, LAB)
    assert answers.written[cells[number]["id"].replace("--", "/")] == "Because."
