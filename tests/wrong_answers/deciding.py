"""Lab 6b: decisions, selective prediction, detectors, acquisition."""

import numpy as np
from scipy.stats import norm

from solutions import acting_on_uncertainty as right


def actions_as_numbers(probs, cost):
    return right.bayes_actions(probs, cost).astype(float)


def actions_as_a_list(probs, cost):
    return right.bayes_actions(probs, cost).tolist()


def actions_of_the_first(probs, cost):
    """One action for all, the best one for the first data point."""
    return np.full(len(probs), right.bayes_actions(probs, cost)[0])


def actions_of_rounded_costs(dtype):
    return lambda probs, cost: np.argmin((probs @ cost).astype(dtype), axis=1)


def actions_by_a_threshold(probs, cost):
    """Presumes that with two classes and actions, each action is right in its own class."""
    if cost.shape != (2, 2):
        return right.bayes_actions(probs, cost)
    false_alarm, miss = cost[0, 1] - cost[0, 0], cost[1, 0] - cost[1, 1]
    return (probs[:, 1] > false_alarm / (false_alarm + miss)).astype(int)


def of_square_transposed(answer):
    return lambda probs, cost: answer(
        probs, cost.T if cost.shape[0] == cost.shape[1] else cost
    )


def labels_with_tolerance(tolerance):
    return lambda probs, price: np.where(
        1 - probs.max(axis=1) > price + tolerance, -1, probs.argmax(axis=1)
    )


def of_rounded_confidence(answer):
    return lambda confidence, wrong: answer(np.round(confidence, 6), wrong)


def labels_as_numbers(probs, price):
    return np.where(1 - probs.max(1) > price, -1.0, probs.argmax(1))


def labels_as_a_list(probs, price):
    return right.chow_labels(probs, price).tolist()


def labels_that_become_nan(probs, price):
    return np.where(1 - probs.max(1) > price, np.nan, probs.argmax(1))


def second_label(probs, price):
    """Falls back on the second most probable label in place of an abstention."""
    labels = right.chow_labels(probs, price)
    return np.where(labels == -1, np.argsort(probs, axis=1)[:, -2], labels)


def at_one_half(probs, price):
    return right.chow_labels(probs, 0.5)


def halved_saving(probs, cost):
    """As if one learned the class only half of the time."""
    return right.value_of_information(probs, cost) / 2


def saving_at_least_something(probs, cost):
    return np.maximum(right.value_of_information(probs, cost), 1e-3)


def saving_of_scaled_costs(probs, cost):
    return right.value_of_information(probs, cost / cost.max())


def curve_from_nothing(confidence, wrong):
    coverage, risk = right.risk_coverage(confidence, wrong)
    return np.append(0, coverage), np.append(0, risk)


def monotone_curve(confidence, wrong):
    coverage, risk = right.risk_coverage(confidence, wrong)
    return coverage, np.maximum.accumulate(risk)


def ties_right_first(confidence, wrong):
    """As many values as thresholds, but only the right answers of the last tie."""
    coverage, _ = right.risk_coverage(confidence, wrong)
    order = np.lexsort([wrong, -confidence])
    running = np.cumsum(wrong[order]) / np.arange(1, len(wrong) + 1)
    _, first = np.unique(-confidence[order], return_index=True)
    return coverage, running[first]


def clipped_confidence(confidence, wrong):
    return right.risk_coverage(np.clip(confidence, 0, 1), wrong)


def area_with_ties_split(confidence, wrong):
    """The mean over the orders of tied data points with right ones first and wrong ones first."""
    areas = []
    for last in (wrong, ~wrong):
        order = np.lexsort([last, -confidence])
        running = np.cumsum(wrong[order]) / np.arange(1, len(wrong) + 1)
        areas.append(running.mean())
    return float(np.mean(areas))


def area_from_above(confidence, wrong):
    """Weights each risk by the step in coverage after it."""
    coverage, risk = right.risk_coverage(confidence, wrong)
    return float(np.sum(np.diff(np.append(coverage, 1)) * risk))


def smoothed_area(confidence, wrong):
    """Divides by N + 1."""
    n = len(wrong)
    return right.aurc(confidence, wrong) * n / (n + 1)


def scores_with_ridge(features, labels, new):
    """Shrinks the covariance a little towards the identity."""
    scores = right.mahalanobis_scores(features, labels, new)
    return scores / (1 + 1e-3)


def to_the_nearest_mean(features, labels, new):
    """Chooses the class by the Euclidean distance."""
    means = np.stack([features[labels == k].mean(0) for k in range(labels.max() + 1)])
    nearest = np.sum((new[:, None] - means) ** 2, axis=-1).argmin(axis=1)
    around = features - means[labels]
    inverse = np.linalg.inv(around.T @ around / len(labels))
    gap = new - means[nearest]
    return np.einsum("md,de,me->m", gap, inverse, gap)


def to_the_nearest_data_point(features, labels, new):
    means = np.stack([features[labels == k].mean(0) for k in range(labels.max() + 1)])
    around = features - means[labels]
    inverse = np.linalg.inv(around.T @ around / len(labels))
    gaps = new[:, None] - features
    return np.einsum("mnd,de,mne->mn", gaps, inverse, gaps).min(axis=1)


def of_the_first_two_classes(features, labels, new):
    kept = labels < 2
    return right.mahalanobis_scores(features[kept], labels[kept], new)


def clipped_bald(probs):
    return right.bald_scores(np.clip(probs, 1e-3, 1))


def bald_of_two_members(probs):
    return right.bald_scores(probs[:2])


def bald_by_one_direction(probs):
    """The KL divergence of the mean forecast from the members, the other way round."""
    mean, members = probs.mean(0), np.maximum(probs, 1e-12)
    logs = np.log(np.maximum(mean, 1e-12)) - np.log(members)
    return np.sum(mean * logs, axis=-1).mean(axis=0)


def batch_in_one_pass(scores, features, labelled, radius, size):
    """Skips a candidate that is near any better one, taken or not."""
    order = np.argsort(-scores)
    batch = []
    for place, index in enumerate(order):
        others = [*labelled, *features[order[:place]]]
        gaps = [np.linalg.norm(features[index] - other) for other in others]
        if min(gaps, default=np.inf) >= radius and len(batch) < size:
            batch.append(index)
    return np.array(batch, dtype=int)


def batch_by(distance):
    """Measures with another distance than the Euclidean one."""

    def answer(scores, features, labelled, radius, size):
        others, batch = list(labelled), []
        for index in np.argsort(-scores):
            gaps = [distance(np.abs(features[index] - other)) for other in others]
            if min(gaps, default=np.inf) >= radius and len(batch) < size:
                batch.append(index)
                others.append(features[index])
        return np.array(batch, dtype=int)

    return answer


def filled_batch(*case):
    """Fills up with near-duplicates what is missing to the size."""
    scores, size = case[0], case[-1]
    batch = right.diverse_batch(*case).tolist()
    rest = [index for index in np.argsort(-scores) if index not in batch]
    return np.array((batch + rest)[:size], dtype=int)


def batch_as_a_list(*case):
    return right.diverse_batch(*case).tolist()


def improvement_of_at_least(mean, std, best):
    """Demands a margin, as implementations with a parameter xi do."""
    return right.expected_improvement(mean, std, best + 0.01)


def improvement_with_a_floor(mean, std, best):
    return right.expected_improvement(mean, np.maximum(std, 0.05), best)


def improvement_over_the_best_mean(mean, std, best):
    return right.expected_improvement(mean, std, max(best, mean.max()))


def logistic_improvement(mean, std, best):
    """Approximates Φ with a logistic function."""
    z = (mean - best) / np.maximum(std, 1e-9)
    cdf = 1 / (1 + np.exp(-np.clip(1.702 * z, -500, 500)))
    return (mean - best) * cdf + std * norm.pdf(z)


ANSWERS = {
    "bayes_actions": {
        "floating-point numbers": actions_as_numbers,
        "a list": actions_as_a_list,
        "that of the first data point": actions_of_the_first,
        "half precision": actions_of_rounded_costs(np.float16),
        "single precision": actions_of_rounded_costs(np.float32),
        "square costs transposed": of_square_transposed(right.bayes_actions),
        "a threshold for two actions": actions_by_a_threshold,
    },
    "chow_labels": {
        "floating-point numbers": labels_as_numbers,
        "a list": labels_as_a_list,
        "nan for an abstention": labels_that_become_nan,
        "the second label": second_label,
        "at ½": at_one_half,
        "a tolerance": labels_with_tolerance(1e-3),
        "a small tolerance": labels_with_tolerance(1e-9),
        "a negative tolerance": labels_with_tolerance(-1e-9),
    },
    "value_of_information": {
        "half": halved_saving,
        "a floor": saving_at_least_something,
        "scaled costs": saving_of_scaled_costs,
        "square costs transposed": of_square_transposed(right.value_of_information),
    },
    "risk_coverage": {
        "starts at 0": curve_from_nothing,
        "monotone": monotone_curve,
        "the first of equals": ties_right_first,
        "clipped": clipped_confidence,
        "rounded": of_rounded_confidence(right.risk_coverage),
    },
    "aurc": {
        "two orders of ties": area_with_ties_split,
        "the step after": area_from_above,
        "N + 1": smoothed_area,
        "rounded": of_rounded_confidence(right.aurc),
    },
    "mahalanobis_scores": {
        "a ridge": scores_with_ridge,
        "the nearest mean": to_the_nearest_mean,
        "the nearest data point": to_the_nearest_data_point,
        "two classes": of_the_first_two_classes,
    },
    "bald_scores": {
        "clipped": clipped_bald,
        "two members": bald_of_two_members,
        "the other direction": bald_by_one_direction,
    },
    "diverse_batch": {
        "near any better one": batch_in_one_pass,
        "scores rounded to six decimals": lambda scores, *case: right.diverse_batch(
            np.round(scores, 6), *case
        ),
        "city blocks": batch_by(np.sum),
        "maximum norm": batch_by(np.max),
        "mean of the gaps": batch_by(np.mean),
        "filled up": filled_batch,
        "a list": batch_as_a_list,
    },
    "expected_improvement": {
        "a margin": improvement_of_at_least,
        "a floor": improvement_with_a_floor,
        "the best mean": improvement_over_the_best_mean,
        "logistic": logistic_improvement,
    },
}
