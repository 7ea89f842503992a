"""Practical 3. Plain numbers become tensors of the default dtype, as they do in a student's cell."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical, MixtureSameFamily, Normal, kl_divergence

from solutions import bayes_by_backprop as ref


def single(number):
    return torch.tensor(float(number))


def standard_normal(w):
    return -0.5 * w**2 - 0.5 * torch.log(single(2 * math.pi))


def log_normal(x, mean, std):
    std = torch.as_tensor(std)
    return standard_normal((x - mean) / std) - torch.log(std)


def kl_of_distributions(mu, rho, prior_std):
    prior = Normal(0.0, prior_std)
    return kl_divergence(Normal(mu, F.softplus(rho)), prior).sum()


def kl_of_tensors(mu, rho, prior_std):
    std, prior = F.softplus(rho), single(prior_std)
    return torch.sum(
        torch.log(prior) - std.log() + (std**2 + mu**2) / (2 * prior**2) - 0.5
    )


def kl_of_ratios(mu, rho, prior_std):
    ratio = (nn.Softplus()(rho) / prior_std) ** 2
    return 0.5 * (ratio + (mu / prior_std) ** 2 - 1 - ratio.log()).sum()


def rsample(mu, rho, *, generator):
    epsilon = torch.empty_like(mu).normal_(generator=generator)
    return mu + F.softplus(rho) * epsilon


def single_draw(mu, rho, *, generator):
    return ref.reparametrise(mu, rho, torch.randn(mu.shape, generator=generator))


def drawn(mu, rho, *, generator):
    epsilon = torch.normal(torch.zeros_like(mu), 1.0, generator=generator)
    return mu + F.softplus(rho) * epsilon


def kl_in_a_loop(mu, rho, log_prior, *, draws, generator):
    total = 0.0
    for _ in range(draws):
        w = rsample(mu, rho, generator=generator)
        total = total + (ref.log_posterior(w, mu, rho) - log_prior(w)).sum()
    return total / draws


def kl_of_rows(mu, rho, log_prior, *, draws, generator):
    mu, rho = mu.reshape(-1, 1), rho.reshape(-1, 1)
    std = F.softplus(rho)
    epsilon = torch.randn(len(mu), draws, generator=generator)
    w = mu + std * epsilon
    return (log_normal(w, mu, std) - log_prior(w)).mean(1).sum()


def kl_about_the_mean(mu, rho, log_prior, *, draws, generator):
    at_mean = log_prior(mu)
    many = [value.expand(draws, *value.shape) for value in (mu, rho)]
    w = ref.sample_weights(*many, generator=generator)
    terms = ref.log_posterior(w, mu, rho) - (log_prior(w) - at_mean)
    assert log_prior(w[0]).shape == mu.shape
    return terms.sum() / draws - at_mean.sum()


def kl_by_vmap(mu, rho, log_prior, *, draws, generator):
    many = [value.expand(draws, *value.shape) for value in (mu, rho)]
    w = ref.sample_weights(*many, generator=generator)

    def terms(w):
        return ref.log_posterior(w, mu, rho) - log_prior(w)

    return torch.vmap(terms)(w).sum() / draws


class ByHand(ref.BayesianLinear):
    def forward(self, x, *, generator):
        bias = single_draw(self.bias_mu, self.bias_rho, generator=generator)
        weight = drawn(self.weight_mu, self.weight_rho, generator=generator)
        return x @ weight.T + bias

    def kl(self):
        pairs = (self.weight_mu, self.weight_rho), (self.bias_mu, self.bias_rho)
        return sum(kl_of_distributions(mu, rho, self.prior_std) for mu, rho in pairs)


def activations(x, weight_mu, weight_rho, bias_mu, bias_rho, *, generator):
    variance = x.square() @ F.softplus(weight_rho).T.square()
    variance = variance + F.softplus(bias_rho).square()
    mean = x @ weight_mu.T + bias_mu
    return mean + variance.sqrt() * torch.randn(mean.shape, generator=generator)


def mixture_of_distributions(w, share, wide_std, narrow_std):
    return MixtureSameFamily(
        Categorical(torch.tensor([share, 1 - share])),
        Normal(torch.zeros(2), torch.tensor([wide_std, narrow_std])),
    ).log_prob(w)


def mixture_by_logsumexp(w, share, wide_std, narrow_std):
    shares = torch.tensor([share, 1 - share])
    logs = [log_normal(w, 0.0, std) for std in (wide_std, narrow_std)]
    return torch.logsumexp(torch.stack(logs, -1) + shares.log(), -1)


def stds(function):
    def answer(*args, noise_std, prior_std):
        return function(*args, noise_std=single(noise_std), prior_std=single(prior_std))

    return answer


def draw_loss(mu, rho, epsilon, x, y, *, noise_std, prior_std):
    w = mu + F.softplus(rho) * epsilon
    log_q, log_p = log_normal(w, mu, F.softplus(rho)), log_normal(w, 0.0, prior_std)
    return (log_q - log_p).sum() - log_normal(y, w * x, noise_std).sum()


def exact_by_distributions(mu, rho, x, y, *, noise_std, prior_std):
    spread = F.softplus(rho) ** 2 * x**2 / (2 * noise_std**2)
    fit = Normal(mu * x, noise_std).log_prob(y) - spread
    return kl_of_distributions(mu, rho, prior_std) - fit.sum()


def exact_by_tensors(mu, rho, x, y, *, noise_std, prior_std):
    spread = F.softplus(rho) ** 2 * x**2 / (2 * noise_std**2)
    nll = spread - log_normal(y, mu * x, noise_std)
    return nll.sum() + kl_of_tensors(mu, rho, prior_std)


def step_by_leaf(loss, mu, rho, rate):
    new = []
    for leaf in (mu, rho):
        (gradient,) = torch.autograd.grad(loss, leaf, retain_graph=True)
        new.append(leaf.detach().clone().sub_(rate * gradient).requires_grad_())
    return tuple(new)


def paper_by_exponentials(df_dw, df_dmu, df_drho, rho, epsilon):
    return df_dw + df_dmu, df_dw * epsilon / (1 + torch.exp(-rho)) + df_drho


def shares_by_softmax(batches, *, decreasing):
    i = torch.arange(batches, dtype=torch.float32)
    return torch.softmax(-math.log(2) * i if decreasing else 0 * i, dim=0)


def shares_by_integers(batches, *, decreasing):
    if not decreasing:
        return torch.ones(batches) / batches
    whole = 2**batches - 1
    return torch.tensor([2 ** (batches - i) / whole for i in range(1, batches + 1)])


def shares_by_powers(batches, *, decreasing):
    shares = (
        torch.exp2(-torch.arange(batches).float())
        if decreasing
        else torch.ones(batches)
    )
    return shares / shares.sum()


def moments_by_hypot(outputs, noise_std):
    std = outputs.std(0, correction=0)
    return outputs.mean(0), std, torch.hypot(std, single(noise_std))


def moments_by_hand(outputs, noise_std):
    mean = outputs.mean(0)
    variance = ((outputs - mean) ** 2).mean(0)
    return mean, variance.sqrt(), torch.sqrt(variance + single(noise_std) ** 2)


def entropy_by_logsumexp(log_probs):
    log_p = torch.logsumexp(log_probs, 0) - torch.log(single(len(log_probs)))
    p = log_p.exp()
    return -torch.where(p > 0, p * log_p, 0.0).sum(-1) / torch.log(single(2))


def keep_by_sorting(mu, rho, removed):
    order = torch.sort(20 * torch.log10(mu.abs() / F.softplus(rho))).indices
    keep = torch.zeros(len(mu), dtype=torch.bool)
    keep[order[round(removed * len(mu)) :]] = True
    return keep


def into_zeros(function):
    """Write what a function returns, a tensor or several, into tensors of the default dtype."""

    def answer(*args):
        values = function(*args)
        several = isinstance(values, tuple)
        found = []
        for value in values if several else (values,):
            found.append(torch.zeros(value.shape))
            found[-1][...] = value
        return tuple(found) if several else found[0]

    return answer


ANSWERS = {
    "reparametrise": {
        "Softplus as a module": lambda mu, rho, eps: mu + nn.Softplus()(rho) * eps,
        "logaddexp": lambda mu, rho, eps: torch.addcmul(
            mu, torch.logaddexp(rho, torch.zeros_like(rho)), eps
        ),
    },
    "sample_weights": {
        "normal_": rsample,
        "noise in single precision": single_draw,
        "torch.normal of zeros": drawn,
    },
    "log_posterior": {
        "by hand": lambda w, mu, rho: log_normal(w, mu, F.softplus(rho)),
        "one Normal for each": lambda w, mu, rho: torch.stack(
            [
                Normal(m, F.softplus(r)).log_prob(v)
                for v, m, r in zip(w, mu, rho, strict=True)
            ]
        ),
    },
    "log_prior": {
        "by hand": lambda w, s: log_normal(w, 0.0, s),
        "tensors": lambda w, s: Normal(single(0), single(s)).log_prob(w),
        "like w": lambda w, s: Normal(torch.zeros_like(w), s).log_prob(w),
    },
    "log_likelihood": {
        "by hand": lambda f, y, s: log_normal(y, f, s),
        "of the residual": lambda f, y, s: Normal(0.0, s).log_prob(y - f),
        "F.gaussian_nll_loss": lambda f, y, s: (
            -F.gaussian_nll_loss(
                f, y, torch.full_like(f, s**2), full=True, eps=0.0, reduction="none"
            )
        ),
    },
    "draw_loss": {
        "of the other parts": draw_loss,
        "tensors": stds(draw_loss),
        "the reference, tensors": stds(ref.draw_loss),
    },
    "gradient_step": {"one leaf after the other": step_by_leaf},
    "paper_gradients": {
        "exponentials": paper_by_exponentials,
        "into zeros": into_zeros(ref.paper_gradients),
    },
    "exact_loss": {
        "distributions": exact_by_distributions,
        "tensors": stds(exact_by_tensors),
    },
    "gaussian_kl": {
        "distributions": kl_of_distributions,
        "tensors": kl_of_tensors,
        "ratios": kl_of_ratios,
    },
    "log_scale_mixture": {
        "distributions": mixture_of_distributions,
        "logsumexp": mixture_by_logsumexp,
    },
    "sampled_kl": {
        "a loop": kl_in_a_loop,
        "draws last": kl_of_rows,
        "the prior at the mean as well": kl_about_the_mean,
        "vmap": kl_by_vmap,
    },
    "BayesianLinear": {"by hand": ByHand},
    "sample_activations": {"by hand": activations},
    "kl_weights": {
        "softmax": shares_by_softmax,
        "integers": shares_by_integers,
        "powers": shares_by_powers,
        "double": lambda m, *, decreasing: ref.kl_weights(
            m, decreasing=decreasing
        ).double(),
    },
    "minibatch_loss": {
        "cross_entropy": lambda logits, targets, kl, share: (
            F.cross_entropy(logits, targets, reduction="sum") + single(share) * kl
        ),
        "Categorical": lambda logits, targets, kl, share: (
            share * kl - Categorical(logits=logits).log_prob(targets).sum()
        ),
    },
    "predictive_moments": {"hypot": moments_by_hypot, "by hand": moments_by_hand},
    "predictive_entropy": {
        "logsumexp": entropy_by_logsumexp,
        "Categorical": lambda log_probs: (
            Categorical(log_probs.exp().mean(0)).entropy() / math.log(2)
        ),
        "xlogy": lambda log_probs: (
            -torch.xlogy(*[log_probs.exp().mean(0)] * 2).sum(-1) / torch.log(single(2))
        ),
    },
    "keep_mask": {"decibels": keep_by_sorting},
}
