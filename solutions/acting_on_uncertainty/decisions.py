"""Decisions from probabilities: actions, abstention, the value of information."""

from __future__ import annotations

import numpy as np

ABSTAIN = -1


def bayes_actions(probs: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """The action with the least expected cost, for each data point.

    Args:
        probs: probabilities of the classes, shape (N, K).
        cost: the cost of each action in each class, shape (K, A).

    Returns:
        Indices of actions, from 0 to A − 1, shape (N,). Of equally good actions, the
        first.

    Source: Bishop (2006), equation 1.81.
    """
    ### BEGIN SOLUTION
    return np.argmin(probs @ cost, axis=1)
    ### END SOLUTION


def chow_labels(probs: np.ndarray, price: float) -> np.ndarray:
    """The most probable label, or −1 where it is expected to cost more than abstaining.

    An error costs 1, a right label nothing, and an abstention the price.

    Args:
        probs: probabilities of the labels, shape (N, K).
        price: the cost of an abstention, between 0 and 1.

    Returns:
        Labels from 0 to K − 1, or −1, integers of shape (N,). Where both cost the same,
        a label.

    Source: Chow (1970).
    """
    ### BEGIN SOLUTION
    costs_more = 1 - probs.max(axis=1) > price
    return np.where(costs_more, ABSTAIN, probs.argmax(axis=1))
    ### END SOLUTION


def value_of_information(probs: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """The expected saving if the class is revealed before one acts, by data point.

    Args:
        probs: probabilities of the classes, shape (N, K).
        cost: the cost of each action in each class, shape (K, A).

    Returns:
        The expected cost of the best action now, minus the expected cost of the best
        action once the class is known; shape (N,), never negative.

    Source: Howard (1966).
    """
    ### BEGIN SOLUTION
    now = (probs @ cost).min(axis=1)
    informed = probs @ cost.min(axis=1)
    return now - informed
    ### END SOLUTION
