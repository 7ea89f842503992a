"""Warm-up: what the four practicals take for granted, in JAX.

Shapes: N data, D inputs, K classes, S draws, B data in a minibatch. Every density is a
density of one datum.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import logsumexp

Loss = Callable[[Array, Array, Array], Array]


# --- Probability ---------------------------------------------------------------------


def kl_categorical(log_p: Array, log_q: Array) -> Array:
    """KL(p‖q) = Σₖ pₖ (log pₖ − log qₖ), from log-probabilities.

    Args:
        log_p: logarithms of the probabilities p, shape (N, K).
        log_q: logarithms of the probabilities q, shape (N, K).

    Returns:
        Divergences in nats, shape (N,).

    Source: Kullback and Leibler (1951), section 2.
    """
    # The logarithms are given: take none of your own.
    ### BEGIN SOLUTION
    return jnp.sum(jnp.exp(log_p) * (log_p - log_q), axis=-1)
    ### END SOLUTION


def log_normal_log_density(y: Array, mean: Array, std: Array) -> Array:
    """log p(y) where y = exp(z) and z ~ N(µ, σ²): the density of y, not that of z.

    Args:
        y: where to evaluate it, positive, shape (N,).
        mean: means µ of z, shape (N,).
        std: standard deviations σ > 0 of z, shape (N,).

    Returns:
        Log-densities in nats, shape (N,).
    """
    # log N(z | µ, σ²) is jax.scipy.stats.norm.logpdf(z, mean, std).
    ### BEGIN SOLUTION
    z = jnp.log(y)
    log_det = z  # log |dy/dz|, for dy/dz = exp(z)
    return jax.scipy.stats.norm.logpdf(z, mean, std) - log_det
    ### END SOLUTION


def log_mean_exp(log_probs: Array) -> Array:
    """log (1/S) Σₛ pₛ: the logarithm of a mean of probabilities, from their logarithms.

    Args:
        log_probs: log-probabilities of N data under S draws, shape (S, N).

    Returns:
        Log-probabilities in nats, shape (N,).
    """
    ### BEGIN SOLUTION
    return logsumexp(log_probs, axis=0) - jnp.log(len(log_probs))
    ### END SOLUTION


# --- Derivatives and shapes ----------------------------------------------------------


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
    """The squared error of each datum.

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
    """The gradients of each datum's own loss, with respect to parameters and input.

    Args:
        loss: ``loss(params, x, y)``, a scalar, for one datum: x of shape (D,), y a
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


# --- Sums, means and N ---------------------------------------------------------------


def minibatch_objective(nll: Array, kl: Array, n_data: int) -> Array:
    """An unbiased estimate of Σₙ NLLₙ + KL over all N data, from one minibatch.

    Args:
        nll: negative log-likelihoods of the minibatch's data in nats, shape (B,).
        kl: the divergence of all weights from their prior, in nats.
        n_data: N, how many data there are in all.

    Returns:
        The estimated negative ELBO of all data, a scalar in nats.
    """
    ### BEGIN SOLUTION
    return n_data * jnp.mean(nll) + kl
    ### END SOLUTION


def weight_decay_of(prior_variance: float, n_data: int) -> float:
    """The λ for which ``mean NLL + λ/2 ‖w‖²`` has its minimum at the posterior's mode.

    Args:
        prior_variance: σ₀² of the prior N(0, σ₀²) of each weight.
        n_data: N, how many data the mean is over.

    Returns:
        The weight decay λ.
    """
    ### BEGIN SOLUTION
    return 1 / (n_data * prior_variance)
    ### END SOLUTION
