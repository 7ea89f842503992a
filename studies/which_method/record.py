"""The results of a worker: costs and predictions of each fit."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from studies.which_method import scores
from studies.which_method.methods import DRAWS, HIDDEN, METHODS, SEEDS
from studies.which_method.problems import PROBLEMS, Problem, map_grid


class Budget(NamedTuple):
    """The extent of an experiment; ``QUICK`` is for tests."""

    seeds: int = SEEDS
    hidden: int = HIDDEN
    draws: int = DRAWS
    steps: float = 1.0
    choices: int | None = None

    def of(self, steps: int) -> int:
        """Scale a number of training steps by the budget; at least 2."""
        return max(2, round(self.steps * steps))

    def values(self, method: str) -> tuple[float, ...]:
        """Return the values of a method's setting that are tried."""
        return METHODS[method].values[: self.choices]


QUICK = Budget(seeds=1, hidden=6, draws=4, steps=0.02, choices=1)


class Fitted(NamedTuple):
    """A trained method.

    ``predict`` returns the outputs of S draws, heads or members for inputs (N, D), as an
    array (S, N, O). ``seconds`` is the processor time of training at this setting, including
    that of the method it builds on. ``stored`` is how many numbers are stored; ``passes`` how
    many forward passes (or equally costly backward passes) one prediction takes.
    """

    predict: Callable[[np.ndarray], np.ndarray]
    setting: float | None
    seconds: float
    stored: int
    passes: int


@dataclass
class Record:
    """The rows and predictions that a worker collects."""

    rows: list[dict] = field(default_factory=list)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)

    def add(self, name: str, seed: int, method: str, problem: Problem, fitted: Fitted):
        """Predict, and add the predictions and the costs."""
        outputs, predict_seconds = timed(lambda: fitted.predict(problem.x_test))
        key = f"{name}|{method}|{seed}|"
        if problem.regression:
            self.arrays[key + "test"] = outputs
        else:
            for part, draws in (
                ("test", outputs),
                ("out", fitted.predict(problem.out)),
            ):
                self.arrays[key + part] = scores.class_log_probs(draws)
                self.arrays[key + part + "-mi"] = scores.mutual_information(draws)
        if name == "moons" and seed == 0:
            draws = fitted.predict(map_grid(problem))
            self.arrays[key + "map"] = scores.class_log_probs(draws)
        self.rows.append(
            {
                "problem": name,
                "method": method,
                "seed": seed,
                "setting": fitted.setting,
                "train seconds": fitted.seconds,
                "predict seconds": predict_seconds,
                "stored": fitted.stored,
                "passes": fitted.passes,
                "heads": len(outputs),
            }
        )

    def save(self, folder: Path, worker: str) -> None:
        """Write the predictions and the rows to a folder, as ``WORKER.npz`` and ``.json``."""
        np.savez(folder / f"{worker}.npz", **self.arrays)
        text = json.dumps(self.rows)
        (folder / f"{worker}.json").write_text(text, encoding="utf-8")


def timed(function: Callable):
    """Call a function; return its value and the processor time it took, summed over cores."""
    start = time.process_time()
    value = function()
    return value, time.process_time() - start


def chosen(candidates: list[Fitted], problem: Problem) -> Fitted:
    """Return the candidate with the smallest NLL on the validation data."""

    def validation_nll(fitted: Fitted) -> float:
        outputs = fitted.predict(problem.x_val)
        value = scores.nll(outputs, problem.y_val, regression=problem.regression)
        return value if np.isfinite(value) else np.inf

    return min(candidates, key=validation_nll)


def each_problem(budget: Budget) -> Iterator[tuple[str, int, Problem]]:
    """Yield name, seed and data of all problems with all seeds."""
    for name, draw in PROBLEMS.items():
        for seed in range(budget.seeds):
            yield name, seed, draw(seed)
