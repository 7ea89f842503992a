"""Figures of posteriors: class probabilities over the plane, and densities of weights."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.contour import ContourSet
from scipy.special import expit, logit

from course.plots.fields import scatter_classes
from course.plots.style import CLASS_COLOURS, COLOURS

TWO_CLASSES = LinearSegmentedColormap.from_list(
    "two-classes", [CLASS_COLOURS[0], "white", CLASS_COLOURS[1]]
)

FAR = np.array([[9.0, 9.0]])  # in units of a panel


def probability_map(
    xs: np.ndarray,
    ys: np.ndarray,
    probs: np.ndarray,
    *,
    data: tuple[np.ndarray, np.ndarray] | None = None,
    size: float = 5,
    labels: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw the probability of class 1 on a grid, from one class's colour to the other's.

    White is a probability of 0.5. Contours are at 0.05, 0.25, 0.75 and 0.95 (thin) and at 0.5
    (thick).

    Args:
        xs: the grid's columns, shape (W,).
        ys: the grid's rows, shape (H,).
        probs: probabilities of class 1, shape (H, W).
        data: inputs, shape (N, 2), and labels, shape (N,).
        size: of a data point's marker, in points².
        labels: write each thin contour's probability on it, where there is room.
        ax: where to draw.
    """
    ax = ax or plt.gca()
    extent = (xs[0], xs[-1], ys[0], ys[-1])
    ax.imshow(
        probs,
        origin="lower",
        extent=extent,
        vmin=0,
        vmax=1,
        cmap=TWO_CLASSES,
        alpha=0.5,
        interpolation="bilinear",
    )
    avoid = {} if data is None else {None: np.asarray(data[0])}
    # Between the points of the grid, logits are closer to linear than probabilities.
    logits = logit(np.clip(probs, 1e-6, 1 - 1e-6))
    for levels, width in (([0.5], 1.8), ([0.05, 0.25, 0.75, 0.95], 0.7)):
        inside = [level for level in levels if probs.min() < level < probs.max()]
        if inside:
            style = {"colors": "black", "linestyles": "solid", "linewidths": width}
            lines = ax.contour(xs, ys, logits, logit(inside), **style)
            for level, pieces in zip(lines.levels, lines.allsegs, strict=True):
                avoid[level] = np.concatenate(pieces)
            if labels and width < 1:
                label_contours(lines, avoid)
    if data is not None:
        ax.scatter(*np.asarray(data[0]).T, s=3 * size, color="white", lw=0)
        scatter_classes(*data, size=size, ax=ax)
    ax.set(
        xlabel="$x_1$",
        ylabel="$x_2$",
        xlim=(xs[0], xs[-1]),
        ylim=(ys[0], ys[-1]),
        aspect="equal",
    )
    ax.grid(False)
    return ax


def label_contours(lines: ContourSet, avoid: dict[float | None, np.ndarray]) -> None:
    """Write the probability on each contour, where it is far from the frame, lines and labels.

    Args:
        lines: the contours of logits.
        avoid: by level, the points of every line; by ``None``, of what else to avoid.
    """
    from scipy.spatial.distance import cdist  # most notebooks draw no contours

    ax = lines.axes
    low, high = np.transpose([ax.get_xlim(), ax.get_ylim()])
    at = {level: (points - low) / (high - low) for level, points in avoid.items()}
    chosen: list[np.ndarray] = []
    for level, pieces in zip(lines.levels, lines.allsegs, strict=True):
        # Only the longest piece is labelled: a label would hide an island.
        *islands, here = sorted(
            ((piece - low) / (high - low) for piece in pieces),
            key=lambda p: np.ptp(p, 0).max(),
        )
        rest = [at[key] for key in at if key != level]
        others = np.concatenate([FAR, *islands, *rest])
        room = np.min(
            [
                np.minimum(here, 1 - here).min(1) / 0.1,
                cdist(here, others).min(1) / 0.035,
                cdist(here, [*FAR, *chosen]).min(1) / 0.15,
            ],
            axis=0,
        )
        if room.max() > 1:
            chosen.append(here[room.argmax()])
    if chosen:
        places = [tuple(low + (high - low) * place) for place in chosen]
        names = {level: f"{expit(level):.3g}" for level in lines.levels}
        ax.clabel(lines, fmt=names, fontsize=8.5, manual=places)


def density(
    xs: np.ndarray, ys: np.ndarray, values: np.ndarray, *, ax: Axes | None = None
) -> Axes:
    """Draw a density of two variables on a grid, in shades of the text's colour.

    Args:
        xs: the grid's columns, shape (W,).
        ys: the grid's rows, shape (H,).
        values: shape (H, W), in any unit.
        ax: where to draw.
    """
    ax = ax or plt.gca()
    levels = np.linspace(0.02, 1, 9) * values.max()
    shades = [("black", alpha) for alpha in np.linspace(0.06, 0.8, 8)]
    ax.contourf(xs, ys, values, levels, colors=shades)
    ax.grid(False)
    return ax


def gaussian_ellipses(
    mean: np.ndarray,
    covariance: np.ndarray,
    *,
    colour: str = COLOURS["vermilion"],
    label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the ellipses one and two standard deviations from the mean of a 2-D Gaussian.

    Args:
        mean: shape (2,).
        covariance: shape (2, 2).
        colour: of both lines.
        label: of the pair, in the legend.
        ax: where to draw.
    """
    ax = ax or plt.gca()
    angle = np.linspace(0, 2 * np.pi, 100)
    circle = np.linalg.cholesky(covariance) @ np.stack([np.cos(angle), np.sin(angle)])
    for radius in (1, 2):
        line = np.asarray(mean)[:, None] + radius * circle
        ax.plot(*line, color=colour, lw=1.6, label=label if radius == 1 else None)
    return ax
