"""The methods: each is trained with every value of its setting, and the best is kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import torch
from jax import Array
from jax.flatten_util import ravel_pytree
from jax.tree_util import Partial

from solutions.approximate_inference import swag_moments, swag_sample
from solutions.calibration_and_flows import fit_temperature
from solutions.deep_ensembles import (
    Params,
    categorical_nll,
    gaussian_nll,
    heads,
    init_ensemble,
    mlp,
    train_ensemble,
    weight_decay,
)
from solutions.which_method import init_network, mimo_loss, train_mimo
from studies.laplace import gauss_newton, linearised, posterior_draws
from studies.uci.methods import (
    INITIAL_RHO,
    dropout_draws,
    kl,
    local_outputs,
    one_pass,
    predict,
    weight_draws,
    with_dropout,
)
from studies.which_method import scores
from studies.which_method.methods import PRIORS, SUBNETWORKS
from studies.which_method.problems import Problem
from studies.which_method.with_jax import gaussian_mimo_loss, tiled

HIDDEN = 32
MEMBERS = 5  # of an ensemble
DRAWS = 30  # for each prediction of a method that samples
BATCH = 32
OUTPUT_SCALE = 0.1  # of the last layer's initial weights, as a share of He's
STEPS, RATE = 1000, 0.01
LONG_STEPS = 2000  # of Bayes by Backprop, which has noisy gradients, and of MIMO
VARIATIONAL_RATE = 0.03
DROPPED = (0.03, 0.1, 0.3)  # shares of hidden units
REPETITIONS = (0.0, 0.5)  # shares of MIMO's rows that hold one data point several times
SWAG_RATES = (0.003, 0.01, 0.03, 0.1)
SWAG_EPOCHS, SWAG_RANK = 40, 20

SINGLE, ENSEMBLE = "single network", "deep ensemble"
SETTINGS = {
    SINGLE: PRIORS,
    "temperature": (),
    "last-layer Laplace": PRIORS,
    "Laplace": PRIORS,
    "SWAG": SWAG_RATES,
    "MC dropout": DROPPED,
    "Bayes by Backprop": PRIORS,
    "MIMO": REPETITIONS,
    "anchored ensemble": PRIORS,
    ENSEMBLE: PRIORS,
}
METHODS = tuple(SETTINGS)

Forecast = Callable[[np.ndarray], np.ndarray]  # inputs (N, D) → outputs (S, N, O)


class FittedMethod(NamedTuple):
    """A trained method, the chosen value of its setting, and its seconds of training.

    The seconds include those of all values that were tried, and of the method it builds on.
    """

    forecast: Forecast
    setting: float
    seconds: float


# One object each, so that predictions are compiled once.
drawn_masks = partial(dropout_draws, draws=DRAWS)
drawn_weights = partial(weight_draws, draws=DRAWS)


# --- Losses: means over a batch, of classes (one-hot targets) or of a regression ------


def mean_nll(outputs: Array, y: Array) -> Array:
    """Compute the mean NLL: categorical for targets (N, K), Gaussian for targets (N,)."""
    if y.ndim == 2:
        return jnp.mean(categorical_nll(outputs, y))
    return jnp.mean(gaussian_nll(*heads(outputs), y))


def map_loss(strength, params: Params, x: Array, y: Array) -> Array:
    """Compute the mean NLL with weight decay ½λ‖θ‖²."""
    return mean_nll(mlp(params, x), y) + weight_decay(params, strength)


def anchored_loss(strength, params: dict, x: Array, y: Array) -> Array:
    """Compute the mean NLL with weight decay ½λ‖θ − θ₀‖² towards a member's own anchor θ₀.

    Source: Pearce et al. (2020), equation 9.
    """
    anchors = jax.lax.stop_gradient(params["anchors"])
    apart = jax.tree.map(jnp.subtract, params["weights"], anchors)
    return mean_nll(mlp(params["weights"], x), y) + weight_decay(apart, strength)


def dropout_loss(dropped, strength, params: Params, x, y, key) -> Array:
    """Compute the mean NLL under one draw of masks, with weight decay."""
    outputs = with_dropout(params, x, dropped, key)
    return mean_nll(outputs, y) + weight_decay(params, strength)


def variational_loss(prior_std, n, params: dict, x, y, key) -> Array:
    """Compute the negative ELBO divided by N, with local reparametrisation."""
    return mean_nll(local_outputs(params, x, key), y) + kl(params, prior_std) / n


def constant(rate: Array, step: Array) -> Array:
    """Return the rate, whatever the step."""
    return rate


# --- Training -------------------------------------------------------------------------


class MethodTrainer:
    """Trains all methods on one split with one seed."""

    def __init__(self, problem: Problem, seed: int):
        self.problem, self.seed = problem, seed
        self.key = jax.random.key(seed)
        self.x = jnp.asarray(problem.x, jnp.float32)
        self.y = jnp.asarray(problem.y, jnp.float32)
        if not problem.regression:
            self.y = jax.nn.one_hot(problem.y, problem.outputs)
        self.sizes = (self.x.shape[1], HIDDEN, problem.outputs)

    def decay(self, prior_std: float) -> float:
        """Return the weight decay that corresponds to a prior's standard deviation."""
        return 1 / (len(self.x) * prior_std**2)

    def start(self, members: int = 1) -> Params:
        """Make the initial weights of M networks; those of the first are always the same."""
        keys = [jax.random.fold_in(self.key, number) for number in range(members)]
        each = [init_ensemble(key, self.sizes, 1, OUTPUT_SCALE) for key in keys]
        return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *each)

    def train(self, loss: Callable, params, rate=RATE, steps: int = STEPS, **options):
        """Train M networks; return the fit of ``train_ensemble``."""
        key = jax.random.fold_in(self.key, 100)
        common = {"key": key, "steps": steps, "rate": rate, "batch_size": BATCH}
        return train_ensemble(loss, params, self.x, self.y, **common, **options)

    def forecast(self, outputs: Callable, params, setting: float) -> Forecast:
        """Return the forecast of M networks, each with the S outputs of ``outputs``."""
        key = jax.random.fold_in(self.key, 101)

        def predicted(x: np.ndarray) -> np.ndarray:
            rows = jnp.asarray(x, jnp.float32)
            return np.asarray(predict(outputs, params, rows, key, setting))

        return predicted

    def nll(self, forecast: Forecast) -> float:
        """Compute the NLL on the validation data, with which settings are chosen."""
        problem = self.problem
        value = scores.nll(
            forecast(problem.x_val), problem.y_val, regression=problem.regression
        )
        return value if np.isfinite(value) else np.inf

    def best(
        self, name: str, make: Callable[[float], Forecast], base: float = 0
    ) -> FittedMethod:
        """Train with every value of a method's setting; keep that with the smallest NLL."""
        start = time.process_time()
        found = [(make(setting), setting) for setting in SETTINGS[name]]
        forecast, setting = min(found, key=lambda pair: self.nll(pair[0]))
        return FittedMethod(forecast, setting, base + time.process_time() - start)

    # --- one method each

    def ensembles(self) -> tuple[FittedMethod, FittedMethod, Params]:
        """Train ensembles; return one network, the ensemble, and the network's weights.

        The network is the ensemble's first member, with a prior chosen for itself.
        """
        params = {}

        def of(prior_std: float, members: int) -> Forecast:
            if (prior_std, members) not in params:
                loss = Partial(map_loss, self.decay(prior_std))
                start = self.start(members)
                params[prior_std, members] = self.train(loss, start).params
            return self.forecast(one_pass, params[prior_std, members], prior_std)

        single = self.best(SINGLE, lambda s: of(s, 1))
        ensemble = self.best(ENSEMBLE, lambda s: of(s, MEMBERS))
        return single, ensemble, params[single.setting, 1]

    def temperature(self, base: FittedMethod) -> FittedMethod:
        """Divide logits by T, or multiply spreads by a factor, fitted to the validation data.

        If the network classifies all of these correctly, the NLL has no minimum, and T = 1.
        """
        start, problem = time.process_time(), self.problem
        outputs = np.asarray(base.forecast(problem.x_val)[0], float)
        if problem.regression:
            mean, std = scores.heads(outputs)
            factor = float(np.sqrt(np.mean(((problem.y_val - mean) / std) ** 2)))
        else:
            factor, labels = 1.0, problem.y_val
            if (outputs.argmax(1) != labels).any():
                pair = torch.tensor(outputs), torch.tensor(labels)
                factor = float(fit_temperature(*pair))

        def scaled(x: np.ndarray) -> np.ndarray:
            outputs = np.asarray(base.forecast(x), float)
            if not problem.regression:
                return outputs / factor
            wide = factor * scores.heads(outputs)[1]
            rho = wide + np.log(-np.expm1(-wide))  # the inverse of softplus
            return np.stack([outputs[..., 0], rho], -1)

        return FittedMethod(scaled, factor, base.seconds + time.process_time() - start)

    def laplace(self, name: str, base: FittedMethod, params: Params) -> FittedMethod:
        """Return a Laplace approximation, of all weights or of the last layer's."""
        start = time.process_time()
        own = jax.tree.map(lambda leaf: leaf[0], params)
        below, last = own[:-1], own[-1:]

        def inputs(x: np.ndarray) -> Array:
            rows = jnp.asarray(x, jnp.float32)
            if weights is last:
                for weight, bias in below:
                    rows = jax.nn.relu(rows @ weight + bias)
            return rows

        weights = own if name == "Laplace" else last
        regression = self.problem.regression
        curvature = gauss_newton(weights, inputs(self.x), regression=regression)

        def make(prior_std: float) -> Forecast:
            drawn = posterior_draws(curvature, prior_std, DRAWS, self.seed)
            deviations = jnp.asarray(drawn, jnp.float32)
            return lambda x: np.asarray(linearised(weights, deviations, inputs(x)))

        return self.best(name, make, base.seconds + time.process_time() - start)

    def swag(self, base: FittedMethod, params: Params) -> FittedMethod:
        """Go on from the network with Adam at a constant rate; draw from SWAG's Gaussian."""
        loss = Partial(map_loss, self.decay(base.setting))
        epoch = -(-len(self.x) // BATCH)
        _, unflatten = ravel_pytree(jax.tree.map(lambda leaf: leaf[0], params))

        def make(rate: float) -> Forecast:
            path = self.train(
                loss,
                params,
                Partial(constant, rate),
                SWAG_EPOCHS * epoch,
                every=epoch,
            ).history
            flat = jax.vmap(jax.vmap(lambda tree: ravel_pytree(tree)[0]))(path)[0]
            moments = swag_moments(torch.tensor(np.array(flat)), SWAG_RANK)
            generator = torch.Generator().manual_seed(self.seed)
            drawn = swag_sample(*moments, DRAWS, generator=generator)
            networks = jax.vmap(unflatten)(jnp.asarray(drawn.numpy()))
            return self.forecast(one_pass, networks, rate)

        return self.best("SWAG", make, base.seconds)

    def dropout(self, base: FittedMethod) -> FittedMethod:
        """Train with dropped hidden units, and drop them in forecasts as well."""
        strength = self.decay(base.setting)

        def make(dropped: float) -> Forecast:
            loss = Partial(dropout_loss, dropped, strength)
            params = self.train(loss, self.start(), stochastic=True).params
            return self.forecast(drawn_masks, params, dropped)

        return self.best("MC dropout", make, base.seconds)

    def backprop(self) -> FittedMethod:
        """Train an independent Gaussian for each weight."""
        start = self.start()
        rho = jax.tree.map(lambda leaf: jnp.full_like(leaf, INITIAL_RHO), start)
        start = {"mean": start, "rho": rho}

        def make(prior_std: float) -> Forecast:
            loss = Partial(variational_loss, prior_std, len(self.x))
            plan = VARIATIONAL_RATE, LONG_STEPS
            params = self.train(loss, start, *plan, stochastic=True).params
            return self.forecast(drawn_weights, params, prior_std)

        return self.best("Bayes by Backprop", make)

    def anchored(self) -> FittedMethod:
        """Train an ensemble whose members decay towards anchors drawn from the prior."""
        weights = self.start(MEMBERS)
        flat, unflatten = ravel_pytree(weights)
        drawn = jax.random.normal(jax.random.fold_in(self.key, 102), flat.shape)

        def make(prior_std: float) -> Forecast:
            start = {"weights": weights, "anchors": unflatten(prior_std * drawn)}
            loss = Partial(anchored_loss, self.decay(prior_std))
            params = self.train(loss, start).params["weights"]
            return self.forecast(one_pass, params, prior_std)

        return self.best("anchored ensemble", make)

    def mimo(self, base: FittedMethod) -> FittedMethod:
        """Train one network with several inputs and heads, all data in every step."""
        columns, hidden, outputs = self.sizes
        sizes = (SUBNETWORKS * columns, hidden, SUBNETWORKS * outputs)
        *below, (weight, bias) = init_network(self.key, sizes)
        start = [*below, (OUTPUT_SCALE * weight, bias)]

        def make(repetition: float) -> Forecast:
            params, _ = train_mimo(
                gaussian_mimo_loss if self.problem.regression else mimo_loss,
                start,
                self.x,
                self.y,
                members=SUBNETWORKS,
                repetition=repetition,
                weight_decay=self.decay(base.setting),
                key=jax.random.fold_in(self.key, 103),
                steps=LONG_STEPS,
                rate=RATE,
            )
            return lambda x: np.asarray(tiled(params, jnp.asarray(x, jnp.float32)))

        return self.best("MIMO", make, base.seconds)

    @cached_property
    def plain(self) -> tuple[FittedMethod, FittedMethod, Params]:
        """The single network, the deep ensemble, and the network's weights."""
        return self.ensembles()

    def fit(self, name: str) -> FittedMethod:
        """Train a method, and first the one that it builds on.

        Raises:
            KeyError: there is no such method.
        """
        single, ensemble, params = self.plain
        return {
            SINGLE: lambda: single,
            "temperature": lambda: self.temperature(single),
            "last-layer Laplace": lambda: self.laplace(name, single, params),
            "Laplace": lambda: self.laplace(name, single, params),
            "SWAG": lambda: self.swag(single, params),
            "MC dropout": lambda: self.dropout(single),
            "Bayes by Backprop": self.backprop,
            "MIMO": lambda: self.mimo(single),
            "anchored ensemble": self.anchored,
            ENSEMBLE: lambda: ensemble,
        }[name]()
