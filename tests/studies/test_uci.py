"""The published table: its data, methods, committed results, and the page that shows them."""

import csv
import json
import os
import statistics
from pathlib import Path

import jax
import jax.numpy as jnp
import jupytext
import matplotlib.pyplot as plt
import numpy as np
import pooch
import pytest
import torch
from jax.flatten_util import ravel_pytree

from course import idx
from solutions.deep_ensembles import gaussian_loss, init_mlp, mlp
from studies.uci import experiment, methods
from studies.uci.__main__ import HERE, main, settings
from studies.uci.data import CHECKSUMS, SPLITS, held_out, published_split, rows

FOLDER = Path(__file__).parents[3] / "shared" / "data"
PAGE = Path(__file__).parents[2] / "book" / "uci-table.md"
SCORES = ("RMSE", "NLL", "Gaussian NLL", "coverage")


@pytest.fixture
def real(monkeypatch):
    """Use the original files."""
    if not (FOLDER / "uci").is_dir():
        reason = "the UCI sets are not in ../shared/data"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    monkeypatch.setenv(idx.FOLDER_VARIABLE, str(FOLDER))


def committed():
    with (HERE / "results.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


# --- data -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("concrete", (1030, 9)),
        ("energy", (768, 9)),
        ("power-plant", (9568, 5)),
        ("yacht", (308, 7)),
    ],
)
def test_the_sets_have_the_published_shapes(real, name, shape):
    assert rows(name).shape == shape


def test_a_split_uses_every_row_once_and_validation_data_are_not_trained_on():
    table = np.column_stack([np.arange(308.0), np.arange(308.0)])
    found = [published_split(table, number) for number in range(SPLITS)]
    for split in found:
        assert (len(split.y), len(split.y_test)) == (277, 31)
        np.testing.assert_array_equal(
            np.sort(np.r_[split.y, split.y_test]), np.arange(308)
        )
        part = held_out(split, 3)
        assert len(part.y_test) == 55
        np.testing.assert_array_equal(
            np.sort(np.r_[part.y, part.y_test]), np.sort(split.y)
        )
    assert len({tuple(split.y_test) for split in found}) == SPLITS
    # the first rows of the first two splits, by another generator object
    rng = np.random.RandomState(1)
    for split in found[:2]:
        np.testing.assert_array_equal(split.y[:5], rng.permutation(308)[:5])
    with pytest.raises(ValueError, match="from 0 to 19"):
        published_split(table, 20)


def test_another_file_is_refused_and_an_absent_network_reported(
    monkeypatch, tmp_path, capsys
):
    (tmp_path / "uci/yacht").mkdir(parents=True)
    (tmp_path / "uci/yacht/data.txt").write_text("1 2 3\n")
    with pytest.raises(idx.DataUnavailable, match="published checksum"):
        rows("yacht", tmp_path)

    def offline(url, known_hash, **settings):
        assert url.endswith("UCI_Datasets/yacht/data/data.txt")
        assert known_hash == f"md5:{CHECKSUMS['yacht']}"
        assert settings["progressbar"]
        raise ConnectionError("no route to host")

    monkeypatch.delenv(idx.FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr(pooch, "retrieve", offline)
    with pytest.raises(SystemExit, match="No set is available"):
        main(["--out", str(tmp_path), "--sets", "yacht"])
    message = capsys.readouterr().err
    assert message.startswith("yacht is skipped: ")
    assert "put them in a folder" in message
    assert not (tmp_path / "results.csv").exists()


# --- methods --------------------------------------------------------------------------


def test_the_kl_agrees_with_torch():
    method = methods.METHODS["Bayes by Backprop"]
    params = jax.tree.map(lambda leaf: leaf[0], method.start(jax.random.key(0), 3, 1))
    ours = methods.kl(params, 0.3)
    theirs = 0.0
    for mean, rho in zip(*map(jax.tree.leaves, params.values()), strict=True):
        std = torch.nn.functional.softplus(torch.tensor(np.array(rho)).double())
        q = torch.distributions.Normal(torch.tensor(np.array(mean)).double(), std)
        p = torch.distributions.Normal(torch.zeros(()).double(), 0.3)
        theirs += torch.distributions.kl_divergence(q, p).sum()
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_laplace_draws_have_the_covariance_of_the_linearised_posterior(monkeypatch):
    """With µ = y, the Fisher information in µ is the Hessian of the NLL; ρ is checked alike."""
    monkeypatch.setattr(methods, "DRAWS", 40_000)
    params = init_mlp(jax.random.key(0), (2, 3, 2), 1.0)
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(30, 2)))
    drawn = methods.laplace_draws(params, x, x[:4], 0.7, seed=1)
    flat, unflatten = ravel_pytree(params)
    jacobian = np.asarray(jax.jacobian(lambda f: mlp(unflatten(f), x))(flat), float)
    mean, rho = np.asarray(mlp(params, x), float).T
    std = np.log1p(np.exp(rho)) + 1e-6

    def expected_nll(out, mean, std):
        sigma = jax.nn.softplus(out[1]) + 1e-6
        square = std**2 + (out[0] - mean) ** 2  # E (y − µ)² under the forecast
        return jnp.log(sigma) + square / (2 * sigma**2)

    curved = jax.jit(jax.vmap(jax.hessian(expected_nll)))
    fisher = np.asarray(curved(jnp.stack([mean, rho], 1), mean, std), float)

    precision = np.eye(len(flat)) / 0.7**2
    for own, curvature in zip(jacobian, fisher, strict=True):
        precision += own.T @ curvature @ own
    covariance = np.linalg.inv(precision)
    for n in range(4):
        right = jacobian[n] @ covariance @ jacobian[n].T
        np.testing.assert_allclose(np.cov(drawn[:, n].T), right, rtol=0.06, atol=2e-3)
    np.testing.assert_allclose(drawn.mean(0), mlp(params, x[:4]), atol=0.03)


def test_dropout_keeps_the_mean_and_torch_bounds_hold():
    params = init_mlp(jax.random.key(0), (2, 50, 2))
    x = jnp.ones((5, 2))
    drawn = methods.dropout_draws(params, x, jax.random.key(1), 0.2)
    assert drawn.shape == (methods.DRAWS, 5, 2)
    error = 4 * drawn.std(0).max() / methods.DRAWS**0.5
    np.testing.assert_allclose(drawn.mean(0), mlp(params, x), atol=error)
    (weight, bias), (last, _) = params
    each = jax.nn.relu(x @ weight + bias)[0, :, None] * last
    std = np.sqrt(0.2 / 0.8 * (each**2).sum(0))  # of independent masks
    np.testing.assert_allclose(np.std(drawn, (0, 1)), std, rtol=0.2)
    start = methods.METHODS["ensemble, as printed"].start(jax.random.key(0), 8, 20)
    for (weight, bias), n in zip(start, (8, 50), strict=True):
        for leaf in (weight, bias):
            assert 0.95 < n**0.5 * np.abs(leaf).max() <= 1


def test_conformal_intervals_cover():
    rng = np.random.default_rng(0)
    y = rng.normal(0, 3, 4000)
    forecast = np.zeros((1, 2000)), np.ones((1, 2000))
    found = experiment.conformal(forecast, y[:2000], forecast, y[2000:])
    assert found["conformal coverage"] == pytest.approx(0.95, abs=0.02)
    assert found["conformal factor"] == pytest.approx(3, abs=0.2)


# --- runs and results -----------------------------------------------------------------


def test_a_stopped_run_goes_on(real, monkeypatch, tmp_path):
    calls = []

    def stopped(name, number, split):
        calls.append((name, number))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return [{"set": name, "split": number, "method": "MAP", "NLL": 1.0 + number}]

    monkeypatch.setattr(experiment, "rows_of", stopped)
    arguments = ["--out", str(tmp_path), "--sets", "yacht", "energy", "--splits", "2"]
    with pytest.raises(KeyboardInterrupt):
        main(arguments)
    main(arguments)
    assert calls[2] == calls[3] == ("yacht", 1)
    assert len(calls) == 5
    main(arguments)
    assert len(calls) == 5
    with (tmp_path / "results.csv").open() as file:
        found = [(row["set"], row["split"], row["NLL"]) for row in csv.DictReader(file)]
    assert found == [
        ("energy", "0", "1"),
        ("energy", "1", "2"),
        ("yacht", "0", "1"),
        ("yacht", "1", "2"),
    ]
    monkeypatch.setattr(experiment, "EPOCHS", 41)
    with pytest.raises(SystemExit, match="computed with other settings"):
        main(arguments)


def test_the_committed_results_are_complete_and_those_of_this_code():
    kept = json.loads((HERE / "settings.json").read_text(encoding="utf-8"))["settings"]
    now = settings()
    assert {k: v for k, v in kept.items() if k != "versions"} == {
        k: v for k, v in now.items() if k != "versions"
    }
    wanted = set()
    for title, method in methods.METHODS.items():
        counts = [str(c) for c in methods.COUNTS if c <= method.members]
        for name in CHECKSUMS:
            if title == methods.LONGER and name in methods.TOO_LARGE:
                continue
            for members in counts if method.members > 1 else [""]:
                wanted |= {(name, str(i), title, members) for i in range(SPLITS)}
    wanted |= {
        (name, str(i), "Laplace", "") for name in CHECKSUMS for i in range(SPLITS)
    }
    found = committed()
    keys = [(row["set"], row["split"], row["method"], row["members"]) for row in found]
    assert len(keys) == len(set(keys))
    assert set(keys) == wanted
    assert all(np.isfinite(float(row[score])) for row in found for score in SCORES)


def same(computed, rtol):
    """Compare rows with the committed ones."""
    kept = {
        (row["set"], row["split"], row["method"], row["members"]): row
        for row in committed()
    }
    for row in computed:
        members = str(row.get("members", ""))
        other = kept[row["set"], str(row["split"]), row["method"], members]
        assert float(other["rate"]) == row["rate"]
        assert other["setting"] == (f"{row['setting']:g}" if row["setting"] else "")
        for score in ("conformal coverage", "conformal factor"):
            assert (score in row) == bool(other[score])
            if score in row:
                assert row[score] == pytest.approx(float(other[score]), rel=0.05), score
        for score in SCORES:
            assert row[score] == pytest.approx(float(other[score]), rel=rtol), score


def test_a_split_computed_again_has_the_committed_scores(real):
    split = published_split(rows("yacht"), 3)
    same(experiment.rows_of("yacht", 3, split, ("ensemble",)), 0.02)


@pytest.mark.long
def test_the_other_methods_computed_again_have_the_committed_scores(real):
    split = published_split(rows("yacht"), 3)
    # A rate of 0.1 or 400 epochs magnify rounding errors to a tenth of the scores and more.
    left_out = "ensemble", "ensemble, as printed", methods.LONGER
    others = [title for title in methods.METHODS if title not in left_out]
    same(experiment.rows_of("yacht", 3, split, others), 0.02)


# --- the page -------------------------------------------------------------------------


def test_the_page_shows_the_committed_results():
    """Its first table, computed here from the file by other means."""
    scope = {}
    with plt.rc_context():  # its first cell sets the course's style
        for cell in jupytext.reads(PAGE.read_text("utf-8"), fmt="md:myst").cells:
            if cell.cell_type == "code":
                exec(cell.source, scope)
                if "def compared" in cell.source:
                    break
    lines = list(scope["compared"]())
    found = committed()
    with (HERE / "published.csv").open(encoding="utf-8") as file:
        published = list(csv.DictReader(file))
    assert [line[:2] for line in lines] == [
        [name, metric] for name in CHECKSUMS for metric in ("RMSE", "NLL")
    ]
    for name, metric, ours, *theirs, spread in lines:
        kept = [
            f"{float(row['value']):.2f} ± {float(row['spread']):.2f}"
            for row in published
            if (row["set"], row["metric"]) == (name, metric)
        ]
        assert theirs == kept[::-1]  # the page puts the ensembles first
        sample = [
            float(row[metric])
            for row in found
            if (row["set"], row["method"], row["members"]) == (name, "ensemble", "5")
        ]
        error = statistics.stdev(sample) / SPLITS**0.5
        assert ours == f"{statistics.mean(sample):.2f} ± {error:.2f}"
        assert spread == f"{statistics.stdev(sample):.2f}"


def test_the_ensemble_agrees_with_a_plain_loss():
    """The study's loss of an ensemble is lab 1a's."""
    assert methods.METHODS["ensemble"].loss(None, 10, 0.1) is gaussian_loss
