"""Figures for desktops and phones, as the book's kernels draw them, and their colours."""

import re
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import ROOT
from matplotlib.colors import to_rgb

from authoring.backend import MANY, NARROW, for_both, stack
from authoring.pictures import (
    DARK,
    LIGHT,
    LINK,
    PHONE,
    SVG,
    THEMED,
    in_file,
    in_page,
    made,
    opened,
    short,
    themed,
)
from course.plots import COLOURS, METHODS

# On a phone panels stand one below the other: "first" and "second" hold there as well.
SIDE = re.compile(
    r"\b(left|right)(-hand)? (panel|map)s?\b|\bright-hand (panel|map)|"
    r"caption: (?:.|\n {6})*? on the (left|right)\b|"
    r"(caption|alt): '?(Left|Right)\b|[.;] (Left|Right|left|right),| \((left|right)\)",
)


@pytest.fixture(autouse=True)
def constrained():
    with plt.rc_context({"figure.constrained_layout.use": True}):
        yield
        plt.close("all")


@pytest.mark.parametrize(
    "path", sorted((ROOT / "book").glob("*.md")), ids=lambda p: p.name
)
def test_no_panel_is_named_by_its_side(path):
    text = path.read_text("utf-8")
    assert [found[0] for found in SIDE.finditer(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "caption: Left, the NLL",
        "    caption: The NLL\n      of each, on the left",
        "fits; right, the gradient",
        "A (left) and B",
        "the right panel",
    ],
)
def test_a_side_is_noticed(text):
    assert SIDE.search(text)


def boxes(fig):
    fig.draw_without_rendering()
    return [ax.get_position() for ax in fig.axes]


def test_panels_stand_one_below_the_other_on_a_phone():
    fig, axes = plt.subplots(2, 2, figsize=(7, 5), sharey="row")
    axes[1, 1].remove()
    axes[0, 0].set_ylabel("y")
    stack(fig)
    assert fig.get_figwidth() == NARROW
    assert fig.get_figheight() > 7
    first, second, third = boxes(fig)
    assert first.y0 > second.y1 > second.y0 > third.y1
    # The second has its own labels now, which the first had beside it.
    assert axes[0, 1].get_ylabel() == "y"
    assert all(label.get_visible() for label in axes[0, 1].get_yticklabels())


@pytest.mark.parametrize("shared", [False, True])
def test_on_a_phone_equal_axes_are_named_once_and_titles_are_repeated(shared):
    fig, axes = plt.subplots(2, 2, figsize=(7, 5), sharex=shared)
    for ax in axes.flat:
        ax.set(xlabel="x", xlim=(0, 4))
        if shared:
            ax.label_outer()
    for row, title in zip(axes, ("first", "second"), strict=True):
        row[0].set_title(title, loc="left")
    stack(fig)
    assert [ax.get_xlabel() for ax in axes.flat] == ["", "", "", "x"]
    assert all(
        label.get_visible() for ax in axes.flat for label in ax.get_xticklabels()
    )
    assert all(ax.get_xticklabels() for ax in axes.flat)
    titles = [ax.get_title("left") for ax in axes.flat]
    assert titles == ["first", "first", "second", "second"]


def test_on_a_phone_different_axes_are_all_labelled():
    fig, axes = plt.subplots(1, 2, figsize=(7, 3))
    for end, ax in enumerate(axes):
        ax.set(xlabel="x", xlim=(0, 4 + end))
    stack(fig)
    assert [ax.get_xlabel() for ax in axes] == ["x", "x"]


def test_on_a_phone_shared_axes_with_two_labels_keep_both():
    fig, axes = plt.subplots(1, 2, figsize=(7, 3), sharex=True)
    for label, ax in zip(("NLL", "ECE"), axes, strict=True):
        ax.set_xlabel(label)
    stack(fig)
    assert [ax.get_xlabel() for ax in axes] == ["NLL", "ECE"]
    assert all(ax.get_xticklabels() for ax in axes)


def test_a_map_is_as_high_on_a_phone_as_it_is_wide():
    fig, axes = plt.subplots(1, 3, figsize=(7, 3), sharey=True)
    for ax in axes:
        ax.imshow(np.eye(3))
    boxes(fig)  # a figure is drawn for desks first
    stack(fig)
    assert 3 * 3 < fig.get_figheight() < 3 * NARROW + 0.1


def test_a_panel_across_two_columns_keeps_its_place_in_the_order():
    fig, axes = plt.subplot_mosaic("01;22", figsize=(7, 5))
    stack(fig)
    heights = [axes[name].get_position().y0 for name in "012"]
    assert heights == sorted(heights, reverse=True)


def test_many_panels_stand_in_two_columns_and_pictures_stay_together():
    fig, _ = plt.subplots(3, 3, figsize=(7, 7))
    stack(fig)
    assert len({round(box.x0, 2) for box in boxes(fig)}) == 2
    fig, axes = plt.subplots(1, 3, figsize=(7, 2))
    for ax in axes:
        ax.axis("off")
    stack(fig)
    assert len({round(box.x0, 2) for box in boxes(fig)}) == 3


def test_panels_that_were_placed_by_hand_stay():
    fig = plt.figure(figsize=(6, 2))
    fig.add_axes((0.1, 0.1, 0.8, 0.8)).plot([1, 2])
    stack(fig)
    assert tuple(fig.get_size_inches()) == (6, 2)


def drawn(fig):
    """Return both layouts as SVG."""
    text = for_both(fig)
    phone = PHONE.search(text)
    return text.replace(phone[0], ""), phone[1]


def test_a_figure_holds_both_layouts_and_is_drawn_the_same_each_time():
    texts = []
    for _ in range(2):
        fig, _ = plt.subplots(1, 2, figsize=(7, 3))
        texts.append(drawn(fig))
    assert texts[0] == texts[1]
    wide, phone = map(ElementTree.fromstring, texts[0])
    assert (
        float(wide.get("width")[:-2]) > 72 * 6 > 72 * 4 > float(phone.get("width")[:-2])
    )


@pytest.mark.parametrize("number", [MANY, MANY + 1])
def test_many_points_become_a_bitmap(number):
    fig, ax = plt.subplots()
    ax.plot(np.arange(number), np.arange(number), "o")
    assert ("<image" in drawn(fig)[0]) == (number > MANY)


def test_text_and_ground_follow_the_theme_and_maps_do_not():
    fig, (left, right) = plt.subplots(1, 2)
    for ax in (left, right):
        ax.plot([0, 1], [0, 1], color="black")
        ax.set_title("title")
    right.imshow(np.eye(3))
    right.text(1, 1, "inside")
    right.contour(np.eye(3), colors="black")
    root = themed(drawn(fig)[0])
    axes = {
        g.get("id"): g for g in root.iter(f"{SVG}g") if g.get("id", "").startswith("a")
    }
    line, contour = (
        [
            path.get("style")
            for path in axes[name].iter(f"{SVG}path")
            if path.get("clip-path")
        ]
        for name in ("axes_1", "axes_2")
    )
    assert all("var(--ink)" in style for style in line)
    assert contour
    assert not any("var(" in style for style in contour)
    # Of the map's texts, only the one on the map is black for good.
    texts = [g for g in axes["axes_2"] if g.find(f"{SVG}g[@transform]") is not None]
    assert [text.get("fill") for text in texts] == ["#000000", None]
    assert ' fill="#000000"' in short(ElementTree.tostring(root, "unicode"))


def test_what_is_translucent_is_stronger_in_the_dark_but_on_a_map():
    fig, (left, right) = plt.subplots(1, 2)
    for ax in (left, right):
        ax.fill_between([0, 1], [0, 0], [1, 1], alpha=0.25)
    right.imshow(np.eye(3))
    root = themed(drawn(fig)[0])
    found = [
        part.get("style").partition("fill-opacity:")[2].partition(";")[0]
        for part in root.iter()
        if "fill-opacity" in part.get("style", "")
    ]
    assert sorted(found) == ["0.25", "calc(0.25 + 0.188*var(--more,0))"]
    assert "--more:0" in LIGHT
    assert "--more:0.8" in DARK


def bitmaps(colour, *, on_map=False):
    """Draw many points of a colour; return the bitmaps' style and the set of their colours."""
    fig, ax = plt.subplots()
    ax.plot(*np.random.default_rng(0).random((2, MANY + 1)), "o", color=colour)
    if on_map:
        ax.imshow(np.eye(3), extent=(0, 1, 0, 1))
    found = []
    for part in themed(drawn(fig)[0]).iter(f"{SVG}image"):
        encoded = part.get(LINK).partition("base64,")[2]
        pixels = np.array(opened(encoded))
        seen = pixels[pixels[..., 3] > 200][:, :3]
        found.append((part.get("style"), np.median(seen, axis=0)))
    return found


def test_points_of_a_bitmap_have_the_colours_of_the_theme():
    """And so those of the legend, which is no bitmap."""
    (light_style, light), (dark_style, dark) = bitmaps(COLOURS["blue"])
    assert light_style == "display:var(--by-light,inline)"
    assert dark_style == "display:var(--by-dark,none)"
    of_dark = next(dark for colour, name, dark in THEMED if name == "--blue")
    for pixels, colour in ((light, COLOURS["blue"]), (dark, of_dark)):
        np.testing.assert_allclose(pixels / 255, to_rgb(colour), atol=0.03)
    assert "--by-light:none;--by-dark:inline" in DARK
    assert "--by-light:inline;--by-dark:none" in LIGHT
    # This colour is the same in both themes; a map keeps its colours.
    assert [style for style, _ in bitmaps(COLOURS["orange"])] == [None]
    assert {style for style, _ in bitmaps(COLOURS["blue"], on_map=True)} == {None}


def luminance(colour):
    """Of the Web Content Accessibility Guidelines."""
    shares = np.array(to_rgb(colour))
    linear = np.where(
        shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4
    )
    return linear @ [0.2126, 0.7152, 0.0722]


def test_every_colour_stands_out_from_both_grounds():
    dark = {drawn: colour for drawn, _, colour in THEMED}
    colours = {*COLOURS.values(), *(colour for colour, _ in METHODS.values())}
    for colour in map(str.lower, colours):
        in_dark = luminance(dark.get(colour, colour)) + 0.05
        assert in_dark / (luminance(dark["#ffffff"]) + 0.05) > 4, colour
        assert 1.05 / (luminance(colour) + 0.05) > 2, colour


def test_the_size_of_text_survives():
    fig, ax = plt.subplots()
    ax.set_title("title", fontsize=8.5)
    assert "scale(0.085 -0.085)" in ElementTree.tostring(
        themed(drawn(fig)[0]), "unicode"
    )


def test_finished_pictures_are_cached(tmp_path):
    fig, ax = plt.subplots()
    drawing = drawn(fig)[0]
    assert made(in_page, drawing, tmp_path) == in_page(drawing)
    (path,) = tmp_path.iterdir()
    path.write_text("cached", "utf-8")
    assert made(in_page, drawing, tmp_path) == "cached"
    # Not for another use of it, and not for another drawing.
    assert made(in_file, drawing, tmp_path) == in_file(drawing)
    ax.set_title("title")
    drawing = drawn(fig)[0]
    assert made(in_page, drawing, tmp_path) == in_page(drawing)
