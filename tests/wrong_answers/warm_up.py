"""The warm-up."""

import jax
import jax.numpy as jnp
from jax.lax import stop_gradient
from jax.scipy.special import entr, logsumexp
from jax.scipy.stats import norm
from wrong_answers.deep_ensembles import of_graph

from solutions import warm_up as right


def weights_fixed(log_p, log_q):
    return jnp.sum(stop_gradient(jnp.exp(log_p)) * (log_p - log_q), axis=-1)


def kl_of_clipped(log_p, log_q):
    p, q = (jnp.clip(jnp.exp(logs), 1e-12) for logs in (log_p, log_q))
    return jnp.sum(p * jnp.log(p / q), axis=-1)


def entropy_of_underflow(log_p, log_q):
    """SciPy's entropy knows what 0 log 0 is, and its gradient does not."""
    p = jnp.exp(log_p)
    return -jnp.sum(p * log_q, axis=-1) - jnp.sum(entr(p), axis=-1)


def determinant_fixed(y, mean, std):
    return norm.logpdf(jnp.log(y), mean, std) - stop_gradient(jnp.log(y))


def one_largest(log_probs):
    largest = jnp.max(log_probs)
    return largest + jnp.log(jnp.mean(jnp.exp(log_probs - largest), axis=0))


def largest_draw(log_probs):
    """The value of the mean, and the gradient of its largest term."""
    largest = jnp.max(log_probs, axis=0)
    return largest + stop_gradient(right.log_mean_exp(log_probs) - largest)


def of_known_loss(loss, params, x, y):
    """For the loss ½ (θ·x − y)², whatever loss is given."""
    residual = (x @ params - y)[:, None]
    return residual * x, residual * params


def shared_among_data(loss, params, x, y):
    """One vmap over the gradient of the mean."""
    by_params, by_x = right.per_example_gradients(loss, params, x, y)
    return jnp.broadcast_to(by_params.mean(0), by_params.shape), by_x


def clipped_rounded(x):
    """The straight-through estimator of a binary unit: no gradient beyond ±1."""
    inside = jnp.clip(x, -1, 1)
    return inside + stop_gradient(jnp.round(x) - inside)


@jax.custom_vjp
def deaf(x):
    """Its gradient is 1, whatever comes down the chain."""
    return jnp.round(x)


deaf.defvjp(lambda x: (jnp.round(x), None), lambda _, upstream: (1 + 0 * upstream,))


def mean_fixed(nll, kl, n_data):
    return n_data * stop_gradient(jnp.mean(nll)) + kl


def first_only(nll, kl, n_data):
    """The value of the whole minibatch, and the gradient of its first datum."""
    rest = stop_gradient(nll[1:])
    return n_data / len(nll) * (nll[0] + jnp.sum(rest)) + kl


def posterior_without_coupling(features, y, noise_std, prior_variance):
    """Right for orthogonal features: every weight on its own."""
    precision = jnp.diag(jnp.sum(features**2, 0) / noise_std**2 + 1 / prior_variance)
    return features.T @ y / noise_std**2 / jnp.diag(precision), precision


def predictive_by_diagonal(mean, precision, features, noise_std):
    return features @ mean, noise_std**2 + features**2 @ (1 / jnp.diag(precision))


def predictive_of_upper_factor(mean, precision, features, noise_std):
    """L in place of its transpose: right for diagonal precisions only."""
    factor = jnp.linalg.cholesky(precision)
    solved = jnp.linalg.solve(factor.T, features.T)
    return features @ mean, noise_std**2 + jnp.sum(solved**2, axis=0)


def evidence_with_jitter(features, y, noise_std, prior_variance):
    return right.log_evidence(
        features, y, jnp.sqrt(noise_std**2 + 1e-3), prior_variance
    )


def stationary(kernel, x, y, x_new, noise_std):
    """The prior variance of the first new input, for all."""
    mean, variance = right.gp_predictive(kernel, x, y, x_new, noise_std)
    prior = jnp.diag(kernel(x_new, x_new))
    return mean, variance - prior + prior[0]


def of_known_kernel(kernel, x, y, x_new, noise_std):
    def own(a, b):
        return right.squared_exponential(a, b, 1.0, 1.0)

    return right.gp_predictive(own, x, y, x_new, noise_std)


def student_as_gaussian(features, y, features_new, *, ratio, shape, rate):
    """The noise variance at its prior mean, b₀/a₀."""
    df, location, _ = right.student_t_predictive(
        features, y, features_new, ratio=ratio, shape=shape, rate=rate
    )
    noise = (rate / shape) ** 0.5
    posterior = right.weight_posterior(features, y, noise, ratio * noise**2)
    _, variance = right.linear_predictive(*posterior, features_new, noise)
    return df, location, jnp.sqrt(variance)


def log_normal_by_determinant(y, covariance):
    fit = y @ jnp.linalg.solve(covariance, y)
    return -0.5 * (
        fit + jnp.log(jnp.linalg.det(covariance)) + len(y) * jnp.log(2 * jnp.pi)
    )


def of_determinant(features, y, noise_std, prior_variance):
    gram = prior_variance * features @ features.T
    return log_normal_by_determinant(y, gram + noise_std**2 * jnp.eye(len(y)))


ANSWERS = {
    "kl_categorical": of_graph(right.kl_categorical, "log_p", "log_q")
    | {
        "the weights are held fixed": weights_fixed,
        "clipped": kl_of_clipped,
        "the entropy of probabilities": entropy_of_underflow,
    },
    "log_normal_log_density": of_graph(right.log_normal_log_density, "y", "mean", "std")
    | {
        "the determinant is held fixed": determinant_fixed,
        "a small number inside": lambda y, mean, std: right.log_normal_log_density(
            y + 1e-6, mean, std
        ),
        "cut off at 20σ": lambda y, mean, std: right.log_normal_log_density(
            jnp.minimum(y, jnp.exp(mean + 20 * std)), mean, std
        ),
    },
    "log_mean_exp": of_graph(right.log_mean_exp, "log_probs")
    | {
        "one largest number for all data": one_largest,
        "the gradient of the largest draw": largest_draw,
        "a small number inside": lambda log_probs: jnp.log(
            jnp.mean(jnp.exp(log_probs), axis=0) + 1e-12
        ),
        "clipped": lambda log_probs: right.log_mean_exp(jnp.clip(log_probs, -100)),
        "always 4 draws": lambda log_probs: logsumexp(log_probs, 0) - jnp.log(4),
        "always 5 draws": lambda log_probs: logsumexp(log_probs, 0) - jnp.log(5),
        "axis of the data": lambda log_probs: (
            logsumexp(log_probs.T, axis=0)[: log_probs.shape[1]]
            - jnp.log(log_probs.shape[1])
        ),
    },
    "curvature": {
        "one rate for all": lambda w, x, y: jnp.mean(jnp.exp(x @ w)) * (x.T @ x),
        "always 5 data": lambda w, x, y: right.curvature(w, x, y) * 5 / len(x),
        "clipped": lambda w, x, y: x.T @ (x * jnp.exp(jnp.clip(x @ w, -3, 3))[:, None]),
        "clipped at 20": lambda w, x, y: (
            x.T @ (x * jnp.exp(jnp.clip(x @ w, -20, 20))[:, None])
        ),
        "counts for rates": lambda w, x, y: (x * y[:, None]).T @ x,
    },
    "squared_errors": of_graph(right.squared_errors, "prediction"),
    "per_example_gradients": {
        "of a loss of its own": of_known_loss,
        "the same for all data": shared_among_data,
    },
    "rounded": of_graph(right.rounded, "x")
    | {
        "clipped": clipped_rounded,
        "deaf to what comes down": deaf,
        "halves to 0": lambda x: (
            x + stop_gradient(jnp.sign(x) * jnp.ceil(jnp.abs(x) - 0.5) - x)
        ),
        "halves away from 0": lambda x: (
            x + stop_gradient(jnp.sign(x) * jnp.floor(jnp.abs(x) + 0.5) - x)
        ),
        "through integers": lambda x: (
            x + stop_gradient(jnp.round(x).astype(jnp.int32).astype(x.dtype) - x)
        ),
        "truncated": lambda x: x + jax.lax.stop_gradient(jnp.trunc(x) - x),
    },
    "minibatch_objective": of_graph(right.minibatch_objective, "nll", "kl")
    | {
        "the mean is held fixed": mean_fixed,
        "only the first datum": first_only,
        "whole minibatches": lambda nll, kl, n_data: (
            n_data // len(nll) * jnp.sum(nll) + kl
        ),
    },
    "weight_posterior": {"no coupling of the weights": posterior_without_coupling},
    "linear_predictive": {
        "the diagonal alone": predictive_by_diagonal,
        "the factor transposed": predictive_of_upper_factor,
    },
    "fourier_features": of_graph(right.fourier_features, "frequencies", "phases"),
    "log_evidence": of_graph(right.log_evidence, "features")
    | {"a small number added": evidence_with_jitter, "a determinant": of_determinant},
    "gp_predictive": {
        "one prior variance for all": stationary,
        "a kernel of its own": of_known_kernel,
    },
    "gp_log_evidence": {
        "a determinant": lambda gram, y, noise_std: log_normal_by_determinant(
            y, gram + noise_std**2 * jnp.eye(len(y))
        ),
        "always 3 data points": lambda gram, y, noise_std: (
            right.gp_log_evidence(gram, y, noise_std)
            + (len(y) - 3) / 2 * jnp.log(2 * jnp.pi)
        ),
    },
    "student_t_predictive": {"the noise at its prior mean": student_as_gaussian},
}
