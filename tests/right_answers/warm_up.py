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
    return jnp.rint(x)


rounded_by_rule.defjvps(lambda tangent, answer, x: tangent)


def posterior_by_svd(features, y, noise_std, prior_variance):
    u, s, vt = jnp.linalg.svd(features, full_matrices=False)
    shrunk = s / (s**2 + noise_std**2 / prior_variance)
    precision = vt.T @ jnp.diag(s**2) @ vt / noise_std**2
    return vt.T @ (shrunk * (u.T @ y)), precision + jnp.eye(len(precision)) / (
        prior_variance
    )


def posterior_one_by_one(features, y, noise_std, prior_variance):
    """Every posterior is the prior of the next data point."""
    precision = np.eye(features.shape[1]) / prior_variance
    total = np.zeros(features.shape[1])
    for row, target in zip(np.asarray(features), np.asarray(y), strict=True):
        precision = precision + np.outer(row, row) / noise_std**2
        total = total + row * target / noise_std**2
    return np.linalg.solve(precision, total), precision


def predictive_by_covariance(mean, precision, features, noise_std):
    covariance = jnp.linalg.inv(precision)
    spread = jnp.einsum("ni,ij,nj->n", features, covariance, features)
    return jnp.einsum("nd,d->n", features, mean), spread + noise_std * noise_std


def predictive_by_factor(mean, precision, features, noise_std):
    solved = jax.scipy.linalg.cho_solve(
        jax.scipy.linalg.cho_factor(precision), features.T
    )
    return features @ mean, jnp.diag(features @ solved) + jnp.float32(1) * noise_std**2


def evidence_by_numpyro(features, y, noise_std, prior_variance):
    covariance = prior_variance * features @ features.T
    covariance += jnp.diag(jnp.full(len(y), noise_std**2))
    return dist.MultivariateNormal(jnp.zeros(len(y)), covariance).log_prob(y)


def evidence_of_weights(features, y, noise_std, prior_variance):
    """Bishop's equation 3.86, in the space of the weights."""
    n, d = features.shape
    mean, precision = ref.weight_posterior(features, y, noise_std, prior_variance)
    error = jnp.sum((y - features @ mean) ** 2) / noise_std**2
    penalty = mean @ mean / prior_variance
    log_det = jnp.linalg.slogdet(precision)[1] + d * jnp.log(prior_variance)
    scale = n * jnp.log(2 * jnp.pi * noise_std**2)
    return -(error + penalty + log_det + scale) / 2


def evidence_in_turn(features, y, noise_std, prior_variance):
    """The product of the predictive densities of each target given those before it."""
    total = 0.0
    for n in range(len(y)):
        posterior = ref.weight_posterior(features[:n], y[:n], noise_std, prior_variance)
        mean, variance = ref.linear_predictive(
            *posterior, features[n : n + 1], noise_std
        )
        total += stats.norm.logpdf(y[n], mean[0], jnp.sqrt(variance[0]))
    return total


def student_by_kernel(features, y, features_new, *, ratio, shape, rate):
    gram = ratio * features @ features.T + jnp.eye(len(y))
    cross = ratio * features @ features_new.T
    solved = jnp.linalg.solve(gram, cross)
    variance = 1 + ratio * jnp.sum(features_new**2, 1) - jnp.sum(cross * solved, 0)
    df = 2 * shape + len(y)
    fit = y @ jnp.linalg.solve(gram, y)
    return jnp.asarray(df), solved.T @ y, jnp.sqrt((2 * rate + fit) / df * variance)


def fourier_by_products(x, frequencies, phases, length_scale):
    """By the addition theorem."""
    angles = x[:, None] / length_scale * frequencies
    waves = jnp.cos(angles) * jnp.cos(phases) - jnp.sin(angles) * jnp.sin(phases)
    return waves * (2 / frequencies.size) ** 0.5


def fourier_by_vmap(x, frequencies, phases, length_scale):
    def of_one(x):
        return jnp.cos(frequencies * x / length_scale + phases)

    return jax.vmap(of_one)(x) / jnp.sqrt(jnp.float32(len(phases))) * np.sqrt(2)


def gp_by_solve(kernel, x, y, x_new, noise_std):
    gram = kernel(x, x).at[jnp.diag_indices(len(x))].add(noise_std**2)
    cross = kernel(x_new, x)
    prior = jax.vmap(lambda at: kernel(at[None], at[None])[0, 0])(x_new)
    solved = jnp.linalg.solve(gram, cross.T)
    return cross @ jnp.linalg.solve(gram, y), prior + noise_std**2 - jnp.einsum(
        "mn,nm->m", cross, solved
    )


def gp_by_spectrum(kernel, x, y, x_new, noise_std):
    values, vectors = jnp.linalg.eigh(kernel(x, x))
    cross = vectors.T @ kernel(x, x_new)
    inverse = 1 / (values + noise_std**2)
    mean = cross.T @ (inverse * (vectors.T @ y))
    full = kernel(x_new, x_new) - cross.T @ (inverse[:, None] * cross)
    return mean, jnp.diagonal(full) + noise_std**2


def gp_evidence_by_spectrum(gram, y, noise_std):
    values, vectors = jnp.linalg.eigh(gram)
    return jnp.sum(stats.norm.logpdf(vectors.T @ y, 0, jnp.sqrt(values + noise_std**2)))


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
    "weight_posterior": {
        "singular values": posterior_by_svd,
        "a data point at a time": posterior_one_by_one,
    },
    "linear_predictive": {
        "the covariance": predictive_by_covariance,
        "cho_factor": predictive_by_factor,
    },
    "log_evidence": {
        "NumPyro": evidence_by_numpyro,
        "in the space of the weights": evidence_of_weights,
        "a target at a time": evidence_in_turn,
        "JAX's density": lambda features, y, noise_std, prior_variance: (
            stats.multivariate_normal.logpdf(
                y,
                jnp.zeros(len(y)),
                prior_variance * features @ features.T + noise_std**2 * jnp.eye(len(y)),
            )
        ),
    },
    "fourier_features": {
        "products": fourier_by_products,
        "vmap": fourier_by_vmap,
    },
    "gp_predictive": {
        "solve": gp_by_solve,
        "eigenvalues": gp_by_spectrum,
    },
    "gp_log_evidence": {
        "eigenvalues": gp_evidence_by_spectrum,
        "NumPyro": lambda gram, y, noise_std: dist.MultivariateNormal(
            0.0, gram + noise_std**2 * jnp.eye(len(y))
        ).log_prob(y),
    },
    "student_t_predictive": {
        "the kernel": student_by_kernel,
    },
}
