"""Random Fourier features, and the Gaussian process that they approximate."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
from jax import Array
from jax.scipy.linalg import cho_solve, solve_triangular

Kernel = Callable[[Array, Array], Array]


def fourier_features(
    x: Array, frequencies: Array, phases: Array, length_scale: float
) -> Array:
    """Random Fourier features φ_d(x) = √(2/D) cos(ω_d x/ℓ + b_d).

    Args:
        x: inputs, shape (N,).
        frequencies: draws ω_d from N(0, 1), shape (D,).
        phases: draws b_d, uniform between 0 and 2π, shape (D,).
        length_scale: ℓ; a larger one gives smoother functions.

    Returns:
        Φ, shape (N, D).

    Source: Rahimi and Recht (2007), algorithm 1.
    """
    ### BEGIN SOLUTION
    angles = jnp.outer(x, frequencies / length_scale) + phases
    return jnp.sqrt(2 / len(frequencies)) * jnp.cos(angles)
    ### END SOLUTION


def squared_exponential(
    a: Array, b: Array, length_scale: float, prior_variance: float
) -> Array:
    """The kernel σ₀² exp(−(a − b)²/(2ℓ²)) for all pairs of inputs.

    Args:
        a: inputs, shape (N,).
        b: inputs, shape (N',).
        length_scale: ℓ.
        prior_variance: σ₀², the variance of the function's values.

    Returns:
        Covariances, shape (N, N').

    Source: Rasmussen and Williams (2006), equation 4.9.
    """
    distance = (a[:, None] - b[None]) / length_scale
    return prior_variance * jnp.exp(-0.5 * distance**2)


def gp_predictive(
    kernel: Kernel, x: Array, y: Array, x_new: Array, noise_std: float
) -> tuple[Array, Array]:
    """Mean and variance of a Gaussian process's forecast, the noise included.

    Args:
        kernel: ``kernel(a, b)``, the covariances of the function's values at all pairs
            of the inputs a and b, one row for each a.
        x: training inputs, shape (N,).
        y: training targets, shape (N,).
        x_new: new inputs, shape (N',).
        noise_std: the standard deviation τ of the noise.

    Returns:
        Predictive means and variances of y* at each new input, shape (N',) each.

    Source: Rasmussen and Williams (2006), algorithm 2.1, with τ² added to the variance.
    """
    # The prior variance at new inputs is the diagonal of kernel(x_new, x_new).
    ### BEGIN SOLUTION
    factor = jnp.linalg.cholesky(kernel(x, x) + noise_std**2 * jnp.eye(len(x)))
    cross = kernel(x, x_new)
    mean = cross.T @ cho_solve((factor, True), y)
    explained = jnp.sum(solve_triangular(factor, cross, lower=True) ** 2, axis=0)
    return mean, noise_std**2 + jnp.diag(kernel(x_new, x_new)) - explained
    ### END SOLUTION


def forgetful_log_evidence(gram: Array, y: Array, noise_std: float) -> Array:
    """The log evidence of a Gaussian process, with a mistake in it.

    Args:
        gram: the kernel at all pairs of training inputs, shape (N, N).
        y: training targets, shape (N,).
        noise_std: the standard deviation τ of the noise.

    Returns:
        A scalar.
    """
    identity = jnp.eye(len(y))
    factor = jnp.linalg.cholesky(gram + noise_std**2 * identity)
    fit = y @ cho_solve((factor, True), y)
    factor = jnp.linalg.cholesky(gram + 1e-6 * identity)
    log_det = 2 * jnp.sum(jnp.log(jnp.diag(factor)))
    return -0.5 * (fit + log_det + len(y) * jnp.log(2 * jnp.pi))


def gp_log_evidence(gram: Array, y: Array, noise_std: float) -> Array:
    """log p(y) of a Gaussian process with Gaussian noise.

    Args:
        gram: the kernel at all pairs of training inputs, shape (N, N).
        y: training targets, shape (N,).
        noise_std: the standard deviation τ of the noise.

    Returns:
        A scalar, in nats.

    Source: Rasmussen and Williams (2006), equation 2.30.
    """
    # Start from forgetful_log_evidence and correct it.
    ### BEGIN SOLUTION
    factor = jnp.linalg.cholesky(gram + noise_std**2 * jnp.eye(len(y)))
    fit = y @ cho_solve((factor, True), y)
    log_det = 2 * jnp.sum(jnp.log(jnp.diag(factor)))
    return -0.5 * (fit + log_det + len(y) * jnp.log(2 * jnp.pi))
    ### END SOLUTION
