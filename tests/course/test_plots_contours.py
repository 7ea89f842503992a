"""Maps of probabilities: their contours have labels where there is room."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from course import plots

AXIS = np.linspace(-5, 5, 81)
ACROSS, UPWARD = np.meshgrid(AXIS, AXIS)


def labels(slope):
    """Return the labels of a map of a logistic regression, with their frames, and the map's."""
    probs = 1 / (1 + np.exp(-slope * (ACROSS + 0.5 * UPWARD)))
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
