"""Practical 6."""

import math

import numpy as np
import scipy.stats
from scipy.integrate import quad
from scipy.spatial.distance import cdist
from scipy.special import ndtr, rel_entr
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import mean_pinball_loss

from solutions import acting_on_uncertainty as ref


def quantile_by_partition(scores, alpha):
    rank = len(scores) + 1 - math.floor((len(scores) + 1) * alpha + 1e-12)
    if rank > len(scores):
        return float("inf")
    return np.partition(scores, rank - 1)[rank - 1]


def quantile_by_numpy(scores, alpha):
    level = np.ceil((len(scores) + 1) * (1 - alpha)) / len(scores)
    return np.inf if level > 1 else np.quantile(scores, level, method="inverted_cdf")


def quantile_with_infinity_among_the_scores(scores, alpha):
    ordered = sorted([*scores, math.inf])
    return ordered[math.ceil(len(ordered) * (1 - alpha)) - 1]


def quantile_by_counting(scores, alpha):
    needed = (len(scores) + 1) * (1 - alpha) - 1e-9
    return min((s for s in scores if sum(scores <= s) >= needed), default=np.inf)


def split_in_a_loop(y, mean, new_mean, alpha):
    size = quantile_by_numpy(
        np.array([abs(a - b) for a, b in zip(y, mean, strict=True)]), alpha
    )
    return np.array([m - size for m in new_mean]), np.array(
        [m + size for m in new_mean]
    )


def split_stacked(y, mean, new_mean, alpha):
    size = quantile_by_partition(np.maximum(y - mean, mean - y), alpha)
    return np.stack([new_mean - size, new_mean + size])


def scaled_by_cqr(y, mean, std, new_mean, new_std, alpha):
    """Scores in units of the standard deviation, around intervals without a width."""
    z, zero = (y - mean) / std, np.zeros_like(y)
    _, size = ref.cqr_interval(z, zero, zero, zero[:1], zero[:1], alpha)
    return new_mean - size * new_std, new_mean + size * new_std


def scaled_by_split(y, mean, std, new_mean, new_std, alpha):
    low, high = ref.split_interval(y / std, mean / std, new_mean / new_std, alpha)
    return low * new_std, high * new_std


def pinball_by_maximum(y, forecast, level):
    error = y - forecast
    return np.maximum(level * error, (level - 1) * error).mean()


def pinball_from_absolute_errors(y, forecast, level):
    error = y - forecast
    return float(np.mean(np.abs(error) / 2 + (level - 0.5) * error))


def cqr_from_the_middle(y, low, high, new_low, new_high, alpha):
    score = np.abs(y - (low + high) / 2) - (high - low) / 2
    out = quantile_by_partition(score, alpha)
    return new_low - out, new_high + out


def cqr_in_a_loop(y, low, high, new_low, new_high, alpha):
    rows = zip(y, low, high, strict=True)
    out = quantile_by_counting(np.array([max(b - a, a - c) for a, b, c in rows]), alpha)
    return new_low - out, new_high + out


def aps_in_a_loop(probs, u):
    scores = np.zeros(probs.shape)
    for n, row in enumerate(probs):
        total = 0.0
        for label in sorted(range(len(row)), key=lambda k: -row[k]):
            scores[n, label] = total + u[n] * row[label]
            total += row[label]
    return scores


def aps_by_pairs(probs, u):
    above = probs[:, None, :] > probs[:, :, None]
    return np.einsum("nkj,nj->nk", above, probs) + u[:, None] * probs


def aps_by_inverse_order(probs, u):
    order = np.argsort(probs, axis=1)[:, ::-1]
    ranked = np.take_along_axis(probs, order, axis=1)
    scores = np.cumsum(ranked, axis=1) - ranked * (1 - u)[:, None]
    return np.take_along_axis(scores, np.argsort(order, axis=1), axis=1)


def groups_in_a_loop(covered, groups):
    return np.array([covered[groups == g].mean() for g in np.unique(groups)])


def groups_by_one_hot(covered, groups):
    member = np.eye(groups.max() + 1)[groups]
    return covered @ member / member.sum(0)


def weighted_in_a_loop(scores, weights, new_weights, alpha):
    found = np.full(len(new_weights), np.inf)
    for m, new in enumerate(new_weights):
        total = 0.0
        for i in np.argsort(scores):
            total += weights[i]
            if total >= (1 - alpha) * (weights.sum() + new):
                found[m] = scores[i]
                break
    return found


def weighted_by_probabilities(scores, weights, new_weights, alpha):
    order = np.argsort(scores)
    ordered = np.append(scores[order], np.inf)
    total = weights.sum() + new_weights
    shares = np.cumsum(weights[order] / total[:, None], axis=1)
    reached = np.column_stack([shares >= 1 - alpha, np.ones(len(total), bool)])
    return ordered[np.argmax(reached, axis=1)]


def split_with_its_own_scores(fit, x, y, new_x, alpha, n_train):
    train, calibrate = np.arange(len(y)) < n_train, np.arange(len(y)) >= n_train
    predict = fit(x[train], y[train])
    size = quantile_by_numpy(np.abs(predict(x[calibrate]) - y[calibrate]), alpha)
    return predict(new_x) - size, predict(new_x) + size


def actions_in_a_loop(probs, cost):
    found = []
    for row in probs:
        costs = [float(np.sum(row * column)) for column in cost.T]
        found.append(costs.index(min(costs)))
    return np.array(found)


def actions_by_utility(probs, cost):
    return np.einsum("nk,ka->na", probs, cost.max() - cost).argmax(axis=1)


def actions_in_few_bytes(probs, cost):
    return np.argmin(probs @ cost, axis=1).astype(np.int8)


def labels_by_expected_costs(probs, price):
    """Abstention is the last action, so that a label comes first where both cost the same."""
    n, k = probs.shape
    costs = np.column_stack([1 - probs, np.full(n, price)])
    actions = costs.argmin(axis=1)
    return np.where(actions == k, -1, actions)


def labels_in_place(probs, price):
    labels = probs.argmax(axis=1)
    labels[probs.max(axis=1) < 1 - price] = -1
    return labels


def labels_in_a_loop(probs, price):
    return np.array(
        [-1 if 1 - max(row) > price else int(np.argmax(row)) for row in probs]
    )


def saving_as_regret(probs, cost):
    regret = cost - cost.min(axis=1, keepdims=True)
    return (probs @ regret).min(axis=1)


def saving_in_a_loop(probs, cost):
    savings = []
    for row in probs:
        now = min(sum(row * column) for column in cost.T)
        informed = sum(p * min(costs) for p, costs in zip(row, cost, strict=True))
        savings.append(now - informed)
    return np.array(savings)


def curve_in_a_loop(confidence, wrong):
    coverage, risk = [], []
    for threshold in sorted(set(confidence), reverse=True):
        answered = confidence >= threshold
        coverage.append(answered.mean())
        risk.append(wrong[answered].mean())
    return np.array(coverage), np.array(risk)


def curve_by_sorting(confidence, wrong):
    order = np.argsort(-confidence)
    ends = np.append(np.diff(confidence[order]) != 0, True)
    number = np.arange(1, len(wrong) + 1)
    return (number / len(wrong))[ends], (np.cumsum(wrong[order]) / number)[ends]


def curve_by_comparisons(confidence, wrong):
    answered = confidence >= np.unique(confidence)[::-1, None]
    return np.stack([answered.mean(1), (answered & wrong).sum(1) / answered.sum(1)])


def area_by_data_points(confidence, wrong):
    return np.mean([wrong[confidence >= c].mean() for c in confidence])


def area_by_counts(confidence, wrong):
    _, risk = curve_in_a_loop(confidence, wrong)
    _, counts = np.unique(confidence, return_counts=True)
    return np.average(risk, weights=counts[::-1])


def mahalanobis_by_cdist(features, labels, new):
    means = np.array([features[labels == k].mean(0) for k in np.unique(labels)])
    around = features - means[labels]
    covariance = np.atleast_2d(np.cov(around.T, bias=True))
    gaps = cdist(new, means, "mahalanobis", VI=np.linalg.inv(covariance))
    return gaps.min(axis=1) ** 2


def mahalanobis_by_whitening(features, labels, new):
    one_hot = np.eye(labels.max() + 1)[labels]
    means = one_hot.T @ features / one_hot.sum(0)[:, None]
    around = features - means[labels]
    root = np.linalg.cholesky(around.T @ around / len(labels))
    return np.min(
        [np.sum(np.linalg.solve(root, (new - mean).T) ** 2, axis=0) for mean in means],
        axis=0,
    )


def mahalanobis_by_scikit_learn(features, labels, new):
    if labels.max() == 0:
        return mahalanobis_by_cdist(features, labels, new)
    model = LinearDiscriminantAnalysis("lsqr", store_covariance=True)
    model.fit(features, labels)
    inverse = np.linalg.pinv(model.covariance_)
    return cdist(new, model.means_, "mahalanobis", VI=inverse).min(axis=1) ** 2


def bald_by_kl(probs):
    return rel_entr(probs, probs.mean(axis=0)).sum(axis=-1).mean(axis=0)


def bald_with_a_tiny_number(probs):
    def entropy(p):
        return -np.sum(p * np.log(p + 1e-10), axis=-1)

    return entropy(probs.mean(0)) - entropy(probs).mean(0)


def bald_by_scipy(probs):
    entropies = scipy.stats.entropy(probs, axis=2)
    return scipy.stats.entropy(probs.mean(0), axis=1) - entropies.mean(0)


def bald_where(probs):
    def entropy(p):
        return -np.sum(p * np.log(np.where(p > 0, p, 1)), axis=-1)

    return entropy(np.mean(probs, 0)) - np.mean(entropy(probs), 0)


def batch_by_smallest_distance(scores, features, labelled, radius, size):
    nearest = np.full(len(scores), np.inf)
    if len(labelled):
        nearest = cdist(features, labelled).min(axis=1)
    batch = []
    for index in sorted(range(len(scores)), key=lambda i: scores[i], reverse=True):
        if nearest[index] >= radius and len(batch) < size:
            batch.append(index)
            nearest = np.minimum(nearest, cdist(features, features[[index]])[:, 0])
    return np.array(batch, dtype=int)


def batch_by_removal(scores, features, labelled, radius, size):
    """Leaves an empty batch as an array of floating-point numbers."""
    left = scores.copy()
    for point in labelled:
        left[np.sum((features - point) ** 2, axis=1) < radius**2] = -np.inf
    batch = []
    while len(batch) < size and np.any(left > -np.inf):
        best = np.argmax(left)
        batch.append(best)
        left[np.linalg.norm(features - features[best], axis=1) < radius] = -np.inf
    return np.array(batch)


def improvement_by_integration(mean, std, best):
    """Integrates the probability that f exceeds each value above the best one."""
    found = np.maximum(mean - best, 0)
    for i in np.flatnonzero(std):
        found[i] = quad(
            lambda t: ndtr((mean[i] - t) / std[i]), best, best + 60 * std[i], limit=200
        )[0]
    return found


def improvement_with_a_tiny_std(mean, std, best):
    std = np.maximum(std, 1e-12)
    z = (mean - best) / std
    return std * (z * scipy.stats.norm.cdf(z) + scipy.stats.norm.pdf(z))


def improvement_by_mask(mean, std, best):
    found = np.maximum(mean - best, 0)
    some = std > 0
    z = (mean[some] - best) / std[some]
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    found[some] = (mean[some] - best) * ndtr(z) + std[some] * density
    return found


ANSWERS = {
    "conformal_quantile": {
        "partition": quantile_by_partition,
        "np.quantile": quantile_by_numpy,
        "infinity among the scores": quantile_with_infinity_among_the_scores,
        "counting": quantile_by_counting,
    },
    "split_interval": {"a loop": split_in_a_loop, "stacked": split_stacked},
    "scaled_interval": {"CQR": scaled_by_cqr, "split": scaled_by_split},
    "pinball_loss": {
        "maximum": pinball_by_maximum,
        "absolute errors": pinball_from_absolute_errors,
        "scikit-learn": lambda y, forecast, level: mean_pinball_loss(
            y, forecast, alpha=level
        ),
    },
    "cqr_interval": {"the middle": cqr_from_the_middle, "a loop": cqr_in_a_loop},
    "aps_scores": {
        "a loop": aps_in_a_loop,
        "pairs": aps_by_pairs,
        "the inverse order": aps_by_inverse_order,
    },
    "coverage_by_group": {"a loop": groups_in_a_loop, "one-hot": groups_by_one_hot},
    "weighted_quantile": {
        "a loop": weighted_in_a_loop,
        "probabilities": weighted_by_probabilities,
    },
    "split_conformal": {"its own scores": split_with_its_own_scores},
    "bayes_actions": {
        "a loop": actions_in_a_loop,
        "utility": actions_by_utility,
        "integers of one byte": actions_in_few_bytes,
    },
    "chow_labels": {
        "expected costs": labels_by_expected_costs,
        "in place": labels_in_place,
        "a loop": labels_in_a_loop,
    },
    "value_of_information": {"regret": saving_as_regret, "a loop": saving_in_a_loop},
    "risk_coverage": {
        "a loop": curve_in_a_loop,
        "sorting": curve_by_sorting,
        "comparisons": curve_by_comparisons,
    },
    "aurc": {"data points": area_by_data_points, "counts": area_by_counts},
    "mahalanobis_scores": {
        "cdist": mahalanobis_by_cdist,
        "whitening": mahalanobis_by_whitening,
        "scikit-learn": mahalanobis_by_scikit_learn,
    },
    "bald_scores": {
        "KL": bald_by_kl,
        "a tiny number": bald_with_a_tiny_number,
        "SciPy": bald_by_scipy,
        "np.where": bald_where,
    },
    "diverse_batch": {
        "smallest distance": batch_by_smallest_distance,
        "removal": batch_by_removal,
    },
    "expected_improvement": {
        "integration": improvement_by_integration,
        "a tiny std": improvement_with_a_tiny_std,
        "a mask": improvement_by_mask,
    },
}
