"""Figures of curves, and of the bands of a predictive distribution."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from course.plots.style import COLOURS


def predictive_band(
    x: np.ndarray,
    mean: np.ndarray,
    std: np.ndarray,
    *,
    data: tuple[np.ndarray, np.ndarray] | None = None,
    truth: np.ndarray | None = None,
    colour: str = COLOURS["blue"],
    ax: Axes | None = None,
) -> Axes:
    """Draw a predictive distribution's mean, with bands of one and two standard deviations.

    Args:
        x: inputs in increasing order, shape (N,).
        mean: predictive means, shape (N,).
        std: predictive standard deviations, shape (N,).
        data: training inputs and targets.
        truth: the function behind the data at ``x``, shape (N,).
        colour: of the mean and its bands.
        ax: where to draw.
    """
    ax = ax or plt.gca()
    for width, alpha in ((2, 0.18), (1, 0.32)):
        label = "mean ± 1 and 2 std" if width == 1 else None
        ax.fill_between(
            x,
            mean - width * std,
            mean + width * std,
            color=colour,
            alpha=alpha,
            lw=0,
            label=label,
        )
    # The fill alone is too faint for many eyes.
    for end in (mean - 2 * std, mean + 2 * std):
        ax.plot(x, end, color=colour, lw=0.7, alpha=0.8)
    ax.plot(x, mean, color=colour)
    if truth is not None:
        ax.plot(x, truth, color=COLOURS["black"], lw=1.2, ls="--", label="truth")
    if data is not None:
        ax.plot(
            np.ravel(data[0]),
            data[1],
            "o",
            ms=3.5,
            mfc="white",
            color=COLOURS["vermilion"],
            label="training data",
        )
    return ax


def curves(
    x: np.ndarray,
    series: Mapping[str, np.ndarray],
    *,
    xlabel: str,
    ylabel: str,
    styles: Mapping[str, Mapping] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw several named curves over the same inputs.

    Args:
        x: shape (N,).
        series: values of shape (N,) by name.
        xlabel: the x axis's label.
        ylabel: the y axis's label.
        styles: arguments for ``Axes.plot``, by name.
        ax: where to draw.
    """
    ax = ax or plt.gca()
    for name, values in series.items():
        ax.plot(x, values, label=name, **(styles or {}).get(name, {}))
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.legend()
    return ax
