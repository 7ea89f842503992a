"""Laplace for networks against laplace-torch, and what the third lab takes from the second."""

import ast
import math
import re
from pathlib import Path

import pytest
import torch
from generators import seeded
from peers import OWN_WARNING, laplace_torch
from torch import nn

from course import data
from solutions import approximate_inference as ref

BOOK = Path(__file__).parents[2] / "book"
PRIOR_VARIANCE = 2.0


class Network(nn.Module):
    """A network with one hidden layer in the form that laplace-torch needs: logits 0 and f."""

    def __init__(self, hidden=5):
        super().__init__()
        self.first, self.last = nn.Linear(2, hidden), Last(hidden, 1)

    def features(self, x):
        return torch.tanh(self.first(x))

    def forward(self, x):
        return self.last(self.features(x))


class Last(nn.Linear):
    """A last layer of one logit, given as two."""

    def forward(self, features):
        logit = super().forward(features)
        return torch.cat([torch.zeros_like(logit), logit], dim=1)


def weights_of(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach()


def logits_at(model, x):
    """The logits of a model at some inputs, as a function of all its weights."""
    names = {name: p.shape for name, p in model.named_parameters()}

    def network(w):
        parts = torch.split(w, [shape.numel() for shape in names.values()])
        values = {
            name: part.reshape(shape)
            for (name, shape), part in zip(names.items(), parts, strict=True)
        }
        return torch.func.functional_call(model, values, (x,))[:, 1]

    return network


def with_ones(features):
    return torch.cat([features, torch.ones_like(features[:, :1])], dim=1)


@pytest.fixture(scope="module")
def trained():
    """Return a trained network in double precision, with its inputs and labels."""
    moons = data.moons(n=120, seed=0)
    x, y = (torch.tensor(part, dtype=torch.float64) for part in moons)
    model = Network().double()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, dtype=p.dtype, generator=seeded(p.numel())))
    optimiser = torch.optim.LBFGS(
        model.parameters(), max_iter=300, line_search_fn="strong_wolfe"
    )

    def closure():
        optimiser.zero_grad()
        loss = nll_of(model, x, y)
        for p in model.parameters():
            loss = loss + (p**2).sum() / (2 * PRIOR_VARIANCE)
        loss.backward()
        return loss

    optimiser.step(closure)
    return model, x, y


def nll_of(model, x, y):
    return nn.functional.binary_cross_entropy_with_logits(
        model(x)[:, 1], y, reduction="sum"
    )


def theirs(model, x, y, **options):
    """Fit laplace-torch."""
    peer = laplace_torch()
    fitted = peer.Laplace(
        model,
        "classification",
        prior_precision=torch.tensor(1 / PRIOR_VARIANCE, dtype=torch.float64),
        backend=peer.curvature.CurvlinopsGGN,
        hessian_structure="full",
        **options,
    )
    dataset = torch.utils.data.TensorDataset(x, y.long())
    torch.set_default_dtype(torch.float64)  # its backend multiplies with torch.eye
    try:
        fitted.fit(torch.utils.data.DataLoader(dataset, batch_size=len(x)))
    finally:
        torch.set_default_dtype(torch.float32)
    return fitted


def new_inputs():
    return 3 * torch.randn(7, 2, dtype=torch.float64, generator=seeded(5))


@pytest.mark.filterwarnings(OWN_WARNING)
def test_the_linearised_network_agrees_with_laplace_torch(trained):
    model, x, y = trained
    fitted = theirs(model, x, y, subset_of_weights="all")
    w = weights_of(model)
    curvature = ref.ggn(logits_at(model, x), w)
    precision = curvature + torch.eye(len(w), dtype=w.dtype) / PRIOR_VARIANCE
    covariance = torch.linalg.inv(precision)
    torch.testing.assert_close(
        covariance, fitted.posterior_covariance.detach(), rtol=1e-6, atol=1e-9
    )
    evidence = ref.network_log_evidence(
        nll_of(model, x, y).detach(), w, curvature, PRIOR_VARIANCE
    )
    assert float(fitted.log_marginal_likelihood()) == pytest.approx(
        float(evidence), abs=1e-6
    )
    new = new_inputs()
    mean, variance = ref.linearised_predictive(logits_at(model, new), w, covariance)
    their_mean, their_variance = fitted._glm_predictive_distribution(new)
    torch.testing.assert_close(mean, their_mean[:, 1].detach(), rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(
        variance, their_variance[:, 1, 1].detach(), rtol=1e-6, atol=1e-9
    )


@pytest.mark.filterwarnings(OWN_WARNING)
def test_the_last_layer_agrees_with_laplace_torch(trained):
    model, x, y = trained
    fitted = theirs(model, x, y, subset_of_weights="last_layer", last_layer_name="last")
    w = weights_of(model.last)
    new = new_inputs()
    with torch.no_grad():
        old_features, new_features = (
            with_ones(model.features(part)) for part in (x, new)
        )
    mean, variance = ref.last_layer_laplace(
        old_features, w, PRIOR_VARIANCE, new_features
    )
    covariance = fitted.posterior_covariance.detach()
    their_variance = ((new_features @ covariance) * new_features).sum(1)
    torch.testing.assert_close(variance, their_variance, rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(mean, model(new)[:, 1].detach(), rtol=1e-9, atol=1e-12)
    curvature = ref.logistic_hessian(w, old_features, math.inf)
    evidence = ref.network_log_evidence(
        nll_of(model, x, y).detach(), w, curvature, PRIOR_VARIANCE
    )
    assert float(fitted.log_marginal_likelihood()) == pytest.approx(
        float(evidence), abs=1e-6
    )


def test_the_ggn_is_the_hessian_of_the_linearised_network(trained):
    model, x, y = trained
    w, network = weights_of(model), logits_at(model, x)
    jacobian, at_mode = torch.func.jacrev(network)(w), network(w).detach()

    def nll(v):
        logits = at_mode + jacobian.detach() @ (v - w)
        return nn.functional.binary_cross_entropy_with_logits(
            logits, y, reduction="sum"
        )

    hessian = torch.autograd.functional.hessian(nll, w)
    torch.testing.assert_close(ref.ggn(network, w), hessian, rtol=1e-9, atol=1e-12)
    assert float(torch.linalg.eigvalsh(hessian)[0]) > -1e-10


def test_in_logistic_regression_there_is_nothing_to_linearise():
    x = ref.with_bias(torch.tensor(data.blobs(seed=0).x, dtype=torch.float64))
    w = torch.tensor([0.5, -1.0, 0.3], dtype=torch.float64)
    curvature = ref.ggn(lambda v: x @ v, w)
    precision = curvature + torch.eye(3, dtype=w.dtype) / 4
    torch.testing.assert_close(
        precision, ref.logistic_hessian(w, x, 4.0), rtol=1e-12, atol=0
    )
    linear = ref.linearised_predictive(lambda v: x @ v, w, precision.inverse())
    last = ref.last_layer_laplace(x, w, 4.0, x)
    for one, other in zip(linear, last, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def test_the_hurried_evidence_lacks_what_depends_on_the_prior(trained):
    model, x, y = trained
    w, nll = weights_of(model), nll_of(model, x, y).detach()
    curvature = ref.ggn(logits_at(model, x), w)
    for variance in (0.1, 2.0, 50.0):
        missing = len(w) / 2 * math.log(2 * math.pi * variance)
        hurried = ref.hurried_network_log_evidence(nll, w, curvature, variance)
        fixed = ref.network_log_evidence(nll, w, curvature, variance)
        assert float(hurried - fixed) == pytest.approx(missing, rel=1e-9)


# --- many modes -----------------------------------------------------------------------


def linear_problem():
    x = torch.randn(12, 3, dtype=torch.float64, generator=seeded(0))
    y = x @ torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    y = y + 0.7 * torch.randn(12, dtype=y.dtype, generator=seeded(1))
    covariance = torch.linalg.inv(x.T @ x / 0.7**2 + torch.eye(3, dtype=x.dtype) / 4)
    return x, y, covariance @ x.T @ y / 0.7**2, covariance


def test_randomised_map_converges_to_the_conjugate_posterior():
    x, y, mean, covariance = linear_problem()
    draws = 200_000
    members = ref.randomised_map(x, y, 0.7, 2.0, draws, generator=seeded(2))
    error = covariance.diag().sqrt() / math.sqrt(draws)
    assert bool(((members.mean(0) - mean).abs() < 6 * error).all())
    variances = covariance.diag()
    error = ((variances[:, None] * variances + covariance**2) / draws).sqrt()
    assert bool(((torch.cov(members.T) - covariance).abs() < 6 * error).all())


def test_a_member_is_the_minimum_of_its_objective():
    x, y, _, _ = linear_problem()
    (w,) = ref.randomised_map(x, y, 0.7, 2.0, 1, generator=seeded(3))
    again = seeded(3)
    anchor = 2.0 * torch.randn(3, 1, dtype=x.dtype, generator=again)[:, 0]
    noise = 0.7 * torch.randn(12, 1, dtype=x.dtype, generator=again)[:, 0]
    leaf = w.clone().requires_grad_()
    objective = ((y + noise - x @ leaf) ** 2).sum() / (2 * 0.7**2)
    objective = objective + ((leaf - anchor) ** 2).sum() / (2 * 2.0**2)
    (gradient,) = torch.autograd.grad(objective, leaf)
    assert float(gradient.norm()) < 1e-9


def test_swag_draws_have_the_covariance_of_the_paper():
    weights = torch.randn(30, 4, dtype=torch.float64, generator=seeded(4)).cumsum(0)
    mean, variance, deviations = ref.swag_moments(weights, 10)
    draws = ref.swag_sample(mean, variance, deviations, 200_000, generator=seeded(5))
    covariance = variance.diag() / 2 + deviations.T @ deviations / (2 * 9)
    scale = covariance.diag().sqrt()
    error = 6 * scale[:, None] * scale * math.sqrt(2 / len(draws))
    assert bool(((torch.cov(draws.T) - covariance).abs() < error).all())
    assert bool(((draws.mean(0) - mean).abs() < 6 * scale / len(draws) ** 0.5).all())


def test_the_step_size_is_that_of_a_scheduler_with_restarts():
    parameter = nn.Parameter(torch.zeros(()))
    optimiser = torch.optim.SGD([parameter], lr=0.4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimiser, T_0=4)
    for step in range(11):
        ours = ref.cyclical_step_size(step, 11, 3, 0.4)
        assert ours == pytest.approx(optimiser.param_groups[0]["lr"], abs=1e-12)
        optimiser.step()
        schedule.step()


# --- what two labs share --------------------------------------------------------------

SHARED = [
    "tensors",
    "moons_of",
    "ring",
    "network_logits",
    "modes",
    "train",
    "nll_of_each",
    "paired",
    "as_sampler",
    "variational",
    "sampled_forecast",
    "dropout_network",
]
CELL = re.compile(
    r"```\{code-cell\} ipython3\n(?:---\n.*?---\n|(?::[^\n]*\n)*)(.*?)```", re.S
)


def definitions(lab):
    """Return the functions that a page's cells define, and the calls of ``hmc``."""
    page = (BOOK / f"{lab}-approximate-inference.md").read_text("utf-8")
    nodes = [node for cell in CELL.findall(page) for node in ast.walk(ast.parse(cell))]
    functions = {
        node.name: ast.dump(node) for node in nodes if isinstance(node, ast.FunctionDef)
    }
    options = {
        name: ast.literal_eval(node.value)
        for node in nodes
        if isinstance(node, ast.Assign)
        for name in [getattr(node.targets[0], "id", None)]
        if name in ("SAMPLER", "RUNS")
    }
    calls = [
        sorted(f"{k.arg}={ast.unparse(k.value)}" for k in node.keywords if k.arg)
        for node in nodes
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "hmc"
    ]
    return functions, options, calls


def test_the_third_lab_computes_as_the_second_does():
    """Both compare with the same HMC draws and the same trained networks."""
    (second, options, calls), (third, same, calls_of_third) = map(
        definitions, ("02b", "02c")
    )
    assert {name: third[name] == second[name] for name in SHARED} == dict.fromkeys(
        SHARED, True
    )
    assert same == options
    assert len(calls_of_third) == 2
    assert all(call in calls for call in calls_of_third)
