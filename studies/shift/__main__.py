"""``python -m studies.shift``: every method under shift; goes on where it was stopped."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import jax
import pooch

from studies.resumable import run
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
        "averaged blocks (pixels of a side)": data.IMAGES,
        "steps of severity": {
            "rotation (degrees)": data.ANGLE,
            "noise of pixels (std)": data.PIXEL_NOISE,
            "occlusion (share of a side)": data.HIDDEN_SIDE,
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
    run(
        arguments,
        experiment.rows_of,
        title=__doc__,
        folder=HERE,
        sets=data.SETS,
        count=SEEDS,
        columns=COLUMNS,
        settings=settings(),
        digits=DIGITS,
    )


if __name__ == "__main__":
    # A run that goes on where another was stopped does not compile again.
    folder = pooch.os_cache("known-unknowns") / "jax"
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
    main()
