"""Practical 6: coverage over 2,000 calibration sets against its exact law, and closed forms.

The independent implementations follow the papers' definitions: conformal p-values of
candidates, without a rank or a quantile.
"""

import math
from functools import cache

import numpy as np
import pytest
import scipy.stats

from course import data
from solutions import acting_on_uncertainty as ref

SETS, N, NEW, ALPHA = 2000, 60, 50, 0.1
LEVEL = 0.999


def p_value(scores, candidate):
    """Vovk's conformal p-value of a candidate's score."""
    return (1 + sum(score >= candidate for score in scores)) / (len(scores) + 1)


def probabilities(rng, n, k=5):
    """Probabilities of classes, and labels drawn from others: the model is wrong."""
    probs = rng.dirichlet(np.full(k, 0.7), n)
    other = probs**0.5 / (probs**0.5).sum(1, keepdims=True)
    labels = (rng.uniform(size=(n, 1)) > other.cumsum(1)).sum(1)
    return probs, np.minimum(labels, k - 1)


# --- coverage over calibration sets ---------------------------------------------------


def of_interval(interval_of):
    """Return what counts how many of NEW targets are covered, for a method and a set."""

    def count(rng):
        x, y = data.fan(n=N + NEW, seed=int(rng.integers(2**32)))
        x = x[:, 0]
        low, high = interval_of(x[:N], y[:N], x[N:])
        return np.sum((low <= y[N:]) & (y[N:] <= high))

    return count


def split(x, y, new):
    return ref.split_interval(y, np.sin(x), np.sin(new), ALPHA)


def scaled(x, y, new):
    return ref.scaled_interval(y, np.sin(x), 1 + x, np.sin(new), 1 + new, ALPHA)


def cqr(x, y, new):
    ends = (np.sin(2 * x) - 0.1, np.cos(x) + 0.2)
    return ref.cqr_interval(y, *ends, np.sin(2 * new) - 0.1, np.cos(new) + 0.2, ALPHA)


def unit_weights(x, y, new):
    ones = np.ones
    scores = np.abs(y - np.sin(x))
    half = ref.weighted_quantile(scores, ones(N), ones(NEW), ALPHA)
    return np.sin(new) - half, np.sin(new) + half


def of_sets(scores_of):
    def count(rng):
        probs, labels = probabilities(rng, N + NEW)
        scores = scores_of(probs, rng.uniform(size=N + NEW))
        own = scores[np.arange(N + NEW), labels]
        return np.sum(own[N:] <= ref.conformal_quantile(own[:N], ALPHA))

    return count


METHODS = {
    "split": of_interval(split),
    "scaled": of_interval(scaled),
    "CQR": of_interval(cqr),
    "weights of 1": of_interval(unit_weights),
    "1 − p": of_sets(lambda probs, u: ref.least_ambiguous_scores(probs)),
    "APS": of_sets(ref.aps_scores),
    "RAPS": of_sets(lambda *case: ref.raps_scores(*case, penalty=0.1, free=2)),
}


@cache
def counts(method):
    rng = np.random.default_rng(7)
    return np.array([METHODS[method](rng) for _ in range(SETS)])


def exact_law():
    """The number of NEW data points that are covered: Beta-binomial."""
    law = ref.coverage_law(N, ALPHA)
    return scipy.stats.betabinom(NEW, *law.args)


def within_band(found):
    """Are mean and distribution of the counts within the exact law's 99.9% bands?"""
    law = exact_law()
    error = scipy.stats.norm.ppf((1 + LEVEL) / 2) * law.std() / math.sqrt(len(found))
    if abs(found.mean() - law.mean()) > error:
        return False
    for count in range(NEW):
        low, high = scipy.stats.binom(len(found), law.cdf(count)).interval(
            1 - (1 - LEVEL) / NEW
        )
        if not low <= np.sum(found <= count) <= high:
            return False
    return True


@pytest.mark.parametrize("method", METHODS)
def test_coverage_over_calibration_sets_has_the_exact_law(method):
    assert within_band(counts(method))


@pytest.mark.parametrize("rank", [-1, 1])
def test_a_rank_off_by_one_leaves_the_band(rank):
    rng, law = np.random.default_rng(3), ref.coverage_law(N, ALPHA)
    first, second = law.args
    wrong = scipy.stats.beta(first + rank, second - rank).rvs(SETS, random_state=rng)
    assert not within_band(rng.binomial(NEW, wrong))


def test_scores_of_the_training_data_leave_the_band():
    def count(rng):
        x, y = data.fan(n=N + NEW, seed=int(rng.integers(2**32)))
        line = np.polynomial.Polynomial.fit(x[:N, 0], y[:N], 9)
        scores = np.abs(y - line(x[:, 0]))
        return np.sum(scores[N:] <= ref.conformal_quantile(scores[:N], ALPHA))

    rng = np.random.default_rng(7)
    assert not within_band(np.array([count(rng) for _ in range(SETS)]))


def test_the_law_is_the_beta_distribution_of_the_theory():
    for n, alpha in ((60, 0.1), (100, 0.1), (999, 0.05), (9, 0.1)):
        above = math.floor((n + 1) * alpha)
        law = ref.coverage_law(n, alpha)
        assert law.mean() == pytest.approx((n + 1 - above) / (n + 1), rel=1e-12)
        theory = scipy.stats.beta(n + 1 - above, above)
        assert law.cdf(0.9) == pytest.approx(theory.cdf(0.9), rel=1e-12)


def test_each_group_has_the_coverage_of_its_own_calibration_data():
    rng, found = np.random.default_rng(5), []
    for _ in range(SETS):
        groups = np.repeat([0, 1], [40, 20])
        scores = rng.exponential(np.where(groups, 5.0, 1.0))
        limits = ref.group_quantiles(scores, groups, ALPHA)
        found.append(1 - np.exp(-limits / np.array([1.0, 5.0])))
    for group, n in enumerate((40, 20)):
        law = ref.coverage_law(n, ALPHA)
        assert scipy.stats.kstest(np.transpose(found)[group], law.cdf).pvalue > 0.001


def test_weights_keep_the_coverage_under_a_shift_and_without_them_it_is_lost():
    """Scores are |noise| with a scale that grows with x; new inputs have density ∝ exp(2x)."""
    rng, inside = np.random.default_rng(6), []
    for _ in range(SETS):
        old, new = (
            data.fan(n=N, seed=int(rng.integers(2**32))),
            data.fan(n=1, seed=int(rng.integers(2**32)), tilt=2.0),
        )
        scores, own = (np.abs(part.y - np.sin(part.x[:, 0])) for part in (old, new))
        weights, new_weights = (np.exp(2 * part.x[:, 0]) for part in (old, new))
        weighted = ref.weighted_quantile(scores, weights, new_weights, ALPHA)
        inside.append([own <= weighted, own <= ref.conformal_quantile(scores, ALPHA)])
    weighted, plain = np.squeeze(inside).mean(0)
    error = 3.29 * math.sqrt(0.09 / SETS)
    assert weighted > 1 - ALPHA - error
    assert plain < 1 - ALPHA - 2 * error


# --- closed forms and independent implementations -------------------------------------


def test_the_quantile_keeps_the_scores_whose_p_value_is_above_alpha():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n, alpha = int(rng.integers(1, 40)), rng.uniform(0.02, 0.98)
        scores = np.round(rng.exponential(1, n), 1)  # with ties
        quantile = ref.conformal_quantile(scores, alpha)
        for candidate in (*scores, *rng.exponential(1, 20), 1e6):
            assert (candidate <= quantile) == (p_value(scores, candidate) > alpha)


def test_an_interval_holds_the_targets_whose_p_value_is_above_alpha():
    rng = np.random.default_rng(1)
    n = 29
    y, mean, std = rng.normal(size=n), rng.normal(size=n), rng.uniform(0.5, 2, n)
    new_mean, new_std = rng.normal(size=3), rng.uniform(0.5, 2, 3)
    low, high = ref.scaled_interval(y, mean, std, new_mean, new_std, ALPHA)
    ends = ref.cqr_interval(
        y, mean - std, mean + std, new_mean - 1, new_mean + 1, ALPHA
    )
    scores = np.abs(y - mean) / std
    outside = np.maximum(mean - std - y, y - mean - std)
    for candidate in np.linspace(-8, 8, 400):
        for j in range(3):
            own = abs(candidate - new_mean[j]) / new_std[j]
            inside = low[j] <= candidate <= high[j]
            assert inside == (p_value(scores, own) > ALPHA)
            own = max(new_mean[j] - 1 - candidate, candidate - new_mean[j] - 1)
            inside = ends[0][j] <= candidate <= ends[1][j]
            assert inside == (p_value(outside, own) > ALPHA)


def test_the_pinball_loss_is_smallest_at_the_quantile():
    y = np.random.default_rng(2).normal(size=20_001)
    grid = np.linspace(-3, 3, 601)
    for level in (0.05, 0.5, 0.9):
        losses = [ref.pinball_loss(y, np.full_like(y, f), level) for f in grid]
        best = grid[np.argmin(losses)]
        assert best == pytest.approx(np.quantile(y, level), abs=0.0101)


def test_randomised_aps_scores_of_true_probabilities_are_uniform():
    """The score of a label drawn from its probabilities is uniform for every input."""
    rng, n = np.random.default_rng(3), 20_000
    for row in ([0.7, 0.2, 0.1], [0.05, 0.9, 0.05001], [0.24, 0.25, 0.26]):
        probs = np.tile(np.array(row) / sum(row), (n, 1))
        labels = rng.choice(3, n, p=probs[0])
        scores = ref.aps_scores(probs, rng.uniform(size=n))
        own = scores[np.arange(n), labels]
        assert scipy.stats.kstest(own, "uniform").pvalue > 0.001


def test_the_weighted_quantile_with_equal_weights_is_the_conformal_quantile():
    rng = np.random.default_rng(4)
    for n in (1, 8, 9, 31):
        scores = rng.normal(size=n)
        weighted = ref.weighted_quantile(scores, np.ones(n), np.ones(2), 0.125)
        assert weighted.tolist() == [ref.conformal_quantile(scores, 0.125)] * 2


def test_whole_weights_count_as_repeated_scores():
    rng = np.random.default_rng(5)
    scores, weights = rng.normal(size=12), rng.integers(1, 5, 12).astype(float)
    repeated = np.repeat(scores, weights.astype(int))
    for alpha in (0.11, 0.3, 0.77):
        one = ref.weighted_quantile(scores, weights, np.ones(1), alpha)
        assert one[0] == ref.conformal_quantile(repeated, alpha)


def test_risk_control_of_the_zero_one_loss_is_split_conformal_prediction():
    scores = np.random.default_rng(6).permutation(np.arange(1, 60)) / 60
    thresholds = np.arange(61) / 60
    losses = (scores[:, None] > thresholds).astype(float)
    for alpha in (0.0501, 0.1501, 0.5001):
        chosen = ref.risk_threshold(losses, thresholds, alpha, 1.0)
        assert chosen == ref.conformal_quantile(scores, alpha)


def test_the_penalty_moves_a_label_by_its_rank():
    probs, u = np.array([[0.1, 0.6, 0.3]]), np.array([0.5])
    moved = ref.raps_scores(probs, u, penalty=0.1, free=1) - ref.aps_scores(probs, u)
    np.testing.assert_allclose(moved, [[0.2, 0.0, 0.1]], atol=1e-12)


def test_the_fan_has_the_density_that_its_shift_says():
    x = data.fan(n=20_000, seed=0, tilt=1.5).x[:, 0]
    cdf = np.expm1(1.5 * np.sort(x)) / np.expm1(4.5)
    assert scipy.stats.kstest(cdf, "uniform").pvalue > 0.001
    plain = data.fan(n=20_000, seed=1)
    noise = (plain.y - np.sin(2 * plain.x[:, 0])) / (0.1 + 0.1 * plain.x[:, 0] ** 2)
    assert scipy.stats.kstest(noise, "norm").pvalue > 0.001
