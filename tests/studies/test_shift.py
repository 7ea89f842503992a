"""The shift study: its data, methods, statistics, and committed results."""

import csv
import json
import os
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from jax.flatten_util import ravel_pytree
from seeds import SOAK, first_seed

from course import idx
from studies.shift import data, experiment, methods
from studies.shift.__main__ import HERE, SCORES, SEEDS, main, settings
from studies.shift.ranks import (
    agreement,
    friedman_nemenyi,
    mean_ranks,
    paired_interval,
)
from studies.which_method import scores

FOLDER = Path(__file__).parents[3] / "shared" / "data"
FILES = {"concrete": "uci", "MNIST": "mnist", "Fashion-MNIST": "fashion-mnist"}
CLASSES = ("accuracy", "NLL", "Brier", "ECE", "AURC", "conformal")
NUMBERS = ("RMSE", "NLL", "CRPS", "coverage", "conformal")
CONTINUOUS = ("RMSE", "NLL", "CRPS", "Brier")


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def committed():
    with (HERE / "results.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


# --- data -----------------------------------------------------------------------------


@pytest.fixture
def files(monkeypatch):
    """Let the sets be read from the folder of the original files."""
    missing = [folder for folder in FILES.values() if not (FOLDER / folder).is_dir()]
    if missing:
        reason = f"{', '.join(missing)}: not in ../shared/data"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    monkeypatch.setenv(idx.FOLDER_VARIABLE, str(FOLDER))


# Concrete has equal rows.
@pytest.mark.parametrize("name", [name for name in data.SETS if name != "concrete"])
def test_a_seed_fixes_a_split_in_which_no_row_is_used_twice(name, request):
    if name in FILES:
        request.getfixturevalue("files")
    one, again, other = (data.problem_of(name, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.x, again.x)
    assert not np.array_equal(one.x, other.x)
    parts = [one.x, one.x_val, one.x_test]
    assert tuple(map(len, parts)) == data.SETS[name][:3]
    rows = np.concatenate(parts)
    assert len(np.unique(rows, axis=0)) == len(rows)
    for test, same in zip(
        data.shifted(name, 0, one), data.shifted(name, 0, again), strict=True
    ):
        np.testing.assert_array_equal(test.x, same.x)
        assert len(test.x) == len(test.y) == len(one.y_test)


def test_the_third_regression_is_standardised(files):
    problem = data.problem_of("concrete", 0)
    assert len(problem.x) == data.SETS["concrete"].train
    assert abs(problem.y.mean()) < 1e-12
    assert problem.y.std() == pytest.approx(1)


@pytest.mark.parametrize("name", ["MNIST", "Fashion-MNIST"])
def test_whole_images_are_shifted_then_averaged(name, files):
    whole = data.problem_of(name, 0)
    assert whole.x.shape[1] == 784
    seen = data.seen(name, whole)
    images = whole.x_test.reshape(-1, 28, 28)
    for row, column in ((0, 0), (3, 6)):
        block = images[:, 4 * row : 4 * row + 4, 4 * column : 4 * column + 4]
        np.testing.assert_allclose(
            seen.x_test[:, 7 * row + column], block.mean((1, 2)), atol=1e-6
        )
    np.testing.assert_array_equal(seen.x[:5], data.averaged(name, whole.x[:5]))
    np.testing.assert_array_equal(seen.x_val[:5], data.averaged(name, whole.x_val[:5]))
    tests = {
        (test.shift, test.severity): test.x for test in data.shifted(name, 0, whole)
    }
    np.testing.assert_array_equal(tests["", 0], seen.x_test)
    turned = scipy.ndimage.rotate(images[7].T, -18, reshape=False, order=1).T
    np.testing.assert_allclose(
        tests["rotation", 2][7],
        data.averaged(name, turned.reshape(1, -1))[0],
        atol=1e-5,
    )


def test_a_set_without_files_is_skipped_and_keeps_its_rows(
    monkeypatch, tmp_path, capsys
):
    calls = []

    def offline(name, seed):
        calls.append((name, seed))
        if name == "MNIST" and seed:
            raise idx.DataUnavailable("MNIST: put its files in a folder")
        yield {"set": name, "seed": seed, "method": "Laplace", "NLL": 0.5}

    monkeypatch.setattr(experiment, "rows_of", offline)
    main(["--out", str(tmp_path), "--sets", "MNIST", "wine", "--seeds", "3"])
    assert calls == [("MNIST", 0), ("wine", 0), ("MNIST", 1), ("wine", 1), ("wine", 2)]
    with (tmp_path / "results.csv").open() as file:
        found = [(row["set"], row["seed"]) for row in csv.DictReader(file)]
    assert found == [("MNIST", "0"), *(("wine", seed) for seed in "012")]
    said = capsys.readouterr()
    assert said.err == "MNIST is skipped: MNIST: put its files in a folder\n"
    assert "wine, seed 2: 3 of 3 done, about 0 minutes left" in said.out


# --- methods --------------------------------------------------------------------------


def test_the_single_network_is_the_first_member_of_the_ensemble():
    trainer = methods.MethodTrainer(data.problem_of("wine", 0), 0)
    first, second = trainer.start(1), trainer.start(2)
    for one, two in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        np.testing.assert_array_equal(one[0], two[0])


def test_anchors_at_zero_are_plain_weight_decay_and_are_not_trained(rng):
    trainer = methods.MethodTrainer(data.problem_of("wine", 0), 0)
    weights = jax.tree.map(lambda leaf: leaf[0], trainer.start())
    zeros = jax.tree.map(jnp.zeros_like, weights)
    given = {"weights": weights, "anchors": zeros}
    args = trainer.x, trainer.y
    value_and_gradient = [
        jax.jit(jax.value_and_grad(loss, argnums=1))
        for loss in (methods.anchored_loss, methods.map_loss)
    ]
    loss, gradient = value_and_gradient[0](0.3, given, *args)
    plain, along = value_and_gradient[1](0.3, weights, *args)
    assert loss == pytest.approx(float(plain))
    np.testing.assert_allclose(
        ravel_pytree(gradient["weights"])[0], ravel_pytree(along)[0], rtol=1e-5
    )
    assert not ravel_pytree(gradient["anchors"])[0].any()


def test_temperature_repairs_spreads_and_keeps_faultless_classes(rng):
    def given(problem, outputs):
        trainer = methods.MethodTrainer(problem, 0)
        return trainer.temperature(
            methods.FittedMethod(lambda x: outputs[None], 1.0, 0.0)
        )

    problem = data.problem_of("Friedman", 0)
    errors = problem.y_val - problem.y_val.mean()
    mean = np.full(len(errors), problem.y_val.mean())
    fit = given(problem, np.stack([mean, np.full(len(mean), np.log(np.e - 1))], 1))
    assert fit.setting == pytest.approx(errors.std(), rel=1e-4)  # σ was 1
    scaled = scores.heads(fit.forecast(problem.x_val))[1]
    np.testing.assert_allclose(scaled, errors.std(), rtol=1e-4)
    problem = data.problem_of("wine", 0)
    assert given(problem, 5.0 * np.eye(3)[problem.y_val]).setting == 1
    wrong = 5.0 * np.eye(3)[np.r_[problem.y_val[0] - 1, problem.y_val[1:]]]
    assert given(problem, wrong).setting != 1


# --- scores and statistics ------------------------------------------------------------


def test_conformal_scores_and_uncertainties_are_those_of_the_mixture(rng):
    outputs, y = rng.normal(size=(4, 50, 2)), rng.normal(size=50)
    mean, std = outputs[..., 0], np.log1p(np.exp(outputs[..., 1])) + 1e-6
    drawn = rng.normal(mean, std, (20_000, 4, 50))
    variance = drawn.reshape(-1, 50).var(0)
    np.testing.assert_allclose(
        experiment.uncertainty(outputs, regression=True), variance, rtol=0.05
    )
    found = experiment.nonconformity(outputs, y, regression=True)
    np.testing.assert_allclose(
        found, np.abs(y - mean.mean(0)) / variance**0.5, rtol=0.05
    )
    probs = scipy.special.softmax(outputs, -1).mean(0)
    labels = rng.integers(0, 2, 50)
    np.testing.assert_allclose(
        experiment.nonconformity(outputs, labels, regression=False),
        1 - probs[np.arange(50), labels],
    )
    np.testing.assert_allclose(
        experiment.uncertainty(outputs, regression=False),
        scipy.stats.entropy(probs, axis=1),
    )


def test_paired_intervals_are_those_of_scipy_widened_for_shared_rows(rng):
    one, other = rng.normal(size=(2, 20))
    result = scipy.stats.ttest_rel(one, other).confidence_interval(0.95)
    mean, half = paired_interval(one - other, 0.0)
    np.testing.assert_allclose((mean - half, mean + half), result)
    _, wider = paired_interval(one - other, 0.5)  # 1/20 + 1/2 in place of 1/20
    assert wider == pytest.approx(half * np.sqrt(11))


def test_ranks_share_ties_and_the_tests_are_those_of_demsar(rng):
    np.testing.assert_array_equal(
        mean_ranks(np.array([[0.1, 0.3, 0.3], [0.2, 0.1, 0.4]])), [1.5, 1.75, 2.75]
    )
    blocks = rng.normal(size=(6, 10))
    ranks, (n, k) = mean_ranks(blocks), blocks.shape
    statistic = 12 * n / (k * (k + 1)) * (np.sum(ranks**2) - k * (k + 1) ** 2 / 4)
    found = friedman_nemenyi(blocks)
    assert found.statistic == pytest.approx(statistic)
    assert found.p_value == pytest.approx(scipy.stats.chi2.sf(statistic, k - 1))
    # q of table 5(a) of Demšar (2006) for ten classifiers
    assert found.critical_difference == pytest.approx(3.164 * np.sqrt(110 / 36), 1e-3)


def test_the_agreement_is_kendalls_and_its_interval_follows_the_noise(rng):
    published = np.arange(5.0)
    clear = published + 0.01 * rng.normal(size=(20, 5))
    np.testing.assert_allclose(agreement(published, clear, 200, rng=rng), 1)
    assert agreement(-published, clear, 200, rng=rng).tau == pytest.approx(-1)
    noisy = published + 10 * rng.normal(size=(20, 5))
    tau, low, high = agreement(published, noisy, 400, rng=rng)
    assert tau == pytest.approx(scipy.stats.kendalltau(published, noisy.mean(0))[0])
    assert low < tau < high


# --- runs and results -----------------------------------------------------------------


def test_a_stopped_run_goes_on(monkeypatch, tmp_path):
    calls = []

    def stopped(name, seed):
        calls.append((name, seed))
        for method in ("single network", "Laplace"):
            yield {"set": name, "seed": seed, "method": method, "NLL": 1 / 3 + seed}
            if len(calls) == 3:
                raise KeyboardInterrupt

    monkeypatch.setattr(experiment, "rows_of", stopped)
    arguments = ["--out", str(tmp_path), "--sets", "wine", "digits", "--seeds", "2"]
    with pytest.raises(KeyboardInterrupt):
        main(arguments)
    main(arguments)
    assert calls[2] == calls[3] == ("wine", 1)
    main(arguments)
    assert len(calls) == 5
    with (tmp_path / "results.csv").open() as file:
        found = [tuple(row.values()) for row in csv.DictReader(file)]
    assert [(row[0], row[1], row[4]) for row in found] == [
        (name, seed, method)
        for name in ("digits", "wine")
        for seed in "01"
        for method in ("single network", "Laplace")
    ]
    assert {row[7] for row in found} == {"0.3333", "1.333"}
    monkeypatch.setattr(data, "NOISE", 0.2)
    with pytest.raises(SystemExit, match="computed with other settings"):
        main(arguments)


def test_the_committed_results_are_complete_and_those_of_this_code():
    kept = json.loads((HERE / "settings.json").read_text(encoding="utf-8"))["settings"]
    now = json.loads(json.dumps(settings()))
    assert kept | {"versions": 0} == now | {"versions": 0}
    found, places = committed(), {}
    for row in found:
        places.setdefault((row["shift"], int(row["severity"])), set()).add(
            (row["set"], int(row["seed"]), row["method"])
        )
        filled = {score for score in SCORES if row[score]}
        expected = set(CLASSES if data.SETS[row["set"]].classes else NUMBERS)
        assert filled == expected | ({"AUROC"} if row["shift"] else set())
        assert all(np.isfinite(float(row[score])) for score in filled)

    def cells(names):
        return {(n, s, m) for n in names for s in range(SEEDS) for m in methods.METHODS}

    wanted = {("", 0): cells(data.SETS)}
    for severity in data.SEVERITIES:
        tables = set(data.SETS) - set(data.IMAGES)
        wanted |= {(shift, severity): cells(data.IMAGES) for shift in data.OF_IMAGES}
        wanted |= {(shift, severity): cells(tables) for shift in data.OF_TABLES}
        wanted["noise", severity] = cells(data.SETS)
    assert places == wanted
    assert len(found) == sum(map(len, wanted.values()))


def same(name, seed, titles, rtol):
    """Compute rows again, and compare them with the committed ones."""
    kept = {
        (row["set"], row["seed"], row["shift"], row["severity"], row["method"]): row
        for row in committed()
    }
    count = 0
    for row in experiment.rows_of(name, seed, titles):
        key = (row["set"], str(seed), row["shift"], str(row["severity"]), row["method"])
        for score in set(SCORES) & set(row):
            other = float(kept[key][score])
            near = 0.002 if score in CONTINUOUS else 0.021  # one row of 49
            assert row[score] == pytest.approx(other, rel=rtol, abs=near), score
        count += 1
    assert count == 16 * len(titles)


def test_a_cell_computed_again_has_the_committed_scores():
    same("wine", 3, ("single network", "deep ensemble"), 0.02)


AGAIN = [
    ("Friedman", ("Laplace", "SWAG")),
    ("breast cancer", ("MC dropout", "anchored ensemble")),
    ("MNIST", ("last-layer Laplace",)),
    ("diabetes", ("temperature", "Bayes by Backprop", "MIMO")),
    ("digits", ("temperature", "MIMO")),
    ("concrete", ("deep ensemble", "temperature")),
    ("Fashion-MNIST", ("Laplace",)),
]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "titles"), AGAIN if SOAK else AGAIN[first_seed() % 3 :: 3]
)
def test_other_methods_computed_again_have_the_committed_scores(name, titles, request):
    """A commit draws a third of them, ``SOAK`` computes all."""
    if name in FILES:
        request.getfixturevalue("files")
    same(name, 7, titles, 0.03)
