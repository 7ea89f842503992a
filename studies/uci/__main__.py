"""``python -m studies.uci``: reproduce a published table; goes on where it was stopped."""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
import time
from pathlib import Path

from course.idx import DataUnavailable
from studies.resumable import read, write
from studies.uci import experiment, methods
from studies.uci.data import CHECKSUMS, SPLITS, published_split, rows

HERE = Path(__file__).parent
LIBRARIES = ("jax", "numpy", "optax", "scikit-learn", "scipy")
COLUMNS = (
    *("set", "split", "method", "members", "rate", "setting", "RMSE", "NLL"),
    *("Gaussian NLL", "coverage", "conformal coverage", "conformal factor", "seconds"),
)


def settings() -> dict:
    """Return what determines the results, but for rounding."""
    return {
        "epochs": experiment.EPOCHS,
        "batch size": experiment.BATCH,
        "hidden units": methods.HIDDEN,
        "rates": list(experiment.RATES),
        "settings": {
            name: list(method.settings)
            for name, method in methods.METHODS.items()
            if method.settings != (None,)
        },
        "adversarial step": experiment.REACH,
        "members for selection": experiment.SELECTING,
        "draws": methods.DRAWS,
        "dropout's prior std": methods.DROPOUT_PRIOR,
        "initial rho of BbB": methods.INITIAL_RHO,
        "level": experiment.LEVEL,
        "versions": {name: importlib.metadata.version(name) for name in LIBRARIES},
    }


def main(arguments: list[str] | None = None) -> None:
    """Run the splits that are missing, all sets in turn, and write after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=HERE, help="where to write")
    parser.add_argument("--splits", type=int, default=SPLITS, help="the first so many")
    parser.add_argument(
        "--sets", nargs="+", default=list(CHECKSUMS), choices=list(CHECKSUMS)
    )
    options = parser.parse_args(arguments)
    if not 1 <= options.splits <= SPLITS:
        parser.error(f"--splits is from 1 to {SPLITS}")
    results = read(options.out, settings())
    done = {(row["set"], int(row["split"])) for row in results}
    wanted = [(name, i) for i in range(options.splits) for name in options.sets]
    missing = [cell for cell in wanted if cell not in done]
    try:
        tables = {name: rows(name) for name in options.sets}
    except DataUnavailable as error:
        sys.exit(str(error))
    names = list(CHECKSUMS)
    start = time.perf_counter()
    for count, (name, number) in enumerate(missing):
        split = published_split(tables[name], number)
        results += experiment.rows_of(name, number, split)
        results.sort(key=lambda row: (names.index(row["set"]), int(row["split"])))
        write(options.out, COLUMNS, results, settings())
        minutes = (time.perf_counter() - start) / 60
        left = minutes / (count + 1) * (len(missing) - count - 1)
        print(
            f"{name}, split {number + 1}: {len(wanted) - len(missing) + count + 1} of "
            f"{len(wanted)} done, about {left:.0f} minutes left",
            flush=True,
        )


if __name__ == "__main__":
    main()
