"""Mistakes in estimating a KL divergence from draws."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch.distributions import Normal

from course.checks.concepts_of_weights import wrong_stds
from course.task import Misconception


def _sampled(
    *,
    difference=lambda log_q, log_p: log_q - log_p,
    reduce=lambda terms, draws: terms.sum() / draws,
    noise_of=lambda generator: generator,
    draw_of=lambda w: w,
    std_of=F.softplus,
    at=lambda w, mu: w,
    p_at=lambda w, mu: w,
    shape_of=lambda draws, mu: (draws, *mu.shape),
    change=lambda noise: noise,
):
    def answer(mu, rho, log_prior, *, draws, generator):
        std = std_of(rho)
        shape, source = shape_of(draws, mu), noise_of(generator)
        noise = torch.randn(shape, generator=source, dtype=mu.dtype)
        w = draw_of(mu + std * change(noise))
        log_q = Normal(mu, std, validate_args=False).log_prob(at(w, mu))
        return reduce(difference(log_q, log_prior(p_at(w, mu))), draws)

    return answer


SAMPLED_KL_MISTAKES = [
    Misconception(
        _sampled(reduce=lambda terms, draws: terms.sum()),
        "you sum over the draws: the estimate then grows with their number. Divide by draws.",
    ),
    Misconception(
        _sampled(reduce=lambda terms, draws: terms.mean()),
        "you average over the weights too. Draws are averaged; weights are summed.",
    ),
    Misconception(
        _sampled(difference=lambda log_q, log_p: log_p - log_q),
        "you flip the sign: log p − log q has a negative mean.",
    ),
    Misconception(
        _sampled(noise_of=lambda generator: None),
        "you use the global random state instead of the generator: the estimate cannot be repeated.",
    ),
    Misconception(
        _sampled(noise_of=lambda generator: torch.Generator().manual_seed(0)),
        "you draw the noise with the same seed in every call, or use that of the first call again. Draw it anew in every "
        "call, from the generator that is passed in.",
    ),
    Misconception(
        _sampled(draw_of=torch.Tensor.detach),
        "you cut the draws out of the graph (.sample(), .detach() or no_grad): no gradient of −log p(w) then "
        "reaches µ and ρ.",
    ),
    Misconception(
        lambda *case, **options: _sampled()(*case, **options).abs(),
        "you take the absolute value of the estimate. The KL is never negative, but an estimate may be: without "
        "its sign, the estimate is too large on average.",
    ),
    Misconception(
        _sampled(difference=lambda log_q, log_p: -log_p),
        "you leave out log q(w): this is the cross-entropy of q and p.",
    ),
    Misconception(
        lambda *case, **options: _sampled()(*case, **options).clamp(min=0),
        "you clamp the estimate at 0. The KL is never negative, but an estimate may be: clamped, it is too large "
        "on average.",
    ),
    Misconception(
        _sampled(difference=lambda log_q, log_p: log_q),
        "you leave out log p(w): this is the negative entropy of q.",
    ),
    Misconception(
        _sampled(difference=lambda log_q, log_p: log_q + log_p),
        "you add log p(w); the estimate subtracts it.",
    ),
    Misconception(
        _sampled(difference=lambda log_q, log_p: log_q.exp() * (log_q - log_p)),
        "you weight each draw with its density q(w). The draws come from q already: take their plain mean.",
    ),
    Misconception(
        _sampled(at=lambda w, mu: mu.expand_as(w)),
        "you evaluate log q at its mean µ; evaluate it at the draw w, where log p is evaluated.",
    ),
    Misconception(
        _sampled(p_at=lambda w, mu: mu.expand_as(w)),
        "you evaluate log p at the mean µ; evaluate it at the draw w.",
    ),
    Misconception(
        _sampled(
            reduce=lambda terms, draws: terms.sum(),
            shape_of=lambda draws, mu: mu.shape,
        ),
        "you make one draw, whatever `draws` is.",
    ),
    Misconception(
        _sampled(shape_of=lambda draws, mu: (draws, *[1] * mu.ndim)),
        "you use one ε for all weights of a draw. Under q they are independent.",
    ),
    Misconception(
        _sampled(reduce=lambda terms, draws: terms.flatten(1).sum(1)),
        "you return one value for each draw; the task asks for their mean.",
    ),
    *wrong_stds(lambda std_of: _sampled(std_of=std_of)),
    Misconception(
        _sampled(change=lambda noise: noise - noise.mean()),
        "you subtract the mean of the noise of a call, or standardise it. Its ε are then not independent: with "
        "two draws of one weight, they cancel.",
    ),
]
