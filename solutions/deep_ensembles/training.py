"""Training: Adam step by step, and an ensemble at once."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from solutions.deep_ensembles.losses import Loss
from solutions.deep_ensembles.networks import Params


class AdamState(NamedTuple):
    """Adam's running means of the gradient and of its square."""

    first: Array
    second: Array


def hurried_adam_step(
    gradient: Array, state: AdamState, step: int, rate: float
) -> tuple[Array, AdamState]:
    """An Adam step with a mistake in it, one that a hurried colleague made.

    Args:
        gradient: the gradient g at this step.
        state: the running means after the last step; zeros before the first.
        step: the number of this step, 0 for the first.
        rate: the learning rate.

    Returns:
        What is added to the parameter, and the new state.
    """
    first = 0.9 * state.first + 0.1 * gradient
    second = 0.999 * state.second + 0.001 * gradient**2
    corrected_first = first / (1 - 0.9)
    corrected_second = second / (1 - 0.999)
    update = -rate * corrected_first / (jnp.sqrt(corrected_second) + 1e-8)
    return update, AdamState(first, second)


def adam_step(
    gradient: Array, state: AdamState, step: int, rate: float
) -> tuple[Array, AdamState]:
    """One step of Adam, with β₁ = 0.9, β₂ = 0.999 and ε = 1e-8.

    Args:
        gradient: the gradient g at this step.
        state: the running means after the last step; zeros before the first.
        step: the number of this step, 0 for the first.
        rate: the learning rate.

    Returns:
        What is added to the parameter, and the new state.

    Source: Kingma and Ba (2015), algorithm 1.
    """
    # Start from hurried_adam_step and mend it: one idea is missing, in two places.
    ### BEGIN SOLUTION
    first = 0.9 * state.first + 0.1 * gradient
    second = 0.999 * state.second + 0.001 * gradient**2
    corrected_first = first / (1 - 0.9 ** (step + 1))
    corrected_second = second / (1 - 0.999 ** (step + 1))
    update = -rate * corrected_first / (jnp.sqrt(corrected_second) + 1e-8)
    return update, AdamState(first, second)
    ### END SOLUTION


class Fit(NamedTuple):
    """A trained ensemble, the member axis first.

    ``history`` holds the parameters after every ``every`` steps,
    (M, steps // every, …).
    """

    params: Params
    losses: Array
    history: Params


@partial(
    jax.jit,
    static_argnames=(
        "loss",
        "steps",
        "rate",
        "batch_size",
        "bootstrap",
        "every",
        "in_turn",
        "mesh",
    ),
)
def train_ensemble(
    loss: Loss,
    params: Params,
    x: Array,
    y: Array,
    *,
    key: Array,
    steps: int,
    rate: float,
    batch_size: int | None = None,
    bootstrap: bool = False,
    every: int | None = None,
    in_turn: bool = False,
    mesh: Mesh | None = None,
) -> Fit:
    """Train the members of an ensemble independently, as one compiled program.

    Adam with a cosine schedule; ``lax.scan`` over the steps. Small members are trained
    side by side (``vmap``); where one member fills the processor's cache, one after the
    other is faster.

    Args:
        loss: ``loss(params, x, y)``, a scalar, for one member.
        params: the members' initial parameters, the member axis first.
        x: inputs, shape (N, D).
        y: targets, N of them.
        key: a JAX random key, for minibatches and bootstrap.
        steps: how many steps.
        rate: the initial learning rate.
        batch_size: how many data points each step sees; None for all N.
        bootstrap: give every member its own resample of the data, with replacement.
        every: record the parameters after every so many steps; None for the end only.
        in_turn: train the members one after the other.
        mesh: devices to spread the members over, along an axis named ``member``.

    Returns:
        Parameters, losses of shape (M, steps), and the recorded parameters.

    Raises:
        ValueError: ``every`` does not divide ``steps``.

    Source: Lakshminarayanan et al. (2017), algorithm 1.
    """
    # flatten: one update of one long vector, compiled and run faster than one per layer
    optimiser = optax.flatten(optax.adam(optax.cosine_decay_schedule(rate, steps)))
    every = every or steps
    if steps % every:
        raise ValueError(f"every = {every} does not divide steps = {steps}")
    n = len(x)

    def train_one(params: Params, key: Array) -> Fit:
        data_key, batch_key = jax.random.split(key)
        rows = jax.random.randint(data_key, (n,), 0, n) if bootstrap else jnp.arange(n)
        x_own, y_own = x[rows], y[rows]

        def step(carry, batch):
            params, state = carry
            x_batch, y_batch = x_own, y_own
            if batch_size is not None:
                x_batch, y_batch = x_own[batch], y_own[batch]
            value, gradient = jax.value_and_grad(loss)(params, x_batch, y_batch)
            updates, state = optimiser.update(gradient, state, params)
            return (optax.apply_updates(params, updates), state), value

        def stretch(carry, batches):
            carry, values = jax.lax.scan(step, carry, batches)
            return carry, (values, carry[0])

        shape = (steps // every, every, batch_size or 0)
        batches = jax.random.randint(batch_key, shape, 0, n)
        carry = (params, optimiser.init(params))
        (params, _), (losses, history) = jax.lax.scan(
            stretch, carry, batches, unroll=steps == every
        )
        return Fit(params, losses.reshape(-1), history)

    def train_all(params: Params, keys: Array) -> Fit:
        if in_turn:
            return jax.lax.map(lambda member: train_one(*member), (params, keys))
        return jax.vmap(train_one)(params, keys)

    if mesh is not None:
        train_all = jax.shard_map(
            train_all, mesh=mesh, in_specs=P("member"), out_specs=P("member")
        )
    members = len(jax.tree.leaves(params)[0])
    return train_all(params, jax.random.split(key, members))
