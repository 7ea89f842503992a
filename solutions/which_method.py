"""Chapter 5: comparing methods fairly, the cheap repairs, and MIMO, in JAX.

Shapes: N data, D inputs, K classes, H features, M members, R runs. A loss is a mean
over the N data of a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import optax
import scipy.stats
from jax import Array
from jax.scipy.special import logsumexp, xlogy

Params = list[tuple[Array, Array]]

# --- Comparing -----------------------------------------------------------------------


def ood_auroc(inside: np.ndarray, outside: np.ndarray) -> float:
    """P(score outside > score inside) + ½ P(equal): the area under the ROC curve.

    The two data are drawn independently, one from inside and one from outside of the
    training distribution; a detector calls a datum strange if its score is high.

    Args:
        inside: scores of data from the training distribution, shape (N,).
        outside: scores of data from elsewhere, shape (N',).

    Returns:
        A number between 0 and 1; 0.5 for scores that tell nothing.

    Source: Hanley and McNeil (1982); Hendrycks and Gimpel (2017).
    """
    # All N'·N pairs fit into one array: outside[:, None] against inside[None, :].
    ### BEGIN SOLUTION
    inside, outside = np.asarray(inside), np.asarray(outside)
    above = outside[:, None] > inside[None, :]
    equal = outside[:, None] == inside[None, :]
    return float(above.mean() + 0.5 * equal.mean())
    ### END SOLUTION


def hurried_difference_interval(
    method: np.ndarray, baseline: np.ndarray, level: float
) -> tuple[float, float, float]:
    """Mean difference and its interval, with a mistake that a hurried colleague made.

    Args:
        method: a score of the method in R runs, shape (R,).
        baseline: the baseline's score in the same R runs, shape (R,).
        level: the probability that the interval is to have, such as 0.95.

    Returns:
        The mean difference, and the lower and upper end of its interval.
    """
    runs = len(method)
    variance = np.var(method, ddof=1) / runs + np.var(baseline, ddof=1) / runs
    quantile = scipy.stats.t.ppf((1 + level) / 2, 2 * runs - 2)
    difference = np.mean(method) - np.mean(baseline)
    half = quantile * np.sqrt(variance)
    return float(difference), float(difference - half), float(difference + half)


def difference_interval(
    method: np.ndarray, baseline: np.ndarray, level: float
) -> tuple[float, float, float]:
    """The mean of method − baseline over paired runs, with Student's interval.

    Run r of both used the same data and the same split.

    Args:
        method: a score of the method in R runs, shape (R,).
        baseline: the baseline's score in the same R runs, shape (R,).
        level: the probability that the interval is to have, such as 0.95.

    Returns:
        The mean difference, and the lower and upper end of its interval.

    Source: Student (1908).
    """
    # Start from hurried_difference_interval and mend it: what did the two runs share?
    ### BEGIN SOLUTION
    differences = np.asarray(method) - np.asarray(baseline)
    runs = len(differences)
    quantile = scipy.stats.t.ppf((1 + level) / 2, runs - 1)
    half = quantile * np.std(differences, ddof=1) / np.sqrt(runs)
    mean = np.mean(differences)
    return float(mean), float(mean - half), float(mean + half)
    ### END SOLUTION


def gaussian_crps(mean: np.ndarray, std: np.ndarray, y: np.ndarray) -> np.ndarray:
    """CRPS of N(µ, σ²) at y: σ (z (2Φ(z) − 1) + 2φ(z) − 1/√π) with z = (y − µ)/σ.

    The continuous ranked probability score ∫ (F(t) − [t ≥ y])² dt, in the unit of y;
    the smaller, the better.

    Args:
        mean: means µ, shape (N,).
        std: standard deviations σ > 0, shape (N,).
        y: targets, shape (N,).

    Returns:
        Scores, shape (N,).

    Source: Gneiting et al. (2005), equation 5.
    """
    # scipy.stats.norm.cdf is Φ, scipy.stats.norm.pdf is φ.
    ### BEGIN SOLUTION
    z = (y - mean) / std
    spread = z * (2 * scipy.stats.norm.cdf(z) - 1) + 2 * scipy.stats.norm.pdf(z)
    return std * (spread - 1 / np.sqrt(np.pi))
    ### END SOLUTION


def predictive_entropy(log_probs: Array) -> Array:
    """H(p) in nats of forecasts given by their log-probabilities: (…, K) → (…)."""
    probs = jnp.exp(log_probs)
    return -jnp.sum(xlogy(probs, probs), axis=-1)


# --- A network -----------------------------------------------------------------------


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


# --- A cheap repair: Laplace on the last layer ---------------------------------------


def last_layer_covariances(
    features: Array, probs: Array, prior_variance: float
) -> Array:
    """Laplace's covariance of each class's last-layer weights, the others held fixed.

    Σₖ = (Σₙ pₙₖ(1 − pₙₖ) φₙφₙᵀ + I/σ₀²)⁻¹: the diagonal blocks of the Hessian of the
    negative log joint, each inverted.

    Args:
        features: φ of the training data, with their ones, shape (N, H).
        probs: the network's probabilities of the training data, shape (N, K).
        prior_variance: σ₀².

    Returns:
        Shape (K, H, H).

    Source: Bishop (2006), equation 4.110; Daxberger et al. (2021), section 2.
    """
    hessians = jnp.einsum("nk,ni,nj->kij", probs * (1 - probs), features, features)
    return jnp.linalg.inv(hessians + jnp.eye(features.shape[1]) / prior_variance)


def last_layer_log_probs(features: Array, weights: Array, covariances: Array) -> Array:
    """Log-probabilities when the last layer's weights are Gaussian, without sampling.

    Logit k has the mean mₖ = φᵀwₖ and the variance vₖ = φᵀΣₖφ. Each mean is divided by
    √(1 + πvₖ/8), which is MacKay's formula for a sigmoid; then comes the softmax.

    Args:
        features: φ with their ones, shape (N, H).
        weights: the modes wₖ, shape (K, H).
        covariances: Σₖ, shape (K, H, H).

    Returns:
        Log-probabilities, shape (N, K).

    Source: MacKay (1992), section 2; Lu, Ie and Sha (2020).
    """
    # jnp.einsum("ni,kij,nj->nk", …) forms all quadratic forms at once.
    ### BEGIN SOLUTION
    mean = features @ weights.T
    variance = jnp.einsum("ni,kij,nj->nk", features, covariances, features)
    return jax.nn.log_softmax(mean / jnp.sqrt(1 + jnp.pi * variance / 8), axis=-1)
    ### END SOLUTION


# --- MIMO ----------------------------------------------------------------------------


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

    A share of the rows, ``repetition``, holds one datum M times, another one in every
    such row; in all others the members' data are shuffled independently. Which data
    are repeated is drawn anew with every key.

    Args:
        x: inputs, shape (N, D).
        targets: one-hot labels or numbers, N of them.
        members: M.
        repetition: the share of rows that hold one datum M times; round(repetition · N)
            of them, at most N.
        key: a JAX random key.

    Returns:
        Inputs, shape (N, M, D), and the targets that belong to them, shape (N, M, …).
        Each member sees each datum once.

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
        targets: N of them.
        members: M.
        repetition: as for ``mimo_inputs``.
        weight_decay: λ of ½λ‖θ‖², which is added to the loss.
        key: a JAX random key, for the orders.
        steps: how many steps.
        rate: the initial learning rate.

    Returns:
        Parameters, and the losses, shape (steps,).
    """
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
