"""The JAX methods: deep ensembles and MIMO, and a single network as reference for costs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from solutions.deep_ensembles import (
    categorical_loss,
    gaussian_loss,
    gaussian_nll,
    heads,
    init_ensemble,
    init_mlp,
    mlp,
    train_ensemble,
    weight_decay,
)
from solutions.which_method import mimo_loss, mimo_network, train_mimo
from studies.which_method.methods import MEMBERS, METHODS, SINGLE, SUBNETWORKS
from studies.which_method.problems import Problem
from studies.which_method.record import (
    QUICK,
    Budget,
    Fitted,
    Record,
    chosen,
    each_problem,
    timed,
)


@cache  # one function, compiled once for all seeds
def penalised(*, regression: bool, strength: float) -> Callable:
    """Return a mean loss with weight decay ½λ‖θ‖², that is, with prior variance 1/(Nλ)."""
    likelihood = gaussian_loss if regression else categorical_loss
    return lambda params, x, y: (
        likelihood(params, x, y) + weight_decay(params, strength)
    )


def gaussian_mimo_loss(outputs, targets):
    """Compute the Gaussian NLL, summed over heads and averaged over rows, as ``mimo_loss``."""
    mean, std = heads(outputs.reshape(-1, 2))
    return outputs.shape[1] * jnp.mean(gaussian_nll(mean, std, targets.reshape(-1)))


def count(params) -> int:
    """Count the parameters."""
    return sum(leaf.size for leaf in jax.tree.leaves(params))


class JaxWorker:
    """Fits the methods to one problem with one seed."""

    def __init__(self, problem: Problem, seed: int, budget: Budget):
        self.problem, self.seed, self.budget = problem, seed, budget
        self.x = jnp.asarray(problem.x, jnp.float32)
        self.y = jnp.asarray(problem.y, jnp.float32)
        if not problem.regression:
            self.y = jnp.eye(problem.outputs)[problem.y]

    def decay(self, prior_std: float) -> float:
        """Return the strength λ of weight decay that corresponds to a prior's deviation."""
        return 1 / (len(self.x) * prior_std**2)

    def fitted(
        self, fit: Callable, forward: Callable, *, setting: float, passes: int
    ) -> Fitted:
        """Compile and train; ``forward`` maps parameters and inputs to outputs (S, N, O)."""
        fit()  # compile, untimed
        params, seconds = timed(lambda: jax.block_until_ready(fit()))

        def predict(x: np.ndarray) -> np.ndarray:
            return np.asarray(forward(params, jnp.asarray(x, jnp.float32)))

        return Fitted(predict, setting, seconds, count(params), passes)

    def ensemble(self, prior_std: float, members: int = MEMBERS) -> Fitted:
        """Train networks that differ in their initial weights."""
        plan, regression = METHODS["deep ensemble"], self.problem.regression
        first, second = jax.random.split(jax.random.key(self.seed))
        sizes = (self.x.shape[1], self.budget.hidden, self.problem.outputs)

        def fit():
            return train_ensemble(
                penalised(regression=regression, strength=self.decay(prior_std)),
                init_ensemble(first, sizes, members),
                self.x,
                self.y,
                key=second,
                steps=self.budget.of(plan.steps),
                rate=plan.rate,
            ).params

        return self.fitted(fit, vote, setting=prior_std, passes=members)

    def mimo(self, prior_std: float, repetition: float) -> Fitted:
        """Train one network with several inputs and heads."""
        plan = METHODS["MIMO"]
        first, second = jax.random.split(jax.random.key(self.seed))
        columns, outputs = self.x.shape[1], self.problem.outputs
        sizes = (SUBNETWORKS * columns, self.budget.hidden, SUBNETWORKS * outputs)

        def fit():
            return train_mimo(
                gaussian_mimo_loss if self.problem.regression else mimo_loss,
                init_mlp(first, sizes),
                self.x,
                self.y,
                members=SUBNETWORKS,
                repetition=repetition,
                weight_decay=self.decay(prior_std),
                key=second,
                steps=self.budget.of(plan.steps),
                rate=plan.rate,
            )[0]

        return self.fitted(fit, tiled, setting=repetition, passes=1)


@jax.jit
def vote(params, x):
    """Compute the outputs of all members of an ensemble, (M, N, O)."""
    return jax.vmap(mlp, (0, None))(params, x)


@jax.jit
def tiled(params, x):
    """Compute the outputs of all heads of a MIMO network with x in every slot, (M, N, O)."""
    inputs = jnp.repeat(x[:, None], SUBNETWORKS, axis=1)
    return mimo_network(params, inputs).swapaxes(0, 1)


def train_all(problem: Problem, seed: int, budget: Budget) -> dict[str, Fitted]:
    """Fit every JAX method to one problem, with settings chosen on the validation data."""
    worker = JaxWorker(problem, seed, budget)
    values = budget.values("deep ensemble")
    ensemble = chosen([worker.ensemble(value) for value in values], problem)
    single = chosen([worker.ensemble(value, members=1) for value in values], problem)
    prior_std = ensemble.setting
    mimos = [worker.mimo(prior_std, value) for value in budget.values("MIMO")]
    return {
        SINGLE: single,
        "deep ensemble": ensemble,
        "MIMO": chosen(mimos, problem),
    }


def main(folder: Path, budget: Budget) -> None:
    """Fit all methods to all problems, and write predictions and costs to a folder."""
    record = Record()
    for name, seed, problem in each_problem(budget):
        print(f"JAX: {name}, seed {seed}", flush=True)
        for method, fitted in train_all(problem, seed, budget).items():
            record.add(name, seed, method, problem, fitted)
    record.save(folder, "jax")


if __name__ == "__main__":
    main(Path(sys.argv[1]), QUICK if "--quick" in sys.argv else Budget())
