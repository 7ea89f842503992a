"""Figures of a model's predictions over the plane: data, classes, and scalar fields."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.transforms import Bbox

from course.plots.style import CLASS_COLOURS, CLASS_MARKERS


def scatter_classes(
    x: np.ndarray, y: np.ndarray, *, size: float = 8, ax: Axes | None = None
) -> Axes:
    """Draw data in the plane, with one colour and one marker for each class.

    Args:
        x: inputs, shape (N, 2).
        y: labels, integers, shape (N,).
        size: of a marker, in points².
        ax: where to draw.
    """
    ax = ax or plt.gca()
    for label in np.unique(y):
        here = np.asarray(x)[np.asarray(y) == label]
        index = int(label) % len(CLASS_COLOURS)
        ax.scatter(
            *here.T,
            s=size,
            color=CLASS_COLOURS[index],
            marker=CLASS_MARKERS[index],
            lw=0,
            label=f"class {int(label)}",
        )
    ax.set(xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    return ax


def class_map(
    xs: np.ndarray, ys: np.ndarray, probs: np.ndarray, *, ax: Axes | None = None
) -> Axes:
    """Draw class probabilities on a grid: the class's colour, paler where less certain.

    Args:
        xs: the grid's columns, shape (W,).
        ys: the grid's rows, shape (H,).
        probs: shape (H, W, K).
        ax: where to draw.
    """
    ax = ax or plt.gca()
    colours = np.array([to_rgb(colour) for colour in CLASS_COLOURS[: probs.shape[-1]]])
    sure = (probs.max(-1, keepdims=True) - 1 / len(colours)) / (1 - 1 / len(colours))
    colours = 0.25 + 0.75 * colours  # lighter than the data's colours
    image = np.clip(1 - sure * (1 - probs @ colours), 0, 1)
    ax.imshow(
        image,
        origin="lower",
        extent=(xs[0], xs[-1], ys[0], ys[-1]),
        interpolation="bilinear",
    )
    ax.set(xlabel="$x_1$", ylabel="$x_2$")
    ax.grid(False)
    return ax


def field(
    xs: np.ndarray,
    ys: np.ndarray,
    values: np.ndarray,
    *,
    label: str,
    vmin: float | None = None,
    vmax: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a scalar field over the plane, with a colour bar.

    Args:
        xs: the grid's columns, shape (W,).
        ys: the grid's rows, shape (H,).
        values: shape (H, W).
        label: what the number is, with its unit.
        vmin: the value of the darkest colour.
        vmax: the value of the lightest colour.
        ax: where to draw.
    """
    ax = ax or plt.gca()
    extent = (xs[0], xs[-1], ys[0], ys[-1])
    image = ax.imshow(
        values,
        origin="lower",
        extent=extent,
        vmin=vmin,
        vmax=vmax,
        interpolation="bilinear",
    )
    bar = ax.figure.colorbar(image, ax=ax, label=label)

    def beside(bar_ax: Axes, _renderer: object) -> Bbox:
        """As high as the field, which may be lower than its part of the figure."""
        left = bar_ax.get_position(original=True).x0
        height = ax.get_position().height
        width = height * ax.figure.get_figheight() / ax.figure.get_figwidth() / 20
        return Bbox.from_bounds(left, ax.get_position().y0, width, height)

    bar.ax.set_axes_locator(beside)
    ax.set(xlabel="$x_1$", ylabel="$x_2$")
    ax.grid(False)
    return ax
