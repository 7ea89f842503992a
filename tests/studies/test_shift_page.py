"""The page of the shift study against its committed results."""

import csv
import statistics
from pathlib import Path

import jupytext
import matplotlib.pyplot as plt
import numpy as np
import scipy.stats

from studies.shift import data
from studies.shift.__main__ import HERE, SEEDS
from studies.shift.methods import METHODS

PAGE = Path(__file__).parents[2] / "book" / "shift-study.md"


def test_the_page_shows_the_committed_results():
    """Mean ranks, better and worse sets, and costs of its first table, by other means."""
    scope, shown = {}, None
    with plt.rc_context():  # its first cell sets the course's style
        for cell in jupytext.reads(PAGE.read_text("utf-8"), fmt="md:myst").cells:
            if cell.cell_type == "code":
                exec(cell.source, scope)
                if "def cells" in cell.source:
                    shown = [list(scope["cells"](m)) for m in METHODS]
                    break
    with (HERE / "results.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {
        (row["set"], row["seed"], row["shift"], row["severity"], row["method"]): row
        for row in rows
    }
    losses_of = [
        lambda row: float(row["NLL"]),  # without a shift
        lambda row: float(row["NLL"]),
        lambda row: float(row["Brier"] or row["CRPS"]),
        lambda row: float(row["ECE"] or abs(float(row["coverage"]) - 0.95)),
        lambda row: -float(row["AUROC"]),
        lambda row: float(row["AURC"]),
        lambda row: abs(float(row["conformal"]) - 0.9),
    ]
    for column, loss in enumerate(losses_of):
        runs = {key[:4] for key in found if bool(key[2]) == (column > 0)}
        orders, better = [], {method: [0, 0] for method in METHODS}
        for name, source in data.SETS.items():
            if column == 5 and not source.classes:  # no AURC
                continue
            ranks, apart = [], {}
            for run in sorted(run for run in runs if run[0] == name):
                losses = [loss(found[*run, m]) for m in METHODS]
                ranks.append(scipy.stats.rankdata(losses))
                apart.setdefault(run[1], []).append(np.array(losses) - losses[0])
            orders.append(scipy.stats.rankdata(np.mean(ranks, 0)))
            seeds = np.array([np.mean(each, 0) for each in apart.values()])
            assert len(seeds) == SEEDS
            for method, differences in zip(METHODS, seeds.T, strict=True):
                for side in (0, 1):
                    better[method][side] += clear(differences, name, 2 * side - 1)
        for rank, method, cells in zip(np.mean(orders, 0), METHODS, shown, strict=True):
            counts = zip("▲▼", better[method], strict=True)
            marks = " ".join(f"{sign}{count}" for sign, count in counts if count)
            text = f"{rank:.1f}"
            if text == f"{min(np.mean(orders, 0)):.1f}":
                text = f"<strong>{text}</strong>"
            assert cells[column] == f"{text}<br><small>{marks}</small>"
    for method, cells in zip(METHODS, shown, strict=True):
        seconds = [
            [
                float(found[name, str(seed), "", "0", m]["seconds"])
                for seed in range(SEEDS)
            ]
            for name in data.SETS
            for m in (method, METHODS[0])
        ]
        own, one = np.array(seconds[::2]), np.array(seconds[1::2])
        assert cells[7] == f"{np.median(np.median(own / one, 1)):.1f}"


def clear(differences, name, side):
    """Is the corrected interval of the mean wholly on this side of zero?"""
    source = data.SETS[name]
    ratio = source.test / source.train if name in data.RESAMPLED else 0
    error = statistics.stdev(differences) * (1 / len(differences) + ratio) ** 0.5
    bound = scipy.stats.t.ppf(0.975, len(differences) - 1) * error
    return side * statistics.mean(differences) > bound > 0
