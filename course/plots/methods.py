"""Methods side by side, each with the same colour and marker in all figures."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from course.plots.style import COLOURS

# Related methods have similar colours: both Laplace ones are blue, variational ones warm. Three
# colours are from Paul Tol's "muted" palette, which fits Okabe and Ito's; markers differ, too.
METHODS = MappingProxyType(
    {
        "MAP": (COLOURS["black"], "o"),
        "temperature": (COLOURS["grey"], "s"),
        "last-layer Laplace": (COLOURS["sky"], "^"),
        "Laplace": (COLOURS["blue"], "v"),
        "variational": (COLOURS["orange"], "D"),
        "Bayes by Backprop": (COLOURS["vermilion"], "P"),
        "cold Bayes by Backprop": ("#882255", "X"),
        "MC dropout": (COLOURS["green"], "<"),
        "flow noise": ("#999933", ">"),
        "deep ensemble": ("#332288", "*"),
        "MIMO": (COLOURS["purple"], "h"),
    }
)


def method_intervals(
    values: Mapping[str, tuple[float, float, float]],
    *,
    xlabel: str,
    reference: float | None = None,
    names: bool = True,
    styles: Mapping[str, tuple[str, str]] = METHODS,
    outside: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw one row for each method: its estimate and the interval around it.

    Args:
        values: estimate, lower and upper end, by method; rows are in this order. The row of
            a method whose estimate is not finite is left empty.
        xlabel: what the numbers are, with their unit.
        reference: where to draw a dotted vertical line.
        names: write the methods' names beside the rows.
        styles: colour and marker, by method.
        outside: a method that does not widen the axis: if its estimate lies beyond those of the
            others, an arrow with the number stands in its row.
        ax: where to draw.
    """
    ax = ax or plt.gca()
    others = [v for name, v in values.items() if name != outside]
    least, most = min(low for _, low, _ in others), max(high for *_, high in others)
    for row, (name, (middle, low, high)) in enumerate(values.items()):
        beyond = middle > most
        if name == outside and (beyond or middle < least):
            number = f"{middle:.2f}".replace("-", "−")
            text = f"{number} →" if beyond else f"← {number}"
            ax.annotate(
                text,
                (0.98 if beyond else 0.02, row),
                xycoords=ax.get_yaxis_transform(),
                ha="right" if beyond else "left",
                va="center",
            )
            continue
        colour, marker = styles[name]
        if np.isfinite(middle):
            ax.plot([low, high], [row, row], color=colour, lw=2, solid_capstyle="butt")
            size = 10 if marker == "*" else 6.5
            ax.plot(middle, row, marker, ms=size, color=colour, mec="white", mew=0.6)
    if reference is not None:
        ax.axvline(reference, color="black", lw=1, ls=":", zorder=0.6)
    ax.set_yticks(range(len(values)), list(values) if names else [""] * len(values))
    ax.set(xlabel=xlabel, ylim=(len(values) - 0.5, -0.5))
    if ax.get_xscale() == "linear":
        ax.locator_params(axis="x", nbins=3)  # more of them would touch on a phone
    ax.grid(axis="y", visible=False)
    return ax
