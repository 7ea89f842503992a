"""``python -m studies.shift``: every method under shift; goes on where it was stopped."""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
import time
from pathlib import Path

from course.idx import DataUnavailable
from studies.resumable import read, write
from studies.shift import data, experiment, methods

HERE = Path(__file__).parent
SEEDS = 20
LIBRARIES = ("jax", "numpy", "optax", "scikit-learn", "scipy", "torch")
SCORES = (
    *("accuracy", "RMSE", "NLL", "Brier", "CRPS", "ECE", "AURC", "coverage"),
    *("AUROC", "conformal"),
)
COLUMNS = (
    *("set", "seed", "shift", "severity", "method", *SCORES),
    *("setting", "seconds"),
)
DIGITS = 4  # significant digits of the scores


def settings() -> dict:
    """Return what determines the results, but for rounding."""
    return {
        "rows": {name: source[:3] for name, source in data.SETS.items()},
        "steps of severity": {
            "rotation (degrees)": data.ANGLE,
            "noise of pixels (std)": data.PIXEL_NOISE,
            "noise (std)": data.NOISE,
            "missing (share)": data.MISSING,
            "tilt": data.TILT,
        },
        "hidden units": methods.HIDDEN,
        "members": methods.MEMBERS,
        "subnetworks": methods.SUBNETWORKS,
        "draws": methods.DRAWS,
        "batch size": methods.BATCH,
        "output scale": methods.OUTPUT_SCALE,
        "steps": {"usual": methods.STEPS, "long": methods.LONG_STEPS},
        "rates": {"usual": methods.RATE, "BbB": methods.VARIATIONAL_RATE},
        "initial rho of BbB": methods.INITIAL_RHO,
        "SWAG": {"epochs": methods.SWAG_EPOCHS, "rank": methods.SWAG_RANK},
        "settings": methods.SETTINGS,
        "level": experiment.LEVEL,
        "versions": {name: importlib.metadata.version(name) for name in LIBRARIES},
    }


def main(arguments: list[str] | None = None) -> None:
    """Run the cells that are missing, all sets in turn, and write after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE, help="where to write")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="the first so many")
    parser.add_argument(
        "--sets", nargs="+", default=list(data.SETS), choices=list(data.SETS)
    )
    options = parser.parse_args(arguments)
    if options.seeds < 1:
        parser.error("--seeds is at least 1")
    about = settings()
    results = read(options.out, about)
    done = {(row["set"], int(row["seed"])) for row in results}
    wanted = [(name, seed) for seed in range(options.seeds) for name in options.sets]
    missing = [cell for cell in wanted if cell not in done]
    names, start = list(data.SETS), time.perf_counter()
    for count, (name, seed) in enumerate(missing):
        try:
            results += experiment.rows_of(name, seed)
        except DataUnavailable as error:
            sys.exit(str(error))
        results.sort(key=lambda row: (names.index(row["set"]), int(row["seed"])))
        write(options.out, COLUMNS, results, about, DIGITS)
        minutes = (time.perf_counter() - start) / 60
        left = minutes / (count + 1) * (len(missing) - count - 1)
        print(
            f"{name}, seed {seed}: {len(wanted) - len(missing) + count + 1} of "
            f"{len(wanted)} done, about {left:.0f} minutes left",
            flush=True,
        )


if __name__ == "__main__":
    main()
