"""``python -m studies.which_method``: about half an hour; ``--quick`` takes seconds."""

from __future__ import annotations

import argparse
import importlib.metadata
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from project.files import all_or_none, write_whole
from project.threads import ONE_THREAD
from studies.tables import computed, csv_text
from studies.which_method import methods, scores
from studies.which_method.baselines import distances
from studies.which_method.problems import MAP_X, MAP_Y, PROBLEMS
from studies.which_method.record import QUICK, Budget

HERE = Path(__file__).parent
WORKERS = ("torch", "jax")  # never loaded in the same process
LIBRARIES = ("jax", "numpy", "optax", "scikit-learn", "scipy", "torch")
METRICS = (
    *("accuracy", "RMSE", "NLL", "Brier", "CRPS", "ECE", "coverage"),
    *("AUROC", "AUROC of disagreement"),
)
COSTS = ("train ratio", "train seconds", "predict seconds", "passes", "stored")
COLUMNS = ("problem", "method", "seed", "setting", *METRICS, *COSTS)
# Costs are relative to training one network in the same framework.
PLAIN = {"torch": "MAP", "jax": methods.SINGLE}


def run(folder: Path, *, quick: bool) -> None:
    """Train and predict, one process after another, each with one thread."""
    root = HERE.parents[1]
    environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(root)}
    for worker in WORKERS:
        module = f"studies.which_method.with_{worker}"
        command = [sys.executable, "-m", module, str(folder)]
        command += ["--quick"] if quick else []
        subprocess.run(command, cwd=root, env=environment, check=True)


def judged(folder: Path, worker: str) -> list[dict]:
    """Return a worker's rows, with the scores of its predictions and its relative costs."""
    rows = json.loads((folder / f"{worker}.json").read_text(encoding="utf-8"))
    plain = {
        (row["problem"], row["seed"]): row["train seconds"]
        for row in rows
        if row["method"] == PLAIN[worker]
    }
    problems = {}
    with np.load(folder / f"{worker}.npz") as arrays:
        for row in rows:
            at = row["problem"], row["seed"]
            if at not in problems:
                problems[at] = PROBLEMS[row["problem"]](row["seed"])
            problem = problems[at]
            key = f"{row['problem']}|{row['method']}|{row['seed']}|"
            test, heads = arrays[key + "test"], row.pop("heads")
            if problem.regression:
                row |= scores.regression_scores(test, problem.y_test, problem.unit)
            else:
                out = arrays[key + "out"]
                row |= scores.class_scores(test, problem.y_test, out)
                if heads > 1:
                    pair = arrays[key + "test-mi"], arrays[key + "out-mi"]
                    row["AUROC of disagreement"] = scores.auroc(*pair)
            row["train ratio"] = row["train seconds"] / plain[at]
    return rows


def place(row: dict) -> tuple:
    """Order rows by problem, method and seed."""
    names, order, method = list(PROBLEMS), list(methods.METHODS), row["method"]
    rank = order.index(method) if method in order else len(order)
    return names.index(row["problem"]), rank, method, row["seed"]


def maps(folder: Path) -> dict[str, np.ndarray]:
    """Compute maps of the predictive entropy around the moons by method, in nats."""
    found = {}
    for worker in WORKERS:
        with np.load(folder / f"{worker}.npz") as arrays:
            for method in methods.METHODS:
                key = f"moons|{method}|0|map"
                if key in arrays:
                    log_probs = arrays[key]
                    side = round(len(log_probs) ** 0.5)
                    entropy = scores.entropy(np.exp(log_probs))
                    found[method] = entropy.reshape(side, side).astype(np.float16)
    return found


def settings(budget: Budget) -> dict:
    """Return the settings, library versions and machine of the experiment."""
    return computed() | {
        "versions": {name: importlib.metadata.version(name) for name in LIBRARIES},
        "seeds": budget.seeds,
        "hidden": budget.hidden,
        "draws": budget.draws,
        "members": methods.MEMBERS,
        "subnetworks": methods.SUBNETWORKS,
        "longer": methods.LONGER,
        "sizes": {
            name: [
                len(p.x),
                len(p.x_val),
                len(p.x_test),
                0 if p.out is None else len(p.out),
            ]
            for name, p in ((name, draw(0)) for name, draw in PROBLEMS.items())
        },
        "map": {"x": MAP_X, "y": MAP_Y},
        "methods": {name: plan._asdict() for name, plan in methods.METHODS.items()},
    }


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment, score its predictions, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few steps, one seed")
    parser.add_argument("--out", type=Path, default=HERE, help="where to write")
    options = parser.parse_args(arguments)
    if options.quick and options.out == HERE:
        parser.error("--quick needs --out: its results are not worth keeping here")
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(folder, quick=options.quick)
        rows = [row for worker in WORKERS for row in judged(folder, worker)]
        entropies = maps(folder)
    budget = QUICK if options.quick else Budget()
    rows += distances(budget.seeds)
    rows.sort(key=place)
    compared = [row for row in rows if row["method"] in methods.METHODS]
    aside = [row for row in rows if row["method"] not in methods.METHODS]
    arrays = io.BytesIO()
    np.savez_compressed(arrays, **entropies)
    text = json.dumps(settings(budget), indent=1)
    with all_or_none():
        write_whole(options.out / "results.csv", csv_text(COLUMNS, compared))
        write_whole(options.out / "asides.csv", csv_text(COLUMNS, aside))
        write_whole(options.out / "maps.npz", arrays.getvalue())
        write_whole(options.out / "settings.json", text + "\n")


if __name__ == "__main__":
    main()
