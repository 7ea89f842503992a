"""Comparisons of methods: paired intervals, ranks with their tests, and a rank correlation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.stats


def paired_interval(
    differences: np.ndarray, ratio: float, level: float = 0.95
) -> tuple[float, float]:
    """Compute the mean of R paired differences, and half the width of its interval.

    Args:
        differences: one per run, shape (R,).
        ratio: the number of test rows divided by that of training rows, where the runs are
            splits of the same rows; 0 where each run has its own.
        level: the confidence level.

    Source: Nadeau and Bengio (2003), section 3; with ratio 0, Student (1908).
    """
    runs = len(differences)
    quantile = scipy.stats.t.ppf((1 + level) / 2, runs - 1)
    error = np.std(differences, ddof=1) * np.sqrt(1 / runs + ratio)
    return float(np.mean(differences)), float(quantile * error)


def mean_ranks(scores: np.ndarray) -> np.ndarray:
    """Rank K methods within each run, 1 for the smallest score, and average: (R, K) → (K,).

    Equal scores share the mean of their ranks.
    """
    return scipy.stats.rankdata(scores, axis=1).mean(0)


class Friedman(NamedTuple):
    """Friedman's statistic, its p-value, and Nemenyi's critical difference of mean ranks."""

    statistic: float
    p_value: float
    critical_difference: float


def friedman_nemenyi(blocks: np.ndarray, level: float = 0.95) -> Friedman:
    """Test whether K methods have equal ranks on B independent data sets, (B, K).

    Source: Demšar (2006), sections 3.2.1 and 3.2.2.
    """
    count, methods = blocks.shape
    statistic, p_value = scipy.stats.friedmanchisquare(*blocks.T)
    quantile = scipy.stats.studentized_range.ppf(level, methods, np.inf) / np.sqrt(2)
    critical = quantile * np.sqrt(methods * (methods + 1) / (6 * count))
    return Friedman(float(statistic), float(p_value), float(critical))


class Agreement(NamedTuple):
    """Kendall's τ and its 95% interval, the quantiles of resamples."""

    tau: float
    low: float
    high: float


def agreement(
    published: np.ndarray,
    ours: np.ndarray,
    resamples: int = 2000,
    *,
    rng: np.random.Generator,
) -> Agreement:
    """Compare a published order with that of our means over runs: (K,), (R, K).

    The interval is a bootstrap over the runs; it says nothing about the choice of methods.
    """
    runs = len(ours)
    drawn = rng.integers(0, runs, (resamples, runs))
    found = [
        scipy.stats.kendalltau(published, means).statistic
        for means in [ours.mean(0), *ours[drawn].mean(1)]
    ]
    low, high = np.quantile(found[1:], (0.025, 0.975))
    return Agreement(float(found[0]), float(low), float(high))
