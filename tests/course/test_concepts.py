"""A mistake that tasks of several practicals share gets the same sentence in each of them.

The answers are written as students write them, and not with the functions of the concepts.
"""

import math

import numpy as np
import pytest

from course.judge import Draw, answered
from course.task import find

TORCH = "import torch\nimport torch.nn.functional as F\n"
JAX = "import jax\nimport jax.numpy as jnp\n"
KL = """
def answer(mu, rho, prior_std):
    std = F.softplus(rho)
    return (torch.log(prior_std / std) + (std**2 + mu**2) / 2 * prior_std**2 - 0.5).sum()
"""
SIGMOID = """
def answer(mu, rho, *, generator):
    epsilon = torch.randn(mu.shape, generator=generator, dtype=mu.dtype)
    return mu + torch.sigmoid(rho) * epsilon
"""
INVERTED = "def answer(x, mean, covariance):\n    v = torch.einsum('ni,ij,nj->n', x, covariance, x)\n    return torch.sigmoid(x @ mean / torch.sqrt(1 + 8 / math.pi * v))"
INVERTED_OF_CLASSES = "def answer(features, weights, covariances):\n    v = jnp.einsum('ni,kij,nj->nk', features, covariances, features)\n    return jax.nn.log_softmax(features @ weights.T / jnp.sqrt(1 + 8 / math.pi * v))"
HALF = "def answer(mean, std, y):\n    return 0.5 * jnp.log(2 * jnp.pi) + 0.5 * jnp.log(std) + 0.5 * ((y - mean) / std) ** 2"
HALF_LOGS = "def answer(w, mu, rho):\n    std = F.softplus(rho)\n    return -0.5 * math.log(2 * math.pi) - 0.5 * torch.log(std) - 0.5 * ((w - mu) / std) ** 2"
HALF_OF_LOG = "def answer(y, mean, std):\n    z = jnp.log(y)\n    return -0.5 * jnp.log(2 * jnp.pi * std) - 0.5 * ((z - mean) / std) ** 2 - z"
SHARES = "from jax.scipy.special import xlogy\ndef answer(probs):\n    mean = probs.mean(0)\n    h = -xlogy(mean, mean).sum(-1) + xlogy(probs, probs).sum(-1).mean(0)\n    return h / jnp.log(probs.shape[-1])"
SHARES_OF_SCORES = "from scipy.special import entr\ndef answer(probs):\n    return (entr(probs.mean(0)).sum(-1) - entr(probs).sum(-1).mean(0)) / np.log(probs.shape[-1])"
NOISELESS = "def answer(means, spreads):\n    return means.mean(0), jnp.mean((means - means.mean(0)) ** 2, axis=0)"
LOGITS = "def answer(logits):\n    return jax.nn.logsumexp(logits, axis=0) - jnp.log(len(logits))"
LOGITS_OF_HEADS = "def answer(network, x, members):\n    logits = network(jnp.repeat(x[:, None], members, axis=1))\n    return jax.nn.logsumexp(logits, axis=1) - jnp.log(members)"
ONLY_KL = "def answer(nll, kl, n_data):\n    return 1.0 * kl"
ONLY_KLS = "def answer(log_probs, labels, kl):\n    return kl.mean(-1) + 0 * log_probs.sum((-2, -1))"

ROWS = [
    ("deep-ensembles/ensemble-log-probs", JAX + LOGITS, "log_softmax is missing"),
    ("which-method/mimo-log-probs", JAX + LOGITS_OF_HEADS, "log_softmax is missing"),
    ("warm-up/minibatch-objective", JAX + ONLY_KL, "leave out the NLL"),
    ("calibration-and-flows/negative-elbo", TORCH + ONLY_KLS, "leave out the NLL"),
    ("approximate-inference/gaussian-kl", TORCH + KL, "leave out the brackets"),
    ("bayes-by-backprop/gaussian-kl", TORCH + KL, "leave out the brackets"),
    (
        "approximate-inference/reparametrised-sample",
        TORCH + SIGMOID,
        "the sigmoid of ρ",
    ),
    ("bayes-by-backprop/sample-weights", TORCH + SIGMOID, "the sigmoid of ρ"),
    (
        "approximate-inference/probit-predictive",
        TORCH + INVERTED,
        "invert the factor π/8",
    ),
    (
        "which-method/last-layer-log-probs",
        JAX + INVERTED_OF_CLASSES,
        "invert the factor π/8",
    ),
    ("deep-ensembles/gaussian-nll", JAX + HALF, "halve the logarithm"),
    ("bayes-by-backprop/log-posterior", TORCH + HALF_LOGS, "halve the logarithm"),
    ("warm-up/log-normal-log-density", JAX + HALF_OF_LOG, "halve the logarithm"),
    ("deep-ensembles/knowledge-uncertainty", JAX + SHARES, "divide by log K"),
    ("acting-on-uncertainty/bald-scores", SHARES_OF_SCORES, "divide by log K"),
    ("deep-ensembles/gaussian-mixture-moments", JAX + NOISELESS, "own variances"),
    ("deep-ensembles/laplace-mixture-moments", JAX + NOISELESS, "own variances"),
]


@pytest.mark.parametrize(("id_", "source", "words"), ROWS)
def test_what_students_write_is_named_in_each_task(id_, source, words):
    names = {"math": math, "np": np}
    exec(source, names)
    task = find(id_)
    draw = Draw(task, task.cases(np.random.default_rng(11)))
    known = draw.recognise(answered(task, names["answer"], draw.cases))
    assert words in (known.hint if known else "")
