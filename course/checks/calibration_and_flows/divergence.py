"""Mistakes in the divergence of a flow's distribution from the prior."""

from __future__ import annotations

from course.task import Misconception


def _at(distribution, points):
    return distribution.log_prob(points).sum(-1)


FLOW_KL_MISTAKES = [
    Misconception(
        lambda base, prior, z0, z, log_det: -log_det,
        "you keep only −log|det J|. This drops log q₀(z₀) − log p(z_L), and with it everything that keeps the "
        "noise near the prior: a flow can make this as negative as it likes by expanding space.",
    ),
    Misconception(
        lambda base, prior, z0, z, log_det: _at(base, z0) + log_det - _at(prior, z),
        "you flip the sign of log|det J|. Where the flow stretches space, the density falls: log q(z_L) = log "
        "q₀(z₀) − log|det J|.",
    ),
    Misconception(
        lambda base, prior, z0, z, log_det: _at(base, z0) - log_det - _at(prior, z0),
        "you evaluate the prior at z₀. It is a distribution of the noise that the model uses, which is z_L.",
    ),
    Misconception(
        lambda base, prior, z0, z, log_det: _at(base, z) - log_det - _at(prior, z),
        "you evaluate the base density at z_L. By the change of variables it belongs at z₀.",
    ),
    Misconception(
        lambda base, prior, z0, z, log_det: (
            base.log_prob(z0) - log_det[..., None] - prior.log_prob(z)
        ),
        "you do not sum over the coordinates. The log-density of a point is the sum over its D coordinates.",
    ),
    Misconception(
        lambda base, prior, z0, z, log_det: _at(prior, z) - _at(base, z0) + log_det,
        "you swap q and p: the divergence has log q minus log p.",
    ),
    Misconception(
        lambda base, prior, z0, z, log_det: _at(base, z0) - log_det,
        "you leave out the prior: this is log q(z_L) alone.",
    ),
    Misconception(
        lambda base, prior, z0, z, log_det: -log_det - _at(prior, z),
        "you leave out the base density: log q(z_L) = log q₀(z₀) − log|det J|.",
    ),
    Misconception(
        lambda base, prior, z0, z, log_det: _at(base, z0) - _at(prior, z) + 0 * log_det,
        "you leave out log|det J|: log q(z_L) = log q₀(z₀) − log|det J|.",
    ),
    Misconception(
        lambda base, prior, z0, z, log_det: _at(prior, z0) - log_det - _at(base, z),
        "you mix up base and prior: q₀ is the base, at z₀, and p is the prior, at z_L.",
    ),
    Misconception(
        lambda base, prior, z0, z, log_det: _at(base, z0) - log_det + _at(prior, z),
        "you add the prior's log-density; the divergence has log q minus log p.",
    ),
    Misconception(
        lambda base, prior, z0, z, log_det: (
            base.log_prob(z0).mean(-1) - log_det - prior.log_prob(z).mean(-1)
        ),
        "you average over the coordinates. The log-density of a point is the sum over its D coordinates.",
    ),
    Misconception(
        lambda base, prior, z0, z, log_det: (
            base.log_prob(z0).sum() - log_det - prior.log_prob(z).sum()
        ),
        "you add up the log-densities of all points. Sum over the coordinates of each: .sum(-1).",
    ),
    Misconception(
        lambda base, prior, z0, z, log_det: (
            _at(base, z0) - log_det - _at(prior, z)
        ).mean(),
        "you average over the draws. Return one summand for each; the mean is taken later.",
    ),
    Misconception(
        lambda base, prior, z0, z, log_det: (
            _at(base, z0) - log_det - _at(prior, z)
        ).sum(),
        "you sum over the draws. Return one summand for each; the mean is taken later.",
    ),
    Misconception(
        lambda base, prior, z0, z, log_det: (
            (base.log_prob(z0) - prior.log_prob(z)).sum(-1) - z.shape[-1] * log_det
        ),
        "you subtract log|det J| once for each coordinate; subtract it once for each point.",
    ),
    Misconception(
        lambda base, prior, z0, z, log_det: (
            _at(base, z0) - log_det - _at(prior, z)
        ).detach(),
        "you detach the value (.detach(), .item() or no_grad): the flow then learns nothing from it.",
    ),
]
