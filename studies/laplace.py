"""Laplace approximations of linearised networks, for classes and regressions.

Source: Immer, Korzepa and Bauer (2021), section 3.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
import scipy.special
from jax import Array
from jax.flatten_util import ravel_pytree

from solutions.deep_ensembles import Params, mlp
from studies.which_method import scores


def fisher_roots(outputs: np.ndarray, *, regression: bool) -> np.ndarray:
    """Return a root R of the Fisher information RRᵀ about each data point's outputs, (N, O, O).

    For the logits of a softmax it is diag(p) − ppᵀ; for (µ, ρ) with σ = softplus(ρ), the
    diagonal of 1/σ² and 2σ'²/σ².
    """
    outputs = np.asarray(outputs, float)
    eye = np.eye(outputs.shape[1])
    if regression:
        std, slope = scores.heads(outputs)[1], scipy.special.expit(outputs[:, 1])
        return np.stack([1 / std, np.sqrt(2) * slope / std], 1)[:, :, None] * eye
    probs = scipy.special.softmax(outputs, axis=1)
    root = np.sqrt(probs)
    return root[:, :, None] * eye - probs[:, :, None] * root[:, None, :]


@jax.jit
def jacobians(params: Params, x: Array) -> Array:
    """Differentiate the outputs of one network with respect to its P weights, (N, O, P)."""
    parts = jax.vmap(jax.jacrev(lambda p, row: mlp(p, row[None])[0]), (None, 0))(
        params, x
    )
    leaves = jax.tree.leaves(parts)
    return jnp.concatenate(
        [leaf.reshape(*leaf.shape[:2], -1) for leaf in leaves], axis=2
    )


def gauss_newton(params: Params, x: Array, *, regression: bool) -> np.ndarray:
    """Compute Σₙ JₙᵀΛₙJₙ, (P, P), in double precision: the generalised Gauss–Newton matrix."""
    roots = fisher_roots(mlp(params, x), regression=regression)
    weighted = np.swapaxes(roots, 1, 2) @ np.asarray(jacobians(params, x), float)
    weighted = weighted.reshape(-1, weighted.shape[-1])
    return weighted.T @ weighted


def posterior_draws(
    curvature: np.ndarray, prior_std: float, draws: int, seed: int
) -> np.ndarray:
    """Draw deviations of the weights from N(0, (curvature + I/σ₀²)⁻¹), (S, P)."""
    precision = curvature + np.eye(len(curvature)) / prior_std**2
    factor = np.linalg.cholesky(precision)
    noise = np.random.default_rng(seed).normal(size=(len(factor), draws))
    return scipy.linalg.solve_triangular(factor.T, noise, lower=False).T


@jax.jit
def linearised(params: Params, deviations: Array, x: Array) -> Array:
    """Compute outputs f(x) + J(x) δ for each deviation δ of the weights, (S, N, O)."""
    flat, unflatten = ravel_pytree(params)

    def moved(deviation: Array) -> Array:
        value, change = jax.jvp(lambda w: mlp(unflatten(w), x), (flat,), (deviation,))
        return value + change

    return jax.lax.map(moved, deviations)
