"""Chapter 5's experiment: data, scores, Laplace, the committed results, and a short run."""

import csv
import json

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
import torch
from netcal.metrics import ECE
from peers import OWN_WARNING, laplace_torch
from seeds import SOAK, first_seed
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

from studies.laplace import fisher_roots
from studies.which_method import scores, with_jax, with_torch
from studies.which_method.__main__ import COSTS, HERE, main, settings
from studies.which_method.methods import (
    DISTANCE,
    LONG,
    METHODS,
    OWN_PRIOR,
    SEEDS,
    SINGLE,
    SQUARES,
)
from studies.which_method.problems import PROBLEMS
from studies.which_method.record import QUICK, Budget

CLASSES = ("accuracy", "NLL", "Brier", "ECE", "AUROC")
NUMBERS = ("RMSE", "NLL", "CRPS", "coverage")
AGAIN = ["moons", "diabetes"]
ONE_VOICE = ("MAP", "temperature")  # one prediction only, so no measure of disagreement


@pytest.fixture
def rng():
    return np.random.default_rng(3)


# --- data -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_seed_fixes_a_problem_and_no_datum_is_used_twice(name):
    one, again, other = PROBLEMS[name](0), PROBLEMS[name](0), PROBLEMS[name](1)
    for part, same in zip(one, again, strict=True):
        np.testing.assert_array_equal(part, same)
    assert not np.array_equal(one.x, other.x)
    rows = np.concatenate([one.x, one.x_val, one.x_test])
    assert len(np.unique(rows, axis=0)) == len(rows)
    if name == "digits":
        assert set(one.y) == set(one.y_test) == set(range(8))
        assert len(one.out) == 354
    else:
        np.testing.assert_allclose(one.x.mean(0), 0, atol=1e-9)
        np.testing.assert_allclose(one.x.std(0), 1)


@pytest.mark.parametrize("name", ["moons", "blobs"])
def test_the_ring_lies_outside(name):
    """Less than 1% of the data points are as far out as the ring."""
    problem = PROBLEMS[name](0)
    raw, ring = (x * problem.std + problem.mean for x in (problem.x_test, problem.out))
    centre = {"moons": (0.5, 0.25), "blobs": (0.0, 0.0)}[name]
    inner = np.linalg.norm(ring - centre, axis=1).min()
    assert np.mean(np.linalg.norm(raw - centre, axis=1) > inner) < 0.01


# --- scores ---------------------------------------------------------------------------


def test_scores_of_classes_agree_with_other_libraries(rng):
    logits, y = rng.normal(0, 2, (7, 300, 4)), rng.integers(0, 4, 300)
    log_probs = scores.class_log_probs(logits)
    probs = torch.softmax(torch.tensor(logits), -1).mean(0).numpy()
    np.testing.assert_allclose(np.exp(log_probs), probs, rtol=1e-10)
    found = scores.class_scores(log_probs, y, log_probs[:50])
    assert found["accuracy"] == np.mean(probs.argmax(1) == y)
    entropy = scipy.stats.entropy(probs, axis=1)
    label = np.repeat([0, 1], [300, 50])
    area = roc_auc_score(label, np.r_[entropy, entropy[:50]])
    assert found["AUROC"] == pytest.approx(area)
    assert found["ECE"] == pytest.approx(ECE(15).measure(probs, y), abs=1e-9)
    assert found["NLL"] == pytest.approx(-np.log(probs[np.arange(300), y]).mean())
    brier = ((probs - np.eye(4)[y]) ** 2).sum(1).mean()
    assert found["Brier"] == pytest.approx(brier)
    assert scores.nll(logits, y, regression=False) == pytest.approx(found["NLL"])
    each = scipy.stats.entropy(torch.softmax(torch.tensor(logits), -1), axis=-1)
    np.testing.assert_allclose(
        scores.mutual_information(logits), entropy - each.mean(0), atol=1e-12
    )
    certain = np.where(np.eye(4)[rng.integers(0, 4, 9)] == 1, 300.0, 0.0)
    agree = scores.mutual_information(np.stack([certain, certain]))
    np.testing.assert_allclose(agree, 0, atol=1e-12)


def test_scores_of_mixtures_agree_with_torch_and_with_the_integral(rng):
    outputs = rng.normal(0, 1, (5, 4, 2))
    y = rng.normal(0, 1, 4)
    mean, std = scores.heads(outputs)
    components = torch.distributions.Normal(*map(torch.tensor, (mean.T, std.T)))
    weights = torch.distributions.Categorical(torch.ones(4, 5, dtype=torch.float64))
    mixture = torch.distributions.MixtureSameFamily(weights, components)
    theirs = -mixture.log_prob(torch.tensor(y))
    np.testing.assert_allclose(scores.mixture_nll(outputs, y), theirs, rtol=1e-10)
    cdf = mixture.cdf(torch.tensor(y))
    np.testing.assert_allclose(scores.mixture_cdf(outputs, y), cdf, rtol=1e-10)

    def exact(n):
        def distance(t):
            below = scores.mixture_cdf(outputs[:, n : n + 1], np.array([t]))[0]
            return (below - (t >= y[n])) ** 2

        return scipy.integrate.quad(distance, -40, 40, points=[y[n]], limit=200)[0]

    ours = scores.mixture_crps(outputs, y)
    np.testing.assert_allclose(ours, [exact(n) for n in range(4)], atol=1e-6)
    values = scores.regression_scores(outputs, y, 10.0)
    assert values["NLL"] == pytest.approx(theirs.mean() + np.log(10))
    assert values["CRPS"] == pytest.approx(10 * ours.mean())
    squares = (mixture.mean - torch.tensor(y)).square()
    assert values["RMSE"] == pytest.approx(10 * squares.mean().sqrt())


def test_the_coverage_is_that_of_central_intervals_of_95_percent(rng):
    """Of a mixture whose members agree: ±1.96 standard deviations."""
    rho = np.full(4000, np.log(np.expm1(2.0)))
    outputs = np.stack([np.stack([np.zeros(4000), rho], -1)] * 3)
    y = rng.normal(0, 2.0, 4000)
    inside = np.mean(np.abs(y) < scipy.stats.norm.ppf(0.975) * (2.0 + 1e-6))
    assert scores.regression_scores(outputs, y, 1.0)["coverage"] == inside


# --- Laplace --------------------------------------------------------------------------


@pytest.mark.filterwarnings(OWN_WARNING)
@pytest.mark.parametrize("last", [False, True])
def test_laplace_agrees_with_laplace_torch(last):
    """Compares the determinant of the precision, and the variance of the linearised outputs."""
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    generator = torch.Generator().manual_seed(0)
    model = with_torch.Plain(2, 5, 3, 1.0, generator=generator).double()
    x = torch.randn(40, 2, generator=generator, dtype=torch.float64)
    y = torch.randint(3, (40,), generator=generator)
    plain = nn.Sequential(model.hidden, nn.ReLU(), model.output)
    theirs = laplace_torch().Laplace(
        plain,
        "classification",
        subset_of_weights="last_layer" if last else "all",
        hessian_structure="full",
        prior_precision=2.0,
    )
    theirs.fit(DataLoader(TensorDataset(x, y), batch_size=40))
    derive = with_torch.last_jacobians if last else with_torch.jacobians
    fisher = with_torch.curvature(model(x).detach(), regression=False)
    hessian = with_torch.gauss_newton(derive(model, x), fisher)
    precision = hessian + 2.0 * torch.eye(len(hessian), dtype=torch.float64)
    ours_logdet = torch.logdet(precision)
    torch.testing.assert_close(ours_logdet, torch.logdet(theirs.posterior_precision))
    _, variance = theirs._glm_predictive_distribution(x)
    root = torch.linalg.cholesky(precision)
    draws = with_torch.linearised(
        model(x).detach(), derive(model, x), root, 20_000, generator
    )
    error = 6 * variance.diagonal(dim1=1, dim2=2) * (2 / 20_000) ** 0.5
    difference = draws.var(0) - variance.diagonal(dim1=1, dim2=2)
    assert torch.all(difference.abs() < error)


def test_the_fisher_information_of_a_regression_is_that_of_the_other_studies(rng):
    outputs = rng.normal(0, 2, (20, 2))
    root = fisher_roots(outputs, regression=True)
    ours = with_torch.curvature(torch.tensor(outputs), regression=True)
    np.testing.assert_allclose(ours, root @ root.swapaxes(1, 2), rtol=1e-4)


# --- committed results ----------------------------------------------------------------


def rows_of(folder, name="results.csv"):
    with (folder / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def complete(rows, seeds):
    """Check that every method has every score on every problem, with plausible values."""
    found = {(row["problem"], row["method"], int(row["seed"])): row for row in rows}
    wanted = {(p, m, s) for p in PROBLEMS for m in METHODS for s in range(seeds)}
    assert set(found) == wanted
    assert len(rows) == len(wanted)
    for (problem, method, _), row in found.items():
        metrics = NUMBERS if problem == "diabetes" else CLASSES
        for name in (*metrics, *COSTS):
            assert np.isfinite(float(row[name])), (problem, method, name)
        for name in ("accuracy", "ECE", "coverage", "AUROC"):
            assert row[name] == "" or 0 <= float(row[name]) <= 1
        disagrees = problem != "diabetes" and method not in ONE_VOICE
        assert (row["AUROC of disagreement"] != "") == disagrees
        if method == "MAP":
            assert float(row["train ratio"]) == 1


def test_the_committed_results_are_those_of_this_code():
    complete(rows_of(HERE), SEEDS)
    kept = json.loads((HERE / "settings.json").read_text(encoding="utf-8"))
    now = json.loads(json.dumps(settings(Budget())))
    other = dict.fromkeys(("computed", "cores", "python", "versions"))
    assert kept | other == now | other
    with np.load(HERE / "maps.npz") as maps:
        assert list(maps) == list(METHODS)
        for entropy in maps.values():
            assert entropy.min() >= 0
            assert entropy.max() <= np.log(2) + 1e-3
    assert sum(path.stat().st_size for path in HERE.glob("*.npz")) < 200_000


def test_a_setting_is_one_of_those_that_validation_chose_from():
    for row in rows_of(HERE):
        values = METHODS[row["method"]].values
        assert not values or float(row["setting"]) in values


def asides(folder, method):
    """Return the rows of a method outside the main comparison, by problem and seed."""
    rows = [r for r in rows_of(folder, "asides.csv") if r["method"] == method]
    return {(row["problem"], int(row["seed"])): row for row in rows}


def test_what_stands_aside_is_there_for_every_seed():
    found = {
        method: {problem for problem, _ in asides(HERE, method)}
        for method in (OWN_PRIOR, LONG, SQUARES, SINGLE, DISTANCE)
    }
    assert found[OWN_PRIOR] == found[SINGLE] == set(PROBLEMS)
    assert found[DISTANCE] == set(PROBLEMS) - {"diabetes"}
    assert (found[LONG], found[SQUARES]) == ({"digits"}, {"diabetes"})
    rows = rows_of(HERE, "asides.csv")
    assert len(rows) == SEEDS * sum(map(len, found.values()))
    assert all(float(r["NLL"]) > 0 for r in rows if r["method"] != DISTANCE)


def test_laplace_aside_has_the_prior_of_its_map():
    chosen = {
        (row["problem"], int(row["seed"])): row["setting"]
        for row in rows_of(HERE)
        if row["method"] == "MAP"
    }
    own = {at: row["setting"] for at, row in asides(HERE, OWN_PRIOR).items()}
    assert own == chosen


@pytest.mark.parametrize("name", ["moons", "digits"])
def test_the_distance_aside_is_that_of_scikit_learn(name):
    problem = PROBLEMS[name](1)
    nearest = NearestNeighbors(n_neighbors=1).fit(problem.x).kneighbors
    inside, outside = (nearest(x)[0][:, 0] for x in (problem.x_test, problem.out))
    label = np.r_[np.zeros(len(inside)), np.ones(len(outside))]
    area = roc_auc_score(label, np.r_[inside, outside])
    row = asides(HERE, DISTANCE)[name, 1]
    assert float(row["AUROC"]) == pytest.approx(area, abs=1e-5)


def test_least_squares_aside_is_that_of_numpy():
    problem = PROBLEMS["diabetes"](2)
    wide, wide_test = (np.c_[x, np.ones(len(x))] for x in (problem.x, problem.x_test))
    weights, squares, _, _ = np.linalg.lstsq(wide, problem.y)
    std = np.sqrt(squares[0] / (len(wide) - wide.shape[1]))
    normal = scipy.stats.norm(wide_test @ weights, std)
    nll = -normal.logpdf(problem.y_test).mean() + np.log(problem.unit)
    row = asides(HERE, SQUARES)["diabetes", 2]
    assert float(row["NLL"]) == pytest.approx(nll, rel=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("name", AGAIN if SOAK else [AGAIN[first_seed() % 2]])
def test_methods_trained_again_have_the_committed_scores(name, monkeypatch):
    """With the settings that were chosen; those that need no training are chosen again.

    A commit draws one of the problems, ``SOAK`` computes both.
    """
    seed, problem = 3, PROBLEMS[name](3)
    kept = {
        row["method"]: row
        for row in rows_of(HERE) + rows_of(HERE, "asides.csv")
        if (row["problem"], row["seed"]) == (name, str(seed))
    }
    for method, plan in METHODS.items():
        same = (method, SINGLE) if method == "deep ensemble" else (method,)
        if plan.steps:
            values = {float(kept[one]["setting"]) for one in same}
            monkeypatch.setitem(METHODS, method, plan._replace(values=tuple(values)))
    found = with_torch.train_all(problem, seed, Budget())
    found |= with_jax.train_all(problem, seed, Budget())
    assert found.keys() == kept.keys() - {DISTANCE}
    for method, fitted in found.items():
        row, outputs = kept[method], fitted.predict(problem.x_test)
        if problem.regression:
            new = scores.regression_scores(outputs, problem.y_test, problem.unit)
        else:
            parts = outputs, fitted.predict(problem.out)
            inside, outside = map(scores.class_log_probs, parts)
            new = scores.class_scores(inside, problem.y_test, outside)
        new |= {"stored": fitted.stored, "passes": fitted.passes}
        if fitted.setting is not None:
            new["setting"] = fitted.setting
        for score, number in new.items():
            near = 0.011 if score in ("accuracy", "ECE", "coverage") else 0.003
            approx = pytest.approx(float(row[score]), rel=0.003, abs=near)
            assert number == approx, (method, score)


@pytest.mark.long
def test_a_short_run_scores_every_method_on_every_problem(tmp_path):
    main(["--quick", "--out", str(tmp_path)])
    complete(rows_of(tmp_path), QUICK.seeds)
    assert set(asides(tmp_path, OWN_PRIOR)) == {(name, 0) for name in PROBLEMS}
    used = json.loads((tmp_path / "settings.json").read_text(encoding="utf-8"))
    assert used["seeds"] == 1
    with np.load(tmp_path / "maps.npz") as maps:
        assert list(maps) == list(METHODS)


def test_a_short_run_does_not_overwrite_what_is_committed(capsys):
    with pytest.raises(SystemExit):
        main(["--quick"])
    assert "not worth keeping" in capsys.readouterr().err
