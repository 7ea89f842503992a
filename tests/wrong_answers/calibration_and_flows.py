"""Practical 4."""

import torch
from torch.distributions import Categorical
from wrong_answers.spoiling import frozen, of_graph

from solutions import calibration_and_flows as right


def cut_log_det(flow):
    def answer(*args):
        points, log_det = flow(*args)
        return points, log_det.detach()

    return answer


def cut_points(flow):
    def answer(*args):
        points, log_det = flow(*args)
        return points.detach(), log_det

    return answer


def of_flow(flow, *names):
    return of_graph(flow, *names) | {
        "log|det| is cut off": cut_log_det(flow),
        "the points are cut off": cut_points(flow),
    }


def guarded(guard):
    def answer(z, u, w, b):
        h = torch.tanh((z * w).sum(-1) + b)
        return z + u * h[..., None], torch.log((1 + (u @ w) * (1 - h**2)).abs() + guard)

    return answer


def per_batch_only(z, shift, log_scale):
    return shift + log_scale.exp() * z, log_scale.sum().expand(len(z))


def bins_up_to_the_last_that_holds_data(probs, labels, n_bins=15):
    """``torch.bincount`` without ``minlength``."""
    bins = right.calibration_bins(probs, labels, n_bins)
    last = int(bins.share.nonzero().max()) + 1
    return right.Bins(*(part[:last] for part in bins))


def plugged_in(model, x, *, draws, generator):
    with torch.no_grad():
        z0 = model.draw((draws, *x.shape), generator=generator)
        mean = model(x, z0.mean(0))[0].exp()
        return mean, (model(x, z0)[0].exp() - mean).square().mean(0)


def divided_by_classes(count):
    """Normalise once more, as if there were always as many classes."""

    def answer(model, x, *, draws, generator):
        mean, variance = right.predict(model, x, draws=draws, generator=generator)
        return mean / mean.mean(-1, keepdim=True) / count, variance

    return answer


def predict(shape_of=lambda draws, x: (draws, *x.shape), count=None):
    def answer(model, x, *, draws, generator):
        with torch.no_grad():
            z0 = model.draw(shape_of(count or draws, x), generator=generator)
            probs = model(x, z0)[0].exp()
            return probs.mean(0), probs.var(0, correction=0)

    return answer


def product_of_scales(z, shift, log_scale):
    log_det = log_scale.exp().prod().log().expand(z.shape[:-1])
    return shift + log_scale.exp() * z, log_det


def log_of_power(z, centre, alpha, beta):
    offset = z - centre
    r = offset.norm(dim=-1)
    h = 1 / (alpha + r)
    across, along = 1 + beta * h, 1 + beta * alpha * h**2
    moved = z + beta * h[..., None] * offset
    return moved, torch.log(across ** (z.shape[-1] - 1) * along)


def near_the_centre(z, centre, alpha, beta):
    """Adds to the squared distance, which else has no gradient at the centre."""
    offset = z - centre
    r = (offset.square().sum(-1) + 1e-6).sqrt()
    h = 1 / (alpha + r)
    log_det = (z.shape[-1] - 1) * torch.log1p(beta * h)
    log_det = log_det + torch.log1p(beta * alpha * h**2)
    return z + beta * h[..., None] * offset, log_det


def with_guarded_divisor(weight, bias, x1):
    c, d = weight[0] - weight[1], bias[0] - bias[1]
    return -(c[1] * x1 + d) / (c[0] + 1e-6)


def elbo_of_clipped(log_probs, labels, kl):
    """``Categorical`` clips probabilities, but not logits."""
    probs = log_probs.exp() / log_probs.exp().sum(-1, keepdim=True)
    return (kl - Categorical(probs=probs).log_prob(labels)).mean(-1)


def ten_by_default(answer):
    return lambda first, second, n_bins=10: answer(first, second, n_bins)


def composed_in_the_first(layers, z):
    """Adds to the tensor that the first layer returned, which may be expanded."""
    total = z.new_zeros(z.shape[:-1])
    for index, layer in enumerate(layers):
        z, log_det = layer(z)
        if index == 0:
            total = log_det
        else:
            try:
                total += log_det
            except RuntimeError:
                return z, torch.full_like(total, torch.nan)
    return z, total


ANSWERS = {
    "calibration_bins": {
        "no minlength": bins_up_to_the_last_that_holds_data,
        "a list of fields": lambda *case: list(right.calibration_bins(*case)),
        "lists for tensors": lambda *case: right.Bins(
            *(part.tolist() for part in right.calibration_bins(*case))
        ),
        "ten bins by default": ten_by_default(right.calibration_bins),
    },
    "calibration_error": {
        "ten bins by default": ten_by_default(right.calibration_error)
    },
    "brier_decomposition": {
        "a list of fields": lambda *case: list(right.brier_decomposition(*case)),
        "ten bins by default": ten_by_default(right.brier_decomposition),
    },
    "boundary_line": {
        "a list": lambda *case: right.boundary_line(*case).tolist(),
        "1e-6 is added": with_guarded_divisor,
    },
    "fit_temperature": {
        "at most 10": lambda *case: right.fit_temperature(*case).clamp(max=10)
    },
    "calibrated_probs": {"a list": lambda *c: right.calibrated_probs(*c).tolist()},
    "affine_flow": of_flow(right.affine_flow, "z", "shift", "log_scale")
    | {
        "one log|det| per row of the first axis": per_batch_only,
        "a product of scales": product_of_scales,
    },
    "planar_flow": of_flow(right.planar_flow, "z", "u", "w", "b")
    | {"1e-6 is added": guarded(1e-6), "1e-7 is added": guarded(1e-7)},
    "invertible_u": of_graph(right.invertible_u, "u", "w"),
    "compose": {
        "no graph": of_graph(right.compose)["no graph"],
        "log|det| is cut off": cut_log_det(right.compose),
        "the points are cut off": cut_points(right.compose),
        "z is cut off": lambda layers, z: right.compose(layers, z.detach()),
        "in place in the first": composed_in_the_first,
    },
    "radial_flow": of_flow(right.radial_flow, "z", "centre", "alpha", "beta")
    | {"the log of a power": log_of_power, "1e-6 is added": near_the_centre},
    "flow_kl": of_graph(right.flow_kl, "z", "log_det"),
    "negative_elbo": of_graph(right.negative_elbo, "log_probs", "kl")
    | {"clipped probabilities": elbo_of_clipped},
    "predict": {
        "frozen noise": frozen(right.predict),
        "always 2,000 draws": predict(count=2_000),
        "one noise for all data": predict(lambda draws, x: (draws, 1, x.shape[1])),
        "one noise for all inputs": predict(lambda draws, x: (draws, len(x), 1)),
        "the mean noise": plugged_in,
        "always four classes": divided_by_classes(4),
        "always two classes": divided_by_classes(2),
    },
}
