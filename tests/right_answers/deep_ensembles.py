"""Practical 1."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import sympy
from jax.scipy import stats
from jax.scipy.special import entr, gammaln, logsumexp, rel_entr

from solutions import deep_ensembles as ref


def gaussian_expression(y, mu, sigma):
    density = sympy.exp(-(((y - mu) / sigma) ** 2) / 2) / sympy.sqrt(
        2 * sympy.pi * sigma**2
    )
    return -sympy.log(density)


def laplace_expression(y, mu, b):
    return -sympy.log(sympy.exp(-sympy.Abs(y - mu) / b) / (2 * b))


def student_t(location, scale, df, y):
    z2 = jnp.square((y - location) / scale)
    gammas = gammaln(df / 2) - gammaln((df + 1) / 2)
    return (
        gammas
        + jnp.log(jnp.sqrt(df * np.pi) * scale)
        + (df + 1) / 2 * jnp.log(1 + z2 / df)
    )


def heads_by_logaddexp(outputs):
    mean, rho = outputs.T
    return mean, jnp.logaddexp(rho, 0.0) + ref.MIN_SPREAD


def heads_by_cases(outputs):
    rho = outputs[..., 1]
    small = jnp.log1p(jnp.exp(jnp.minimum(rho, 20.0)))
    return outputs[..., 0], jnp.where(rho > 20.0, rho, small) + 1e-6


def fgsm(loss, params, x, y, epsilon):
    gradient = jax.grad(lambda inputs: loss(params, inputs, y))(x)
    step = jnp.where(gradient > 0, epsilon, jnp.where(gradient < 0, -epsilon, 0.0))
    return x + step


def adversarial_loss(loss, params, x, y, epsilon):
    moved = jax.lax.stop_gradient(fgsm(loss, params, x, y, epsilon))
    return jnp.mean(jnp.stack([loss(params, inputs, y) for inputs in (x, moved)]))


def adam(gradient, state, step, rate):
    first, second = state
    first = first + 0.1 * (gradient - first)
    second = second + 0.001 * (gradient**2 - second)
    t = step + 1
    root = jnp.sqrt(second / (1 - jnp.power(0.999, t)))
    update = -rate * first / (1 - jnp.power(0.9, t)) / (root + 1e-8)
    return update, ref.AdamState(first, second)


def moments(within):
    def answer(means, spreads):
        return means.mean(0), within(spreads).mean(0) + jnp.var(means, axis=0)

    return answer


def moments_by_differences(means, stds):
    mean = jnp.average(means, axis=0)
    return mean, jnp.average(stds**2 + (means - mean) ** 2, axis=0)


def knowledge(probs):
    return rel_entr(probs, probs.mean(0)).sum(-1).mean(0)


def entropy_by_cases(probs):
    safe = jnp.where(probs > 0, probs, 1.0)
    return -jnp.sum(probs * jnp.log(safe), axis=-1)


ANSWERS = {
    "gaussian_nll_expression": {"the density's logarithm": gaussian_expression},
    "laplace_nll_expression": {"the density's logarithm": laplace_expression},
    "gaussian_nll": {
        "jax.scipy": lambda mean, std, y: -stats.norm.logpdf(y, mean, std),
        "variances": lambda mean, std, y: (
            0.5 * (jnp.log(2 * jnp.pi * std**2) + (y - mean) ** 2 / std**2)
        ),
    },
    "laplace_nll": {
        "jax.scipy": lambda mean, scale, y: -stats.laplace.logpdf(y, mean, scale),
        "two logarithms": lambda mean, scale, y: (
            np.log(2) + jnp.log(scale) + jnp.abs((y - mean) / scale)
        ),
    },
    "categorical_nll": {
        "optax": optax.softmax_cross_entropy,
        "logsumexp": lambda logits, targets: (
            logsumexp(logits, axis=-1) - jnp.sum(targets * logits, axis=-1)
        ),
    },
    "student_t_nll": {
        "jax.scipy": lambda location, scale, df, y: (
            -stats.t.logpdf(y, df, location, scale)
        ),
        "by hand": student_t,
    },
    "heads": {"logaddexp": heads_by_logaddexp, "cases": heads_by_cases},
    "fgsm": {"where": fgsm},
    "adversarial_loss": {"constant inputs": adversarial_loss},
    "adam_step": {"differences": adam},
    "gaussian_mixture_moments": {
        "jnp.var": moments(jnp.square),
        "differences": moments_by_differences,
    },
    "laplace_mixture_moments": {"jnp.var": moments(lambda b: 2 * b**2)},
    "ensemble_log_probs": {
        "weights": lambda logits: logsumexp(
            jax.nn.log_softmax(logits), axis=0, b=1 / len(logits)
        ),
    },
    "entropy": {"entr": lambda probs: entr(probs).sum(-1), "cases": entropy_by_cases},
    "knowledge_uncertainty": {"mean divergence": knowledge},
}
