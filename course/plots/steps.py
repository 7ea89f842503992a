"""Figures with steps that the reader goes through with buttons, without animation."""

import html
import io
import re
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from IPython.display import HTML
from matplotlib.artist import Artist
from matplotlib.figure import Figure

PAGE = """\
<figure class="steps" id="{name}">
<style>
.steps fieldset {{ border: 0; margin: 0; padding: 0; }}
.steps legend {{ display: inline; float: left; width: auto; margin: 0.2rem 0.6rem 0 0; font-size: 1em; }}
.steps input {{ position: absolute; opacity: 0; }}
.steps label {{ display: inline-block; margin: 0.1rem; padding: 0.1rem 0.6rem; border: 1px solid; border-radius: 0.25rem; cursor: pointer; }}
.steps input:checked + label {{ background-color: #0072B2; border-color: #0072B2; color: white; }}
.steps input:focus-visible + label {{ outline: 3px solid #E69F00; }}
.steps svg {{ display: block; max-width: 100%; height: auto; stroke-linejoin: round; stroke-linecap: butt; }}
{hidden} {{ visibility: hidden; }}
{shown} {{ visibility: visible; }}
</style>
<fieldset>
<legend>{what}</legend>
{choices}
{picture}
</fieldset>
</figure>
"""


def stepped(
    fig: Figure,
    frames: Mapping[str, Sequence[Artist]],
    *,
    name: str,
    what: str,
    alt: str,
) -> HTML:
    """Make a figure with a row of buttons that choose which of its frames is visible.

    It needs neither a network nor a script. The arrow keys move between frames.

    Args:
        fig: the figure, with the artists of all frames in it; it is closed.
        frames: the artists that belong to each frame, by the label of its button; artists
            that belong to none are always visible.
        name: a name that no other figure of the page has.
        what: what the buttons count, such as "step".
        alt: a description of the figure, for screen readers.
    """
    chosen = {artist for artists in frames.values() for artist in artists}
    for ax in fig.axes:
        for artist in (*ax.collections, *ax.images):
            # Many points take less space as a bitmap.
            artist.set_rasterized(artist not in chosen)
    choices = []
    for number, (label, artists) in enumerate(frames.items()):
        for part, artist in enumerate(artists):
            artist.set_gid(f"{name}-{number}-{part}")
        checked = "" if number else " checked"
        choices.append(
            f'<input type="radio" name="{name}" id="{name}-choice-{number}"{checked}>'
            f'<label for="{name}-choice-{number}">{html.escape(label)}</label>'
        )
    drawn = io.StringIO()
    with plt.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        fig.savefig(drawn, format="svg", dpi=110, metadata={"Date": None})
    plt.close(fig)
    # Matplotlib's own style would hold for the whole page: every element would be styled twice.
    drawn = re.sub(r"<style.*?</style>", "", drawn.getvalue(), flags=re.DOTALL)
    picture = drawn[drawn.index("<svg") :]
    spoken = f'<svg role="img" aria-label="{html.escape(alt)}"'
    numbers = range(len(frames))
    shown = [f'#{name}-choice-{n}:checked ~ svg [id^="{name}-{n}-"]' for n in numbers]
    return HTML(
        PAGE.format(
            name=name,
            what=html.escape(what),
            choices="\n".join(choices),
            picture=picture.replace("<svg", spoken, 1),
            hidden=", ".join(f'#{name} svg [id^="{name}-{n}-"]' for n in numbers),
            shown=",\n".join(f"#{name} {rule}" for rule in shown),
        )
    )
