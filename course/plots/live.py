"""Figures with controls: the script ``live.js`` draws them again whenever the reader moves one.

In the book a figure is an HTML fragment that holds its data and a picture for readers without
scripts and for print. In a notebook Matplotlib draws it, with the controls of ipywidgets where
that is installed.
"""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import HTML
from matplotlib.figure import Figure

WIDTH = 3.6  # inches of the picture, so that its text is legible on a phone
PIXELS = 96  # per inch, on a page
MANY = 100  # points
PAGE = """\
<div class="live" id="{name}" data-view="{view}" role="group" aria-label="{label}">
<script type="application/json">{data}</script>
<div class="live-still">{picture}</div>
<div class="live-plots" role="img" aria-label="At the start: {alt}" hidden>{panels}</div>
<div class="live-side">
<p class="live-legend" hidden></p>
{controls}
<output class="live-says" aria-live="off"></output>
</div>
</div>
"""


@dataclass(frozen=True)
class Slider:
    """A range input over a list of values.

    Attributes:
        name: the name under which the view and the drawing function know it.
        label: what the reader sees.
        stops: the values that it takes, in order.
        start: the first value; one of the stops.
    """

    name: str
    label: str
    stops: Sequence[float]
    start: float

    def html(self, figure: str) -> str:
        own, label = f"{figure}-{self.name}", html.escape(self.label)
        at, shown = list(self.stops).index(self.start), shown_number(self.start)
        return (
            f'<div class="live-slider"><label for="{own}">{label}</label>'
            f'<input type="range" id="{own}" name="{self.name}" min="0" '
            f'max="{len(self.stops) - 1}" step="1" value="{at}" autocomplete="off" '
            f'aria-valuetext="{shown}">'
            f'<output for="{own}" aria-hidden="true">{shown}</output></div>'
        )


@dataclass(frozen=True)
class Radio:
    """Radio buttons, of which one is chosen.

    Attributes:
        name: the name under which the view and the drawing function know it.
        label: what the reader sees above the buttons.
        options: what the reader sees on each button; the value is its index.
        start: the index of the first value.
    """

    name: str
    label: str
    options: Sequence[str]
    start: int = 0

    def html(self, figure: str) -> str:
        own = f"{figure}-{self.name}"
        buttons = "".join(
            f'<label><input type="radio" name="{own}" data-name="{self.name}" '
            f'value="{at}" autocomplete="off"{" checked" * (at == self.start)}>'
            f"{html.escape(option)}</label>"
            for at, option in enumerate(self.options)
        )
        return (
            f"<fieldset><legend>{html.escape(self.label)}</legend>{buttons}</fieldset>"
        )


@dataclass(frozen=True)
class Button:
    """A button; its value is how often it has been pressed.

    Attributes:
        name: the name under which the view knows it. ``reset`` puts every control back to where
            it started.
        label: what the reader sees on it.
        counts: the drawing function takes its value; other buttons are left out of notebooks.
    """

    name: str
    label: str
    counts: bool = False
    start = 0

    def html(self, figure: str) -> str:
        label = html.escape(self.label)
        return f'<button type="button" name="{self.name}">{label}</button>'


Control = Slider | Radio | Button


def live(
    view: str,
    draw: Callable[..., None],
    controls: Sequence[Control],
    data: Mapping[str, Any],
    *,
    name: str,
    label: str,
    alt: str,
    heights: Sequence[float] = (220,),
) -> HTML | None:
    """Make a figure with controls.

    Args:
        view: the function of ``live.js`` that draws it.
        draw: draws the same with Matplotlib; called with one array of axes for each panel,
            then with the value of each control under its name, but only of buttons that count.
        controls: in the order of the tab key.
        data: what the view needs besides the values of the controls; arrays and numbers.
        name: the figure's id, which no other element of the page has.
        label: a short name of the figure, for screen readers.
        alt: a description of the picture, for screen readers and readers without scripts.
        heights: of each panel in pixels.

    Returns:
        The HTML, or ``None`` in a notebook, where the figure has been shown.

    Raises:
        ValueError: a slider's start is not among its stops, or two controls have one name.
    """
    names = [control.name for control in controls]
    if len(set(names)) < len(names):
        raise ValueError(f"Two controls of {name} have the same name: {names}.")
    for control in controls:
        if isinstance(control, Slider) and control.start not in control.stops:
            raise ValueError(
                f"The slider {control.name!r} of {name} starts at {control.start}, "
                "which is not among its stops."
            )

    def drawn(**values: Any) -> Figure:
        size = (WIDTH, sum(heights) / PIXELS)
        grid = {"height_ratios": heights}
        fig, axes = plt.subplots(
            len(heights), 1, figsize=size, gridspec_kw=grid, squeeze=False
        )
        draw(*axes[:, 0], **values)
        return fig

    drawing = [one for one in controls if not isinstance(one, Button) or one.counts]
    starts = {control.name: control.start for control in drawing}
    if plt.get_backend().endswith("inline"):
        show_in_notebook(drawn, drawing, starts)
        return None
    given = {
        "controls": {
            control.name: plain(control.stops)
            for control in controls
            if isinstance(control, Slider)
        },
        **{key: plain(value) for key, value in data.items()},
    }
    panels = (
        f'<svg data-height="{height}" height="{height}"></svg>' for height in heights
    )
    return HTML(
        PAGE.format(
            view=view,
            name=name,
            label=html.escape(label),
            alt=html.escape(alt),
            data=json.dumps(given, separators=(",", ":")).replace("<", "\\u003c"),
            picture=picture(drawn(**starts), name, alt),
            panels="".join(panels),
            controls="\n".join(control.html(name) for control in controls),
        )
    )


def picture(fig: Figure, name: str, alt: str) -> str:
    """Draw a figure as an SVG for a page, and close it."""
    for ax in fig.axes:
        for artist in ax.collections:  # many points take less space as a bitmap
            if len(artist.get_offsets()) > MANY:
                artist.set_rasterized(True)
    drawn = io.StringIO()
    with plt.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        fig.savefig(drawn, format="svg", dpi=110, metadata={"Date": None})
    plt.close(fig)
    text = re.sub(r"<style.*?</style>", "", drawn.getvalue(), flags=re.DOTALL)
    # Ids to which nothing refers, such as figure_1, would be on a page once for each figure.
    named = re.compile(r' id="([^"]+)"')
    text = named.sub(lambda one: one[0] if f"#{one[1]}" in text else "", text)
    spoken = f'<svg role="img" aria-label="{html.escape(alt)}"'
    return text[text.index("<svg") :].replace("<svg", spoken, 1).strip()


def plain(value: Any) -> Any:
    """Return what JSON can hold in place of arrays, with at most six digits of a float."""
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    value = np.asarray(value)
    if value.dtype.kind != "f":
        return value.tolist()
    rounded = np.vectorize(lambda one: float(f"{one:.6g}"), otypes=[float])
    return rounded(value).tolist() if value.size else []


def shown_number(value: float) -> str:
    """Write a number as ``live.js`` does: three digits, with a minus sign."""
    return f"{float(f'{value:.3g}'):,.10g}".replace("-", "−")


def show_in_notebook(
    drawn: Callable[..., Figure], controls: Sequence[Control], starts: dict[str, Any]
) -> None:
    """Show the figure with Matplotlib, and ipywidgets' controls where they are installed."""

    def show(**values: Any) -> None:
        drawn(**starts | values)
        plt.show()

    try:
        ipywidgets = import_module("ipywidgets")  # no requirement of the course
    except ImportError:
        show()
        print(
            "The book's page has controls for this figure; here they need ipywidgets."
        )
        return
    widgets = {}
    for control in controls:
        style = {"description": control.label, "value": control.start}
        if isinstance(control, Slider):
            options = [(shown_number(stop), stop) for stop in control.stops]
            widgets[control.name] = ipywidgets.SelectionSlider(options=options, **style)
        elif isinstance(control, Radio):
            options = [(option, at) for at, option in enumerate(control.options)]
            widgets[control.name] = ipywidgets.RadioButtons(options=options, **style)
        else:
            widgets[control.name] = ipywidgets.IntSlider(max=20, **style)
    ipywidgets.interact(show, **widgets)
