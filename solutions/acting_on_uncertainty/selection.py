"""Selective prediction: the error rate of the answers that are given."""

from __future__ import annotations

import numpy as np


def risk_coverage(
    confidence: np.ndarray, wrong: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Coverage and selective risk at each threshold, from the highest to the lowest.

    Each distinct confidence is a threshold: the data points that are at least so
    confident are answered, and the others are not.

    Args:
        confidence: shape (N,); equal values are possible.
        wrong: whether each answer is wrong, booleans, shape (N,).

    Returns:
        Coverage, the share of data points that are answered, and selective risk, the
        share of these that are wrong. Both have one value for each of T distinct
        confidences, shape (T,).

    Source: El-Yaniv and Wiener (2010); Geifman and El-Yaniv (2017).
    """
    ### BEGIN SOLUTION
    _, which = np.unique(-confidence, return_inverse=True)
    answered = np.cumsum(np.bincount(which))
    errors = np.cumsum(np.bincount(which, weights=wrong))
    return answered / len(wrong), errors / answered
    ### END SOLUTION


def aurc(confidence: np.ndarray, wrong: np.ndarray) -> float:
    """The area under the risk–coverage curve: the mean selective risk over thresholds.

    The confidence of each of the N data points is a threshold once.

    Args:
        confidence: shape (N,); equal values are possible.
        wrong: whether each answer is wrong, booleans, shape (N,).

    Source: Geifman, Uziel and El-Yaniv (2019).
    """
    ### BEGIN SOLUTION
    coverage, risk = risk_coverage(confidence, wrong)
    return float(np.sum(np.diff(coverage, prepend=0) * risk))
    ### END SOLUTION


def excess_aurc(confidence: np.ndarray, wrong: np.ndarray) -> float:
    """AURC, minus that of a ranking with every right answer above every wrong one.

    Source: Geifman, Uziel and El-Yaniv (2019).
    """
    best = np.sort(wrong)
    risk = np.cumsum(best) / np.arange(1, len(best) + 1)
    return aurc(confidence, wrong) - float(risk.mean())
