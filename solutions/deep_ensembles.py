"""Practical 1: deep ensembles (Lakshminarayanan, Pritzel and Blundell, 2017), in JAX.

Shapes: N data, D inputs, K classes, M members of an ensemble. Every density is a
density of one datum; a loss is a mean over the N data of a batch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
import sympy
from jax import Array
from jax.scipy.special import gammaln, logsumexp, xlogy
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

MIN_SPREAD = 1e-6  # keeps every division and logarithm below finite

Params = list[tuple[Array, Array]]
Loss = Callable[[Params, Array, Array], Array]


# --- Likelihoods ---------------------------------------------------------------------


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

    Source: Murphy, Probabilistic Machine Learning: An Introduction (2022), section 2.7.1.
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


# --- Networks ------------------------------------------------------------------------


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

    Within, a datum is a column, h = relu(Wᵀh + b): in this layout the matrix products
    that make the gradient read memory in order, and a training step costs less.

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


# --- Losses --------------------------------------------------------------------------


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
    """The mean categorical NLL of a batch."""
    return jnp.mean(categorical_nll(mlp(params, x), y))


def fgsm(loss: Loss, params: Params, x: Array, y: Array, epsilon: float) -> Array:
    """Move every input by ε where it raises the loss: x' = x + ε sign(∇ₓ ℓ(θ, x, y)).

    Args:
        loss: ``loss(params, x, y)``, a scalar.
        params: the parameters θ, which stay as they are.
        x: inputs, shape (N, D).
        y: targets, N of them.
        epsilon: how far each coordinate moves.

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


def quick_adversarial_loss(loss: Loss, epsilon: float) -> Loss:
    """``adversarial_loss`` for training: the same value and gradient, one pass less.

    The backward pass that finds ∇ₓ ℓ meets ∇_θ ℓ on its way. JAX would go that way
    twice, because ``adversarial_loss`` asks for the two at different times; here both
    are taken at once, and kept until the gradient is asked for.

    Args:
        loss: ``loss(params, x, y)``, a scalar.
        epsilon: the size of the perturbation.

    Returns:
        The adversarial loss, a function of (params, x, y) to differentiate by params.
    """

    def value_and_gradient(params, x, y):
        clean, (along_params, along_x) = jax.value_and_grad(loss, argnums=(0, 1))(
            params, x, y
        )
        x_adversarial = x + epsilon * jnp.sign(along_x)
        moved, gradient = jax.value_and_grad(loss)(params, x_adversarial, y)
        mean = jax.tree.map(lambda a, b: 0.5 * (a + b), along_params, gradient)
        return 0.5 * (clean + moved), mean

    @jax.custom_vjp
    def quick(params, x, y):
        return adversarial_loss(loss, params, x, y, epsilon)

    def backward(gradient, cotangent):
        return jax.tree.map(lambda g: cotangent * g, gradient), None, None

    quick.defvjp(value_and_gradient, backward)
    return quick


def weight_decay(params: Params, strength: float) -> Array:
    """½λ‖θ‖²: the squared norm, so that its gradient is λθ."""
    return 0.5 * strength * sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(params))


# --- Training ------------------------------------------------------------------------


class AdamState(NamedTuple):
    """Adam's running means of the gradient and of its square."""

    first: Array
    second: Array


def hurried_adam_step(
    gradient: Array, state: AdamState, step: int, rate: float
) -> tuple[Array, AdamState]:
    """An Adam step with a mistake in it, one that a hurried colleague made.

    Args:
        gradient: the gradient g at this step.
        state: the running means after the last step; zeros before the first.
        step: the number of this step, 0 for the first.
        rate: the learning rate.

    Returns:
        What is added to the parameter, and the new state.
    """
    first = 0.9 * state.first + 0.1 * gradient
    second = 0.999 * state.second + 0.001 * gradient**2
    corrected_first = first / (1 - 0.9)
    corrected_second = second / (1 - 0.999)
    update = -rate * corrected_first / (jnp.sqrt(corrected_second) + 1e-8)
    return update, AdamState(first, second)


def adam_step(
    gradient: Array, state: AdamState, step: int, rate: float
) -> tuple[Array, AdamState]:
    """One step of Adam, with β₁ = 0.9, β₂ = 0.999 and ε = 1e-8.

    Args:
        gradient: the gradient g at this step.
        state: the running means after the last step; zeros before the first.
        step: the number of this step, 0 for the first.
        rate: the learning rate.

    Returns:
        What is added to the parameter, and the new state.

    Source: Kingma and Ba (2015), algorithm 1.
    """
    # Start from hurried_adam_step and mend it: one idea is missing, in two places.
    ### BEGIN SOLUTION
    first = 0.9 * state.first + 0.1 * gradient
    second = 0.999 * state.second + 0.001 * gradient**2
    corrected_first = first / (1 - 0.9 ** (step + 1))
    corrected_second = second / (1 - 0.999 ** (step + 1))
    update = -rate * corrected_first / (jnp.sqrt(corrected_second) + 1e-8)
    return update, AdamState(first, second)
    ### END SOLUTION


class Fit(NamedTuple):
    """A trained ensemble, the member axis first.

    ``history`` holds the parameters after every ``every`` steps, (M, steps // every, …).
    """

    params: Params
    losses: Array
    history: Params


@partial(
    jax.jit,
    static_argnames=(
        "loss",
        "steps",
        "rate",
        "batch_size",
        "bootstrap",
        "every",
        "in_turn",
        "mesh",
    ),
)
def train_ensemble(
    loss: Loss,
    params: Params,
    x: Array,
    y: Array,
    *,
    key: Array,
    steps: int,
    rate: float,
    batch_size: int | None = None,
    bootstrap: bool = False,
    every: int | None = None,
    in_turn: bool = False,
    mesh: Mesh | None = None,
) -> Fit:
    """Train the members of an ensemble independently, as one compiled program.

    Adam with a cosine schedule; ``lax.scan`` over the steps. Small members are trained
    side by side (``vmap``); where one member fills the processor's cache, one after the
    other is faster.

    Args:
        loss: ``loss(params, x, y)``, a scalar, for one member.
        params: the members' initial parameters, the member axis first.
        x: inputs, shape (N, D).
        y: targets, N of them.
        key: a JAX random key, for minibatches and bootstrap.
        steps: how many steps.
        rate: the initial learning rate.
        batch_size: how many data each step sees; None for all N.
        bootstrap: give every member its own resample of the data, with replacement.
        every: record the parameters after every so many steps; None for the end only.
        in_turn: train the members one after the other.
        mesh: devices to spread the members over, along an axis named ``member``.

    Returns:
        Parameters, losses of shape (M, steps), and the recorded parameters.

    Raises:
        ValueError: ``every`` does not divide ``steps``.

    Source: Lakshminarayanan et al. (2017), algorithm 1.
    """
    # flatten: one update of one long vector, compiled and run faster than one per layer
    optimiser = optax.flatten(optax.adam(optax.cosine_decay_schedule(rate, steps)))
    every = every or steps
    if steps % every:
        raise ValueError(f"every = {every} does not divide steps = {steps}")
    n = len(x)

    def train_one(params: Params, key: Array) -> Fit:
        data_key, batch_key = jax.random.split(key)
        rows = jax.random.randint(data_key, (n,), 0, n) if bootstrap else jnp.arange(n)
        x_own, y_own = x[rows], y[rows]

        def step(carry, batch):
            params, state = carry
            x_batch, y_batch = x_own, y_own
            if batch_size is not None:
                x_batch, y_batch = x_own[batch], y_own[batch]
            value, gradient = jax.value_and_grad(loss)(params, x_batch, y_batch)
            updates, state = optimiser.update(gradient, state, params)
            return (optax.apply_updates(params, updates), state), value

        def stretch(carry, batches):
            carry, values = jax.lax.scan(step, carry, batches)
            return carry, (values, carry[0])

        shape = (steps // every, every, batch_size or 0)
        batches = jax.random.randint(batch_key, shape, 0, n)
        carry = (params, optimiser.init(params))
        (params, _), (losses, history) = jax.lax.scan(
            stretch, carry, batches, unroll=steps == every
        )
        return Fit(params, losses.reshape(-1), history)

    def train_all(params: Params, keys: Array) -> Fit:
        if in_turn:
            return jax.lax.map(lambda member: train_one(*member), (params, keys))
        return jax.vmap(train_one)(params, keys)

    if mesh is not None:
        train_all = jax.shard_map(
            train_all, mesh=mesh, in_specs=P("member"), out_specs=P("member")
        )
    members = len(jax.tree.leaves(params)[0])
    return train_all(params, jax.random.split(key, members))


# --- Predictions ---------------------------------------------------------------------


def gaussian_mixture_moments(means: Array, stds: Array) -> tuple[Array, Array]:
    """Mean and variance of a uniform mixture of M Gaussians.

    Args:
        means: the members' means µₘ, shape (M, N).
        stds: the members' standard deviations σₘ, shape (M, N).

    Returns:
        The mixture's mean, shape (N,), and its variance, shape (N,).

    Source: Lakshminarayanan et al. (2017), section 2.4.
    """
    # Means of a thousand and spreads of a hundredth are allowed: what is E[y²] − E[y]² then?
    ### BEGIN SOLUTION
    mean = jnp.mean(means, axis=0)
    within = jnp.mean(stds**2, axis=0)
    between = jnp.mean((means - mean) ** 2, axis=0)
    return mean, within + between
    ### END SOLUTION


def laplace_mixture_moments(means: Array, scales: Array) -> tuple[Array, Array]:
    """Mean and variance of a uniform mixture of M Laplace distributions.

    Args:
        means: the members' means µₘ, shape (M, N).
        scales: the members' scales bₘ, shape (M, N).

    Returns:
        The mixture's mean, shape (N,), and its variance, shape (N,).
    """
    ### BEGIN SOLUTION
    mean = jnp.mean(means, axis=0)
    within = jnp.mean(2 * scales**2, axis=0)
    between = jnp.mean((means - mean) ** 2, axis=0)
    return mean, within + between
    ### END SOLUTION


def ensemble_log_probs(logits: Array) -> Array:
    """The log-probabilities of a uniform mixture of M categorical distributions.

    Args:
        logits: the members' logits, shape (M, N, K).

    Returns:
        log(1/M Σₘ pₘ(y | x)), shape (N, K).

    Source: Lakshminarayanan et al. (2017), section 2.4.
    """
    # logsumexp adds probabilities that are given by their logarithms.
    ### BEGIN SOLUTION
    members = logits.shape[0]
    log_probs = jax.nn.log_softmax(logits, axis=-1)
    return logsumexp(log_probs, axis=0) - jnp.log(members)
    ### END SOLUTION


def entropy(probs: Array) -> Array:
    """Shannon entropy H(p) = −Σₖ pₖ log pₖ, in nats.

    Args:
        probs: probabilities, shape (…, K); zeros are allowed.

    Returns:
        Entropies, shape (…).

    Source: Shannon (1948), section 6.
    """
    # What is 0 log 0? Look at jax.scipy.special.xlogy.
    ### BEGIN SOLUTION
    return -jnp.sum(xlogy(probs, probs), axis=-1)
    ### END SOLUTION


def knowledge_uncertainty(probs: Array) -> Array:
    """How far the members disagree: their multi-distribution Jensen–Shannon divergence, in nats.

    Args:
        probs: the members' probabilities, shape (M, N, K).

    Returns:
        H(1/M Σₘ pₘ) − 1/M Σₘ H(pₘ), shape (N,): total less data uncertainty.

    Source: Malinin, Mlodozeniec and Gales (2020), equation 4.
    """
    ### BEGIN SOLUTION
    total = entropy(jnp.mean(probs, axis=0))
    data = jnp.mean(entropy(probs), axis=0)
    return total - data
    ### END SOLUTION
