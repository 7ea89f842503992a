"""``python -m studies.uci``: reproduce a published table; goes on where it was stopped."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

from studies.resumable import run
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
    run(
        arguments,
        lambda name, i: experiment.rows_of(name, i, published_split(rows(name), i)),
        title=__doc__,
        folder=HERE,
        sets=CHECKSUMS,
        count=SPLITS,
        columns=COLUMNS,
        settings=settings(),
    )


if __name__ == "__main__":
    main()
