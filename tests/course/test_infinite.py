"""Infinite values are worded and shown as such; so are results of another kind than asked for."""

import numpy as np
import pytest

from course import check
from course.errors import CheckFailed
from course.relations import told
from course.task import Close
from solutions import acting_on_uncertainty as ref

HALVES = {
    "infinite_low": Close([0, 0], because=""),
    "low": Close([1.5, 2.5], rtol=1e-9, because=""),
}
INFINITE = {
    "infinite_low": Close([-1, -1], because=""),
    "low": Close([0, 0], rtol=1e-9, because=""),
}


def said(name, answer):
    with pytest.raises(CheckFailed) as caught:
        check(f"acting-on-uncertainty/{name.replace('_', '-')}", answer)
    return " ".join(str(caught.value).split())


@pytest.mark.parametrize("change", [np.ndarray.tolist, lambda q: tuple(q.tolist())])
def test_a_list_is_told_by_the_name_of_the_value(change):
    message = said(
        "weighted_quantile", lambda *case: change(ref.weighted_quantile(*case))
    )
    assert "`quantiles` is a " in message
    assert "; an array of shape (1,) of floating-point numbers is expected" in message


def test_what_is_infinite_is_worded_and_shown():
    def infinite(scores, weights, new_weights, alpha):
        found = ref.weighted_quantile(scores, weights, new_weights, alpha)
        return np.where(found > np.median(scores), np.inf, found)

    def finite(scores, alpha):
        return min(ref.conformal_quantile(scores, alpha), 1e6)

    message = said("weighted_quantile", infinite)
    assert "`quantiles` is infinite where it should be finite." in message
    assert "inf" in message.partition("returned")[2].partition("expected")[0]
    message = said("conformal_quantile", finite)
    assert "`quantile` is finite where it should be infinite." in message
    assert "quantile = 1000000. expected quantile = inf" in message
    message = said(
        "split_interval", lambda *case: tuple(np.abs(ref.split_interval(*case)))
    )
    assert "`infinite" not in message


def test_what_is_not_a_number_is_not_called_finite():
    def undefined(scores, alpha):
        found = ref.conformal_quantile(scores, alpha)
        return np.nan if np.isinf(found) else found

    message = said("conformal_quantile", undefined)
    assert "`quantile` contains nan, which is not a number." in message
    assert "returned quantile = nan expected quantile = inf" in message


def test_relations_are_those_of_finite_inputs():
    half = [
        {"infinite_low": np.zeros(2), "low": np.array([0.75, 1.25])},
        {"infinite_low": -np.ones(2), "low": np.zeros(2)},
    ]
    sentence = told(half, [HALVES, INFINITE], [{}, {}])
    assert "half" in sentence or "0.5" in sentence
    assert "on every input with a finite result" in sentence
    half[1]["infinite_low"] = np.ones(2)
    assert told(half, [HALVES, INFINITE], [{}, {}]) == ""


def test_one_array_is_not_two_values():
    for change in (lambda ends: np.stack(ends, 1), lambda ends: ends[0]):
        message = said(
            "split_interval", lambda *case, c=change: c(ref.split_interval(*case))
        )
        assert "does not return 2 values: `low` and `high` are expected" in message
        assert "unpack" not in message


def test_a_number_is_no_matrix_without_an_inverse():
    def scores(features, labels, new):
        return np.linalg.inv(np.cov(features.T))[0, 0] * new[:, 0]

    def of_zeros(features, labels, new):
        return np.linalg.inv(np.zeros((2, 2)))

    message = said("mahalanobis_scores", scores)
    assert "LinAlgError" in message
    assert "no inverse" not in message
    assert "np.atleast_2d" in message
    message = said("mahalanobis_scores", of_zeros)
    assert "The matrix has no inverse." in message
    assert "prior" not in message


def test_integers_are_shown_without_a_point():
    message = said("bayes_actions", lambda *case: ref.bayes_actions(*case) * 0 + 7)
    assert "actions = [7] expected actions = [" in message
    assert ".]" not in message.partition("returned")[2]
