"""The shifts of the shift study's inputs: images, features, and covariate shift."""

import numpy as np
import pytest

from studies.shift import data


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("sides", [8, 28])
def test_images_are_rotated_and_occluded(sides, monkeypatch, rng):
    images = rng.random((50, sides, sides))
    problem = data.problem_of("digits", 0)._replace(x_test=images.reshape(50, -1))
    monkeypatch.setattr(data, "ANGLE", 45.0)
    turned, rows = data.rotated(problem, 2, rng)
    np.testing.assert_allclose(
        turned.reshape(-1, sides, sides), np.rot90(images, axes=(1, 2)), atol=1e-12
    )
    np.testing.assert_array_equal(rows, np.arange(len(images)))
    white = problem._replace(x_test=np.ones_like(problem.x_test))
    for severity in data.SEVERITIES:
        hidden, _ = data.occluded(white, severity, rng)
        side = round(severity * sides / 8)
        np.testing.assert_array_equal((hidden == 0).sum(1), side**2)
        noisy, _ = data.noisy_pixels(problem, severity, rng)
        assert noisy.min() >= 0
        assert noisy.max() <= 1
    assert white.x_test.all()


def test_features_are_lost_and_noise_is_added_in_proportion_to_severity(rng):
    problem = data.problem_of("breast cancer", 0)
    for severity in data.SEVERITIES:
        lost, _ = data.missing(problem, severity, rng)
        share = np.mean(lost != problem.x_test)
        assert share == pytest.approx(data.MISSING * severity, abs=0.02)
        assert not lost[lost != problem.x_test].any()
        moved, _ = data.noisy(problem, severity, rng)
        std = (moved - problem.x_test).std()
        assert std == pytest.approx(data.NOISE * severity, rel=0.05)


def test_covariate_shift_tilts_the_rows_along_the_first_component(monkeypatch, rng):
    """A standard normal tilted by exp(t·z) is a normal with mean t."""
    problem = data.problem_of("Friedman", 0)
    x = rng.normal(size=(4000, 3)) * [1, 4, 1]
    problem = problem._replace(x=x, x_test=x, y_test=np.arange(4000))
    monkeypatch.setattr(data, "TILT", 0.2)
    moved, rows = data.covariate(problem, 5, rng)
    np.testing.assert_array_equal(moved, x[rows])
    np.testing.assert_allclose(moved.mean(0) / x.std(0), [0, 1, 0], atol=0.12)
