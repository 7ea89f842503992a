"""Derivatives and shapes."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

Loss = Callable[[Array, Array, Array], Array]


def poisson_nll(w: Array, x: Array, y: Array) -> Array:
    """The summed NLL of counts with rates exp(w·x), up to a constant.

    Args:
        w: weights, shape (D,).
        x: inputs, shape (N, D).
        y: counts, shape (N,).

    Returns:
        A scalar, in nats.
    """
    log_rate = x @ w
    return jnp.sum(jnp.exp(log_rate) - y * log_rate)


def curvature(w: Array, x: Array, y: Array) -> Array:
    """The Hessian of ``poisson_nll`` with respect to the weights.

    Args:
        w: weights, shape (D,).
        x: inputs, shape (N, D).
        y: counts, shape (N,).

    Returns:
        Second derivatives, shape (D, D).
    """
    # On paper it is one line. jax.hessian is allowed, too.
    ### BEGIN SOLUTION
    rate = jnp.exp(x @ w)
    return (x * rate[:, None]).T @ x
    ### END SOLUTION


def squared_errors(prediction: Array, y: Array) -> Array:
    """The squared error of each data point.

    Args:
        prediction: what a network with one output gives, shape (N, 1).
        y: targets, shape (N,).

    Returns:
        Squared errors, shape (N,).
    """
    ### BEGIN SOLUTION
    return (prediction[:, 0] - y) ** 2
    ### END SOLUTION


def per_example_gradients(
    loss: Loss, params: Array, x: Array, y: Array
) -> tuple[Array, Array]:
    """The gradients of each data point's own loss, for parameters and input.

    Args:
        loss: ``loss(params, x, y)``, a scalar, for one data point: x of shape (D,), y a
            number.
        params: the parameters θ, shape (D,), the same for all data.
        x: inputs, shape (N, D).
        y: targets, shape (N,).

    Returns:
        ∂ℓₙ/∂θ and ∂ℓₙ/∂xₙ, each of shape (N, D).
    """
    # jax.grad takes argnums, one or several;
    # jax.vmap takes in_axes, one for each argument.
    ### BEGIN SOLUTION
    gradients = jax.grad(loss, argnums=(0, 1))
    return jax.vmap(gradients, in_axes=(None, 0, 0))(params, x, y)
    ### END SOLUTION


def rounded(x: Array) -> Array:
    """Round to the nearest whole number, with the gradient of the identity.

    Halves are rounded to the even neighbour, as ``jnp.round`` does.

    Args:
        x: numbers, shape (N,).

    Returns:
        Whole numbers as floats, shape (N,); their derivative with respect to ``x``
        is 1.

    Source: Bengio, Léonard and Courville (2013), the straight-through estimator.
    """
    # jax.lax.stop_gradient(a) has the value of a and the derivative 0.
    ### BEGIN SOLUTION
    return x + jax.lax.stop_gradient(jnp.round(x) - x)
    ### END SOLUTION
