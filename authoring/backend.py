"""Matplotlib's backend in the book's kernels: a figure is an SVG for desktops and one for phones.

``MPLBACKEND`` names this module while the book is built. The second SVG is stored inside the
first, in an element that no program shows; ``authoring.pictures`` takes it out.
"""

from __future__ import annotations

import io
from itertools import pairwise

import matplotlib
import matplotlib.pyplot as plt
from IPython import get_ipython
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.transforms import Bbox
from matplotlib_inline.backend_inline import (
    FigureCanvas,
    configure_inline_support,
    new_figure_manager,
    new_figure_manager_given_figure,
    show,
)

from project.jax_options import share_context

__all__ = [
    "FigureCanvas",
    "new_figure_manager",
    "new_figure_manager_given_figure",
    "show",
]

NARROW = 3.6  # inches, the column of a phone
LOW = 3.0  # inches: panels that are no higher stay as high on a phone
# Inches: a phone's panel across; what is written above and below it; a colour bar beside it;
# space around a panel.
PANEL, LABELS, BAR, SPACE = 3.0, 0.6, 0.7, 0.1
MANY = 300  # points, beyond which a bitmap is smaller
MAPS = 8  # panels, more of which stand in two columns
DPI = 192  # of bitmaps inside a figure: two for each pixel of a page
PHONE = "<metadata><![CDATA[{}]]></metadata></svg>\n"


def for_both(fig: Figure) -> str:
    """Draw a figure as it is, then for a phone; the figure keeps the phone's layout."""
    for ax in fig.axes:
        for artist in (*ax.collections, *ax.lines):
            if points(artist) > MANY:
                artist.set_rasterized(True)
    wide = drawn(fig)
    stack(fig)
    if layout := fig.get_layout_engine():
        layout.execute(fig)  # it needs the sizes that panels get in their new places
    return wide.strip().removesuffix("</svg>") + PHONE.format(drawn(fig))


def drawn(fig: Figure) -> str:
    """Draw a figure as SVG, the same each time."""
    file = io.StringIO()
    with plt.rc_context({"svg.hashsalt": "known-unknowns"}):
        fig.savefig(
            file,
            format="svg",
            dpi=DPI,
            bbox_inches="tight",
            pad_inches=0.03,
            metadata={"Date": None},
        )
    return file.getvalue()


def points(artist) -> int:
    """Count the markers of a line or a scatter plot; 0 if it has none."""
    if hasattr(artist, "get_marker"):
        return (
            0 if artist.get_marker() in ("", "None", None) else len(artist.get_xdata())
        )
    return len(artist.get_offsets())


def stack(fig: Figure) -> None:
    """Lay a figure's panels out for a phone: one below the other, pictures in their grid."""
    panels = [ax for ax in fig.axes if ax.get_subplotspec()]
    if not panels:  # each was placed by hand
        return
    panels.sort(key=lambda ax: ax.get_subplotspec().num1)
    grid = panels[0].get_subplotspec().get_gridspec()
    width, height = fig.get_size_inches()
    if not all(ax.axison for ax in panels):  # pictures
        if grid.ncols % 2 == 0 and len(panels) == grid.nrows * grid.ncols:
            place(panels, GridSpec(2 * grid.nrows, grid.ncols // 2, fig))
            height *= 2
        fig.set_size_inches(NARROW, height * (1 + NARROW / width) / 2)
    elif len(panels) > MAPS:
        rows = -(-len(panels) // 2)
        xlabel = max(ax.get_xlabel() for ax in panels)  # of the panels that have one
        ylabel = max(ax.get_ylabel() for ax in panels)
        place(panels, GridSpec(rows, 2, fig))
        for at, ax in enumerate(panels):
            left, bottom = at % 2 == 0, at >= len(panels) - 2
            ax.tick_params(left=left, labelleft=left, bottom=bottom, labelbottom=bottom)
            ax.set(xlabel=xlabel if bottom else "", ylabel=ylabel if left else "")
        fig.set_size_inches(
            NARROW, height / width * NARROW * rows / grid.nrows * grid.ncols / 2
        )
    else:
        heights = [phone_height(ax, width, height) for ax in panels]
        label_rows(panels)
        label_last(panels)
        if layout := fig.get_layout_engine():
            layout.set(h_pad=SPACE)
        place(panels, GridSpec(len(panels), 1, fig, height_ratios=heights))
        above = BAR * any(bar.width > bar.height for bar in bars(fig))
        fig.set_size_inches(NARROW, sum(heights) + above)


def bars(fig: Figure) -> list[Bbox]:
    """Return the places of a figure's colour bars, which are outside its grid."""
    return [ax.get_position() for ax in fig.axes if ax.get_subplotspec() is None]


def place(panels: list[Axes], grid: GridSpec) -> None:
    """Move panels to the cells of another grid."""
    for ax, cell in zip(panels, grid, strict=False):
        ax.set_subplotspec(cell)


def phone_height(ax: Axes, width: float, height: float) -> float:
    """Return the height in inches of a panel on a phone, from the size of its figure."""
    cell = ax.get_subplotspec()
    grid = cell.get_gridspec()
    across = share(grid.get_width_ratios() or [1] * grid.ncols, cell.colspan) * width
    down = share(grid.get_height_ratios() or [1] * grid.nrows, cell.rowspan) * height
    low = max(down * NARROW / across, min(down, LOW))
    if ax.get_aspect() == "auto":
        return low
    # A map has a shape of its own, and room beside its colour bar.
    box = ax.get_position()
    barred = any(bar.height > bar.width for bar in bars(ax.figure))
    panel = PANEL - BAR if barred else PANEL
    return min(low, panel * box.height * height / (box.width * width) + LABELS)


def share(ratios: list[float], span: range) -> float:
    """Return the share of a grid that some of its rows or columns take."""
    return sum(ratios[at] for at in span) / sum(ratios)


def label_rows(panels: list[Axes]) -> None:
    """Repeat above and beside a panel what was written only on the first of its row."""
    leaders: dict[int, Axes] = {}
    for ax in panels:
        leader = leaders.setdefault(ax.get_subplotspec().rowspan.start, ax)
        if not ax.get_title("left"):
            ax.set_title(leader.get_title("left"), loc="left")
        if leader is not ax and ax.get_shared_y_axes().joined(ax, leader):
            ax.yaxis.set_tick_params(labelleft=True)
            ax.set_ylabel(ax.get_ylabel() or leader.get_ylabel())


def label_last(panels: list[Axes]) -> None:
    """Name the x axis only below the last of successive panels that have the same.

    Its numbers stand below each: several panels do not fit on a phone's screen.
    """
    for ax, below in pairwise(panels):
        label, next_label = ax.get_xlabel(), below.get_xlabel()
        shared = ax.get_shared_x_axes().joined(ax, below)
        shared = shared and label in ("", next_label)
        same = label == next_label and ax.get_xlim() == below.get_xlim()
        if shared or (same and label):
            ax.xaxis.set_tick_params(labelbottom=True)
            ax.set_xlabel("")


def _support(shell) -> None:
    matplotlib.interactive(True)
    configure_inline_support(shell, "inline")
    formatters = shell.display_formatter.formatters
    formatters["image/png"].pop(Figure, None)
    formatters["image/svg+xml"].for_type(Figure, for_both)


if (_shell := get_ipython()) is not None:
    _support(_shell)
    share_context()  # a page imports JAX before it draws its first figure
