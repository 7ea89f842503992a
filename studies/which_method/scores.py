"""Scores of predictions: class probabilities, or mixtures of Gaussians."""

from __future__ import annotations

import numpy as np
import scipy.special
import scipy.stats
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

TINY = np.finfo(
    np.float32
).tiny  # class probabilities are clipped here to keep NLLs finite


def class_log_probs(logits: np.ndarray) -> np.ndarray:
    """log 1/S Σₛ softmax(logitsₛ) of S draws: (S, N, K) → (N, K)."""
    log_probs = scipy.special.log_softmax(np.asarray(logits, float), axis=-1)
    return scipy.special.logsumexp(log_probs, axis=0) - np.log(len(logits))


def mutual_information(logits: np.ndarray) -> np.ndarray:
    """Compute the mutual information of S draws, in nats, a measure of their disagreement.

    It is the entropy of the mean minus the mean of the entropies.
    """
    probs = scipy.special.softmax(np.asarray(logits, float), axis=-1)
    return np.maximum(entropy(probs.mean(0)) - entropy(probs).mean(0), 0)


def heads(outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Convert outputs (µ, ρ) to a mean and a standard deviation, as in practical 1."""
    outputs = np.asarray(outputs, float)
    return outputs[..., 0], np.logaddexp(0, outputs[..., 1]) + 1e-6


def mixture_nll(outputs: np.ndarray, y: np.ndarray) -> np.ndarray:
    """−log of a uniform mixture of S Gaussians at y: (S, N, 2), (N,) → (N,)."""
    density = scipy.stats.norm.logpdf(y, *heads(outputs))
    return np.log(len(outputs)) - scipy.special.logsumexp(density, axis=0)


def mixture_crps(outputs: np.ndarray, y: np.ndarray) -> np.ndarray:
    """CRPS of a uniform mixture of S Gaussians, E|Y − y| − ½ E|Y − Y'|: (N,).

    Source: Grimit et al. (2006), equation 5.
    """
    mean, std = heads(outputs)
    near = _mean_distance(y - mean, std).mean(0)
    apart = np.zeros(len(y))
    for one, spread in zip(mean, std, strict=True):
        apart += _mean_distance(mean - one, np.hypot(std, spread)).mean(0)
    return near - apart / (2 * len(mean))


def mixture_cdf(outputs: np.ndarray, y: np.ndarray) -> np.ndarray:
    """P(Y ≤ y) under a uniform mixture of S Gaussians: (N,)."""
    return scipy.stats.norm.cdf(y, *heads(outputs)).mean(0)


def nll(outputs: np.ndarray, y: np.ndarray, *, regression: bool) -> float:
    """Compute the mean NLL of S draws of outputs, (S, N, O); it is used to choose settings."""
    if regression:
        return float(mixture_nll(outputs, y).mean())
    return float(-class_log_probs(outputs)[np.arange(len(y)), y].mean())


def regression_scores(
    outputs: np.ndarray, y: np.ndarray, unit: float
) -> dict[str, float]:
    """Compute RMSE, NLL and CRPS in the targets' original unit, and 95% interval coverage."""
    mean, _ = heads(outputs)
    inside = np.abs(mixture_cdf(outputs, y) - 0.5) <= 0.475
    return {
        "RMSE": float(unit * np.sqrt(np.mean((mean.mean(0) - y) ** 2))),
        "NLL": float(mixture_nll(outputs, y).mean() + np.log(unit)),
        "CRPS": float(unit * mixture_crps(outputs, y).mean()),
        "coverage": float(inside.mean()),
    }


def class_scores(
    log_probs: np.ndarray, y: np.ndarray, log_probs_out: np.ndarray
) -> dict[str, float]:
    """Compute accuracy, NLL, Brier score, ECE, and the AUROC of the predictive entropy."""
    import torch

    from solutions.calibration_and_flows import brier_score, calibration_error

    probs = np.maximum(np.exp(log_probs), TINY)
    probs = probs / probs.sum(1, keepdims=True)
    pair = torch.tensor(probs), torch.tensor(y)
    return {
        "accuracy": float(accuracy_score(y, probs.argmax(1))),
        "NLL": float(log_loss(y, probs, labels=range(probs.shape[1]))),
        "Brier": float(brier_score(*pair)),
        "ECE": float(calibration_error(*pair)),
        "AUROC": auroc(entropy(np.exp(log_probs)), entropy(np.exp(log_probs_out))),
    }


def auroc(inside: np.ndarray, outside: np.ndarray) -> float:
    """Compute the AUROC of detecting OOD inputs by a score that is higher for them."""
    label = np.r_[np.zeros(len(inside)), np.ones(len(outside))]
    return float(roc_auc_score(label, np.r_[inside, outside]))


def entropy(probs: np.ndarray) -> np.ndarray:
    """Shannon entropy in nats: (…, K) → (…)."""
    return scipy.special.entr(probs).sum(-1)


def _mean_distance(mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """E|X| for X ~ N(mean, std²)."""
    z = mean / std
    normal = scipy.stats.norm
    return mean * (2 * normal.cdf(z) - 1) + 2 * std * normal.pdf(z)
