"""MIMO: one network that reads several inputs at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax import Array
from jax.scipy.special import logsumexp

from solutions.which_method.networks import Params, hidden_features, last_layer


def mimo_network(params: Params, inputs: Array) -> Array:
    """One network that reads M inputs at once and gives M outputs.

    Args:
        params: of a network of M·D inputs and M·K outputs.
        inputs: M inputs for each row, shape (N, M, D).

    Returns:
        One row of K logits for each head, shape (N, M, K).
    """
    rows, members, _ = inputs.shape
    features = hidden_features(params, inputs.reshape(rows, -1))
    return (features @ last_layer(params).T).reshape(rows, members, -1)


def mimo_inputs(
    x: Array, targets: Array, members: int, repetition: float, *, key: Array
) -> tuple[Array, Array]:
    """Give every member the same data in an order of its own.

    A share of the rows, ``repetition``, holds one data point M times, another one in
    every such row; in all others the members' data are shuffled independently. Which
    data are repeated is drawn anew with every key.

    Args:
        x: inputs, shape (N, D).
        targets: one-hot labels or numbers, N of them.
        members: M.
        repetition: the share of rows that hold one data point M times;
            round(repetition · N) of them, at most N.
        key: a JAX random key.

    Returns:
        Inputs, shape (N, M, D), and the targets that belong to them, shape (N, M, …).
        Each member sees each data point once.

    Source: Havasi et al. (2021).
    """
    # jax.random.split gives a key to each permutation;
    # x[rows] takes an (N, M) array of rows.
    ### BEGIN SOLUTION
    n = len(x)
    mixed = n - round(repetition * n)
    main_key, *keys = jax.random.split(key, members + 1)
    order = jax.random.permutation(main_key, n)
    orders = [
        jnp.concatenate([jax.random.permutation(key, order[:mixed]), order[mixed:]])
        for key in keys
    ]
    rows = jnp.stack(orders, axis=1)
    return x[rows], targets[rows]
    ### END SOLUTION


def mimo_loss(logits: Array, targets: Array) -> Array:
    """Σₘ −log pₘ(yₘ | x₁, …, x_M): summed over the heads, averaged over the rows.

    Args:
        logits: of M heads, shape (N, M, K).
        targets: one-hot labels of what each head was given, shape (N, M, K).

    Returns:
        A scalar, in nats.

    Source: Havasi et al. (2021).
    """
    ### BEGIN SOLUTION
    log_probs = jax.nn.log_softmax(logits, axis=-1)
    return -jnp.sum(targets * log_probs, axis=(1, 2)).mean()
    ### END SOLUTION


def mimo_log_probs(network: Callable[[Array], Array], x: Array, members: int) -> Array:
    """The forecast of a MIMO network: every slot is given the same x, the heads vote.

    Args:
        network: inputs (N, M, D) to logits (N, M, K).
        x: inputs, shape (N, D).
        members: M.

    Returns:
        log(1/M Σₘ pₘ(y | x, …, x)), shape (N, K).

    Source: Havasi et al. (2021).
    """
    # logsumexp adds what is given by logarithms; the heads' axis is axis 1.
    ### BEGIN SOLUTION
    inputs = jnp.repeat(x[:, None], members, axis=1)
    log_probs = jax.nn.log_softmax(network(inputs), axis=-1)
    return logsumexp(log_probs, axis=1) - jnp.log(members)
    ### END SOLUTION


@partial(
    jax.jit,
    static_argnames=("loss", "members", "repetition", "steps", "rate"),
)
def train_mimo(
    loss: Callable[[Array, Array], Array],
    params: Params,
    x: Array,
    targets: Array,
    *,
    members: int,
    repetition: float,
    weight_decay: float,
    key: Array,
    steps: int,
    rate: float,
) -> tuple[Params, Array]:
    """Train a MIMO network with Adam and a cosine schedule, all data in every step.

    With one member it is a plain network.

    Args:
        loss: of outputs (N, M, K) and their targets, a scalar such as ``mimo_loss``.
        params: the initial parameters.
        x: inputs, shape (N, D).
        targets: N of them; for ``mimo_loss`` one-hot labels, shape (N, K).
        members: M.
        repetition: as for ``mimo_inputs``.
        weight_decay: λ of ½λ‖θ‖², which is added to the loss.
        key: a JAX random key, for the orders.
        steps: how many steps.
        rate: the initial learning rate.

    Returns:
        Parameters, and the losses, shape (steps,).

    Raises:
        ValueError: the labels are not one-hot.
    """
    if loss is mimo_loss and jnp.ndim(targets) != 2:
        raise ValueError("mimo_loss needs one-hot labels, shape (N, K)")
    optimiser = optax.adam(optax.cosine_decay_schedule(rate, steps))

    def objective(params: Params, key: Array) -> Array:
        inputs, wanted = mimo_inputs(x, targets, members, repetition, key=key)
        squares = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(params))
        fit = loss(mimo_network(params, inputs), wanted)
        return fit + 0.5 * weight_decay * squares

    def step(carry, key):
        params, state = carry
        value, gradient = jax.value_and_grad(objective)(params, key)
        updates, state = optimiser.update(gradient, state, params)
        return (optax.apply_updates(params, updates), state), value

    carry = (params, optimiser.init(params))
    (params, _), losses = jax.lax.scan(step, carry, jax.random.split(key, steps))
    return params, losses
