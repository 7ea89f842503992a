"""Training: Adam step by step, and an ensemble at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from jax.tree_util import Partial

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
    # Start from hurried_adam_step and fix it: one idea is missing, in two places.
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

    ``losses`` has the shape (M, steps). ``history`` holds the parameters after every
    ``every`` steps, (M, steps // every, …), and ``validation`` their losses on the
    validation data, (M, steps // every), or zeros if there are none.
    """

    params: Params
    losses: Array
    history: Params
    validation: Array


def draw_batches(
    key: Array, n: int, steps: int, batch_size: int | None, *, replace: bool
) -> Array:
    """The rows of the data that each step sees, shape (steps, batch_size).

    Without replacement, one random order of all N rows follows another, and the steps
    take their batches from this sequence: no row is left out at the end of an epoch.
    """
    size = (steps, batch_size or 0)
    if replace or batch_size is None:
        return jax.random.randint(key, size, 0, n)
    epochs = jax.random.split(key, -(-steps * batch_size // n))
    orders = jax.vmap(lambda key: jax.random.permutation(key, n))(epochs)
    return orders.reshape(-1)[: steps * batch_size].reshape(size)


def train_ensemble(
    loss: Loss,
    params: Params,
    x: Array,
    y: Array,
    *,
    key: Array,
    steps: int,
    rate: float | Callable[[Array], Array],
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    batch_size: int | None = None,
    replace: bool = False,
    bootstrap: bool = False,
    stochastic: bool = False,
    every: int | None = None,
    validation: tuple[Array, Array] | None = None,
    in_turn: bool = False,
    mesh: Mesh | None = None,
) -> Fit:
    """Train the members of an ensemble independently, as one compiled program.

    Adam; ``lax.scan`` over the steps. Small members are trained side by side
    (``vmap``); where one member fills the processor's cache, one after the other is
    faster. New data of the same shape, another rate or other settings of Adam do not
    compile again, nor does another ε in ``jax.tree_util.Partial(loss_of_epsilon, ε)``.

    Args:
        loss: ``loss(params, x, y)``, a scalar, for one member.
        params: the members' initial parameters, the member axis first.
        x: inputs, shape (N, D). Standardise them.
        y: targets: shape (N,) for a regression, standardised as well, so that the
            spread starts near theirs; one-hot labels, shape (N, K), for classes.
        key: a JAX random key, for minibatches, bootstrap and a loss that draws.
        steps: how many steps.
        rate: the initial learning rate of a cosine schedule, or another schedule: a
            function of the step's number.
        b1, b2, eps: Adam's β₁, β₂ and ε.
        batch_size: how many data points each step sees; None for all N.
        replace: draw each batch independently of the others. If False, every data
            point is used once before any is used again.
        bootstrap: give every member its own resample of the data, with replacement.
        stochastic: call ``loss(params, x, y, key)``, with a new key in every step.
        every: record the parameters after every so many steps; None for the end only.
        validation: inputs and targets on which the loss is computed after every
            ``every`` steps. Each member keeps the parameters of its lowest such loss
            (early stopping); None to keep those of the last step.
        in_turn: train the members one after the other.
        mesh: devices to spread the members over, along an axis named ``member``.

    Returns:
        Parameters, losses, recorded parameters, and the validation curve.

    Raises:
        ValueError: ``y`` does not have one row for each of ``x``, or has the shape
            (N, 1), or ``categorical_loss`` is given labels that are not (N, K);
            ``batch_size`` is not from 1 to N; ``every`` does not divide ``steps``.

    Source: Lakshminarayanan et al. (2017), algorithm 1; Prechelt (1998) for early
    stopping.
    """
    for inputs, targets in [(x, y)] + ([] if validation is None else [validation]):
        if len(inputs) != len(targets):
            raise ValueError(f"x has {len(inputs)} rows, y has {len(targets)}")
        if jnp.shape(targets)[1:] == (1,):
            raise ValueError(
                f"y has the shape {jnp.shape(targets)}, which broadcasts to a matrix "
                "in the loss: pass y[:, 0]"
            )
    if batch_size is not None and not 1 <= batch_size <= len(x):
        raise ValueError(f"batch_size = {batch_size} is not from 1 to N = {len(x)}")
    every = every or steps
    if steps % every:
        raise ValueError(f"every = {every} does not divide steps = {steps}")

    def as_argument(f):
        # jit takes no plain function as an argument, but takes a Partial of one.
        return Partial(f) if callable(f) and not isinstance(f, Partial) else f

    return train_members(
        as_argument(loss),
        params,
        x,
        y,
        key,
        as_argument(rate),
        (b1, b2, eps),
        validation,
        steps=steps,
        batch_size=batch_size,
        replace=replace,
        bootstrap=bootstrap,
        stochastic=stochastic,
        every=every,
        in_turn=in_turn,
        mesh=mesh,
    )


@partial(
    jax.jit,
    static_argnames=(
        "steps",
        "batch_size",
        "replace",
        "bootstrap",
        "stochastic",
        "every",
        "in_turn",
        "mesh",
    ),
)
def train_members(
    loss: Partial,
    params: Params,
    x: Array,
    y: Array,
    key: Array,
    rate: Array | Partial,
    adam: tuple[Array, Array, Array],
    validation: tuple[Array, Array] | None,
    *,
    steps: int,
    batch_size: int | None,
    replace: bool,
    bootstrap: bool,
    stochastic: bool,
    every: int,
    in_turn: bool,
    mesh: Mesh | None,
) -> Fit:
    """The compiled part of ``train_ensemble``, whose arguments it takes, checked."""
    schedule = rate if callable(rate) else optax.cosine_decay_schedule(rate, steps)
    # flatten: one update of one long vector, compiled and run faster than one per layer
    optimiser = optax.flatten(optax.adam(schedule, *adam))
    n = len(x)

    def evaluate(params: Params, x: Array, y: Array, key: Array | None) -> Array:
        return loss(params, x, y, *([key] if stochastic else []))

    def train_one(params: Params, key: Array) -> Fit:
        data_key, batch_key = jax.random.split(key)
        rows = jax.random.randint(data_key, (n,), 0, n) if bootstrap else jnp.arange(n)
        x_own, y_own = x[rows], y[rows]

        def step(carry, given):
            (params, state), (batch, noise) = carry, given
            x_batch, y_batch = x_own, y_own
            if batch_size is not None:
                x_batch, y_batch = x_own[batch], y_own[batch]
            value, gradient = jax.value_and_grad(evaluate)(
                params, x_batch, y_batch, noise
            )
            updates, state = optimiser.update(gradient, state, params)
            return (optax.apply_updates(params, updates), state), value

        def stretch(carry, given):
            last, best = carry
            last, values = jax.lax.scan(step, last, given)
            score, better = jnp.zeros(()), True
            if validation is not None:
                score = evaluate(last[0], *validation, key)
                better = score < best[0]
            best = jax.tree.map(
                lambda new, old: jnp.where(better, new, old), (score, last[0]), best
            )
            return (last, best), (values, last[0], score)

        batches = draw_batches(batch_key, n, steps, batch_size, replace=replace)
        batches = batches.reshape(steps // every, every, -1)
        noise = None
        if stochastic:
            noise = jax.random.split(jax.random.fold_in(key, 2), batches.shape[:2])
        last = (params, optimiser.init(params))
        (_, (_, params)), (losses, history, scores) = jax.lax.scan(
            stretch,
            (last, (jnp.inf, params)),
            (batches, noise),
            unroll=steps == every,
        )
        return Fit(params, losses.reshape(-1), history, scores)

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
