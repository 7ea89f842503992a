"""One cell of the study: all methods on one split, scored at every severity."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solutions.acting_on_uncertainty import aurc, conformal_quantile
from studies.shift.data import problem_of, seen, shifted
from studies.shift.methods import METHODS, MethodTrainer
from studies.which_method import scores
from studies.which_method.problems import Problem

LEVEL = 0.9  # of conformal sets and intervals


def uncertainty(outputs: np.ndarray, *, regression: bool) -> np.ndarray:
    """Compute the entropy of the classes, or the variance of the mixture of Gaussians, (N,)."""
    if not regression:
        return scores.entropy(np.exp(scores.class_log_probs(outputs)))
    mean, std = scores.heads(outputs)
    return (std**2).mean(0) + mean.var(0)


def nonconformity(
    outputs: np.ndarray, y: np.ndarray, *, regression: bool
) -> np.ndarray:
    """Compute 1 − p of the labels, or |y − mean| in standard deviations of the mixture, (N,)."""
    if not regression:
        return -np.expm1(scores.class_log_probs(outputs)[np.arange(len(y)), y])
    mean = scores.heads(outputs)[0].mean(0)
    return np.abs(y - mean) / np.sqrt(uncertainty(outputs, regression=True))


def scored(problem: Problem, outputs: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Score outputs (S, N, O) at targets (N,); those of a regression in standard deviations."""
    if problem.regression:
        return scores.regression_scores(outputs, y, 1.0)
    log_probs = scores.class_log_probs(outputs)
    found = scores.class_scores(log_probs, y, log_probs)
    del found["AUROC"]  # of these data among themselves
    wrong = log_probs.argmax(1) != y
    return found | {"AURC": aurc(log_probs.max(1), wrong)}


def rows_of(name: str, seed: int, methods=METHODS) -> Iterator[dict]:
    """Train methods on one split; yield a row of scores for each, at each severity.

    The AUROC is that of detecting the shifted inputs among the unshifted ones. Conformal
    sets and intervals are calibrated on the validation data.
    """
    whole = problem_of(name, seed)
    problem, tests = seen(name, whole), shifted(name, seed, whole)
    regression = problem.regression
    stacked = np.concatenate([test.x for test in tests])
    trainer = MethodTrainer(problem, seed)
    for method in methods:
        fit = trainer.fit(method)
        calibration = fit.forecast(problem.x_val)
        quantile = conformal_quantile(
            nonconformity(calibration, problem.y_val, regression=regression), 1 - LEVEL
        )
        parts = np.split(fit.forecast(stacked), len(tests), axis=1)
        clean = uncertainty(parts[0], regression=regression)
        for test, outputs in zip(tests, parts, strict=True):
            row = {"set": name, "seed": seed, "shift": test.shift}
            row |= {"severity": test.severity, "method": method}
            row |= scored(problem, outputs, test.y)
            inside = nonconformity(outputs, test.y, regression=regression) <= quantile
            row["conformal"] = float(inside.mean())
            if test.severity:
                moved = uncertainty(outputs, regression=regression)
                row["AUROC"] = scores.auroc(clean, moved)
            else:
                row |= {"setting": fit.setting, "seconds": fit.seconds}
            yield row
