"""Figures of networks with uncertain weights, and of an image's class probabilities."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from course.plots.style import COLOURS


def weight_diagram(*, bells: bool, seed: int = 0, ax: Axes | None = None) -> Axes:
    """Draw a small network with a number, or a bell curve, on each connection.

    Args:
        bells: draw distributions instead of numbers.
        seed: the seed of the numbers and curves.
        ax: where to draw.
    """
    ax = ax or plt.gca()
    rng = np.random.default_rng(seed)
    layers = [np.array([-0.5, 0.5]), np.array([-1.0, 0.0, 1.0]), np.array([0.0])]
    z = np.linspace(-3, 3, 61)
    for left in (0, 1):
        for a in layers[left]:
            for b in layers[left + 1]:
                ax.plot(
                    [left, left + 1], [a, b], color=COLOURS["grey"], lw=0.8, zorder=1
                )
                share = 0.5 if left else 0.72  # where connections do not cross
                x, y = left + share, a + share * (b - a)
                mean, width = rng.normal(0, 1), rng.uniform(0.35, 1.0)
                if bells:
                    curve = np.exp(-0.5 * (z / width) ** 2) * 0.16 / np.sqrt(width)
                    ax.fill_between(
                        x + z * 0.035,
                        y - 0.02,
                        y - 0.02 + curve,
                        color=COLOURS["blue"],
                        lw=0,
                        zorder=3,
                    )
                else:
                    ax.text(
                        x,
                        y,
                        f"{mean:.1f}".replace("-", "−"),
                        fontsize=8.5,
                        ha="center",
                        va="center",
                        zorder=3,
                        bbox={"fc": "white", "ec": "none", "pad": 0.6},
                    )
    for column, layer in enumerate(layers):
        ax.scatter(
            np.full(len(layer), column), layer, s=260, fc="white", ec="black", zorder=4
        )
    ax.set(xlim=(-0.25, 2.25), ylim=(-1.35, 1.35))
    ax.axis("off")
    return ax


def show_image(image: np.ndarray, *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw an image without axes: grey, with 0 for black and 1 for white, or RGB.

    Args:
        image: shape (H, W) or (H, W, 3), values between 0 and 1.
        title: what it shows.
        ax: where to draw.
    """
    ax = ax or plt.gca()
    ax.imshow(np.clip(image, 0, 1), cmap="gray", vmin=0, vmax=1)
    ax.set_title(title, fontsize=8.5, fontweight="normal")
    ax.axis("off")
    return ax


def class_bars(
    probs: np.ndarray,
    *,
    title: str = "",
    colour: str = COLOURS["blue"],
    ax: Axes | None = None,
) -> Axes:
    """Draw the probability of every class, on a scale from 0 to 1.

    Args:
        probs: shape (K,).
        title: the title of the plot.
        colour: of the bars.
        ax: where to draw.
    """
    ax = ax or plt.gca()
    ax.bar(np.arange(len(probs)), probs, color=colour)
    ax.set_title(title, fontsize=8.5, fontweight="normal")
    ax.set(ylim=(0, 1), yticks=[0, 1], xticks=np.arange(0, len(probs), 3))
    ax.tick_params(labelsize=8.5)
    ax.grid(visible=False)
    return ax
