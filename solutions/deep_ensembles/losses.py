"""Losses of a batch, adversarial ones included."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import jax
import jax.numpy as jnp
from jax import Array
from jax.tree_util import Partial

from solutions.deep_ensembles.likelihoods import (
    categorical_nll,
    gaussian_nll,
    laplace_nll,
)
from solutions.deep_ensembles.networks import Params, heads, mlp

Loss = Callable[[Params, Array, Array], Array]


def gaussian_loss(params: Params, x: Array, y: Array) -> Array:
    """The mean Gaussian NLL of a batch."""
    mean, std = heads(mlp(params, x))
    return jnp.mean(gaussian_nll(mean, std, y))


def laplace_loss(params: Params, x: Array, y: Array) -> Array:
    """The mean Laplace NLL of a batch."""
    mean, scale = heads(mlp(params, x))
    return jnp.mean(laplace_nll(mean, scale, y))


def squared_loss(params: Params, x: Array, y: Array) -> Array:
    """The mean squared error of a batch: a Gaussian NLL whose σ is not learned."""
    mean, _ = heads(mlp(params, x))
    return jnp.mean((y - mean) ** 2)


def absolute_loss(params: Params, x: Array, y: Array) -> Array:
    """The mean absolute error of a batch: a Laplace NLL whose b is not learned."""
    mean, _ = heads(mlp(params, x))
    return jnp.mean(jnp.abs(y - mean))


def categorical_loss(params: Params, x: Array, y: Array) -> Array:
    """The mean categorical NLL of a batch; ValueError unless ``y`` is (N, K)."""
    logits = mlp(params, x)
    if jnp.shape(y) != logits.shape:
        classes = logits.shape[-1]
        raise ValueError(
            f"{classes} classes need one-hot labels, shape (N, {classes}): "
            f"pass jax.nn.one_hot(y, {classes})"
        )
    return jnp.mean(categorical_nll(logits, y))


def fgsm(loss: Loss, params: Params, x: Array, y: Array, epsilon: float) -> Array:
    """Move every input by ε where it raises the loss: x' = x + ε sign(∇ₓ ℓ(θ, x, y)).

    Args:
        loss: ``loss(params, x, y)``, a scalar.
        params: the parameters θ, which stay as they are.
        x: inputs, shape (N, D).
        y: targets, N of them.
        epsilon: how far each coordinate moves; where its gradient is 0, it stays.

    Returns:
        The adversarial inputs x', shape (N, D).

    Source: Goodfellow, Shlens and Szegedy (2015), section 4.
    """
    # jax.grad takes argnums.
    ### BEGIN SOLUTION
    gradient = jax.grad(loss, argnums=1)(params, x, y)
    return x + epsilon * jnp.sign(gradient)
    ### END SOLUTION


def adversarial_loss(
    loss: Loss, params: Params, x: Array, y: Array, epsilon: float
) -> Array:
    """½ ℓ(θ, x, y) + ½ ℓ(θ, x', y): clean and adversarial inputs, in equal parts.

    Args:
        loss: ``loss(params, x, y)``, a scalar.
        params: the parameters θ.
        x: inputs, shape (N, D).
        y: targets, N of them, the same for x and x'.
        epsilon: the size of the perturbation.

    Returns:
        A scalar.

    Source: Lakshminarayanan et al. (2017), section 2.3 and algorithm 1.
    """
    ### BEGIN SOLUTION
    x_adversarial = fgsm(loss, params, x, y, epsilon)
    return 0.5 * (loss(params, x, y) + loss(params, x_adversarial, y))
    ### END SOLUTION


@cache  # one function, so that training with it is compiled once
def shared_pass() -> Callable:
    """Make the function of (loss, ε, params, x, y) that is compiled."""

    def value_and_gradient(loss, epsilon, params, x, y):
        clean, (along_params, along_x) = jax.value_and_grad(loss, argnums=(0, 1))(
            params, x, y
        )
        x_adversarial = x + epsilon * jnp.sign(along_x)
        moved, gradient = jax.value_and_grad(loss)(params, x_adversarial, y)
        mean = jax.tree.map(lambda a, b: 0.5 * (a + b), along_params, gradient)
        return 0.5 * (clean + moved), mean

    @jax.custom_vjp
    def quick(loss, epsilon, params, x, y):
        return adversarial_loss(loss, params, x, y, epsilon)

    def backward(gradient, cotangent):
        along_params = jax.tree.map(lambda g: cotangent * g, gradient)
        return None, None, along_params, None, None

    quick.defvjp(value_and_gradient, backward)
    return quick


def quick_adversarial_loss(loss: Loss, epsilon: float) -> Loss:
    """``adversarial_loss`` for training: the same value and gradient, one pass less.

    The backward pass that finds ∇ₓ ℓ meets ∇_θ ℓ on its way. JAX would go that way
    twice, because ``adversarial_loss`` asks for the two at different times; here both
    are taken at once, and kept until the gradient is asked for.

    Args:
        loss: ``loss(params, x, y)``, a scalar.
        epsilon: the size of the perturbation. Training with another one does not
            compile again.

    Returns:
        The adversarial loss, a function of (params, x, y) to differentiate by params.
    """
    own = loss if isinstance(loss, Partial) else Partial(loss)
    return Partial(shared_pass(), own, epsilon)


def weight_decay(params: Params, strength: float) -> Array:
    """½λ‖θ‖²: the squared norm, so that its gradient is λθ."""
    return 0.5 * strength * sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(params))
