"""Practical 5."""

import math
import statistics
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import optax
import scipy.integrate
import scipy.special
import scipy.stats
from jax.scipy.special import logsumexp
from sklearn.metrics import auc, roc_auc_score, roc_curve


def labelled(inside, outside):
    return np.r_[np.zeros(len(inside)), np.ones(len(outside))], np.r_[inside, outside]


def auroc_by_ranks(inside, outside):
    ranks = scipy.stats.rankdata(np.r_[outside, inside])[: len(outside)]
    below = ranks.sum() - len(outside) * (len(outside) + 1) / 2
    return below / (len(inside) * len(outside))


def auroc_by_mann_whitney(inside, outside):
    count = scipy.stats.mannwhitneyu(outside, inside).statistic
    return count / len(inside) / len(outside)


def auroc_in_a_loop(inside, outside):
    total = 0.0
    for high in outside:
        for low in inside:
            total += 1.0 if high > low else 0.5 if high == low else 0.0
    return total / (len(inside) * len(outside))


def auroc_by_search(inside, outside):
    inside = np.sort(inside)
    places = [np.searchsorted(inside, outside, side) for side in ("left", "right")]
    return np.mean(places) / len(inside)


def auroc_in_jax(inside, outside):
    signs = jnp.sign(jnp.asarray(outside)[:, None] - jnp.asarray(inside))
    return 0.5 + 0.5 * jnp.mean(signs)


def auroc_of_curve(inside, outside):
    false, true, _ = roc_curve(*labelled(inside, outside))
    return auc(false, true)


def interval_of_t(method, baseline, level):
    gaps = method - baseline
    mean = gaps.mean()
    ends = scipy.stats.t.interval(
        level, len(gaps) - 1, loc=mean, scale=scipy.stats.sem(gaps)
    )
    return mean, *ends


def interval_of_test(method, baseline, level):
    interval = scipy.stats.ttest_1samp(method - baseline, 0).confidence_interval(level)
    return np.array([np.mean(method - baseline), interval.low, interval.high])


def interval_by_statistics(method, baseline, level):
    gaps = [float(a) - float(b) for a, b in zip(method, baseline, strict=True)]
    mean, spread = statistics.fmean(gaps), statistics.stdev(gaps)
    tail = scipy.stats.t.isf((1 - level) / 2, len(gaps) - 1)
    half = tail * spread / math.sqrt(len(gaps))
    return [mean, mean - half, mean + half]


def interval_in_single(method, baseline, level):
    gaps = jnp.asarray(method) - jnp.asarray(baseline)
    runs = len(gaps)
    tail = scipy.special.stdtrit(runs - 1, (1 + level) / 2)
    half = tail * jnp.std(gaps, ddof=1) / jnp.sqrt(runs)
    return gaps.mean(), gaps.mean() - half, gaps.mean() + half


def interval_by_covariance(method, baseline, level):
    """Var(method − baseline), from the pair's covariance matrix."""
    covariance = np.cov(method, baseline)
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    runs = len(method)
    half = scipy.stats.t.ppf(0.5 + level / 2, runs - 1) * np.sqrt(variance / runs)
    mean = np.mean(method) - np.mean(baseline)
    return mean, mean - half, mean + half


def crps_by_quadrature(mean, std, y):
    def score(mean, std, y):
        def missed(t):
            return (scipy.stats.norm.cdf(t, mean, std) - (t >= y)) ** 2

        edges = np.unique([min(mean, y), max(mean, y)])
        edges = np.r_[edges[0] - 12 * std, edges, edges[-1] + 12 * std]
        return sum(
            scipy.integrate.quad(missed, *pair, limit=200)[0]
            for pair in pairwise(edges)
        )

    return np.array([score(*row) for row in zip(mean, std, y, strict=True)])


def crps_by_erf(mean, std, y):
    z = (y - mean) / std
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    inner = z * scipy.special.erf(z / np.sqrt(2)) + 2 * density
    return std * (inner - np.pi**-0.5)


def crps_in_single(mean, std, y):
    mean, std, y = (jnp.asarray(array) for array in (mean, std, y))
    z = (y - mean) / std
    normal = jax.scipy.stats.norm
    return std * (z * (2 * normal.cdf(z) - 1) + 2 * normal.pdf(z) - jnp.pi**-0.5)


def crps_by_distances(mean, std, y):
    """E|Y − y| − ½ E|Y − Y'|, of folded Gaussians."""
    to_y = scipy.stats.foldnorm.mean(np.abs(y - mean) / std, scale=std)
    return to_y - 0.5 * scipy.stats.foldnorm.mean(0, scale=np.sqrt(2) * std)


def crps_in_a_loop(mean, std, y):
    normal = statistics.NormalDist()
    scores = []
    for m, s, target in zip(mean, std, y, strict=True):
        z = float((target - m) / s)
        inner = z * (2 * normal.cdf(z) - 1) + 2 * normal.pdf(z)
        scores.append(s * (inner - 1 / math.sqrt(math.pi)))
    return np.asarray(scores)


def last_layer_by_datum(features, weights, covariances):
    def logit(phi, weight, covariance):
        return phi @ weight / jnp.sqrt(1 + jnp.pi / 8 * (phi @ covariance @ phi))

    over_classes = jax.vmap(logit, in_axes=(None, 0, 0))
    logits = jax.vmap(over_classes, in_axes=(0, None, None))(
        features, weights, covariances
    )
    return logits - logsumexp(logits, axis=1, keepdims=True)


def last_layer_by_cholesky(features, weights, covariances):
    roots = jnp.linalg.cholesky(covariances)
    variance = jnp.sum((features @ roots) ** 2, axis=-1).T
    return jax.nn.log_softmax(
        features @ weights.T * jax.lax.rsqrt(1 + jnp.pi * variance / 8)
    )


def last_layer_in_a_loop(features, weights, covariances):
    columns = []
    for weight, covariance in zip(weights, covariances, strict=True):
        variance = jnp.diagonal(features @ covariance @ features.T)
        columns.append(features @ weight / jnp.sqrt(1 + np.pi * variance / 8))
    logits = jnp.stack(columns, axis=1)
    largest = logits.max(1, keepdims=True)
    total = jnp.exp(logits - largest).sum(1, keepdims=True)
    return logits - largest - jnp.log(total)


def last_layer_in_double(features, weights, covariances):
    features, weights, covariances = (
        np.asarray(array, np.float64) for array in (features, weights, covariances)
    )
    variance = ((features @ covariances) * features).sum(-1).T
    logits = features @ weights.T / np.sqrt(1 + np.pi * variance / 8)
    return scipy.special.log_softmax(logits, axis=1)


def inputs_by_independent(x, targets, members, repetition, *, key):
    """All orders at once, of one array."""
    n = len(x)
    cut = n - round(repetition * n)
    first, second = jax.random.split(key)
    rows = jnp.repeat(jax.random.permutation(first, n)[:, None], members, axis=1)
    front = jax.random.permutation(second, rows[:cut], axis=0, independent=True)
    rows = rows.at[:cut].set(front)
    return x[rows], targets[rows]


def inputs_by_vmap(x, targets, members, repetition, *, key):
    """The repeated rows come first; one key for each order, folded in."""
    n, repeated = len(x), round(repetition * len(x))
    order = jax.random.permutation(jax.random.fold_in(key, members), n)

    def row(member):
        own = jax.random.fold_in(key, member)
        mixed = jax.random.permutation(own, order[repeated:])
        return jnp.concatenate([order[:repeated], mixed])

    rows = jax.vmap(row)(jnp.arange(members)).T
    return jnp.take(x, rows, axis=0), jnp.take(targets, rows, axis=0)


def inputs_by_sorting(x, targets, members, repetition, *, key):
    """Orders of random numbers; the rows are shuffled once more in the end."""
    n = len(x)
    cut = n - round(repetition * n)
    keys = jax.random.split(key, 3)
    order = jnp.argsort(jax.random.uniform(keys[0], (n,)))
    front = jnp.argsort(jax.random.uniform(keys[1], (cut, members)), axis=0)
    back = jnp.tile(jnp.arange(cut, n)[:, None], (1, members))
    rows = order[jnp.concatenate([front, back])]
    rows = jax.random.permutation(keys[2], rows)
    return x[rows], targets[rows]


def inputs_member_by_member(x, targets, members, repetition, *, key):
    """The first member keeps the common order: it is random already."""
    n = len(x)
    cut = n - round(repetition * n)
    keys = jax.random.split(key, members)
    order = jax.random.choice(keys[0], n, (n,), replace=False)
    inputs, wanted = [x[order]], [targets[order]]
    for own in keys[1:]:
        rows = order.at[:cut].set(jax.random.permutation(own, order[:cut]))
        inputs.append(x[rows])
        wanted.append(targets[rows])
    return [jnp.stack(inputs, axis=1), jnp.stack(wanted, axis=1)]


def loss_by_heads(logits, targets):
    total = 0.0
    for m in range(logits.shape[1]):
        total = total + optax.softmax_cross_entropy(logits[:, m], targets[:, m]).mean()
    return total


def loss_by_labels(logits, targets):
    labels = targets.argmax(-1)
    each = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
    return each.sum(1).mean()


def loss_by_vmap(logits, targets):
    def datum(logits, targets):
        return logsumexp(logits, axis=-1).sum() - jnp.vdot(targets, logits)

    return jnp.mean(jax.vmap(datum)(logits, targets))


def loss_by_hand(logits, targets):
    shifted = logits - jax.lax.stop_gradient(logits.max(-1, keepdims=True))
    total = jnp.log(jnp.exp(shifted).sum(-1))
    return jnp.sum(total - (targets * shifted).sum(-1)) / len(logits)


def loss_of_distribution(logits, targets):
    log_probs = dist.Categorical(logits=logits).log_prob(targets.argmax(-1))
    return -log_probs.mean(0).sum()


def votes_in_turn(network, x, members):
    inputs = jnp.broadcast_to(x[:, None], (len(x), members, x.shape[-1]))
    votes = jax.nn.log_softmax(network(inputs))
    total = votes[:, 0]
    for m in range(1, members):
        total = jnp.logaddexp(total, votes[:, m])
    return total - np.log(members)


def votes_with_weights(network, x, members):
    logits = network(jnp.stack([x] * members, axis=1))
    votes = logits - logsumexp(logits, axis=-1, keepdims=True)
    return logsumexp(votes, axis=1, b=1 / members)


def votes_datum_by_datum(network, x, members):
    def forecast(datum):
        votes = jax.nn.log_softmax(network(jnp.tile(datum, (1, members, 1)))[0])
        return logsumexp(votes - jnp.log(members), axis=0)

    return jax.vmap(forecast)(x)


def votes_by_hand(network, x, members):
    votes = jax.nn.log_softmax(network(jnp.tile(x[:, None], (1, members, 1))), -1)
    largest = votes.max(1)
    return largest + jnp.log(jnp.exp(votes - largest[:, None]).mean(1))


ANSWERS = {
    "ood_auroc": {
        "scikit-learn": lambda inside, outside: roc_auc_score(
            *labelled(inside, outside)
        ),
        "the curve": auroc_of_curve,
        "ranks": auroc_by_ranks,
        "Mann and Whitney": auroc_by_mann_whitney,
        "in a loop": auroc_in_a_loop,
        "by search": auroc_by_search,
        "in single precision": auroc_in_jax,
    },
    "difference_interval": {
        "scipy.stats.t.interval": interval_of_t,
        "a test's interval": interval_of_test,
        "statistics": interval_by_statistics,
        "in single precision": interval_in_single,
        "the covariance": interval_by_covariance,
    },
    "gaussian_crps": {
        "quadrature": crps_by_quadrature,
        "erf": crps_by_erf,
        "in single precision": crps_in_single,
        "distances": crps_by_distances,
        "in a loop": crps_in_a_loop,
    },
    "last_layer_log_probs": {
        "vmap": last_layer_by_datum,
        "Cholesky factors": last_layer_by_cholesky,
        "in a loop": last_layer_in_a_loop,
        "in double precision": last_layer_in_double,
    },
    "mimo_inputs": {
        "independent": inputs_by_independent,
        "vmap": inputs_by_vmap,
        "by sorting": inputs_by_sorting,
        "member by member": inputs_member_by_member,
    },
    "mimo_loss": {
        "head by head": loss_by_heads,
        "integer labels": loss_by_labels,
        "vmap": loss_by_vmap,
        "by hand": loss_by_hand,
        "NumPyro": loss_of_distribution,
    },
    "mimo_log_probs": {
        "logaddexp": votes_in_turn,
        "weights": votes_with_weights,
        "datum by datum": votes_datum_by_datum,
        "by hand": votes_by_hand,
    },
}
