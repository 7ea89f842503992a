"""Practical 6, lab a: intervals and sets agree with those of MAPIE on the same scores."""

import numpy as np
import pytest
from mapie.classification import SplitConformalClassifier
from mapie.conformity_scores import ResidualNormalisedScore
from mapie.regression import ConformalizedQuantileRegressor, SplitConformalRegressor
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from solutions import acting_on_uncertainty as ref

SIZES = [(60, 0.1), (59, 0.1), (31, 0.07), (100, 0.25), (20, 0.4)]
SEED = 11
each_size = pytest.mark.parametrize(("n", "alpha"), SIZES)


class Column(RegressorMixin, BaseEstimator):
    """A fitted model whose forecast is a column of its input."""

    def __init__(self, column=0):
        self.column = column
        self.fitted_ = True

    def fit(self, x, y):
        return self

    def predict(self, x):
        return x[:, self.column]


class Rows(ClassifierMixin, BaseEstimator):
    """A fitted model whose forecast probabilities are its input."""

    def __init__(self, k=5):
        self.k = k
        self.classes_ = np.arange(k)

    def fit(self, x, y):
        return self

    def predict_proba(self, x):
        return x

    def predict(self, x):
        return x.argmax(axis=1)


def regression(n, new=40, seed=0):
    """Return targets and columns of forecasts: mean, standard deviation, lower and upper end."""
    rng = np.random.default_rng(seed)
    mean, std = rng.normal(0, 3, n + new), rng.uniform(0.5, 2, n + new)
    y = mean + std * rng.normal(size=n + new) + 0.3
    ends = mean - rng.uniform(1, 2, n + new), mean + rng.uniform(0.5, 2, n + new)
    x = np.column_stack([mean, std, *ends])
    return y[:n], x[:n], x[n:]


def forecasts(n, new=200, k=5, seed=1):
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(k, 0.7), n + new)
    labels = (rng.uniform(size=(n, 1)) > probs[:n].cumsum(1)).sum(1).clip(max=k - 1)
    return labels, probs[:n], probs[n:]


def agree(ends, intervals):
    assert np.all(ends[0] < ends[1])
    np.testing.assert_allclose(np.stack(ends, axis=1), intervals[..., 0], atol=1e-9)


@each_size
def test_split_intervals(n, alpha):
    y, x, new = regression(n)
    model = SplitConformalRegressor(Column(), confidence_level=1 - alpha, prefit=True)
    _, intervals = model.conformalize(x, y).predict_interval(new)
    agree(ref.split_interval(y, x[:, 0], new[:, 0], alpha), intervals)


@each_size
def test_intervals_scaled_by_a_standard_deviation(n, alpha):
    y, x, new = regression(n)
    score = ResidualNormalisedScore(Column(1), prefit=True)
    model = SplitConformalRegressor(
        Column(), confidence_level=1 - alpha, conformity_score=score, prefit=True
    )
    _, intervals = model.conformalize(x, y).predict_interval(new)
    ends = ref.scaled_interval(y, *x[:, :2].T, *new[:, :2].T, alpha)
    agree(ends, intervals)


@each_size
def test_intervals_around_quantiles(n, alpha):
    y, x, new = regression(n)
    model = ConformalizedQuantileRegressor(
        [Column(2), Column(3), Column(0)], confidence_level=1 - alpha, prefit=True
    )
    model.conformalize(x, y)
    _, intervals = model.predict_interval(new, symmetric_correction=True)
    ends = ref.cqr_interval(y, *x[:, 2:].T, *new[:, 2:].T, alpha)
    agree(ends, intervals)


@each_size
def test_least_ambiguous_sets(n, alpha):
    labels, probs, new = forecasts(n)
    model = SplitConformalClassifier(
        Rows(), confidence_level=1 - alpha, conformity_score="lac", prefit=True
    )
    _, sets = model.conformalize(probs, labels).predict_set(new)
    own = ref.least_ambiguous_scores(probs)[np.arange(n), labels]
    found = ref.least_ambiguous_scores(new) <= ref.conformal_quantile(own, alpha)
    assert found.tolist() == sets[..., 0].tolist()
    assert 0 < found.mean() < 1


@each_size
def test_adaptive_sets_with_the_same_random_numbers(n, alpha):
    """MAPIE draws its random numbers from the seed; it subtracts a share where we add one."""
    labels, probs, new = forecasts(n)
    model = SplitConformalClassifier(
        Rows(),
        confidence_level=1 - alpha,
        conformity_score="aps",
        prefit=True,
        random_state=SEED,
    )
    _, sets = model.conformalize(probs, labels).predict_set(
        new, {"include_last_label": "randomized"}
    )
    scores = []
    for part in (probs, new):
        share = np.random.RandomState(SEED).uniform(size=len(part))
        scores.append(ref.aps_scores(part, 1 - share))
    own = scores[0][np.arange(n), labels]
    found = scores[1] <= ref.conformal_quantile(own, alpha)
    assert found.tolist() == sets[..., 0].tolist()
    assert 0 < found.mean() < 1
