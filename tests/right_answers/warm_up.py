"""The warm-up."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import optax
from jax.scipy import stats
from jax.scipy.special import logsumexp

from solutions import warm_up as ref


def cross_entropy_less_entropy(log_p, log_q):
    p = jnp.exp(log_p)
    return -jnp.einsum("nk,nk->n", p, log_q) + (p * log_p).sum(-1)


def kl_of_logits(log_p, log_q):
    log_p, log_q = jax.nn.log_softmax(log_p), jax.nn.log_softmax(log_q)
    return (jnp.exp(log_p) * (log_p - log_q)).sum(-1)


def log_normal_by_hand(y, mean, std):
    z = (jnp.log(y) - mean) / std
    return -0.5 * np.log(2 * np.pi) - jnp.log(std * y) - z * z / 2


def log_normal_by_machine(y, mean, std):
    """The derivative of the inverse, taken by JAX."""
    slope = jax.vmap(jax.grad(jnp.log))(y)
    return stats.norm.logpdf(jnp.log(y), mean, std) + jnp.log(jnp.abs(slope))


def log_mean_exp_by_hand(log_probs):
    largest = jax.lax.stop_gradient(log_probs.max(0))
    return jnp.log(jnp.exp(log_probs - largest).mean(0)) + largest


def log_mean_exp_in_turn(log_probs):
    total = log_probs[0]
    for row in log_probs[1:]:
        total = jnp.logaddexp(total, row)
    return total - np.log(np.float32(len(log_probs)))


def curvature_in_a_loop(w, x, y):
    total = jnp.zeros((len(w), len(w)))
    for row in x:
        total = total + jnp.exp(row @ w) * jnp.outer(row, row)
    return total


def gradients_in_a_loop(loss, params, x, y):
    pairs = [
        jax.grad(loss, argnums=(0, 1))(params, *datum)
        for datum in zip(x, y, strict=True)
    ]
    by_params, by_x = zip(*pairs, strict=True)
    return jnp.stack(by_params), jnp.stack(by_x)


def gradients_by_jacobian(loss, params, x, y):
    losses = jax.vmap(loss, in_axes=(None, 0, 0))
    by_params = jax.jacrev(losses)(params, x, y)
    return by_params, jax.grad(lambda x: jnp.sum(losses(params, x, y)))(x)


def gradients_one_by_one(loss, params, x, y):
    by_params, by_x = (
        jax.vmap(jax.grad(loss, argnums), (None, 0, 0))(params, x, y)
        for argnums in (0, 1)
    )
    return [by_params, by_x]


@jax.custom_jvp
def rounded_by_rule(x):
    return jnp.floor(x + 0.5)


rounded_by_rule.defjvps(lambda tangent, answer, x: tangent)


ANSWERS = {
    "kl_categorical": {
        "optax": lambda log_p, log_q: optax.losses.kl_divergence_with_log_targets(
            log_q, log_p
        ),
        "cross-entropy less entropy": cross_entropy_less_entropy,
        "normalised again": kl_of_logits,
    },
    "log_normal_log_density": {
        "NumPyro": lambda y, mean, std: dist.LogNormal(mean, std).log_prob(y),
        "by hand": log_normal_by_hand,
        "the inverse's derivative": log_normal_by_machine,
    },
    "log_mean_exp": {
        "largest first": log_mean_exp_by_hand,
        "logaddexp": log_mean_exp_in_turn,
        "weights": lambda log_probs: logsumexp(log_probs, axis=0, b=1 / len(log_probs)),
    },
    "curvature": {
        "jax.hessian": jax.hessian(ref.poisson_nll),
        "in a loop": curvature_in_a_loop,
        "einsum": lambda w, x, y: jnp.einsum("n,ni,nj->ij", jnp.exp(x @ w), x, x),
    },
    "squared_errors": {
        "squeezed": lambda prediction, y: jnp.square(y - prediction.squeeze(-1)),
        "optax": lambda prediction, y: optax.squared_error(prediction.ravel(), y),
        "the diagonal": lambda prediction, y: jnp.diag((prediction - y) ** 2),
        "targets held fixed": lambda prediction, y: (
            (prediction[:, 0] - jax.lax.stop_gradient(y)) ** 2
        ),
    },
    "per_example_gradients": {
        "in a loop": gradients_in_a_loop,
        "jacrev": gradients_by_jacobian,
        "one after the other": gradients_one_by_one,
    },
    "rounded": {
        "a rule of its own": rounded_by_rule,
        "the other way round": lambda x: (
            jax.lax.stop_gradient(jnp.rint(x)) + (x - jax.lax.stop_gradient(x))
        ),
    },
    "minibatch_objective": {
        "the sum": lambda nll, kl, n_data: n_data / len(nll) * jnp.sum(nll) + kl,
        "a datum at a time": lambda nll, kl, n_data: jnp.mean(
            jnp.stack([n_data * each + kl for each in nll])
        ),
    },
    "weight_decay_of": {
        "an array": lambda prior_variance, n_data: (
            jnp.reciprocal(jnp.float32(prior_variance)) / n_data
        ),
        "the precision": lambda prior_variance, n_data: prior_variance**-1 / n_data,
    },
}
