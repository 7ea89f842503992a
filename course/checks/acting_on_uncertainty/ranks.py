"""Scores, levels and a p-value, which the tasks share.

The oracles never look for a rank: they ask which scores a conformal p-value keeps.
"""

from __future__ import annotations

import math

import numpy as np


def levels(rng):
    """Draw pairs (n, α) for which the right rank differs from the usual wrong ones.

    With (n + 1)(1 − α) = m + f, the right rank is m + 1. In the first pair, ⌈n(1 − α)⌉ is m;
    in the second, that is right and ⌊(n + 1)(1 − α)⌋ is wrong. In the third, (n + 1)(1 − α)
    is a whole number. The last pair has a single score.
    """
    pairs = []
    for n, m, f in (
        (int(rng.integers(18, 25)), None, rng.uniform(0.3, 0.7)),
        (int(rng.integers(10, 14)), 2, rng.uniform(0.6, 0.8)),
    ):
        m = n - 3 if m is None else m
        pairs.append((n, float(1 - (m + f) / (n + 1))))
    return [*pairs, (7, 0.25), (1, float(rng.uniform(0.6, 0.9)))]


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
    """Return the conformal quantile where the rank exists."""
    return ranked(scores, (len(scores) + 1) * (1 - alpha))


def n_for_n_plus_one(scores, alpha):
    """Return the score of rank ⌈n(1 − α)⌉."""
    return ranked(scores, len(scores) * (1 - alpha))


def half_of_alpha(scores, alpha):
    """Return the conformal quantile at α/2, or the largest score."""
    return right_rank(scores, alpha / 2)
