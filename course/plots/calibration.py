"""Figures of calibration, of models compared over seeds, and of maps of the plane."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from course.plots.style import COLOURS


def confidence_histogram(share: np.ndarray, *, ax: Axes | None = None) -> Axes:
    """Draw the share of the data in each bin of the confidence.

    Args:
        share: shape (n_bins,), of bins of equal width on [0, 1].
        ax: where to draw.
    """
    ax = ax or plt.gca()
    edges = np.linspace(0, 1, len(share) + 1)
    ax.bar(
        edges[:-1],
        share,
        1 / len(share),
        align="edge",
        color=COLOURS["sky"],
        ec="white",
    )
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="share of the data")
    return ax


def reliability_diagram(
    share: np.ndarray,
    confidence: np.ndarray,
    accuracy: np.ndarray,
    *,
    n: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the accuracy in each bin of the confidence, and its gap to the mean confidence.

    Args:
        share: shares of the data, shape (n_bins,); empty bins are left out.
        confidence: mean confidences, shape (n_bins,).
        accuracy: accuracies, shape (n_bins,).
        n: the total number of data points; if given, every accuracy gets an error bar, its
            95% Wilson interval.
        ax: where to draw.
    """
    ax = ax or plt.gca()
    width = 1 / len(share)
    share = np.asarray(share)
    full = share > 0
    left = (np.arange(len(share)) * width)[full]
    confidence, accuracy = np.asarray(confidence)[full], np.asarray(accuracy)[full]
    style = {"align": "edge", "ec": "white", "width": width}
    ax.bar(left, accuracy, color=COLOURS["blue"], label="accuracy", **style)
    gap = confidence - accuracy
    for sign, colour, hatch, name in (
        (1, COLOURS["vermilion"], "///", "overconfident"),
        (-1, COLOURS["green"], "...", "underconfident"),
    ):
        here = sign * gap > 0
        ax.bar(
            left[here],
            gap[here],
            bottom=accuracy[here],
            color="none",
            align="edge",
            width=width,
            ec=colour,
            hatch=hatch,
            label=f"gap, {name}",
        )
    if n is not None:
        from scipy.stats import binomtest  # takes half a second

        counts = np.rint(share[full] * n).astype(int)
        right = np.rint(accuracy * counts).astype(int)
        ends = [
            binomtest(k, count).proportion_ci(method="wilson")
            for k, count in zip(right, counts, strict=True)
        ]
        ax.vlines(left + width / 2, *np.transpose(ends), color="black", lw=1)
    ax.plot([0, 1], [0, 1], color="black", lw=1, ls="--", label="calibrated")
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="confidence", ylabel="accuracy")
    ax.legend(loc="upper left", framealpha=0.9, frameon=True, edgecolor="none")
    return ax


def paired_differences(
    differences: Mapping[str, np.ndarray],
    *,
    xlabel: str,
    linthresh: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one dot for each pair of runs, and the median with its 95% bootstrap interval.

    Args:
        differences: by name, shape (runs,).
        xlabel: what the differences are.
        linthresh: use a symmetric logarithmic scale that is linear up to this value.
        ax: where to draw.
    """
    ax = ax or plt.gca()
    rng = np.random.default_rng(0)
    for row, values in enumerate(differences.values()):
        values = np.asarray(values)
        height = row + rng.uniform(-0.18, 0.18, len(values))
        ax.plot(values, height, "o", ms=4, alpha=0.6, color=COLOURS["sky"], mew=0)
        low, high = median_interval(values)
        ax.plot([low, high], [row, row], color=COLOURS["blue"], lw=3)
        ax.plot(
            np.median(values), row, "D", ms=7, color=COLOURS["vermilion"], mec="white"
        )
    ax.axvline(0, color="black", lw=1, ls=":")
    if linthresh is not None:
        ax.set_xscale("symlog", linthresh=linthresh)
    names = [name.replace(", ", ",\n") for name in differences]  # narrow, for phones
    ax.set_yticks(range(len(differences)), names)
    ax.set(xlabel=xlabel, ylim=(len(differences) - 0.5, -0.5))
    ax.grid(axis="y", visible=False)
    return ax


def median_interval(values: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Return a bootstrap percentile interval of the median, deterministic given the values."""
    values = np.asarray(values)
    rng = np.random.default_rng(0)
    resampled = rng.choice(values, (4000, len(values)))
    tails = (1 - level) / 2
    low, high = np.quantile(np.median(resampled, axis=1), [tails, 1 - tails])
    return float(low), float(high)


def warped_grid(points: np.ndarray, *, ax: Axes | None = None) -> Axes:
    """Draw the lines of a regular grid after a map of the plane.

    Args:
        points: where the map sends the grid points, shape (H, W, 2).
        ax: where to draw.
    """
    ax = ax or plt.gca()
    for lines, colour in ((points, "blue"), (points.swapaxes(0, 1), "orange")):
        for line in lines:
            ax.plot(*line.T, color=COLOURS[colour], lw=0.7, alpha=0.8)
    ax.set(xlabel="$z_1$", ylabel="$z_2$", aspect="equal")
    ax.grid(False)
    return ax
