"""The figures of practical 3 draw their arguments and leave global state unchanged."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from course import plots


@pytest.fixture
def axes():
    fig, axes = plt.subplots()
    yield axes
    plt.close(fig)


@pytest.mark.parametrize("bells", [False, True])
def test_every_connection_carries_a_number_or_a_bell(bells, axes):
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    assert plots.weight_diagram(bells=bells, ax=axes) is axes
    assert len(axes.lines) == 2 * 3 + 3
    numbers = [text for text in axes.texts if text.get_text()]
    bells_drawn = len(axes.collections) - 3  # the three columns of units
    assert (len(numbers), bells_drawn) == ((0, 9) if bells else (9, 0))
    np.testing.assert_array_equal(state, np.random.get_state()[1])  # noqa: NPY002


def test_bars_stand_on_one_scale(axes):
    probs = np.array([0.1, 0.7, 0.2])
    assert plots.class_bars(probs, title="a", ax=axes) is axes
    assert [bar.get_height() for bar in axes.patches] == pytest.approx(list(probs))
    assert axes.get_ylim() == (0, 1)


def test_an_image_is_shown_with_a_fixed_scale(axes):
    plots.show_image(np.array([[0.2, 0.4], [0.3, 0.2]]), ax=axes)
    assert axes.images[0].get_clim() == (0, 1)
