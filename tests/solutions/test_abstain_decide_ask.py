"""Practical 6, lab b: closed forms against integrals, loops and scikit-learn, and invariances."""

import itertools

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from scipy.spatial.distance import cdist, pdist
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import mutual_info_score
from sklearn.neighbors import NearestNeighbors

from solutions import acting_on_uncertainty as ref


def decisions(rng, n=50, k=4, a=5):
    return rng.dirichlet(np.ones(k), n), rng.uniform(0, 10, (k, a))


def ranking(rng, n=200):
    """Confidences with ties, and answers that are wrong more often where it is low."""
    confidence = np.round(rng.uniform(size=n), 2)
    return confidence, rng.uniform(size=n) > confidence


# --- decisions ------------------------------------------------------------------------


def test_no_rule_costs_less_than_the_bayes_actions():
    """All rules for three classes that are drawn with the forecast probabilities."""
    rng = np.random.default_rng(0)
    probs, cost = decisions(rng, n=5, k=3, a=3)
    expected = probs @ cost
    least = min(
        sum(expected[i, action] for i, action in enumerate(rule))
        for rule in itertools.product(range(3), repeat=5)
    )
    actions = ref.bayes_actions(probs, cost)
    assert expected[np.arange(5), actions].sum() == pytest.approx(least, rel=1e-12)


def test_of_equally_good_actions_the_first_is_taken():
    cost = np.array([[3.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    assert ref.bayes_actions(np.array([[0.5, 0.5]]), cost).tolist() == [1]


def test_abstention_is_an_action_with_a_constant_cost():
    probs, _ = decisions(np.random.default_rng(1), n=300)
    for price in (0.1, 0.3, 0.6):
        cost = np.column_stack([1 - np.eye(4), np.full(4, price)])
        actions = ref.bayes_actions(probs, cost)
        labels = np.where(actions == 4, ref.ABSTAIN, actions)
        assert ref.chow_labels(probs, price).tolist() == labels.tolist()
        assert 0 < np.mean(labels == ref.ABSTAIN) < 1


def test_where_both_cost_the_same_a_label_is_returned():
    assert ref.chow_labels(np.array([[0.25, 0.75]]), 0.25).tolist() == [1]


def test_no_other_threshold_costs_less_than_the_price():
    """The mean cost of abstaining by another threshold is never lower."""
    rng = np.random.default_rng(2)
    probs, _ = decisions(rng, n=2000)
    for price in (0.2, 0.5):
        costs = []
        for threshold in (price, *np.linspace(0, 1, 21)):
            labels = ref.chow_labels(probs, threshold)
            error = 1 - probs[np.arange(len(probs)), labels]
            costs.append(np.where(labels == ref.ABSTAIN, price, error).mean())
        assert costs[0] == min(costs)


def test_information_is_never_worth_less_than_nothing_nor_more_than_the_cost():
    rng = np.random.default_rng(3)
    for _ in range(20):
        probs, cost = decisions(rng)
        value = ref.value_of_information(probs, cost)
        assert np.all(value >= -1e-12)
        assert np.all(value <= (probs @ cost).min(axis=1))
        certain = ref.value_of_information(np.eye(4), cost)
        np.testing.assert_allclose(certain, 0, atol=1e-12)


def test_information_is_worth_nothing_if_one_action_is_best_in_every_class():
    probs, cost = decisions(np.random.default_rng(4))
    cost[:, 2] = cost.min(axis=1) - 0.1
    np.testing.assert_allclose(ref.value_of_information(probs, cost), 0, atol=1e-12)


def test_the_value_of_information_is_the_mean_saving_over_drawn_classes():
    rng = np.random.default_rng(5)
    probs, cost = decisions(rng, n=1)
    classes = rng.choice(4, 200_000, p=probs[0])
    action = ref.bayes_actions(probs, cost)[0]
    savings = cost[classes, action] - cost[classes].min(axis=1)
    error = 4 * savings.std() / len(classes) ** 0.5
    assert ref.value_of_information(probs, cost)[0] == pytest.approx(
        savings.mean(), abs=error
    )


# --- selective prediction -------------------------------------------------------------


def test_the_curve_ends_with_the_error_rate_at_full_coverage():
    confidence, wrong = ranking(np.random.default_rng(6))
    coverage, risk = ref.risk_coverage(confidence, wrong)
    assert len(coverage) == len(np.unique(confidence)) < len(wrong)
    assert np.all(np.diff(coverage) > 0)
    assert coverage[-1] == 1
    assert risk[-1] == wrong.mean()


def test_aurc_is_the_mean_risk_over_the_data_points_as_thresholds():
    rng = np.random.default_rng(7)
    for _ in range(20):
        confidence, wrong = ranking(rng, n=int(rng.integers(1, 60)))
        risks = [wrong[confidence >= c].mean() for c in confidence]
        assert ref.aurc(confidence, wrong) == pytest.approx(np.mean(risks), rel=1e-12)


def test_aurc_depends_on_the_order_of_confidences_alone():
    confidence, wrong = ranking(np.random.default_rng(8))
    for monotone in (np.exp, np.log1p, lambda c: 3 * c - 7, lambda c: -1 / (1 + c)):
        assert ref.aurc(monotone(confidence), wrong) == pytest.approx(
            ref.aurc(confidence, wrong), rel=1e-12
        )
    order = np.random.default_rng(9).permutation(len(wrong))
    assert ref.aurc(confidence[order], wrong[order]) == pytest.approx(
        ref.aurc(confidence, wrong), rel=1e-12
    )


def test_one_confidence_for_all_gives_the_error_rate():
    _, wrong = ranking(np.random.default_rng(10))
    assert ref.aurc(np.ones(len(wrong)), wrong) == pytest.approx(wrong.mean())


def test_the_excess_is_zero_for_a_perfect_ranking_and_positive_for_others():
    rng = np.random.default_rng(11)
    confidence, wrong = ranking(rng)
    perfect = rng.uniform(size=len(wrong)) - wrong
    assert ref.excess_aurc(perfect, wrong) == pytest.approx(0, abs=1e-12)
    assert ref.excess_aurc(confidence, wrong) > 0.01
    assert ref.excess_aurc(-perfect, wrong) > ref.excess_aurc(confidence, wrong)


def test_the_best_area_is_near_its_limit_for_many_data_points():
    """It tends to r + (1 − r) log(1 − r) for the error rate r.

    Source: Geifman, Uziel and El-Yaniv (2019).
    """
    n, rate = 20_000, 0.2
    wrong = np.arange(n) < rate * n
    limit = rate + (1 - rate) * np.log(1 - rate)
    assert ref.aurc(1.0 * ~wrong + np.arange(n) / n**2, wrong) == pytest.approx(
        limit, abs=1e-4
    )


# --- detectors ------------------------------------------------------------------------


def classes(rng, n=120, d=3, k=4):
    labels = np.append(np.arange(k), rng.integers(0, k, n - k))
    means = rng.normal(0, 3, (k, d))
    features = means[labels] + rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return features, labels, rng.normal(0, 6, (30, d))


def test_mahalanobis_scores_have_the_covariance_of_linear_discriminant_analysis():
    features, labels, new = classes(np.random.default_rng(12))
    model = LinearDiscriminantAnalysis("lsqr", store_covariance=True)
    model.fit(features, labels)
    inverse = np.linalg.inv(model.covariance_)
    gaps = cdist(new, model.means_, "mahalanobis", VI=inverse)
    np.testing.assert_allclose(
        ref.mahalanobis_scores(features, labels, new), gaps.min(1) ** 2, rtol=1e-9
    )


def test_mahalanobis_scores_do_not_depend_on_units_or_axes():
    rng = np.random.default_rng(13)
    features, labels, new = classes(rng)
    scores = ref.mahalanobis_scores(features, labels, new)
    for _ in range(5):
        turn, shift = rng.normal(size=(3, 3)), rng.normal(0, 100, 3)
        moved = ref.mahalanobis_scores(
            features @ turn + shift, labels, new @ turn + shift
        )
        np.testing.assert_allclose(moved, scores, rtol=1e-6)


def test_the_mean_score_of_training_data_is_the_dimension():
    """For a single class: the trace of the covariance times its inverse."""
    features, labels, _ = classes(np.random.default_rng(14), d=5, k=1)
    scores = ref.mahalanobis_scores(features, labels, features)
    assert scores.mean() == pytest.approx(5, rel=1e-9)


def test_neighbour_scores_are_those_of_scikit_learn():
    features, _, new = classes(np.random.default_rng(15))
    units = [z / np.linalg.norm(z, axis=1, keepdims=True) for z in (features, new)]
    gaps, _ = NearestNeighbors(n_neighbors=7).fit(units[0]).kneighbors(units[1])
    for k in (1, 7):
        np.testing.assert_allclose(
            ref.neighbour_scores(features, new, k), gaps[:, k - 1], atol=1e-7
        )
    scaled = ref.neighbour_scores(3 * features, new / 7, 7)
    np.testing.assert_allclose(scaled, gaps[:, 6], atol=1e-7)


# --- acquisition ----------------------------------------------------------------------


def test_bald_scores_lie_between_zero_and_the_entropy():
    rng = np.random.default_rng(16)
    probs = rng.dirichlet(np.full(5, 0.3), (8, 500))
    scores = ref.bald_scores(probs)
    total = scipy.stats.entropy(probs.mean(axis=0), axis=-1)
    assert np.all(scores > 0)
    assert np.all(scores <= np.minimum(total, np.log(8)) + 1e-12)
    same = np.broadcast_to(probs[:1], probs.shape)
    np.testing.assert_allclose(ref.bald_scores(same), 0, atol=1e-12)


def test_members_that_are_certain_and_disagree_have_the_entropy_of_their_votes():
    votes = np.eye(3)[[0, 0, 1, 2]][:, None]
    entropy = scipy.stats.entropy([0.5, 0.25, 0.25])
    assert ref.bald_scores(votes)[0] == pytest.approx(entropy, rel=1e-12)


def test_the_bald_score_is_the_mutual_information_of_label_and_member():
    """Of the table in which each member counts the same."""
    counts = np.array([[6, 2, 0], [1, 4, 3], [0, 0, 8]])
    score = ref.bald_scores((counts / 8)[:, None])[0]
    information = mutual_info_score(None, None, contingency=counts)
    assert score == pytest.approx(information, rel=1e-9)


def test_a_diverse_batch_keeps_its_distances_and_leaves_out_no_better_candidate():
    rng = np.random.default_rng(17)
    for _ in range(30):
        scores, features = rng.normal(size=40), rng.uniform(0, 5, (40, 2))
        labelled = rng.uniform(0, 5, (int(rng.integers(0, 4)), 2))
        batch = ref.diverse_batch(scores, features, labelled, 1.0, 8)
        assert len(batch) <= 8
        assert np.all(np.diff(scores[batch]) < 0)
        assert pdist(np.concatenate([features[batch], labelled])).min() >= min(
            1.0, pdist(labelled).min(initial=np.inf)
        )
        for index in np.flatnonzero(scores > scores[batch].min()):
            before = features[batch[scores[batch] > scores[index]]]
            others = np.concatenate([before, labelled])
            near = cdist(features[[index]], others).min(initial=np.inf) < 1
            assert near or index in batch


def test_without_a_radius_the_batch_has_the_highest_scores():
    rng = np.random.default_rng(18)
    scores, features = rng.normal(size=20), rng.normal(size=(20, 3))
    batch = ref.diverse_batch(scores, features, features[:0], 0.0, 6)
    assert batch.tolist() == np.argsort(-scores)[:6].tolist()
    none = ref.diverse_batch(scores, features, features, 1e-9, 6)
    assert none.shape == (0,)
    assert none.dtype.kind == "i"


# --- Bayesian optimisation ------------------------------------------------------------


@pytest.mark.parametrize("z", [-3.0, -0.7, 0.0, 0.4, 2.5])
def test_the_expected_improvement_is_its_integral(z):
    best, std = 1.3, 0.6
    mean = best + z * std
    law = scipy.stats.norm(mean, std)
    integral = scipy.integrate.quad(
        lambda f: (f - best) * law.pdf(f),
        best,
        best + 15 * std,
        epsabs=1e-13,
        epsrel=1e-12,
        limit=200,
    )[0]
    found = ref.expected_improvement(np.array([mean]), np.array([std]), best)[0]
    assert found == pytest.approx(integral, rel=1e-10, abs=1e-12)


def test_the_expected_improvement_of_a_known_value_is_its_improvement():
    mean, best = np.array([2.0, 1.0, 0.0]), 1.0
    known = ref.expected_improvement(mean, np.zeros(3), best)
    assert known.tolist() == [1.0, 0.0, 0.0]
    nearly = ref.expected_improvement(mean, np.full(3, 1e-9), best)
    np.testing.assert_allclose(nearly, known, atol=1e-9)


def test_the_expected_improvement_rises_with_mean_and_std():
    grid = np.linspace(-2, 2, 81)
    rising = ref.expected_improvement(grid, np.full(81, 0.5), 0.3)
    assert np.all(np.diff(rising) > 0)
    wider = ref.expected_improvement(np.full(81, -0.4), np.linspace(0, 2, 81), 0.3)
    assert np.all(np.diff(wider)[3:] > 0)
    assert np.all(wider >= 0)
