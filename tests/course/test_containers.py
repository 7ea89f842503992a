"""Changes within the lists, tuples and dictionaries that an answer is given are seen."""

from collections import namedtuple

import numpy as np
import pytest
import torch

from course.side_effects import watched

Point = namedtuple("Point", "x y")
CONTENTS = {
    "a list emptied": lambda parts: [parts.pop() for _ in range(2)][-1],
    "a list extended": lambda parts: parts.append(0) or parts[0],
    "another value in a list": lambda parts: parts.__setitem__(1, 0) or parts[0],
    "an array in a list": lambda parts: parts[0].__imul__(2) / 2,
    "a value in a dictionary": lambda table: table.pop("x"),
    "an array in a dictionary": lambda table: table["x"].__imul__(2) / 2,
    "an array in a tuple in a list": lambda pair: pair[0][0].__imul__(2) / 2,
    "an array in a named tuple": lambda parts: parts.x.__imul__(2) / 2,
}


@pytest.mark.parametrize("name", CONTENTS)
def test_changes_within_lists_tuples_and_dictionaries_are_seen(name):
    x = np.arange(3.0)
    given = [(x, x)] if "tuple" in name else {"x": x} if "dict" in name else [x, x]
    given = Point(x, x) if "named" in name else given
    left = []
    with watched(CONTENTS[name], left) as observed:
        assert np.array_equal(np.ravel(observed(given)), x)
    (kind, argument), *_ = left
    assert (kind, argument in ("parts", "table", "pair")) == ("changed", True)
    assert len(given) == (1 if type(given) is dict or "a tuple" in name else 2)
    assert np.array_equal(x, np.arange(3.0))


def test_reading_lists_tuples_and_dictionaries_leaves_nothing():
    given = [np.array([np.nan]), (1, None), {"x": torch.ones(2, requires_grad=True)}]
    given.append(given)
    left = []
    with watched(lambda parts: [*parts], left) as observed:
        array, pair, table, _ = observed(given)
    assert (left, pair) == ([], (1, None))
    assert np.isnan(array).all()
    assert table["x"] is given[2]["x"]  # whose gradient the caller may want
