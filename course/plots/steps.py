"""Figures of which one step is seen at a time: the reader moves on, nothing moves by itself."""

import html
import io
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
.steps svg {{ display: block; max-width: 100%; height: auto; }}
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
    """A figure with a row of buttons: of its frames, the one that is chosen is seen.

    It needs neither a network nor a script. The arrow keys go from one frame to the next.

    Args:
        fig: the figure, with the artists of all frames in it; it is closed.
        frames: the artists that belong to each frame, by what its button says; what
            belongs to none is always seen.
        name: a name that no other figure of the page has.
        what: what the buttons count, such as "step".
        alt: what is to be seen, for those who cannot see it.
    """
    chosen = {artist for artists in frames.values() for artist in artists}
    for ax in fig.axes:
        for artist in (*ax.collections, *ax.images):
            # As a picture, many points weigh less.
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
    picture = drawn.getvalue()[drawn.getvalue().index("<svg") :]
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
