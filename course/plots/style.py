"""The look of the course's figures."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib_inline.config import InlineBackend

# Okabe and Ito's palette, by name.
COLOURS = {
    "blue": "#0072B2",
    "vermilion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "black": "#000000",
    "grey": "#767676",
}
CLASS_COLOURS = [
    COLOURS[name] for name in ("blue", "orange", "green", "purple", "vermilion", "sky")
]
CLASS_MARKERS = "os^Dvp"


def use_style() -> None:
    """Use the course's style for all figures from now on, two pixels for each in notebooks."""
    plt.style.use(Path(__file__).with_name("known-unknowns.mplstyle"))
    if plt.get_backend().endswith("inline"):
        InlineBackend.instance().figure_formats = {"retina"}
