"""Labels and indices: integers of any size pass, other kinds are told, and no sizes are related."""

import numpy as np
import pytest

from course import check
from course.errors import CheckFailed
from course.probing import integers
from course.relations import told
from course.task import Close
from solutions import acting_on_uncertainty as ref

ACTIONS = "acting-on-uncertainty/bayes-actions"
RIGHT = np.array([2, 0, 1, 1, 3, 0, 2, 4, 1, 3, 2, 5])


def said(answer):
    with pytest.raises(CheckFailed) as caught:
        check(ACTIONS, lambda *case: answer(ref.bayes_actions(*case)))
    return str(caught.value).split("\n\n")[1].replace("\n", " ")


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64])
def test_integers_of_every_size_pass(dtype, capsys):
    check(ACTIONS, lambda *case: ref.bayes_actions(*case).astype(dtype))
    assert capsys.readouterr().out.startswith("✓")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda actions: actions.astype(float), "not a NumPy array of integers"),
        (lambda actions: actions.tolist(), "not a NumPy array of integers"),
        (lambda actions: tuple(actions.tolist()), "not a NumPy array of integers"),
        (lambda actions: actions > 0, "has the dtype bool; an array of shape (1,) of"),
        (lambda actions: "first", "is a str; an array of shape (1,) of integers"),
        (lambda actions: actions[0], "is a single integer; an array of shape (1,)"),
        (lambda actions: None, "it is None"),
    ],
    ids=["float", "list", "tuple", "bool", "str", "single", "none"],
)
def test_another_kind_is_told(answer, words):
    assert words in said(answer)


def test_an_empty_array_may_have_any_dtype_and_a_list_may_not():
    for empty in (np.array([]), np.array([], dtype=int)):
        assert integers("indices", empty)["integer_array"] == 1
    assert integers("indices", [])["integer_array"] == 0


def related(change):
    """Say what relates changed labels to the right ones, in two cases."""
    wants = [RIGHT, RIGHT[::-1] + 1]
    values = [{"labels": np.asarray(change(want), float)} for want in wants]
    right = [{"labels": Close(want, because="", integers=True)} for want in wants]
    return told(values, right, [{"x": np.arange(12.0)}] * 2)


@pytest.mark.parametrize(
    "change",
    [lambda w: 2 * w, lambda w: w**2, lambda w: w + 7, np.cumsum, lambda w: -w - 3],
)
def test_sizes_of_labels_are_not_related(change):
    words = (
        "times",
        "plus",
        "minus",
        "twice",
        "square",
        "sum",
        "exponential",
        "number",
    )
    assert not any(word in related(change) for word in words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda w: w[::-1], "in reverse order along axis 0"),
        (np.sort, "sorted along axis 0"),
        (lambda w: np.where(w > 1, 0, w), "where what is expected is larger than 1"),
        (lambda w: 0 * w, "0 everywhere"),
    ],
)
def test_orders_and_wrong_entries_of_labels_are_said(change, words):
    assert words in related(change)
