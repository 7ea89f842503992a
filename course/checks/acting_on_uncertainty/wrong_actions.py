"""Mistakes in the choice of the cheapest action."""

from __future__ import annotations

import numpy as np

from course.task import Misconception


def _for_all(choose):
    """Take one action for all data points, chosen by the costs alone."""
    return lambda probs, cost: np.full(len(probs), choose(cost))


ACTION_MISTAKES = [
    Misconception(
        lambda probs, cost: np.argmax(probs @ cost, axis=1),
        "you take the action with the largest expected cost. Take the smallest.",
    ),
    Misconception(
        lambda probs, cost: np.argmin(cost[probs.argmax(axis=1)], axis=1),
        "you take the cheapest action for the most probable class. A less probable class counts as well: an error "
        "there may cost far more.",
    ),
    Misconception(
        lambda probs, cost: np.argmax(probs, axis=1),
        "you return the most probable class. An action is asked for, and which is best depends on the costs.",
    ),
    Misconception(
        _for_all(lambda cost: np.argmin(cost.mean(axis=0))),
        "you give all classes the same weight. Weight the cost in each class by its probability.",
    ),
    Misconception(
        _for_all(lambda cost: np.argmin(cost.max(axis=0))),
        "you take the action whose cost in its worst class is smallest. That ignores the probabilities.",
    ),
    Misconception(
        lambda probs, cost: np.full(
            len(probs), np.argmin(probs.mean(axis=0) @ cost, axis=0)
        ),
        "you average over the data points, and take one action for all. Each data point has its own.",
    ),
    Misconception(
        lambda probs, cost: (
            cost.shape[1] - 1 - np.argmin((probs @ cost)[:, ::-1], axis=1)
        ),
        "you take the last of equally good actions. Take the first, as np.argmin does.",
    ),
    Misconception(
        lambda probs, cost: np.argmin(probs @ cost, axis=1) + 1,
        "you count the actions from 1. Indices begin at 0.",
    ),
    Misconception(
        lambda probs, cost: np.argmin(
            probs @ (cost / cost.max(axis=1, keepdims=True).clip(min=1e-12)), axis=1
        ),
        "you scale the costs of each class, so that its largest is 1. Leave them as they are: all have the same unit.",
    ),
    Misconception(
        lambda probs, cost: np.argmin((probs[..., None] * cost).max(axis=1), axis=1),
        "you take the largest of the weighted costs of an action. Add them up over the classes.",
    ),
    Misconception(
        lambda probs, cost: np.min(probs @ cost, axis=1),
        "you return the least expected cost. Return which action has it: argmin in place of `min`.",
    ),
]
