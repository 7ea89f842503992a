"""Networks: multilayer perceptrons, one or an ensemble, and heads of a regression."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import jax
import jax.numpy as jnp
from jax import Array

MIN_SPREAD = 1e-6  # keeps every division and logarithm below finite

Params = list[tuple[Array, Array]]


def init_mlp(key: Array, sizes: tuple[int, ...]) -> Params:
    """Weights and biases of a multilayer perceptron, He-initialised.

    Every layer draws as many numbers as the largest needs and takes its share: one
    shape is compiled instead of one for each layer.

    Args:
        key: a JAX random key.
        sizes: the layers' widths, inputs and outputs included.

    Returns:
        One pair (weight, bias) per layer, of shapes (in, out) and (out,).

    Source: He et al. (2015), equation 10.
    """
    shapes = list(pairwise(sizes))
    most = max(n_in * n_out for n_in, n_out in shapes)
    keys = jax.random.split(key, len(shapes))
    draws = jax.vmap(lambda key: jax.random.normal(key, (most,)))(keys)
    return [
        (
            jnp.sqrt(2 / n_in) * draw[: n_in * n_out].reshape(n_in, n_out),
            jnp.zeros(n_out),
        )
        for draw, (n_in, n_out) in zip(draws, shapes, strict=True)
    ]


@partial(jax.jit, static_argnames=("sizes", "members"))
def init_ensemble(key: Array, sizes: tuple[int, ...], members: int) -> Params:
    """The weights of M independent networks, the member axis first.

    Args:
        key: a JAX random key.
        sizes: as for ``init_mlp``.
        members: M.

    Returns:
        One pair (weight, bias) per layer, of shapes (M, in, out) and (M, out).
    """
    return jax.vmap(partial(init_mlp, sizes=sizes))(jax.random.split(key, members))


def mlp(params: Params, x: Array) -> Array:
    """A multilayer perceptron with ReLU between its layers.

    Within, a data point is a column, h = relu(Wᵀh + b): in this layout the matrix
    products that make the gradient read memory in order, and a step costs less.

    Args:
        params: one pair (weight, bias) per layer.
        x: inputs, shape (N, D).

    Returns:
        Outputs of the last layer, shape (N, O).
    """
    *hidden, (weight, bias) = params
    h = x.T
    for w, b in hidden:
        h = jax.nn.relu(w.T @ h + b[:, None])
    return (weight.T @ h + bias[:, None]).T


def heads(outputs: Array) -> tuple[Array, Array]:
    """Read a mean and a positive spread from the two outputs (µ, ρ) of a network.

    The spread is softplus(ρ) + MIN_SPREAD: the standard deviation σ of a Gaussian, or
    the scale b of a Laplace distribution, as the likelihood will have it.

    Args:
        outputs: shape (N, 2), the columns µ and ρ.

    Returns:
        The means, shape (N,), and the spreads, shape (N,).
    """
    ### BEGIN SOLUTION
    mean, rho = outputs[:, 0], outputs[:, 1]
    return mean, jax.nn.softplus(rho) + MIN_SPREAD
    ### END SOLUTION
