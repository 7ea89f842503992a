"""Practical 2, the tasks of its third lab."""

import math
from unittest import mock

import torch
from wrong_answers.spoiling import of_noise

from solutions import approximate_inference as right


def ggn_of_one_logit(network, w):
    """The curvature of the mean logit alone."""
    row = torch.func.jacrev(lambda w: network(w).mean())(w)
    p = torch.sigmoid(network(w))
    return (p * (1 - p)).sum() * torch.outer(row, row)


def ggn_with_labels(network, w):
    """The empirical Fisher matrix, for labels that are all 1."""
    jacobian, p = torch.func.jacrev(network)(w), torch.sigmoid(network(w))
    return (jacobian.T * (p - 1) ** 2) @ jacobian


def by_differences(answer, step):
    """Takes differences for the Jacobian."""

    def jacrev(network):
        def jacobian(w):
            moves = step * torch.eye(len(w), dtype=w.dtype)
            changes = [network(w + move) - network(w - move) for move in moves]
            return torch.stack(changes, dim=-1) / (2 * step)

        return jacobian

    def spoilt(*case):
        with mock.patch.object(torch.func, "jacrev", jacrev):
            return answer(*case)

    return {f"differences with steps of {step:g}": spoilt}


def variances_of_all(network, w, covariance):
    mean, variance = right.linearised_predictive(network, w, covariance)
    return mean, variance.mean().expand_as(variance)


def last_layer_of_new_features(features, w, prior_variance, new_features):
    return right.last_layer_laplace(new_features, w, prior_variance, new_features)


def network_evidence_of(weights):
    """The constants of so many weights, whatever D is."""

    def answer(nll, w, curvature, prior_variance):
        missing = 0.5 * (weights - len(w)) * math.log(2 * math.pi)
        return right.network_log_evidence(nll, w, curvature, prior_variance) + missing

    return answer


def network_evidence_of_clamped(nll, w, curvature, prior_variance):
    """Negative eigenvalues of the curvature become 0."""
    values, vectors = torch.linalg.eigh(curvature)
    clamped = (vectors * values.clamp(min=0.0)) @ vectors.T
    return right.network_log_evidence(nll, w, clamped, prior_variance)


def bootstrapped(x, y, noise_std, prior_std, draws, *, generator):
    rows = torch.randint(len(x), (draws, len(x)), generator=generator)
    anchors = torch.randn(draws, x.shape[1], dtype=x.dtype, generator=generator)
    prior = torch.eye(x.shape[1], dtype=x.dtype).expand(draws, -1, -1) / prior_std
    a = torch.cat([x[rows] / noise_std, prior], dim=1)
    b = torch.cat([y[rows] / noise_std, anchors], dim=1)
    return torch.linalg.lstsq(a, b[:, :, None]).solution[:, :, 0]


def one_noise_for_all_targets(x, y, noise_std, prior_std, draws, *, generator):
    shift = noise_std * torch.randn(1, draws, dtype=x.dtype, generator=generator)
    anchors = prior_std * torch.randn(
        x.shape[1], draws, dtype=x.dtype, generator=generator
    )
    precision = x.T @ x / noise_std**2 + torch.eye(x.shape[1]) / prior_std**2
    target = x.T @ (y[:, None] + shift.expand(len(x), -1)) / noise_std**2
    return torch.linalg.solve(precision, target + anchors / prior_std**2).T


def swag_of(rank_kept):
    def answer(weights, rank):
        mean, variance, deviations = right.swag_moments(weights, len(weights))
        return mean, variance, deviations[-rank_kept:]

    return answer


def two_cycles(step, steps, cycles, largest):
    return right.cyclical_step_size(step, steps, 2, largest)


ANSWERS = {
    "ggn": {
        "of the mean logit": ggn_of_one_logit,
        "the empirical Fisher matrix": ggn_with_labels,
        "halves": lambda network, w: right.ggn(network, w).half(),
        **by_differences(right.ggn, 1e-6),
        **by_differences(right.ggn, 1e-4),
        **by_differences(right.ggn, 1e-2),
    },
    "linearised_predictive": {
        "one variance for all": variances_of_all,
        **by_differences(right.linearised_predictive, 1e-6),
        **by_differences(right.linearised_predictive, 1e-4),
        "in another order": lambda *case: right.linearised_predictive(*case)[::-1],
    },
    "last_layer_laplace": {
        "no training features": last_layer_of_new_features,
        "in another order": lambda *case: right.last_layer_laplace(*case)[::-1],
    },
    "network_log_evidence": {
        f"always {d} weights": network_evidence_of(d) for d in (1, 2, 3)
    }
    | {"no negative eigenvalues": network_evidence_of_clamped},
    "randomised_map": of_noise(right.randomised_map)
    | {
        "bootstrap": bootstrapped,
        "one noise for all targets": one_noise_for_all_targets,
    },
    "swag_moments": {f"always {rank} deviations": swag_of(rank) for rank in (1, 2, 3)},
    "cyclical_step_size": {"always two cycles": two_cycles},
}
