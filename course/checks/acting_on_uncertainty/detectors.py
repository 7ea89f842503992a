"""Mahalanobis distances to the nearest class; scikit-learn's covariance is the oracle."""

from __future__ import annotations

import numpy as np

from course.checks.acting_on_uncertainty.apart import drawn_apart
from course.checks.acting_on_uncertainty.tolerances import INVERSE
from course.task import Close, Misconception, Task


def _draw_features(rng):
    """Draw classes of different sizes, one of them with a single data point, far apart.

    The features are correlated, and have different scales.
    """
    cases = []
    for counts, d, m in (((7, 4), 3, 5), ((1, 6, 3), 2, 3), ((2,), 1, 1)):
        labels = rng.permutation(np.repeat(np.arange(len(counts)), counts))
        root = np.tril(rng.uniform(0.5, 1.0, (d, d))) * 2.0 ** np.arange(d)
        means = rng.normal(0, 4, (len(counts), d))
        cases.append(
            {
                "features": means[labels] + rng.normal(size=(len(labels), d)) @ root.T,
                "labels": labels,
                "new": rng.normal(0, 5, (m, d)),
            }
        )
    return cases


def _means(features, labels):
    return np.stack([features[labels == k].mean(0) for k in range(labels.max() + 1)])


def _pooled(features, labels):
    around = features - _means(features, labels)[labels]
    return around.T @ around / len(features)


def _of_class(features, labels, k):
    return np.atleast_2d(np.cov(features[labels == k].T, bias=True))


def _classes(labels):
    return range(labels.max() + 1)


def _scores(
    covariance=_pooled, invert=np.linalg.pinv, reduce=np.min, then=lambda scores: scores
):
    """Score with a covariance for all classes, its inverse, and a reduction over the classes."""

    def answer(features, labels, new):
        inverse = invert(covariance(features, labels))
        gaps = new[:, None] - _means(features, labels)
        squares = np.einsum("mkd,de,mke->mk", gaps, inverse, gaps)
        return then(reduce(squares, axis=1))

    return answer


def _of_nearest_mean(features, labels, new):
    """Choose the class by its Euclidean distance."""
    gaps = new[:, None] - _means(features, labels)
    inverse = np.linalg.pinv(_pooled(features, labels))
    gap = gaps[np.arange(len(new)), np.sum(gaps**2, axis=-1).argmin(axis=1)]
    return np.einsum("md,de,me->m", gap, inverse, gap)


def _each_its_own(features, labels, new):
    squares = []
    for k in _classes(labels):
        inverse = np.linalg.pinv(_of_class(features, labels, k))
        gaps = new - features[labels == k].mean(axis=0)
        squares.append(np.einsum("md,de,me->m", gaps, inverse, gaps))
    return np.min(squares, axis=0)


def _total(features, labels):
    return np.atleast_2d(np.cov(features.T, bias=True))


def _less(count):
    """Divide by N less a number that depends on the labels."""

    def covariance(features, labels):
        n = len(labels)
        return _pooled(features, labels) * n / (n - count(labels))

    return covariance


def _equal_classes(features, labels):
    return np.mean([_of_class(features, labels, k) for k in _classes(labels)], axis=0)


def _diagonal(features, labels):
    return np.diag(np.diag(_pooled(features, labels)))


MISTAKES = [
    Misconception(
        _scores(_total),
        "you compute the covariance around the mean of all features. Subtract from each one the mean of its class.",
    ),
    Misconception(
        _scores(lambda features, labels: np.atleast_2d(np.cov(features.T))),
        "you compute the covariance around the mean of all features, and divide by N − 1, as np.cov does. Subtract "
        "from each one the mean of its class, and divide by N.",
    ),
    Misconception(
        _each_its_own,
        "you give each class a covariance of its own. All classes share one.",
    ),
    Misconception(
        _scores(_less(lambda labels: labels.max() + 1)),
        "you divide the covariance by N − K. Divide by N.",
    ),
    Misconception(
        _scores(_less(lambda labels: 1)),
        "you divide the covariance by N − 1, as np.cov does. Divide by N.",
    ),
    Misconception(
        _scores(_equal_classes),
        "you average the covariances of the classes. Each data point counts the same, so that large classes count "
        "more.",
    ),
    Misconception(
        _scores(invert=lambda covariance: covariance),
        "you multiply by the covariance. Multiply by its inverse, or solve a system of equations with it.",
    ),
    Misconception(
        _scores(_diagonal),
        "you use the variances alone. The features are correlated.",
    ),
    Misconception(
        _scores(invert=lambda covariance: np.eye(len(covariance))),
        "you return squared Euclidean distances, without the covariance.",
    ),
    Misconception(
        _scores(then=np.sqrt),
        "you take the root. The score is the squared distance.",
    ),
    Misconception(
        _scores(reduce=np.max),
        "you take the distance to the farthest class. Take the nearest.",
    ),
    Misconception(
        _scores(reduce=np.mean),
        "you average over the classes. An input that is near one class mean is not far from the training data.",
    ),
    Misconception(
        _scores(then=np.negative),
        "you return the negative distance, as Lee et al. do: their score is large for inputs near the training "
        "data.",
    ),
]


def _scores_probe(answer, features, labels, new):
    import numpy as np

    arrays = map(np.asarray, (features, labels, new))
    return {"scores": answer(*arrays)}


def _scores_oracle(features, labels, new):
    # It takes a second to import, and no other task needs it.
    from sklearn.covariance import EmpiricalCovariance

    means = [
        features[[label == k for label in labels]].sum(axis=0) / list(labels).count(k)
        for k in range(max(labels) + 1)
    ]
    around = [x - means[label] for x, label in zip(features, labels, strict=True)]
    shared = EmpiricalCovariance(assume_centered=True).fit(around)
    squares = [shared.mahalanobis(new - mean) for mean in means]
    scores = [min(row) for row in zip(*squares, strict=True)]
    return {"scores": Close(scores, rtol=1e-6, atol=1e-9, because=INVERSE)}


MAHALANOBIS_SCORES = Task(
    name="mahalanobis_scores",
    points=3,
    cases=lambda rng: drawn_apart(
        rng,
        _draw_features,
        [_scores(), _of_nearest_mean, *(mistake.answer for mistake in MISTAKES)],
    ),
    probe=_scores_probe,
    oracle=_scores_oracle,
    misconceptions=MISTAKES,
    hints=[
        "Start with the mean of each class, features[labels == k].mean(axis=0), stacked to the shape (K, D).",
        "means[labels] is the mean that belongs to each data point. The differences from it, `around`, give the "
        "covariance `around.T @ around / N`.",
        "`new[:, np.newaxis] - means` has the shape (M, K, D). For each of these differences d, the squared distance is "
        "d · Σ⁻¹d; take the smallest over the classes.",
    ],
)
