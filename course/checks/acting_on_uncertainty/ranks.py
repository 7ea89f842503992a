"""Scores, levels and a p-value, which the tasks share.

The oracles never look for a rank: they ask which scores a conformal p-value keeps.
"""

from __future__ import annotations

import math

import numpy as np

from course.checks.acting_on_uncertainty.tolerances import DOUBLE, EXACT
from course.task import Close


def levels(rng):
    """Draw pairs (n, α) for which the right rank differs from the usual wrong ones.

    With (n + 1)(1 − α) = m + f, the right rank is m + 1. In the first pair, ⌈n(1 − α)⌉ is m;
    in the second, that is right and ⌊(n + 1)(1 − α)⌋ is wrong, as is the score nearest to a
    level. In the third, (n + 1)(1 − α) is a whole number. The fourth pair has a single score.
    In the last, there are too few scores.
    """
    pairs = []
    for n, m, f in (
        (int(rng.integers(18, 25)), None, rng.uniform(0.55, 0.7)),
        (int(rng.integers(10, 14)), 2, rng.uniform(0.85, 0.9)),
    ):
        m = n - 3 if m is None else m
        pairs.append((n, float(1 - (m + f) / (n + 1))))
    return [*pairs, (7, 0.25), (1, float(rng.uniform(0.6, 0.9))), (5, 0.1)]


def spread(rng, n):
    """Draw n positive numbers in random order, no two of them closer than 0.1."""
    return rng.permutation(np.cumsum(rng.uniform(0.1, 0.5, n)))


def largest_kept(scores, alpha):
    """Return the largest score whose conformal p-value is above α; +∞ if every score is kept.

    The p-value of a score s is (1 + #{s_i ≥ s}) / (n + 1). A score above all others has
    1 / (n + 1).

    Source: Vovk, Gammerman and Shafer (2005), section 2.2.
    """
    needed = alpha * (len(scores) + 1) + 1e-9
    if needed < 1:
        return math.inf
    return max(s for s in scores if 1 + np.sum(scores >= s) > needed)


def ranked(scores, rank):
    """Return the score of this rank; the first or last if there is no such rank."""
    return np.sort(scores)[min(max(math.ceil(rank), 1), len(scores)) - 1]


def right_rank(scores, alpha):
    """Return the conformal quantile."""
    rank = (len(scores) + 1) * (1 - alpha)
    return math.inf if rank > len(scores) else ranked(scores, rank)


def largest_if_few(scores, alpha):
    """Return the conformal quantile where the rank exists, otherwise the largest score."""
    return ranked(scores, (len(scores) + 1) * (1 - alpha))


def n_for_n_plus_one(scores, alpha):
    """Return the score of rank ⌈n(1 − α)⌉."""
    return ranked(scores, len(scores) * (1 - alpha))


def half_of_alpha(scores, alpha):
    """Return the conformal quantile at α/2."""
    return right_rank(scores, alpha / 2)


def lower_tail(scores, alpha):
    """Return the conformal quantile at 1 − α."""
    return right_rank(scores, 1 - alpha)


def half_of_quantile(scores, alpha):
    """Return half the conformal quantile."""
    return right_rank(scores, alpha) / 2


def numpy_quantile(scores, alpha):
    """Return NumPy's quantile, which interpolates."""
    return np.quantile(scores, 1 - alpha)


def closes_of(name, value):
    """Return the right value of what may be infinite, in the two parts of the probe."""
    value = np.asarray(value, float)
    infinite = np.isinf(value)
    return {
        f"infinite_{name}": Close(np.where(infinite, np.sign(value), 0), because=EXACT),
        name: Close(np.where(infinite, 0, value), rtol=1e-9, atol=1e-9, because=DOUBLE),
    }
