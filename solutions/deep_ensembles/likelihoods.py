"""Likelihoods: negative log densities, and the expressions that they come from."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import sympy
from jax import Array
from jax.scipy.special import gammaln


def gaussian_nll_expression(
    y: sympy.Symbol, mu: sympy.Symbol, sigma: sympy.Symbol
) -> sympy.Expr:
    """−log N(y | µ, σ²) as a SymPy expression.

    Args:
        y: the target.
        mu: the mean µ.
        sigma: the standard deviation σ > 0, not the variance.

    Returns:
        An expression in ``y``, ``mu`` and ``sigma``.

    Source: Lakshminarayanan et al. (2017), equation 1.
    """
    # sympy.log, sympy.pi and sympy.Rational(1, 2) keep the expression exact.
    ### BEGIN SOLUTION
    half = sympy.Rational(1, 2)
    return (
        half * sympy.log(2 * sympy.pi)
        + sympy.log(sigma)
        + (y - mu) ** 2 / (2 * sigma**2)
    )
    ### END SOLUTION


def laplace_nll_expression(
    y: sympy.Symbol, mu: sympy.Symbol, b: sympy.Symbol
) -> sympy.Expr:
    """−log Laplace(y | µ, b) as a SymPy expression.

    Args:
        y: the target.
        mu: the mean µ.
        b: the scale b > 0. The variance of this distribution is 2b².

    Returns:
        An expression in ``y``, ``mu`` and ``b``.
    """
    # sympy.Abs is the absolute value.
    ### BEGIN SOLUTION
    return sympy.log(2 * b) + sympy.Abs(y - mu) / b
    ### END SOLUTION


def gaussian_nll(mean: Array, std: Array, y: Array) -> Array:
    """−log N(y | µ, σ²), one value per datum.

    Args:
        mean: means µ, shape (N,).
        std: standard deviations σ > 0, shape (N,).
        y: targets, shape (N,).

    Returns:
        Negative log-likelihoods in nats, shape (N,).

    Source: Lakshminarayanan et al. (2017), equation 1.
    """
    ### BEGIN SOLUTION
    return 0.5 * jnp.log(2 * jnp.pi) + jnp.log(std) + 0.5 * ((y - mean) / std) ** 2
    ### END SOLUTION


def laplace_nll(mean: Array, scale: Array, y: Array) -> Array:
    """−log Laplace(y | µ, b), one value per datum.

    Args:
        mean: means µ, shape (N,).
        scale: scales b > 0, shape (N,). The variance is 2b².
        y: targets, shape (N,).

    Returns:
        Negative log-likelihoods in nats, shape (N,).
    """
    ### BEGIN SOLUTION
    return jnp.log(2 * scale) + jnp.abs(y - mean) / scale
    ### END SOLUTION


def categorical_nll(logits: Array, targets: Array) -> Array:
    """−log p(y), one value per datum, from logits.

    Args:
        logits: unnormalised log-probabilities, shape (N, K).
        targets: one-hot labels, shape (N, K).

    Returns:
        Negative log-likelihoods in nats, shape (N,).
    """
    # Logits of a thousand are allowed: exponentiate nothing yourself.
    ### BEGIN SOLUTION
    log_probs = jax.nn.log_softmax(logits, axis=-1)
    return -jnp.sum(targets * log_probs, axis=-1)
    ### END SOLUTION


def student_t_nll(location: Array, scale: Array, df: float, y: Array) -> Array:
    """−log St(y | location, scale, ν), one value per datum.

    Args:
        location: locations µ, shape (N,).
        scale: scales s > 0, shape (N,). The variance is s²ν/(ν − 2), for ν > 2.
        df: degrees of freedom ν > 0.
        y: targets, shape (N,).

    Returns:
        Negative log-likelihoods in nats, shape (N,).

    Source: Murphy, Probabilistic Machine Learning: An Introduction (2022),
    section 2.7.1.
    """
    # gammaln is log Γ. Near the centre, log1p keeps what 1 + z²/ν would round away.
    ### BEGIN SOLUTION
    z = (y - location) / scale
    log_normaliser = (
        gammaln((df + 1) / 2)
        - gammaln(df / 2)
        - 0.5 * jnp.log(df * jnp.pi)
        - jnp.log(scale)
    )
    return (df + 1) / 2 * jnp.log1p(z**2 / df) - log_normaliser
    ### END SOLUTION
