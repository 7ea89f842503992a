"""Practical 6."""

import math

import numpy as np
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
}
