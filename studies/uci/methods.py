"""The methods: the losses they minimise, and the networks that they predict with.

All train one hidden layer with ``train_ensemble``: the same batches, epochs and learning rates.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.tree_util import Partial

from solutions.deep_ensembles import (
    Params,
    gaussian_loss,
    gaussian_nll,
    heads,
    init_ensemble,
    mlp,
    quick_adversarial_loss,
    weight_decay,
)
from studies.laplace import gauss_newton, jacobians, posterior_draws

HIDDEN = 50
DRAWS = 100  # of weights or masks, for each prediction of a method that samples
INITIAL_RHO = -3.0  # of BbB's posteriors: standard deviations of softplus(-3) = 0.049
DROPOUT_PRIOR = 1.0  # standard deviation of the prior under MC dropout


class Recipe(NamedTuple):
    """How a method is trained and how it predicts.

    ``loss(setting, n, reach)`` returns the loss for n data points, where ``reach`` is the size
    of the adversarial step, one number per input. ``start`` makes the parameters of M networks.
    ``outputs(params, x, key, setting)`` computes the outputs (µ, ρ) of one network, (S, N, 2).
    """

    settings: tuple[float | None, ...]
    members: int
    loss: Callable[[float | None, int, Array], Callable]
    outputs: Callable[..., Array]
    output_scale: float = 0.1
    longer: int = 1  # factor on the epochs
    fixed: float | None = None  # a constant rate, and Torch's default initialisation
    stochastic: bool = False
    variational: bool = False

    def start(self, key: Array, inputs: int, members: int):
        """Make the initial parameters of M networks."""
        params = init_ensemble(key, [inputs, HIDDEN, 2], members, self.output_scale)
        if self.fixed is not None:
            return torch_default(key, params)
        if not self.variational:
            return params
        rho = jax.tree.map(lambda leaf: jnp.full_like(leaf, INITIAL_RHO), params)
        return {"mean": params, "rho": rho}


def torch_default(key: Array, params: Params) -> Params:
    """Draw weights and biases uniformly between ±1/√n, where n is the number of inputs."""
    drawn = []
    for index, layer in enumerate(params):
        keys = jax.random.split(jax.random.fold_in(key, index))
        bound = layer[0].shape[1] ** -0.5
        drawn.append(
            tuple(
                jax.random.uniform(own, leaf.shape, minval=-bound, maxval=bound)
                for own, leaf in zip(keys, layer, strict=True)
            )
        )
    return drawn


# --- Losses ---------------------------------------------------------------------------


def map_loss(strength: Array, params: Params, x: Array, y: Array) -> Array:
    """Compute the mean NLL with weight decay ½λ‖θ‖²."""
    return gaussian_loss(params, x, y) + weight_decay(params, strength)


def with_dropout(params: Params, x: Array, dropped: Array, key: Array) -> Array:
    """Compute the outputs with a mask on the hidden units for each row, (N, 2)."""
    (weight, bias), last = params
    hidden = jax.nn.relu(x @ weight + bias)
    keep = jax.random.uniform(key, hidden.shape) >= dropped
    return mlp([last], hidden * keep / (1 - dropped))


def dropout_loss(dropped, strength, params: Params, x, y, key) -> Array:
    """Compute the mean NLL under one draw of masks, with weight decay."""
    mean, std = heads(with_dropout(params, x, dropped, key))
    return jnp.mean(gaussian_nll(mean, std, y)) + weight_decay(params, strength)


def kl(params: dict, prior_std: Array) -> Array:
    """Compute KL(q ‖ p) of a factorised Gaussian to N(0, prior_std²), summed over weights."""
    total = 0.0
    for mean, rho in zip(*map(jax.tree.leaves, params.values()), strict=True):
        std = jax.nn.softplus(rho) / prior_std
        terms = std**2 + (mean / prior_std) ** 2 - 1 - 2 * jnp.log(std)
        total += 0.5 * jnp.sum(terms)
    return total


def local_outputs(params: dict, x: Array, key: Array) -> Array:
    """Compute the outputs under one draw of the activations, (N, O)."""
    hidden = x
    layers = list(zip(params["mean"], params["rho"], strict=True))
    for index, ((weight, bias), rhos) in enumerate(layers):
        weight_std, bias_std = map(jax.nn.softplus, rhos)
        mean = hidden @ weight + bias
        variance = hidden**2 @ weight_std**2 + bias_std**2
        noise = jax.random.normal(jax.random.fold_in(key, index), mean.shape)
        hidden = mean + jnp.sqrt(variance) * noise
        if index < len(layers) - 1:
            hidden = jax.nn.relu(hidden)
    return hidden


def variational_loss(prior_std, n, params: dict, x, y, key) -> Array:
    """Compute the negative ELBO divided by N, with local reparametrisation."""
    mean, std = heads(local_outputs(params, x, key))
    return jnp.mean(gaussian_nll(mean, std, y)) + kl(params, prior_std) / n


# --- Predictions ----------------------------------------------------------------------


def one_pass(params: Params, x: Array, key: Array, setting: float | None) -> Array:
    """Compute the outputs of one network, (1, N, 2)."""
    return mlp(params, x)[None]


def dropout_draws(
    params: Params, x: Array, key: Array, dropped: Array, draws: int = DRAWS
) -> Array:
    """Compute outputs under S draws of masks, (S, N, O)."""
    keys = jax.random.split(key, draws)
    return jax.lax.map(lambda own: with_dropout(params, x, dropped, own), keys)


def weight_draws(
    params: dict, x: Array, key: Array, setting: Array, draws: int = DRAWS
) -> Array:
    """Compute outputs under S draws of the weights, (S, N, O)."""
    means, tree = jax.tree.flatten(params["mean"])
    stds = [jax.nn.softplus(rho) for rho in jax.tree.leaves(params["rho"])]

    def draw(own: Array) -> Array:
        noise = [
            jax.random.normal(jax.random.fold_in(own, number), mean.shape)
            for number, mean in enumerate(means)
        ]
        drawn = [m + s * e for m, s, e in zip(means, stds, noise, strict=True)]
        return mlp(jax.tree.unflatten(tree, drawn), x)

    return jax.lax.map(draw, jax.random.split(key, draws))


@partial(jax.jit, static_argnames="outputs")
def predict(outputs: Callable, params, x: Array, key: Array, setting) -> Array:
    """Compute the outputs of M networks with S draws each, (M·S, N, O)."""
    members = len(jax.tree.leaves(params)[0])
    drawn = jax.vmap(outputs, (0, None, 0, None))(
        params, x, jax.random.split(key, members), setting
    )
    return drawn.reshape(-1, *drawn.shape[2:])


def laplace_draws(
    params: Params, x: Array, x_new: Array, prior_std: float, seed: int
) -> np.ndarray:
    """Draw outputs of the linearised network under a Laplace approximation, (S, N, 2).

    In double precision, from float32 Jacobians.
    """
    curvature = gauss_newton(params, x, regression=True)
    deviations = posterior_draws(curvature, prior_std, DRAWS, seed)
    change = np.asarray(jacobians(params, x_new), float) @ deviations.T
    return np.asarray(mlp(params, x_new), float) + np.moveaxis(change, 2, 0)


LONGER = "ensemble, 400 epochs"
TOO_LARGE = ("power-plant",)  # sets that ``LONGER`` leaves out
PRIORS = (0.1, 0.3, 1.0)  # standard deviations
METHODS = {
    "ensemble": Recipe((None,), 10, lambda s, n, reach: gaussian_loss, one_pass),
    "adversarial ensemble": Recipe(
        (None,),
        10,
        lambda s, n, reach: quick_adversarial_loss(gaussian_loss, reach),
        one_pass,
    ),
    # The last layer starts with He's scale: some spreads start near 0.
    "ensemble, He output": Recipe(
        (None,), 5, lambda s, n, reach: gaussian_loss, one_pass, output_scale=1.0
    ),
    # Batches of 100, Adam at a constant 0.1, Torch's default weights: section 3.1 of the paper.
    "ensemble, as printed": Recipe(
        (None,), 5, lambda s, n, reach: gaussian_loss, one_pass, fixed=0.1
    ),
    LONGER: Recipe((None,), 5, lambda s, n, reach: gaussian_loss, one_pass, longer=10),
    "MAP": Recipe(
        PRIORS, 1, lambda s, n, reach: Partial(map_loss, 1 / (n * s**2)), one_pass
    ),
    "MC dropout": Recipe(
        (0.01, 0.05, 0.2),
        1,
        lambda s, n, reach: Partial(dropout_loss, s, 1 / (n * DROPOUT_PRIOR**2)),
        dropout_draws,
        stochastic=True,
    ),
    "Bayes by Backprop": Recipe(
        PRIORS,
        1,
        lambda s, n, reach: Partial(variational_loss, s, n),
        weight_draws,
        stochastic=True,
        variational=True,
    ),
}
COUNTS = (1, 5, 10)  # of members that are scored
