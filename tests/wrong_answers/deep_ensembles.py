"""Practical 1."""

import inspect

import jax
import jax.numpy as jnp
from jax.lax import stop_gradient

from solutions import deep_ensembles as right


def of_graph(answer, *names):
    """Each of the named inputs held fixed."""
    order = list(inspect.signature(answer).parameters)

    def fixed(name):
        def spoilt(*args):
            args = list(args)
            index = order.index(name)
            args[index] = jax.tree.map(stop_gradient, args[index])
            return answer(*args)

        return spoilt

    return {f"{name} is held fixed": fixed(name) for name in names}


def mean_fixed(outputs):
    mean, spread = right.heads(outputs)
    return stop_gradient(mean), spread


def half_fixed(loss, params, x, y, epsilon):
    moved = right.fgsm(loss, params, x, y, epsilon)
    return 0.5 * (loss(stop_gradient(params), x, y) + loss(params, moved, y))


def always_a_step(loss, params, x, y, epsilon):
    gradient = jax.grad(loss, argnums=1)(params, x, y)
    return jnp.where(gradient > 0, x + epsilon, x - epsilon)


def only_clear_steps(loss, params, x, y, epsilon):
    """Takes small gradients for 0."""
    gradient = jax.grad(loss, argnums=1)(params, x, y)
    return x + epsilon * jnp.where(jnp.abs(gradient) > 1e-6, jnp.sign(gradient), 0)


def of_gammas(location, scale, df, y):
    """Takes the logarithm of gamma functions, which overflow."""
    gamma = jax.scipy.special.gamma
    z = (y - location) / scale
    return (
        jnp.log(gamma(df / 2) / gamma((df + 1) / 2) * scale)
        + 0.5 * jnp.log(df * jnp.pi)
        + (df + 1) / 2 * jnp.log1p(z**2 / df)
    )


def one_largest(logits, targets):
    shifted = logits - logits.max()
    return jnp.log(jnp.exp(shifted).sum(-1)) - (targets * shifted).sum(-1)


def entropy_of_certain_rows(probs):
    """Takes care of 0 log 0 where another class has the probability 1."""
    sums = -jnp.sum(probs * jnp.log(probs), axis=-1)
    return jnp.where(probs.max(axis=-1) == 1, 0.0, sums)


def sizes_of_differences(probs):
    gaps = right.entropy(probs.mean(0)) - right.entropy(probs)
    return jnp.abs(gaps).mean(0)


def moments_of(members, variance):
    """Sums over the members, divided by a number that should be M."""

    def answer(means, spreads):
        mean = means.sum(0) / members
        within = variance(spreads).sum(0) / members
        return mean, within + ((means - mean) ** 2).sum(0) / members

    return answer


def centred_on_all(means, stds):
    """Subtracts the mean of the whole array, and then squares."""
    centre = means.mean()
    mean = (means - centre).mean(0)
    return centre + mean, (stds**2 + (means - centre) ** 2).mean(0) - mean**2


def log_probs_of(members):
    def answer(logits):
        missing = jnp.log(len(logits) / members)
        return right.ensemble_log_probs(logits) + missing

    return answer


def knowledge_of(members):
    def answer(probs):
        total = right.entropy(probs.sum(0) / members)
        return total - right.entropy(probs).sum(0) / members

    return answer


def adam_of_one_mean(gradient, state, step, rate):
    """One running mean of squares for all parameters."""
    first = 0.9 * state.first + 0.1 * gradient
    second = 0.999 * state.second + 0.001 * jnp.mean(gradient**2)
    update = -rate * first / (1 - 0.9 ** (step + 1))
    update /= jnp.sqrt(second / (1 - 0.999 ** (step + 1))) + 1e-8
    return update, right.AdamState(first, second)


ANSWERS = {
    "gaussian_mixture_moments": {
        f"always {m} members": moments_of(m, jnp.square) for m in (3, 4)
    }
    | {"centred on the mean of all": centred_on_all},
    "laplace_mixture_moments": {
        f"always {m} members": moments_of(m, lambda b: 2 * b**2) for m in (3, 4)
    }
    | {
        "centred on the mean of all": lambda means, scales: centred_on_all(
            means, 2**0.5 * scales
        )
    },
    "ensemble_log_probs": {f"always {m} members": log_probs_of(m) for m in (2, 3, 4)},
    "knowledge_uncertainty": {f"always {m} members": knowledge_of(m) for m in (3, 4)}
    | {"sizes of differences": sizes_of_differences},
    "entropy": {
        "a list": lambda probs: right.entropy(probs).tolist(),
        "only certain rows are 0": entropy_of_certain_rows,
        "small probabilities are left out": lambda probs: right.entropy(
            jnp.where(probs > 1e-3, probs, 0.0)
        ),
    },
    "adam_step": {
        "one mean of squares for all": adam_of_one_mean,
        "clipped gradients": lambda gradient, *step: right.adam_step(
            jnp.clip(gradient, -10, 10), *step
        ),
        "a list for the state": lambda *step: [
            list(part) if isinstance(part, right.AdamState) else part
            for part in right.adam_step(*step)
        ],
    },
    "gaussian_nll": of_graph(right.gaussian_nll, "mean", "std"),
    "laplace_nll": of_graph(right.laplace_nll, "mean", "scale"),
    "categorical_nll": of_graph(right.categorical_nll, "logits")
    | {"one largest number for all data": one_largest},
    "student_t_nll": of_graph(right.student_t_nll, "location", "scale")
    | {"gamma functions": of_gammas},
    "heads": of_graph(right.heads, "outputs") | {"the mean is held fixed": mean_fixed},
    "fgsm": {
        "a step where the gradient is 0": always_a_step,
        "no step where it is small": only_clear_steps,
    },
    "adversarial_loss": of_graph(right.adversarial_loss, "params")
    | {"the clean loss is held fixed": half_fixed},
}
