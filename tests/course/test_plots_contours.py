"""Maps: their contours have labels where there is room, and colour bars are as high as they."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from course import plots

AXIS = np.linspace(-5, 5, 81)
ACROSS, UPWARD = np.meshgrid(AXIS, AXIS)


def labels(slope, island=0.0):
    """Return the labels of a map of a logistic regression, with their frames, and the map's.

    An island of such a height lies in the lower left.
    """
    probs = 1 / (1 + np.exp(-slope * (ACROSS + 0.5 * UPWARD)))
    probs += island * np.exp(-10 * ((ACROSS + 2) ** 2 + (UPWARD + 2) ** 2))
    fig, ax = plt.subplots(figsize=(3, 3))
    plots.probability_map(AXIS, AXIS, probs, ax=ax)
    fig.draw_without_rendering()
    found = {text.get_text(): text.get_window_extent() for text in ax.texts}
    plt.close(fig)
    return found, ax.get_window_extent()


@pytest.mark.parametrize("slope", [0.8, 1.5, 3, 10])
def test_labels_of_contours_lie_apart_and_within_the_map(slope):
    found, frame = labels(slope)
    for box in found.values():
        assert frame.x0 < box.x0 < box.x1 < frame.x1
        assert frame.y0 < box.y0 < box.y1 < frame.y1
    for one, other in combinations(found.values(), 2):
        assert not one.overlaps(other)


def test_contours_have_labels_where_there_is_room():
    assert set(labels(0.8)[0]) == {"0.05", "0.25", "0.75", "0.95"}
    assert set(labels(20)[0]) == set()


def test_no_label_hides_an_island():
    found, frame = labels(3, island=0.2)
    island = [frame.x0 + 0.3 * frame.width, frame.y0 + 0.3 * frame.height]
    assert not found["0.05"].expanded(1.5, 1.5).contains(*island)


@pytest.mark.parametrize("size", [(7, 6), (3.6, 9)])
def test_a_colour_bar_is_as_high_as_its_field(size):
    with plt.rc_context({"figure.constrained_layout.use": True}):
        fig, axes = plt.subplots(2, 1, figsize=size)
        for ax in axes:
            plots.field(AXIS, AXIS, ACROSS, label="nats", ax=ax)
        fig.draw_without_rendering()
    first, second, *bars = (ax.get_window_extent() for ax in fig.axes)
    plt.close(fig)
    for field, bar in zip((first, second), bars, strict=True):
        assert bar.y0 == pytest.approx(field.y0)
        assert bar.height == pytest.approx(field.height)
        assert bar.x0 > field.x1
