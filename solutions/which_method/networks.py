"""A multilayer perceptron, and what its last layer sees."""

from __future__ import annotations

from itertools import pairwise

import jax
import jax.numpy as jnp
from jax import Array

Params = list[tuple[Array, Array]]


def init_network(key: Array, sizes: tuple[int, ...]) -> Params:
    """Weights and biases of a multilayer perceptron, He-initialised.

    Args:
        key: a JAX random key.
        sizes: the layers' widths, inputs and outputs included.

    Returns:
        One pair (weight, bias) per layer, of shapes (in, out) and (out,).

    Source: He et al. (2015), equation 10.
    """
    shapes = list(pairwise(sizes))
    keys = jax.random.split(key, len(shapes))
    return [
        (jnp.sqrt(2 / shape[0]) * jax.random.normal(key, shape), jnp.zeros(shape[1]))
        for key, shape in zip(keys, shapes, strict=True)
    ]


def hidden_features(params: Params, x: Array) -> Array:
    """What the last layer sees, with a one for its bias: (N, D) → (N, H + 1)."""
    for weight, bias in params[:-1]:
        x = jax.nn.relu(x @ weight + bias)
    return jnp.concatenate([x, jnp.ones_like(x[:, :1])], axis=1)


def last_layer(params: Params) -> Array:
    """The last layer's weights with their bias, one row per output: (K, H + 1)."""
    weight, bias = params[-1]
    return jnp.concatenate([weight, bias[None]]).T
