"""Mistakes in the affine flow."""

from __future__ import annotations

from course.task import Misconception


def _affine(log_det, points=lambda z, shift, log_scale: shift + log_scale.exp() * z):
    def answer(z, shift, log_scale):
        return points(z, shift, log_scale), log_det(log_scale).expand(z.shape[:-1])

    return answer


AFFINE_MISTAKES = [
    Misconception(
        lambda z, shift, log_scale: (shift + log_scale.exp() * z, log_scale.sum()),
        "you return one log|det| for all points. The flows that follow return one for each point: expand it.",
    ),
    Misconception(
        _affine(lambda log_scale: -log_scale.sum()),
        "you flip the sign of log|det|: stretching space makes it positive.",
    ),
    Misconception(
        _affine(
            lambda log_scale: log_scale.abs().log().sum(),
            lambda z, shift, log_scale: shift + log_scale * z,
        ),
        "you use log_scale as if it were the scale. Exponentiate it.",
    ),
    Misconception(
        _affine(
            lambda log_scale: log_scale.sum(),
            lambda z, shift, log_scale: shift + log_scale * z,
        ),
        "you multiply z by log_scale. Exponentiate it: log|det| is right, the points are not.",
    ),
    Misconception(
        _affine(lambda log_scale: log_scale.exp().sum()),
        "you add the scales. The determinant is their product, so their logarithms are added.",
    ),
    Misconception(
        _affine(
            lambda log_scale: log_scale.sum(),
            lambda z, shift, log_scale: (shift + z) * log_scale.exp(),
        ),
        "you scale the shift as well: scale first, then shift.",
    ),
    Misconception(
        lambda z, shift, log_scale: (
            shift + log_scale.exp() * z,
            log_scale.expand_as(z),
        ),
        "you return a logarithm for each coordinate. The determinant multiplies the scales, so add their logarithms.",
    ),
    Misconception(
        _affine(lambda log_scale: log_scale.mean()),
        "you average the logarithms of the scales; add them.",
    ),
    Misconception(
        _affine(lambda log_scale: log_scale.sum().exp()),
        "you return the determinant; the task asks for its logarithm.",
    ),
    Misconception(
        _affine(
            lambda log_scale: -log_scale.sum(),
            lambda z, shift, log_scale: (z - shift) * (-log_scale).exp(),
        ),
        "you compute the inverse map.",
    ),
    Misconception(
        _affine(
            lambda log_scale: log_scale.sum(),
            lambda z, shift, log_scale: log_scale.exp() * z + 0 * shift,
        ),
        "you leave out the shift.",
    ),
    Misconception(
        _affine(lambda log_scale: log_scale.sum().detach()),
        "you detach log|det| (.detach(), .item() or no_grad): training then ignores how the flow changes volume.",
    ),
]
