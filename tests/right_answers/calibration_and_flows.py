"""Practical 4. Plain numbers become tensors of the default dtype, as they do in a student's cell."""

import math

import torch
import torch.nn.functional as F
from torch.distributions import Independent
from torch.distributions.transforms import AffineTransform

from solutions import calibration_and_flows as ref


def single(number):
    return torch.tensor(float(number))


def bins_in_a_loop(probs, labels, n_bins=15):
    confidence, predicted = probs.max(dim=1)
    index = (confidence * n_bins).long().clamp(max=n_bins - 1)
    rows = []
    for b in range(n_bins):
        here = index == b
        if not here.any():
            rows.append(torch.zeros(3))
            continue
        correct = (predicted == labels)[here].float().mean()
        rows.append(
            torch.stack([here.float().mean(), confidence[here].mean(), correct])
        )
    return ref.Bins(*torch.stack(rows).T)


def bins_in_single_precision(probs, labels, n_bins=15):
    confidence, predicted = probs.float().max(-1)
    index = (
        torch.bucketize(confidence, torch.linspace(0, 1, n_bins + 1), right=True) - 1
    )
    index = index.clamp(0, n_bins - 1)
    count = torch.bincount(index, minlength=n_bins)
    least = count.clamp(min=1)
    correct = (predicted == labels).float()
    return ref.Bins(
        count / len(labels),
        torch.bincount(index, confidence, n_bins) / least,
        torch.bincount(index, correct, n_bins) / least,
    )


def error_of(bins):
    def answer(probs, labels, n_bins=15):
        share, confidence, accuracy = bins(probs, labels, n_bins)
        return share @ (accuracy - confidence).abs().to(share.dtype)

    return answer


def brier_in_a_loop(forecast, outcome, n_bins=15):
    index = (forecast * n_bins).long().clamp(max=n_bins - 1)
    outcome = outcome.float()
    overall, reliability, resolution = outcome.mean(), 0.0, 0.0
    for b in index.unique():
        here = index == b
        weight, o = here.float().mean(), outcome[here].mean()
        reliability = reliability + weight * (forecast[here].mean() - o) ** 2
        resolution = resolution + weight * (o - overall) ** 2
    return ref.BrierParts(reliability, resolution, overall * (1 - overall))


def line_into_single_precision(weight, bias, x1):
    c, d = weight[1] - weight[0], bias[1] - bias[0]
    x0 = torch.zeros(len(x1))
    for i, one in enumerate(x1):
        x0[i] = (-d - c[1] * one) / c[0]
    return x0


def line_by_solve(weight, bias, x1):
    c, d = weight[0] - weight[1], bias[0] - bias[1]
    return torch.stack([-(d + one * c[1]) / c[0] for one in x1])


def temperature_by_newton(logits, labels):
    log_t = torch.zeros((), dtype=torch.float64, requires_grad=True)
    for _ in range(60):
        loss = F.cross_entropy(logits / log_t.exp(), labels)
        (slope,) = torch.autograd.grad(loss, log_t, create_graph=True)
        (curvature,) = torch.autograd.grad(slope, log_t)
        step = slope / curvature.abs().clamp(min=1e-3)
        log_t = (log_t - step.clamp(-0.5, 0.5)).detach().requires_grad_()
    return log_t.exp().item()


def temperature_by_golden_section(logits, labels):
    low, high = -4.0, 4.0
    for _ in range(60):
        one, two = low + 0.382 * (high - low), low + 0.618 * (high - low)
        if F.cross_entropy(logits / math.exp(one), labels) < F.cross_entropy(
            logits / math.exp(two), labels
        ):
            high = two
        else:
            low = one
    return torch.tensor(math.exp((low + high) / 2))


def calibrated(training, held_out, logits):
    temperature = temperature_by_golden_section(*held_out)
    return torch.log_softmax(logits / temperature, -1).exp()


def affine_by_transform(z, shift, log_scale):
    points = torch.addcmul(shift, z, torch.exp(log_scale))
    return points, torch.ones_like(z[..., 0]) * torch.sum(log_scale)


def affine_by_distributions(z, shift, log_scale):
    transform = AffineTransform(shift, log_scale.exp(), event_dim=1)
    points = transform(z)
    return points, transform.log_abs_det_jacobian(z, points).expand(z.shape[:-1])


def affine_by_ones(z, shift, log_scale):
    return z * log_scale.exp() + shift, log_scale.sum() * torch.ones(z.shape[:-1])


def planar_by_determinant(z, u, w, b):
    h = torch.tanh(z @ w + b)[..., None]
    jacobian = torch.eye(len(u)) + u[:, None] * ((1 - h**2) * w)[..., None, :]
    return z + u * h, torch.linalg.slogdet(jacobian).logabsdet


def planar(z, u, w, b):
    h = torch.tanh(z @ w + b).unsqueeze(-1)
    psi = (1 - h**2) * w
    return z + u * h, torch.log(torch.abs(1 + psi @ u))


def planar_by_factors(z, u, w, b):
    h = torch.tanh(torch.einsum("...d,d->...", z, w) + b)
    slope = (1 - h) * (1 + h)
    log_det = torch.log1p(slope * (u * w).sum())
    return z + torch.einsum("...,d->...d", h, u), log_det


def planar_by_cosh(z, u, w, b):
    a = torch.einsum("...d,d->...", z, w) + b
    return z + torch.tanh(a)[..., None] * u, (1 + (u * w).sum() / a.cosh() ** 2).log()


def invertible_with_single_constant(u, w):
    a = torch.dot(w, u)
    m = -1 + F.softplus(a + torch.log(single(math.e - 1)))
    return u + (m - a) * w / torch.sum(w**2)


def invertible_by_logaddexp(u, w):
    a = (w * u).sum()
    m = torch.logaddexp(torch.zeros_like(a), a + math.log(math.e - 1)) - 1
    return u + (m - a) * w / torch.linalg.vector_norm(w) ** 2


def composed(layers, z):
    total = torch.zeros(z.shape[:-1])
    for layer in layers:
        z, log_det = layer(z)
        total = total + log_det
    return z, total


def composed_in_place(layers, z):
    total = torch.zeros(z.shape[:-1])
    for layer in layers:
        z, log_det = layer(z)
        total += log_det
    return z, total


def composed_from_a_list(layers, z):
    log_dets = [torch.zeros_like(z[..., 0])]
    for layer in layers:
        z, log_det = layer(z)
        log_dets.append(log_det)
    return z, torch.stack(log_dets).sum(0)


def radial(z, centre, alpha, beta):
    offset = z - centre
    r = offset.pow(2).sum(-1).sqrt()
    h, slope = 1 / (alpha + r), -1 / (alpha + r) ** 2
    across, along = 1 + beta * h, 1 + beta * h + beta * slope * r
    log_det = (z.shape[-1] - 1) * across.log() + along.log()
    return z + beta * h.unsqueeze(-1) * offset, log_det


def kl_of_independents(base, prior, z0, z, log_det):
    def joint(distribution):
        return Independent(distribution.expand(z.shape[-1:]), 1)

    return joint(base).log_prob(z0) - joint(prior).log_prob(z) - log_det


def kl_in_a_loop(base, prior, z0, z, log_det):
    total = torch.zeros(log_det.shape)
    for d in range(z.shape[-1]):
        total += base.log_prob(z0[..., d]) - prior.log_prob(z[..., d])
    return total - log_det


def kl_by_hand(base, prior, z0, z, log_det):
    def log_density(distribution, points):
        scaled = (points - distribution.mean) / distribution.stddev
        constant = torch.log(single(2 * math.pi)) / 2
        return (-0.5 * scaled**2 - distribution.stddev.log() - constant).sum(-1)

    return log_density(base, z0) - log_det - log_density(prior, z)


def elbo_by_gather(log_probs, labels, kl):
    picked = log_probs.gather(-1, labels.expand(log_probs.shape[:-1])[..., None])
    return (kl - picked.squeeze(-1)).mean(-1)


def elbo_in_a_loop(log_probs, labels, kl):
    kl, labels = (each.expand(log_probs.shape[:-1]) for each in (kl, labels))
    total = torch.zeros(log_probs.shape[:-2])
    for n in range(log_probs.shape[-2]):
        picked = log_probs[..., n, :].gather(-1, labels[..., n, None])
        total += kl[..., n] - picked.squeeze(-1)
    return total / log_probs.shape[-2]


def elbo_by_one_hot(log_probs, labels, kl):
    one_hot = F.one_hot(labels, log_probs.shape[-1]).float()
    return kl.mean(-1) - (log_probs * one_hot).sum(-1).mean(-1)


def predict_in_a_loop(model, x, *, draws, generator):
    with torch.no_grad():
        probs = torch.stack(
            [
                model(x, model.draw(x.shape, generator=generator))[0].exp()
                for _ in range(draws)
            ]
        )
    return probs.mean(0), probs.var(0, correction=0)


@torch.no_grad()
def predict_in_one_batch(model, x, *, draws, generator):
    x = x.repeat(draws, 1)
    log_probs = model(x, model.draw(x.shape, generator=generator))[0]
    probs = log_probs.exp().reshape(draws, len(x) // draws, -1)
    return probs.mean(0), probs.var(0, correction=0)


@torch.no_grad()
def predict_with_draws_in_the_middle(model, x, *, draws, generator):
    z0 = model.draw((len(x), draws, x.shape[1]), generator=generator)
    probs = model(x[:, None], z0)[0].exp()
    return probs.mean(1), probs.var(1, correction=0)


@torch.no_grad()
def predict_point_by_point(model, x, *, draws, generator):
    parts = [model(r, model.draw((draws, len(r)), generator=generator))[0] for r in x]
    probs = torch.stack(parts, 1).exp()
    return probs.mean(0), probs.var(0, correction=0)


@torch.no_grad()
def predict_by_vmap(model, x, *, draws, generator):
    z0 = model.draw((draws, *x.shape), generator=generator)
    probs = torch.func.vmap(lambda noise: model(x, noise)[0])(z0).exp()
    return probs.mean(0), probs.var(0, correction=0)


def predict_in_numpy(model, x, *, draws, generator):
    found = predict_by_vmap(model, x, draws=draws, generator=generator)
    return tuple(part.numpy() for part in found)


def predict_into_zeros(model, x, *, draws, generator):
    with torch.no_grad():
        probs = model(x, model.draw((draws, *x.shape), generator=generator))[0].exp()
    mean, variance = torch.zeros(probs.shape[1:]), torch.zeros(probs.shape[1:])
    for draw in probs:
        mean += draw / draws
    for draw in probs:
        variance += (draw - mean) ** 2 / draws
    return mean, variance


def predict_by_moments(model, x, *, draws, generator):
    z0 = model.draw((draws, *x.shape), generator=generator)
    probs = torch.exp(model(x, z0)[0]).detach()
    mean = probs.sum(0) / draws
    return mean, ((probs - mean) ** 2).mean(0)


ANSWERS = {
    "calibration_bins": {
        "a loop": bins_in_a_loop,
        "single precision": bins_in_single_precision,
    },
    "calibration_error": {
        "a loop": error_of(bins_in_a_loop),
        "single precision": error_of(bins_in_single_precision),
    },
    "brier_decomposition": {"a loop": brier_in_a_loop},
    "boundary_line": {
        "into single precision": line_into_single_precision,
        "one by one": line_by_solve,
    },
    "fit_temperature": {
        "Newton": temperature_by_newton,
        "golden section": temperature_by_golden_section,
    },
    "calibrated_probs": {"golden section": calibrated},
    "affine_flow": {
        "addcmul": affine_by_transform,
        "AffineTransform": affine_by_distributions,
        "times ones": affine_by_ones,
    },
    "planar_flow": {
        "ψ": planar,
        "cosh": planar_by_cosh,
        "factors": planar_by_factors,
        "the determinant": planar_by_determinant,
    },
    "invertible_u": {
        "a constant in single precision": invertible_with_single_constant,
        "logaddexp": invertible_by_logaddexp,
    },
    "compose": {
        "zeros in single precision": composed,
        "zeros, in place": composed_in_place,
        "a list": composed_from_a_list,
    },
    "radial_flow": {"h and its slope": radial},
    "flow_kl": {
        "Independent": kl_of_independents,
        "by hand": kl_by_hand,
        "in a loop": kl_in_a_loop,
    },
    "negative_elbo": {
        "gather": elbo_by_gather,
        "one-hot": elbo_by_one_hot,
        "in a loop": elbo_in_a_loop,
    },
    "predict": {
        "a loop": predict_in_a_loop,
        "moments": predict_by_moments,
        "into zeros": predict_into_zeros,
        "in one batch": predict_in_one_batch,
        "draws in the middle": predict_with_draws_in_the_middle,
        "point by point": predict_point_by_point,
        "vmap": predict_by_vmap,
        "NumPy": predict_in_numpy,
    },
}
