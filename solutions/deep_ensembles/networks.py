"""Networks: multilayer perceptrons, one or an ensemble, and heads of a regression."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import jax
import jax.numpy as jnp
from jax import Array

MIN_SPREAD = 1e-6  # keeps every division and logarithm below finite

Params = list[tuple[Array, Array]]


def init_mlp(
    key: Array, sizes: Sequence[int], output_scale: float | Sequence[float] = 0.1
) -> Params:
    """Weights and biases of a multilayer perceptron, He-initialised but for the last.

    The last layer's weights are He's times ``output_scale``. With 0.1, outputs start
    near 0: means near 0, spreads near softplus(0) = 0.69, class probabilities near 1/K.
    With 1, a pre-activation ρ has a standard deviation above 1, and some spreads start
    below a hundredth of that of standardised targets; their losses are so large that
    Adam's mean of squared gradients keeps later steps small.

    Every layer draws as many numbers as the largest needs and takes its share: one
    shape is compiled instead of one for each layer.

    Args:
        key: a JAX random key.
        sizes: the layers' widths, inputs and outputs included.
        output_scale: what multiplies the last layer's weights: one factor, or one for
            each output. (1.0, 0.1) makes the means of members start further apart.

    Returns:
        One pair (weight, bias) per layer, of shapes (in, out) and (out,).

    Source: He et al. (2015), equation 10.
    """
    shapes = list(pairwise(sizes))
    most = max(n_in * n_out for n_in, n_out in shapes)
    keys = jax.random.split(key, len(shapes))
    draws = jax.vmap(lambda key: jax.random.normal(key, (most,)))(keys)
    scales = [jnp.ones(())] * (len(shapes) - 1) + [jnp.asarray(output_scale)]
    return [
        (
            scale * jnp.sqrt(2 / n_in) * draw[: n_in * n_out].reshape(n_in, n_out),
            jnp.zeros(n_out),
        )
        for draw, scale, (n_in, n_out) in zip(draws, scales, shapes, strict=True)
    ]


def init_ensemble(
    key: Array,
    sizes: Sequence[int],
    members: int,
    output_scale: float | Sequence[float] = 0.1,
) -> Params:
    """The weights of M independent networks, the member axis first.

    Args:
        key: a JAX random key.
        sizes: as for ``init_mlp``.
        members: M.
        output_scale: as for ``init_mlp``.

    Returns:
        One pair (weight, bias) per layer, of shapes (M, in, out) and (M, out).
    """
    scale = jnp.asarray(output_scale)
    return init_members(key, scale, sizes=tuple(sizes), members=members)


@partial(jax.jit, static_argnames=("sizes", "members"))
def init_members(
    key: Array, output_scale: Array, *, sizes: tuple[int, ...], members: int
) -> Params:
    """The compiled part of ``init_ensemble``."""
    keys = jax.random.split(key, members)
    return jax.vmap(lambda key: init_mlp(key, sizes, output_scale))(keys)


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
