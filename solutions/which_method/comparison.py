"""Scores of a method, and the difference of two."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import scipy.stats
from jax import Array
from jax.scipy.special import xlogy


def ood_auroc(inside: np.ndarray, outside: np.ndarray) -> float:
    """P(score outside > score inside) + ½ P(equal): the area under the ROC curve.

    The two data points are drawn independently, one from inside and one from outside
    of the training distribution; a detector calls one strange if its score is high.

    Args:
        inside: scores of data from the training distribution, shape (N,).
        outside: scores of data from elsewhere, shape (N',).

    Returns:
        A number between 0 and 1; 0.5 for scores that tell nothing.

    Source: Hanley and McNeil (1982); Hendrycks and Gimpel (2017).
    """
    # All N'·N pairs fit into one array: outside[:, None] against inside[None, :].
    ### BEGIN SOLUTION
    inside, outside = np.asarray(inside), np.asarray(outside)
    above = outside[:, None] > inside[None, :]
    equal = outside[:, None] == inside[None, :]
    return float(above.mean() + 0.5 * equal.mean())
    ### END SOLUTION


def hurried_difference_interval(
    method: np.ndarray, baseline: np.ndarray, level: float
) -> tuple[float, float, float]:
    """Mean difference and its interval, with a mistake that a hurried colleague made.

    Args:
        method: a score of the method in R runs, shape (R,).
        baseline: the baseline's score in the same R runs, shape (R,).
        level: the probability that the interval is to have, such as 0.95.

    Returns:
        The mean difference, and the lower and upper end of its interval.
    """
    runs = len(method)
    variance = np.var(method, ddof=1) / runs + np.var(baseline, ddof=1) / runs
    quantile = scipy.stats.t.ppf((1 + level) / 2, 2 * runs - 2)
    difference = np.mean(method) - np.mean(baseline)
    half = quantile * np.sqrt(variance)
    return float(difference), float(difference - half), float(difference + half)


def difference_interval(
    method: np.ndarray, baseline: np.ndarray, level: float
) -> tuple[float, float, float]:
    """The mean of method − baseline over paired runs, with Student's interval.

    Run r of both used the same data and the same split.

    Args:
        method: a score of the method in R runs, shape (R,).
        baseline: the baseline's score in the same R runs, shape (R,).
        level: the probability that the interval is to have, such as 0.95.

    Returns:
        The mean difference, and the lower and upper end of its interval.

    Source: Student (1908).
    """
    # Start from hurried_difference_interval and fix it: what did the two runs share?
    ### BEGIN SOLUTION
    differences = np.asarray(method) - np.asarray(baseline)
    runs = len(differences)
    quantile = scipy.stats.t.ppf((1 + level) / 2, runs - 1)
    half = quantile * np.std(differences, ddof=1) / np.sqrt(runs)
    mean = np.mean(differences)
    return float(mean), float(mean - half), float(mean + half)
    ### END SOLUTION


def gaussian_crps(mean: np.ndarray, std: np.ndarray, y: np.ndarray) -> np.ndarray:
    """CRPS of N(µ, σ²) at y: σ (z (2Φ(z) − 1) + 2φ(z) − 1/√π) with z = (y − µ)/σ.

    The continuous ranked probability score ∫ (F(t) − [t ≥ y])² dt, in the unit of y;
    the smaller, the better.

    Args:
        mean: means µ, shape (N,).
        std: standard deviations σ > 0, shape (N,).
        y: targets, shape (N,).

    Returns:
        Scores, shape (N,).

    Source: Gneiting et al. (2005), equation 5.
    """
    # scipy.stats.norm.cdf is Φ, scipy.stats.norm.pdf is φ.
    ### BEGIN SOLUTION
    z = (y - mean) / std
    spread = z * (2 * scipy.stats.norm.cdf(z) - 1) + 2 * scipy.stats.norm.pdf(z)
    return std * (spread - 1 / np.sqrt(np.pi))
    ### END SOLUTION


def predictive_entropy(log_probs: Array) -> Array:
    """H(p) in nats of forecasts given by their log-probabilities: (…, K) → (…)."""
    probs = jnp.exp(log_probs)
    return -jnp.sum(xlogy(probs, probs), axis=-1)
