"""The exact posterior by NUTS: the cache is keyed on all inputs, and the draws are right."""

import inspect
import json
import subprocess
import types
from pathlib import Path

import numpy as np
import pytest
from seeds import SOAK, first_seed

from course import nuts

X = np.array([-2, -1.8, -1, 1, 1.8, 2])
SETTINGS = {"hidden": 32, "noise_std": 0.1}
# Prior variances, with the standard deviations that NUTS gives; every commit draws one.
EXPECTED = [(10, (0.47, 2.43, 3.9, 5.9)), (100, (2.4, 14.1, 13.6, 19.4))]


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_the_cache_is_keyed_on_every_input(monkeypatch, cache):
    runs = []

    def fake(command, **options):
        settings = json.loads(Path(command[-2]).read_text())
        runs.append(settings)
        np.savez(
            command[-1].with_suffix(""), f=np.ones((2, 1)), r_hat=[1.0], effective=[2.0]
        )
        return types.SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(subprocess, "run", fake)
    given = {"x": X, "y": X, "grid": np.zeros(1), **SETTINGS, "prior_std": 1.0}
    given |= {"samples": 150, "warmup": 200, "chains": 4, "seed": 0}
    assert given.keys() == inspect.signature(nuts.reference).parameters.keys()
    for _ in range(2):
        assert nuts.reference(**given).f.shape == (2, 1)
    assert len(runs) == 1
    for name in given:
        nuts.reference(**given | {name: given[name] + 1})
        assert [key for key in given if runs[-1][key] != runs[0][key]] == [name]
    assert len(runs) == 1 + len(given)


def test_a_failed_run_is_told_and_leaves_nothing(monkeypatch, cache):
    failed = types.SimpleNamespace(returncode=1, stderr="out of luck")
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: failed)
    with pytest.raises(RuntimeError, match="out of luck"):
        nuts.reference(X, X, np.zeros(1), prior_std=1.0, **SETTINGS)
    assert not list(cache.rglob("*.npz"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("variance", "sd"), EXPECTED if SOAK else [EXPECTED[first_seed() % 2]]
)
def test_the_reference_agrees_with_nuts_on_all_weights(cache, variance, sd):
    """The expected values come from NUTS on all weights, with no layer integrated out."""
    draws = nuts.reference(
        X,
        -(X**4) + 3 * X**2 + 1,
        np.array([1.4, 0.0, 5.0, 100.0]),
        prior_std=variance**0.5,
        samples=500,
        **SETTINGS,
    )
    assert draws.r_hat.max() < 1.02
    assert draws.effective.min() > 400
    np.testing.assert_allclose(draws.f.std(0), sd, rtol=0.15)
