"""Stored grades: damaged ones are graded again."""

import json
import tempfile
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from grading.record import Flag, Result, Verdict, Written
from grading.store import Store

FULL = Result(
    *("ada", "bayes_by_backprop", "x.ipynb", "0" * 64),
    verdicts=(Verdict("bayes-by-backprop/log-prior", 3, "right", seconds=0.5),),
    written=(Written("bayes-by-backprop/survey", 3, "words", 1.5),),
    flags=(Flag("late", "x.ipynb", "It came late."),),
)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.text(), below),
    max_leaves=4,
)


def places(data, path=()):
    """Yield the paths of all values in JSON data."""
    yield path
    if isinstance(data, dict | list):
        for key in data if isinstance(data, dict) else range(len(data)):
            yield from places(data[key], (*path, key))


def planted(data, path, junk):
    """Return a copy of the data with ``junk`` at this path."""
    if not path:
        return junk
    copy = dict(data) if isinstance(data, dict) else list(data)
    copy[path[0]] = planted(data[path[0]], path[1:], junk)
    return copy


@given(st.sampled_from(list(places(msgspec.to_builtins(FULL)))), JUNK)
def test_a_kept_grade_of_another_shape_is_graded_again(path, junk):
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        store.put("whole", FULL)
        assert store.get("whole") == FULL
        assert store.get("none") is None
        data = planted(msgspec.to_builtins(FULL), path, junk)
        Path(folder, "junk.json").write_text(json.dumps(data))
        found = store.get("junk")
        if found is not None:
            # It is still usable: sums and texts have the right types.
            assert isinstance(found.earned + found.points, int)
            assert isinstance("".join((found.student, found.problem)), str)
            store.put("again", found)
            assert store.get("again") == found
