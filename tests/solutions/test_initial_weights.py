"""The first weights of every network: their scale in each layer, and that all are independent."""

from itertools import pairwise

import jax
import numpy as np
import pytest
from generators import seeded

from solutions import (
    approximate_inference,
    bayes_by_backprop,
    calibration_and_flows,
    deep_ensembles,
    which_method,
)
from studies.which_method import with_torch

SIZES = (300, 200, 100)
INPUTS, HIDDEN, _ = SIZES
KEY = jax.random.key(3)


def he(layers, *scales):
    """List weights, biases and stds of layers whose weights are (…, in, out)."""
    rows = zip(layers, SIZES, scales, strict=False)
    return [(w, b, scale * (2 / n) ** 0.5) for (w, b), n, scale in rows]


def ensemble():
    layers = deep_ensembles.init_ensemble(KEY, SIZES, 2)
    members = [[(w[m], b[m]) for w, b in layers] for m in range(2)]
    return [row for member in members for row in he(member, 1, 0.1)]


def one_over_root(*layers):
    """List weights, biases and stds of PyTorch's layers, whose weights are (out, in)."""
    names = ("weight", "bias"), ("w_mu", "b_mu"), ("weight_mu", "bias_mu")
    found = []
    for layer in layers:
        (pair,) = (pair for pair in names if hasattr(layer, pair[0]))
        weight, bias = (getattr(layer, name).detach() for name in pair)
        found.append((weight, bias, weight.shape[1] ** -0.5))
    return found


def torch_network(make, *more, **options):
    model = make(*more, **options, generator=seeded(0))
    return one_over_root(model.hidden, model.output)


NETWORKS = {
    "deep ensembles": ensemble,
    "MIMO": lambda: he(which_method.init_network(KEY, SIZES), 1, 1),
    "Bayes by Backprop": lambda: one_over_root(
        *bayes_by_backprop.BayesianMLP(SIZES, prior_std=1.0, generator=seeded(0)).layers
    ),
    "variational": lambda: torch_network(with_torch.variational, *SIZES, prior_std=1.0),
    "dropout, one output": lambda: torch_network(
        approximate_inference.DropoutMLP, INPUTS, 20 * HIDDEN
    ),
    "dropout": lambda: torch_network(with_torch.Dropout, *SIZES, prior_std=1.0, p=0.1),
    "plain": lambda: torch_network(with_torch.Plain, *SIZES, prior_std=1.0),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_each_layer_has_its_scale_and_all_weights_are_independent(name):
    rows = NETWORKS[name]()
    flat = [np.asarray(weight).ravel() / std for weight, _, std in rows]
    for numbers, (_, bias, _) in zip(flat, rows, strict=True):
        assert abs(numbers.mean()) < 6 * len(numbers) ** -0.5
        assert abs(numbers.std() - 1) < 6 * (2 * len(numbers)) ** -0.5
        assert not np.asarray(bias).any()
    for one, other in pairwise(flat):
        few = min(len(one), len(other))
        assert abs(np.corrcoef(one[:few], other[:few])[0, 1]) < 6 * few**-0.5


def test_logistic_regression_starts_as_nn_linear_does():
    model = calibration_and_flows.LogisticRegression(400, 300, generator=seeded(0))
    bound = 400**-0.5
    for leaf in (model.weight.detach(), model.bias.detach()):
        assert leaf.abs().max() <= bound
        assert leaf.std() == pytest.approx(bound / 3**0.5, rel=0.1)
        assert abs(leaf.mean()) < 6 * bound / leaf.numel() ** 0.5


def test_a_planar_flow_starts_near_the_identity():
    flow = calibration_and_flows.Planar(5000, generator=seeded(0))
    for leaf in (flow.u.detach(), flow.w.detach()):
        assert leaf.std() == pytest.approx(0.01, rel=0.06)
    assert flow.b == 0
