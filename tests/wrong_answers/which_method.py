"""Practical 5."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.stats
from jax.lax import stop_gradient
from jax.scipy.special import logsumexp
from sklearn.metrics import average_precision_score, roc_auc_score
from wrong_answers.deep_ensembles import of_graph

from solutions import which_method as right


def labelled(inside, outside):
    return np.r_[np.zeros(len(inside)), np.ones(len(outside))], np.r_[inside, outside]


def ranked_by_position(inside, outside):
    """Ranks of a sort: of two equal scores the later one counts as higher."""
    label, scores = labelled(inside, outside)
    ranks = scipy.stats.rankdata(scores, method="ordinal")[label == 1]
    below = ranks.sum() - len(outside) * (len(outside) + 1) / 2
    return float(below / len(inside) / len(outside))


def near_ties(inside, outside):
    above, equal = outside[:, None] > inside, np.isclose(outside[:, None], inside)
    return float((above & ~equal).mean() + 0.5 * equal.mean())


def on_a_grid(inside, outside):
    """A hundred thresholds, and steps in place of trapezia."""
    edges = np.linspace(min(inside.min(), outside.min()), outside.max(), 100)
    false = (inside[None] >= edges[:, None]).mean(1)
    true = (outside[None] >= edges[:, None]).mean(1)
    return float(np.sum(true[:-1] * -np.diff(false)))


def of_two_gaussians(inside, outside):
    gap = outside.mean() - inside.mean()
    return float(scipy.stats.norm.cdf(gap / np.hypot(inside.std(), outside.std())))


def interval_of(quantile, differences, *, ddof=1):
    half = quantile * np.std(differences, ddof=ddof) / np.sqrt(len(differences))
    mean = np.mean(differences)
    return float(mean), float(mean - half), float(mean + half)


def t_quantile(level, df):
    return scipy.stats.t.ppf((1 + level) / 2, df)


def median_difference(method, baseline, level):
    gaps = method - baseline
    _, low, high = right.difference_interval(method, baseline, level)
    return float(np.median(gaps)), low, high


def unpaired(method, baseline, level):
    test = scipy.stats.ttest_ind(method, baseline, equal_var=False)
    interval = test.confidence_interval(level)
    return float(np.mean(method - baseline)), *map(float, interval)


def bootstrapped(method, baseline, level):
    gaps = method - baseline
    found = scipy.stats.bootstrap(
        (gaps,), np.mean, confidence_level=level, n_resamples=999, rng=0
    )
    return float(gaps.mean()), *map(float, found.confidence_interval)


def sorted_pairs(method, baseline, level):
    return right.difference_interval(np.sort(method), np.sort(baseline), level)


def crps_of_clipped(mean, std, y):
    z = np.clip((y - mean) / std, -10, 10)
    return right.gaussian_crps(np.zeros_like(z), std, std * z)


def crps_of_logistic(mean, std, y):
    """A sigmoid that is taken for Φ."""
    z = (y - mean) / std
    cdf = scipy.stats.logistic.cdf(1.702 * z)
    spread = z * (2 * cdf - 1) + 2 * scipy.stats.norm.pdf(z)
    return std * (spread - 1 / np.sqrt(np.pi))


def crps_of_draws(mean, std, y):
    draws = np.random.default_rng(0).normal(mean, std, (2, 100_000, len(y)))
    return np.abs(draws[0] - y).mean(0) - 0.5 * np.abs(draws[0] - draws[1]).mean(0)


def tempered(variance_of, log=jax.nn.log_softmax):
    def answer(features, weights, covariances):
        variance = variance_of(features, covariances)
        return log(features @ weights.T / jnp.sqrt(1 + jnp.pi * variance / 8))

    return answer


def quadratic(features, covariances):
    return jnp.einsum("ni,kij,nj->nk", features, covariances, features)


def mixed(n, members, repetition, key, *, own=None):
    """Rows as the paper mixes them; ``own`` may replace the members' keys."""
    cut = n - round(repetition * n)
    main, *keys = jax.random.split(key, members + 1)
    order = jax.random.permutation(main, n)
    keys = keys if own is None else own(keys)
    front = jnp.stack([jax.random.permutation(key, order[:cut]) for key in keys], 1)
    return jnp.concatenate([front, jnp.stack([order[cut:]] * members, 1)])


def with_rows(rows_of, of_targets=lambda targets, rows: targets[rows]):
    def answer(x, targets, members, repetition, *, key):
        rows = rows_of(len(x), members, repetition, key)
        return x[rows], of_targets(targets, rows)

    return answer


def frozen(members):
    """The members' orders of the first call, over and over."""
    return list(jax.random.split(jax.random.key(0), len(members)))


def rolled(n, members, repetition, key):
    """Each member one place behind the one before."""
    cut = n - round(repetition * n)
    order = jax.random.permutation(key, n)
    front = jnp.stack([jnp.roll(order[:cut], m) for m in range(members)], 1)
    return jnp.concatenate([front, jnp.stack([order[cut:]] * members, 1)])


def first_member_in_order(n, members, repetition, key):
    rows = mixed(n, members, repetition, key)
    return rows[jnp.argsort(rows[:, 0])]


def repeated_at_random(n, members, repetition, key):
    """Each row is repeated with that probability, and overwrites what stood there."""
    coin, key = jax.random.split(key)
    rows = mixed(n, members, 0.0, key)
    again = jax.random.bernoulli(coin, repetition, (n, 1))
    return jnp.where(again, rows[:, :1], rows)


def column_of(targets, rows):
    """A column for each number, as if targets had classes."""
    return targets.reshape(len(targets), -1)[rows]


def of_loss(log_probs_of, weights=1.0):
    def answer(logits, targets):
        terms = targets * log_probs_of(logits)
        return -jnp.sum(weights * terms, axis=(1, 2)).mean()

    return answer


def normaliser_fixed(logits):
    return logits - stop_gradient(logsumexp(logits, axis=-1, keepdims=True))


def first_head_only(logits, targets):
    """The value of all heads, and the gradient of the first."""
    rest = stop_gradient(logits[:, 1:])
    return right.mimo_loss(jnp.concatenate([logits[:, :1], rest], 1), targets)


def first_row_only(logits, targets):
    rest = stop_gradient(logits[1:])
    return right.mimo_loss(jnp.concatenate([logits[:1], rest]), targets)


def clipped(logits):
    return jnp.maximum(jax.nn.log_softmax(logits), jnp.log(1e-12))


def with_epsilon(logits):
    return jnp.log(jax.nn.softmax(logits) + 1e-12)


def of_heads(vote):
    def answer(network, x, members):
        inputs = jnp.repeat(x[:, None], members, axis=1)
        return vote(network(inputs))

    return answer


def own_slot_only(network, x, members):
    """Head m is asked with x in its slot and nothing in the others."""
    votes = []
    for m in range(members):
        inputs = jnp.zeros((len(x), members, x.shape[1])).at[:, m].set(x)
        votes.append(jax.nn.log_softmax(network(inputs)[:, m]))
    return logsumexp(jnp.stack(votes), axis=0) - jnp.log(members)


def shifted_slots(network, x, members):
    """Data in another order in every slot, as in training."""
    inputs = jnp.stack([jnp.roll(x, m, axis=0) for m in range(members)], axis=1)
    votes = jax.nn.log_softmax(network(inputs))
    return logsumexp(votes, axis=1) - jnp.log(members)


def three_members(logits):
    return logsumexp(jax.nn.log_softmax(logits), axis=1) - jnp.log(3)


def voted(logits):
    return logsumexp(jax.nn.log_softmax(logits), axis=1) - jnp.log(logits.shape[1])


ANSWERS = {
    "ood_auroc": {
        "scores rounded to six decimals": lambda inside, outside: right.ood_auroc(
            np.round(inside, 6), np.round(outside, 6)
        ),
        "scores nearly equal are equal": near_ties,
        "ties are wins": lambda inside, outside: float(
            (outside[:, None] >= inside).mean()
        ),
        "ties by position": ranked_by_position,
        "never below one half": lambda inside, outside: max(
            roc_auc_score(*labelled(inside, outside)),
            roc_auc_score(*labelled(outside, inside)),
        ),
        "on a grid of thresholds": on_a_grid,
        "of two Gaussians": of_two_gaussians,
        "precision and recall": lambda inside, outside: float(
            average_precision_score(*labelled(inside, outside))
        ),
        "three digits": lambda inside, outside: round(
            right.ood_auroc(inside, outside), 3
        ),
    },
    "difference_interval": {
        "a Gaussian's quantile": lambda method, baseline, level: interval_of(
            scipy.stats.norm.ppf((1 + level) / 2), method - baseline
        ),
        "n for n − 1": lambda method, baseline, level: interval_of(
            t_quantile(level, len(method) - 1), method - baseline, ddof=0
        ),
        "degrees of freedom of two samples": lambda method, baseline, level: (
            interval_of(t_quantile(level, 2 * len(method) - 2), method - baseline)
        ),
        "always 95 %": lambda method, baseline, level: right.difference_interval(
            method, baseline, 0.95
        ),
        "the median": median_difference,
        "Welch": unpaired,
        "the bootstrap": bootstrapped,
        "sorted first": sorted_pairs,
        "always five runs": lambda method, baseline, level: interval_of(
            t_quantile(level, 4), method - baseline
        ),
    },
    "gaussian_crps": {
        "clipped": crps_of_clipped,
        "a logistic curve": crps_of_logistic,
        "of draws": crps_of_draws,
        "squeezed": lambda *case: np.squeeze(right.gaussian_crps(*case)),
        "a list": lambda *case: right.gaussian_crps(*case).tolist(),
        "their mean": lambda mean, std, y: right.gaussian_crps(mean, std, y).mean(),
        "every target with every mean": lambda mean, std, y: right.gaussian_crps(
            mean, std, y[:, None]
        ),
        "one spread for all": lambda mean, std, y: right.gaussian_crps(
            mean, np.mean(std), y
        ),
        "the distance only": lambda mean, std, y: (
            np.abs(y - mean) - std / np.sqrt(np.pi)
        ),
    },
    "last_layer_log_probs": {
        "clipped": tempered(quadratic, clipped),
        "a small number inside": tempered(quadratic, with_epsilon),
        "the diagonal only": tempered(
            lambda features, covariances: jnp.einsum(
                "ni,kii->nk", features**2, covariances
            )
        ),
        "the first class's covariance": tempered(
            lambda features, covariances: quadratic(features, covariances[:1])
        ),
        "without the bias": tempered(
            lambda features, covariances: quadratic(
                features[:, :-1], covariances[:, :-1, :-1]
            )
        ),
        "precisions for covariances": tempered(
            lambda features, covariances: quadratic(
                features, jnp.linalg.inv(covariances)
            )
        ),
        "variances of the mean datum": tempered(
            lambda features, covariances: quadratic(
                features.mean(0, keepdims=True), covariances
            )
        ),
        "a sigmoid for each class": tempered(quadratic, jax.nn.log_sigmoid),
        "the softmax runs over the data": tempered(
            quadratic, lambda logits: jax.nn.log_softmax(logits, axis=0)
        ),
    },
    "mimo_inputs": {
        "a frozen key": with_rows(
            lambda n, m, r, key: mixed(n, m, r, jax.random.key(0))
        ),
        "the members' keys are frozen": with_rows(
            lambda n, m, r, key: mixed(n, m, r, key, own=frozen)
        ),
        "one permutation for all members": with_rows(
            lambda n, m, r, key: mixed(n, m, r, key, own=lambda keys: keys[:1] * m)
        ),
        "one permutation for all but the first": with_rows(
            lambda n, m, r, key: mixed(
                n, m, r, key, own=lambda keys: keys[:1] + keys[1:2] * (m - 1)
            )
        ),
        "rolled": with_rows(rolled),
        "the first member in the old order": with_rows(first_member_in_order),
        "rounded up": with_rows(
            lambda n, m, r, key: mixed(n, m, np.ceil(n * r - 1e-9) / n, key)
        ),
        "repeated with a probability": with_rows(repeated_at_random),
        "a column of targets": with_rows(mixed, column_of),
        "targets of the last slot": with_rows(
            mixed,
            lambda targets, rows: targets[jnp.broadcast_to(rows[:, -1:], rows.shape)],
        ),
        "targets turned round": with_rows(
            mixed, lambda targets, rows: targets[rows[:, ::-1]]
        ),
    },
    "mimo_loss": of_graph(right.mimo_loss, "logits")
    | {
        "the normaliser is held fixed": of_loss(normaliser_fixed),
        "only the first head learns": first_head_only,
        "only the first row learns": first_row_only,
        "clipped": of_loss(clipped),
        "a small number inside": of_loss(with_epsilon),
        "the mean over heads": lambda logits, targets: (
            right.mimo_loss(logits, targets) / logits.shape[1]
        ),
        "one loss for each head": lambda logits, targets: (
            -((targets * jax.nn.log_softmax(logits)).sum(-1).mean(0))
        ),
        "of a temperature": of_loss(lambda logits: jax.nn.log_softmax(logits / 1.01)),
        "smoothed labels": lambda logits, targets: right.mimo_loss(
            logits, 0.99 * targets + 0.01 / targets.shape[-1]
        ),
    },
    "mimo_log_probs": {
        "the mean of logits": of_heads(
            lambda logits: jax.nn.log_softmax(logits.mean(1))
        ),
        "the mean of log-probabilities": of_heads(
            lambda logits: jax.nn.log_softmax(jax.nn.log_softmax(logits).mean(1))
        ),
        "the surest head": of_heads(
            lambda logits: jax.nn.log_softmax(jax.nn.log_softmax(logits).max(1))
        ),
        "logits are added unnormalised": of_heads(
            lambda logits: jax.nn.log_softmax(logsumexp(logits, axis=1))
        ),
        "clipped": of_heads(lambda logits: jnp.maximum(voted(logits), jnp.log(1e-12))),
        "a small number inside": of_heads(
            lambda logits: jnp.log(jax.nn.softmax(logits).mean(1) + 1e-12)
        ),
        "always three members": of_heads(three_members),
        "squeezed": lambda *case: jnp.squeeze(right.mimo_log_probs(*case)),
        "own slot only": own_slot_only,
        "another datum in each slot": shifted_slots,
        "the axis is kept": of_heads(lambda logits: voted(logits)[:, None]),
    },
}
