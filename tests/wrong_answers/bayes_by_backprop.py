"""Practical 3."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from wrong_answers.spoiling import of_graph, of_noise, without_graph

from solutions import bayes_by_backprop as right


def sampled_kl(shared=False, count=None, divisor=None, centred=False, times=1):
    def answer(mu, rho, log_prior, *, draws, generator):
        number = count or times * draws
        shape = (number, *mu.shape[:-1], 1) if shared else (number, *mu.shape)
        epsilon = torch.randn(shape, generator=generator, dtype=mu.dtype)
        if centred:
            epsilon = epsilon - epsilon.mean()
        w = mu + F.softplus(rho) * epsilon
        terms = right.log_posterior(w, mu, rho) - log_prior(w)
        return terms.sum() / (divisor or number)

    return answer


def through_numpy(mu, rho, prior_std):
    std = F.softplus(rho).detach().numpy()
    kl = prior_std / std
    return torch.tensor(
        (
            torch.log(torch.tensor(kl))
            + (torch.tensor(std) ** 2 + mu.detach() ** 2) / (2 * prior_std**2)
            - 0.5
        ).sum()
    )


class Layer(right.BayesianLinear):
    """The reference, to spoil."""


class ZeroMeans(Layer):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        nn.init.zeros_(self.weight_mu)


class GlobalMeans(Layer):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        nn.init.normal_(self.weight_mu, std=2**-0.5)


class WideMeans(Layer):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        with torch.no_grad():
            self.weight_mu.mul_(2**0.5)


class OtherRho(Layer):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        nn.init.constant_(self.weight_rho, -3.0)


class RandomBiases(Layer):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        nn.init.normal_(self.bias_mu)


class DataKL(Layer):
    def kl(self):
        return right.gaussian_kl(
            self.weight_mu.data, self.weight_rho, self.prior_std
        ) + right.gaussian_kl(self.bias_mu.data, self.bias_rho, self.prior_std)


class FixedRhoKL(Layer):
    def kl(self):
        return right.gaussian_kl(
            self.weight_mu, self.weight_rho.detach(), self.prior_std
        ) + right.gaussian_kl(self.bias_mu, self.bias_rho.detach(), self.prior_std)


class FixedMeans(Layer):
    def forward(self, x, *, generator):
        weight = right.sample_weights(
            self.weight_mu.detach(), self.weight_rho, generator=generator
        )
        bias = right.sample_weights(self.bias_mu, self.bias_rho, generator=generator)
        return F.linear(x, weight, bias)


class FixedBiasSpread(Layer):
    def forward(self, x, *, generator):
        weight = right.sample_weights(
            self.weight_mu, self.weight_rho, generator=generator
        )
        bias = right.sample_weights(
            self.bias_mu, self.bias_rho.detach(), generator=generator
        )
        return F.linear(x, weight, bias)


class Squeezed(Layer):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator).squeeze()


class MeansInEvaluation(Layer):
    def forward(self, x, *, generator):
        if self.training:
            return super().forward(x, generator=generator)
        return F.linear(x, self.weight_mu, self.bias_mu)


def step_by_backward(clear=False):
    def answer(loss, mu, rho, rate):
        if clear:
            mu.grad = rho.grad = None
        loss.backward()
        with torch.no_grad():
            new = mu - rate * mu.grad, rho - rate * rho.grad
        return tuple(value.requires_grad_() for value in new)

    return answer


def clipped_step(loss, mu, rho, rate):
    gradients = torch.autograd.grad(loss, (mu, rho))
    norm = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    factor = (1 / norm).clamp(max=1.0)
    pairs = zip((mu, rho), gradients, strict=True)
    return tuple((q - rate * factor * g).detach().requires_grad_() for q, g in pairs)


def gaussian_nll_loss(prediction, y, noise_std):
    """Variances below 1e-6 become 1e-6."""
    variance = torch.full_like(prediction, noise_std**2)
    return -F.gaussian_nll_loss(prediction, y, variance, full=True, reduction="none")


def changed_noise(change):
    def answer(mu, rho, *, generator):
        noise = torch.randn(mu.shape, generator=generator, dtype=mu.dtype)
        return right.reparametrise(mu, rho, change(noise))

    return answer


def cut_noise(mu, rho, *, generator):
    noise = torch.randn(mu.shape, generator=generator, dtype=mu.dtype).clamp(-3, 3)
    return mu + F.softplus(rho) * noise


def mask_by_threshold(mu, rho, removed):
    """Removes all weights that are equal to the last one to be removed."""
    ratio = mu.abs() / F.softplus(rho)
    count = round(removed * len(ratio))
    limit = ratio.kthvalue(count).values if count else -1.0
    return ratio > limit


def of_size(size):
    """As if there were always so many weights to keep or to remove."""

    def answer(mu, rho, removed):
        ratio = mu.abs() / F.softplus(rho)
        keep = torch.ones(len(mu), dtype=torch.bool)
        keep[ratio.argsort()[: round(removed * size)]] = False
        return keep

    return answer


def truncated_mask(mu, rho, removed):
    keep = torch.ones(len(mu), dtype=torch.bool)
    keep[(mu.abs() / F.softplus(rho)).argsort()[: int(removed * len(mu))]] = False
    return keep


def moments_of(draws):
    def answer(outputs, noise_std):
        mean = outputs.sum(0) / draws
        std = ((outputs - mean) ** 2).sum(0).div(draws).sqrt()
        return mean, std, torch.sqrt(std**2 + noise_std**2)

    return answer


def absolute_kl(*case, **options):
    return right.sampled_kl(*case, **options).abs()


def clipped_kl(*case, **options):
    return right.sampled_kl(*case, **options).clamp(min=0)


def cut_variance(x, weight_mu, weight_rho, bias_mu, bias_rho, *, generator):
    mean = F.linear(x, weight_mu, bias_mu)
    variance = F.linear(
        x.detach() ** 2, F.softplus(weight_rho) ** 2, F.softplus(bias_rho) ** 2
    )
    noise = torch.randn(mean.shape, generator=generator, dtype=mean.dtype)
    return mean + variance.sqrt() * noise


def log_of_density(x, mean, std):
    z = (x - mean) / std
    return torch.log(torch.exp(-(z**2) / 2) / (std * math.sqrt(2 * math.pi)))


def floored(x, weight_mu, weight_rho, bias_mu, bias_rho, *, generator):
    variance = F.linear(x**2, F.softplus(weight_rho) ** 2, F.softplus(bias_rho) ** 2)
    mean = F.linear(x, weight_mu, bias_mu)
    epsilon = torch.randn(mean.shape, dtype=mean.dtype, generator=generator)
    return mean + variance.clamp(min=1e-4).sqrt() * epsilon


def difference_of_squares(f, noise_std):
    """E[f²] − E[f]²."""
    mean = f.mean(0)
    variance = ((f**2).mean(0) - mean**2).clamp(min=0)
    return mean, variance.sqrt(), (variance + noise_std**2).sqrt()


ANSWERS = {
    "reparametrise": of_graph(right.reparametrise, "mu", "rho")
    | {
        "softplus is linear too soon": lambda mu, rho, epsilon: (
            mu + F.softplus(rho, threshold=3) * epsilon
        )
    },
    "sample_weights": of_noise(right.sample_weights)
    | of_graph(right.sample_weights, "mu", "rho")
    | {
        "noise is cut off at 3σ": cut_noise,
        "centred noise": changed_noise(lambda noise: noise - noise.mean()),
        "standardised noise": changed_noise(
            lambda noise: (noise - noise.mean()) / noise.std()
        ),
    },
    "gradient_step": {
        "backward": step_by_backward(),
        "backward after .grad is cleared": step_by_backward(clear=True),
        "clipped gradients": clipped_step,
    },
    "log_posterior": of_graph(right.log_posterior, "w", "mu", "rho")
    | {
        "log of the density": lambda w, mu, rho: log_of_density(w, mu, F.softplus(rho)),
        "a floor": lambda w, mu, rho: right.log_posterior(w, mu, rho.clamp(min=-9.0)),
    },
    "log_prior": of_graph(right.log_prior, "w")
    | {"log of the density": lambda w, prior_std: log_of_density(w, 0, prior_std)},
    "log_likelihood": of_graph(right.log_likelihood, "prediction")
    | {
        "log of the density": lambda prediction, *y: log_of_density(prediction, *y),
        "F.gaussian_nll_loss": gaussian_nll_loss,
    },
    "draw_loss": of_graph(right.draw_loss, "mu", "rho"),
    "exact_loss": of_graph(right.exact_loss, "mu", "rho"),
    "gaussian_kl": of_graph(right.gaussian_kl, "mu", "rho")
    | {"through NumPy": through_numpy},
    "log_scale_mixture": of_graph(right.log_scale_mixture, "w"),
    "sampled_kl": of_noise(right.sampled_kl)
    | of_graph(right.sampled_kl, "mu", "rho")
    | {
        "one ε for all weights of a draw": sampled_kl(shared=True),
        "centred noise": sampled_kl(centred=True),
        "always 2,000 draws": sampled_kl(count=2_000),
        "ten times as many draws": sampled_kl(times=10),
        "always divided by 2,000": sampled_kl(divisor=2_000),
        "never below 0": absolute_kl,
        "cut off at 0": clipped_kl,
    },
    "sample_activations": of_noise(right.sample_activations)
    | of_graph(
        right.sample_activations, "x", "weight_mu", "weight_rho", "bias_mu", "bias_rho"
    )
    | {"x is cut off in the variance": cut_variance, "a floor": floored},
    "minibatch_loss": of_graph(right.minibatch_loss, "logits", "kl"),
    "BayesianLinear": of_noise(Layer)
    | {
        "no graph": without_graph(Layer),
        "no graph in kl": without_graph(Layer, ["kl"]),
        "all means 0": ZeroMeans,
        "means of the global generator": GlobalMeans,
        "means of variance 1": WideMeans,
        "another first ρ": OtherRho,
        "random first biases": RandomBiases,
        "kl of .data": DataKL,
        "ρ is cut off in kl": FixedRhoKL,
        "means are cut off": FixedMeans,
        "the biases' ρ is cut off": FixedBiasSpread,
        "squeezed": Squeezed,
        "means in evaluation mode": MeansInEvaluation,
    },
    "predictive_entropy": {"a list": lambda p: right.predictive_entropy(p).tolist()},
    "kl_weights": {
        "a list": lambda m, *, decreasing: right.kl_weights(
            m, decreasing=decreasing
        ).tolist()
    },
    "predictive_moments": {f"always {n} draws": moments_of(n) for n in (1, 4, 5, 6)}
    | {
        "a difference of squares": difference_of_squares,
        "a difference of squares in single precision": lambda f, noise_std: (
            difference_of_squares(f.float(), noise_std)
        ),
    },
    "keep_mask": {
        "always 40 weights": of_size(40),
        "always 33 weights": of_size(33),
        "rounded down": truncated_mask,
        "by a threshold": mask_by_threshold,
        "zeros and ones": lambda *case: right.keep_mask(*case).int(),
        "a list": lambda *case: right.keep_mask(*case).tolist(),
    },
}
