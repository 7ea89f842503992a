"""The committed results, as the pages read them: scores, and ranks of the methods by question."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from studies.shift.ranks import mean_ranks

HERE = Path(__file__).parent
SETTINGS = json.loads((HERE / "settings.json").read_text(encoding="utf-8"))["settings"]
SETS = list(SETTINGS["rows"])
METHODS = list(SETTINGS["settings"])
SINGLE = METHODS[0]
SEVERITIES = range(1, 6)
KEYS = ("set", "method", "seed", "shift", "severity")

VALUES = {}  # by set, method, score, shift and severity: one number per seed
with (HERE / "results.csv").open(encoding="utf-8") as file:
    for row in csv.DictReader(file):
        for score, value in row.items():
            if score not in KEYS and value:
                at = row["set"], row["method"], score, row["shift"]
                seeds = VALUES.setdefault((*at, int(row["severity"])), [])
                seeds.append(float(value))

SEEDS = len(VALUES[SETS[0], SINGLE, "NLL", "", 0])
CLASSES = [name for name in SETS if (name, SINGLE, "Brier", "", 0) in VALUES]
NUMBERS = [name for name in SETS if name not in CLASSES]
SHIFTS = {
    name: list(dict.fromkeys(key[3] for key in VALUES if key[0] == name and key[3]))
    for name in SETS
}


def conditions(name: str, shifted: bool = True) -> list[tuple[str, int]]:
    """Return the shifts of a set with their severities, or only the unshifted data."""
    if not shifted:
        return [("", 0)]
    return [(shift, level) for shift in SHIFTS[name] for level in SEVERITIES]


def values(name: str, method: str, score: str, where) -> np.ndarray:
    """Return a score of a method at C conditions, for each of R seeds, (R, C).

    Raises:
        ValueError: a seed is missing somewhere.
    """
    found = [VALUES[name, method, score, *condition] for condition in where]
    if {len(each) for each in found} != {SEEDS}:
        raise ValueError(f"{name}, {method}: not all {SEEDS} seeds are there")
    return np.array(found).T


def losses(name: str, method: str, question: str) -> np.ndarray:
    """Return what a question asks of a set, lower is better, (R, C)."""
    classes = name in CLASSES
    where = conditions(name, question != "NLL, unshifted")
    if question.startswith("NLL"):
        return values(name, method, "NLL", where)
    if question == "Brier or CRPS":
        return values(name, method, "Brier" if classes else "CRPS", where)
    if question == "calibration":
        if classes:
            return values(name, method, "ECE", where)
        return np.abs(values(name, method, "coverage", where) - 0.95)
    if question == "abstaining":
        return values(name, method, "AURC", where)
    if question == "notices":
        return -values(name, method, "AUROC", where)
    return np.abs(values(name, method, "conformal", where) - SETTINGS["level"])


QUESTIONS = {
    "NLL, unshifted": SETS,
    "NLL, shifted": SETS,
    "Brier or CRPS": SETS,
    "calibration": SETS,
    "notices": SETS,
    "abstaining": CLASSES,
    "conformal": SETS,
}


def ranks_by_set(question: str) -> np.ndarray:
    """Rank K methods in every run and average, for each of B sets, (B, K); 1 is the best."""
    ranks = []
    for name in QUESTIONS[question]:
        found = np.stack([losses(name, m, question) for m in METHODS], -1)
        ranks.append(mean_ranks(found.reshape(-1, len(METHODS))))
    return np.array(ranks)
