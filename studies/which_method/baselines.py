"""Baselines without a network: a linear regression, and a distance that detects OOD inputs."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree
from sklearn.linear_model import LinearRegression

from studies.which_method import scores
from studies.which_method.methods import DISTANCE
from studies.which_method.problems import PROBLEMS, Problem
from studies.which_method.record import Fitted, timed


def least_squares(problem: Problem) -> Fitted:
    """Fit a linear regression with constant noise, the baseline for the networks."""
    x, y = problem.x, problem.y
    line, seconds = timed(lambda: LinearRegression().fit(x, y))
    residuals = y - line.predict(x)
    std = np.sqrt(residuals @ residuals / (len(y) - x.shape[1] - 1))

    def predict(x: np.ndarray) -> np.ndarray:
        rho = std + np.log(-np.expm1(-std))  # the inverse of softplus
        return np.stack([line.predict(x), np.full(len(x), rho)], -1)[None]

    return Fitted(predict, None, seconds, x.shape[1] + 2, 1)


def distances(seeds: int) -> list[dict]:
    """Score the distance to the nearest training point as a detector of OOD inputs."""
    rows = []
    for name, draw in PROBLEMS.items():
        for seed in range(seeds):
            problem = draw(seed)
            if not problem.regression:
                nearest = cKDTree(problem.x).query
                pair = nearest(problem.x_test)[0], nearest(problem.out)[0]
                row = {"problem": name, "method": DISTANCE, "seed": seed}
                rows.append(row | {"AUROC": scores.auroc(*pair)})
    return rows
