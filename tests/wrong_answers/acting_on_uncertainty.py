"""Practical 6."""

import math

import numpy as np
from wrong_answers import deciding

from solutions import acting_on_uncertainty as right


def unsorted_quantile(scores, alpha):
    rank = math.ceil((len(scores) + 1) * (1 - alpha))
    return math.inf if rank > len(scores) else float(scores[rank - 1])


def always_twenty(scores, alpha):
    rank = math.ceil(21 * (1 - alpha))
    return math.inf if rank > len(scores) else float(np.sort(scores)[rank - 1])


def finite_where_infinite(scores, alpha):
    return min(right.conformal_quantile(scores, alpha), 1e6)


def interpolated_at_the_level(scores, alpha):
    level = (1 - alpha) * (len(scores) + 1) / len(scores)
    return np.inf if level > 1 else float(np.quantile(scores, level))


def higher_score(scores, alpha):
    level = min(math.ceil((len(scores) + 1) * (1 - alpha)) / len(scores), 1)
    return float(np.quantile(scores, level, method="higher"))


def at_most_the_largest(y, mean, new_mean, alpha):
    size = min(right.conformal_quantile(np.abs(y - mean), alpha), max(abs(y - mean)))
    return new_mean - size, new_mean + size


def infinite_above(y, mean, new_mean, alpha):
    low, high = right.split_interval(y, mean, new_mean, alpha)
    return np.where(np.isinf(low), -low, low), high


def gaussian_interval(y, mean, new_mean, alpha):
    size = 1.6449 * np.std(y - mean)
    return new_mean - size, new_mean + size


def centred_on_the_bias(y, mean, new_mean, alpha):
    bias = np.mean(y - mean)
    return right.split_interval(y - bias, mean, new_mean + bias, alpha)


def clipped_interval(y, mean, new_mean, alpha):
    low, high = right.split_interval(y, mean, new_mean, alpha)
    return np.maximum(low, y.min()), np.minimum(high, y.max())


def scaled_by_mean_std(y, mean, std, new_mean, new_std, alpha):
    return right.scaled_interval(
        y, mean, std, new_mean, new_std.mean() + 0 * new_std, alpha
    )


def with_floor(y, mean, std, new_mean, new_std, alpha):
    return right.scaled_interval(
        y, mean, np.maximum(std, 1), new_mean, np.maximum(new_std, 1), alpha
    )


def with_floor_for_the_smallest(y, mean, std, new_mean, new_std, alpha):
    floor = np.quantile(std, 0.05)
    return right.scaled_interval(
        y, mean, np.maximum(std, floor), new_mean, new_std, alpha
    )


def smoothed_pinball(y, forecast, level):
    error = y - forecast
    return float(np.mean(level * error + np.logaddexp(0, -error)))


def pinball_at_median(y, forecast, level):
    return right.pinball_loss(y, forecast, 0.5)


def at_most_the_middle(y, low, high, new_low, new_high, alpha):
    """Never widens."""
    out = min(right.conformal_quantile(np.maximum(low - y, y - high), alpha), 0)
    return new_low - out, new_high + out


def cqr_scaled_by_width(y, low, high, new_low, new_high, alpha):
    out = right.conformal_quantile(np.maximum(low - y, y - high) / (high - low), alpha)
    width = new_high - new_low
    return new_low - out * width, new_high + out * width


def aps_of_normalised(probs, u):
    scores = right.aps_scores(probs, u)
    return scores / scores.max(axis=1, keepdims=True)


def aps_with_one_u(probs, u):
    return right.aps_scores(probs, np.full_like(u, u[0]))


def aps_from_below(probs, u):
    return right.aps_scores(1 - probs, u)


def aps_of_four_labels(probs, u):
    four = right.aps_scores(probs[:, :4], u)
    return (
        np.column_stack([four, np.ones((len(probs), probs.shape[1] - 4))])
        if probs.shape[1] > 4
        else four
    )


def two_groups(covered, groups):
    return np.array([covered[groups == g].mean() for g in np.unique(groups)[:2]])


def smoothed_groups(covered, groups):
    hits, sizes = np.bincount(groups, weights=covered), np.bincount(groups)
    return (hits + 1) / (sizes + 2)


def covered_groups(covered, groups):
    return np.bincount(groups[covered]) / np.bincount(groups)


def groups_by_first_seen(covered, groups):
    return np.array([covered[groups == g].mean() for g in dict.fromkeys(groups)])


def first_new_weight(scores, weights, new_weights, alpha):
    return right.weighted_quantile(
        scores, weights, np.full_like(new_weights, new_weights[0]), alpha
    )


def interpolated(scores, weights, new_weights, alpha):
    order = np.argsort(scores)
    below = np.cumsum(weights[order])
    needed = (1 - alpha) * (below[-1] + new_weights)
    return np.interp(needed, below, scores[order], right=np.inf)


def squared_weights(scores, weights, new_weights, alpha):
    return right.weighted_quantile(scores, weights**2, new_weights**2, alpha)


def cumulative(scores, weights, new_weights, alpha, dtype):
    order = np.argsort(scores)
    below = np.cumsum(weights[order], dtype=dtype)
    index = np.searchsorted(below, (1 - alpha) * (below[-1] + new_weights))
    return np.append(scores[order], np.inf)[index]


def cumulative_above(scores, weights, new_weights, alpha):
    order = np.argsort(scores)
    below = np.cumsum(weights[order])
    needed = (1 - alpha) * (below[-1] + new_weights)
    index = (below[None] <= needed[:, None]).sum(1)
    return np.append(scores[order], np.inf)[index]


def one_rank_too_high(scores, weights, new_weights, alpha):
    order = np.append(np.sort(scores), [np.inf, np.inf])
    found = right.weighted_quantile(scores, weights, new_weights, alpha)
    return np.array([order[np.searchsorted(order, q) + 1] for q in found])


def in_halves(fit, x, y, new_x, alpha, n_train):
    """Ignores n_train."""
    return right.split_conformal(fit, x, y, new_x, alpha, (len(y) + 1) // 2)


def without_the_last(fit, x, y, new_x, alpha, n_train):
    kept = max(n_train + 1, len(y) - 1)
    return right.split_conformal(fit, x[:kept], y[:kept], new_x, alpha, n_train)


def signed(fit, x, y, new_x, alpha, n_train):
    predict = fit(x[:n_train], y[:n_train])
    size = right.conformal_quantile(y[n_train:] - predict(x[n_train:]), alpha)
    return predict(new_x) - size, predict(new_x) + size


def signed_the_other_way(fit, x, y, new_x, alpha, n_train):
    predict = fit(x[:n_train], y[:n_train])
    size = right.conformal_quantile(predict(x[n_train:]) - y[n_train:], alpha)
    return predict(new_x) - size, predict(new_x) + size


ANSWERS = {
    "conformal_quantile": {
        "the scores are not sorted": unsorted_quantile,
        "always n = 20": always_twenty,
        "a large number for infinity": finite_where_infinite,
        "interpolates": interpolated_at_the_level,
        "the score above the level": higher_score,
    },
    "split_interval": {
        "a Gaussian's": gaussian_interval,
        "centred": centred_on_the_bias,
        "clipped to the targets seen": clipped_interval,
        "at most the largest score": at_most_the_largest,
        "both ends are above all numbers": infinite_above,
    },
    "scaled_interval": {
        "one width": scaled_by_mean_std,
        "a floor": with_floor,
        "a floor for the smallest": with_floor_for_the_smallest,
    },
    "pinball_loss": {"smooth": smoothed_pinball, "the median's": pinball_at_median},
    "cqr_interval": {
        "never widens": at_most_the_middle,
        "relative to the width": cqr_scaled_by_width,
    },
    "aps_scores": {
        "normalised": aps_of_normalised,
        "one u for all": aps_with_one_u,
        "of 1 − p": aps_from_below,
        "at most four labels": aps_of_four_labels,
    },
    "coverage_by_group": {
        "two groups": two_groups,
        "smoothed": smoothed_groups,
        "without the last group": covered_groups,
        "in the order of appearance": groups_by_first_seen,
    },
    "weighted_quantile": {
        "one new weight for all": first_new_weight,
        "interpolates": interpolated,
        "squared weights": squared_weights,
        "single precision": lambda scores, weights, *new: cumulative(
            scores, weights, *new, dtype=np.float32
        ),
        "one rank too high": one_rank_too_high,
        "more than the amount needed": cumulative_above,
    },
    "split_conformal": {
        "halves": in_halves,
        "one data point too few": without_the_last,
        "signed": signed,
        "signed the other way": signed_the_other_way,
    },
    **deciding.ANSWERS,
}
