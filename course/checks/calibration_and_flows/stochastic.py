"""The ELBO of a model with one latent variable per data point, and its predictions."""

from __future__ import annotations

import numpy as np
import scipy.special
import scipy.stats
import torch

from course.checks.calibration_and_flows.tolerances import DRAWS, EXACT, FLOAT32
from course.checks.probing import gradients_of, leaves, seeded
from course.task import Close, Misconception, Task


def _kl_cases(rng):
    return [
        {
            "base_mean": float(rng.normal(1, 0.3)),
            "base_std": float(rng.uniform(0.1, 0.5)),
            "prior_mean": float(rng.normal(0, 0.3)),
            "prior_std": float(rng.uniform(0.7, 1.5)),
            "z0": rng.normal(1, 0.3, shape),
            "z": rng.normal(0, 1, shape),
            "log_det": rng.normal(0.5, 1, shape[:-1]),
        }
        for shape in ((5, 2), (2, 3, 3), (1,))
    ]


def _kl_probe(answer, base_mean, base_std, prior_mean, prior_std, z0, z, log_det):
    import numpy as np
    import torch

    base = torch.distributions.Normal(base_mean, base_std)
    prior = torch.distributions.Normal(prior_mean, prior_std)
    z, log_det = leaves(np.float32(z), np.float32(log_det))
    kl = answer(base, prior, torch.tensor(np.float32(z0)), z, log_det)
    return {"kl": kl, **gradients_of(kl, z=z, log_det=log_det)}


def _kl_oracle(base_mean, base_std, prior_mean, prior_std, z0, z, log_det):
    """Compute the log density ratio from the joint densities of all coordinates."""
    eye = np.eye(z.shape[-1])
    log_base = scipy.stats.multivariate_normal(
        np.full(len(eye), base_mean), base_std**2 * eye
    ).logpdf(z0)
    log_prior = scipy.stats.multivariate_normal(
        np.full(len(eye), prior_mean), prior_std**2 * eye
    ).logpdf(z)
    close = {"rtol": 2e-5, "atol": 1e-4, "because": FLOAT32}
    return {
        "kl": Close(log_base - log_det - log_prior, **close),
        "gradient_of_z": Close((z - prior_mean) / prior_std**2, **close),
        "gradient_of_log_det": Close(np.full_like(log_det, -1), **close),
    }


def _at(distribution, points):
    return distribution.log_prob(points).sum(-1)


FLOW_KL = Task(
    name="flow_kl",
    points=3,
    cases=_kl_cases,
    probe=_kl_probe,
    oracle=_kl_oracle,
    misconceptions=[
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
            lambda base, prior, z0, z, log_det: (
                _at(base, z0) - log_det - _at(prior, z0)
            ),
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
            lambda base, prior, z0, z, log_det: (
                _at(base, z0) - log_det - _at(prior, z)
            ).detach(),
            "you detach the value (.detach(), .item() or no_grad): the flow then learns nothing from it.",
        ),
    ],
    hints=[
        "KL(q ‖ p) = E[log q(z_L) − log p(z_L)], with z_L = f(z₀): two log-densities, each at its own point.",
        "log q(z_L) = log q₀(z₀) − log|det J|.",
        "base.log_prob(z0) has a value for each coordinate: add them up with .sum(-1). Do the same for the prior, at z.",
    ],
)


def _elbo_cases(rng):
    cases = []
    for lead, n, k in (((3,), 5, 4), ((), 1, 2), ((2, 2), 3, 5)):
        log_probs = scipy.special.log_softmax(rng.normal(0, 2, (*lead, n, k)), axis=-1)
        cases.append(
            {
                "log_probs": log_probs,
                "labels": rng.integers(0, k, n),
                "kl": rng.uniform(0.5, 2, (*lead, n)),
            }
        )
    return cases


def _elbo_probe(answer, log_probs, labels, kl):
    import numpy as np
    import torch

    # Answers that normalise once more are right too: the gradient is that of the logits.
    logits, kl = leaves(np.float32(log_probs), np.float32(kl))
    loss = answer(torch.log_softmax(logits, dim=-1), torch.tensor(labels), kl)
    return {"loss": loss, **gradients_of(loss, logits=logits, kl=kl)}


def _elbo_oracle(log_probs, labels, kl):
    one_hot = np.eye(log_probs.shape[-1])[labels]
    picked = np.einsum("...nk,nk->...n", log_probs, one_hot)
    close = {"rtol": 1e-5, "atol": 1e-5, "because": FLOAT32}
    return {
        "loss": Close(np.mean(kl, axis=-1) - np.mean(picked, axis=-1), **close),
        "gradient_of_logits": Close(
            (np.exp(log_probs) - one_hot) / len(labels), **close
        ),
        "gradient_of_kl": Close(np.full_like(kl, 1 / len(labels)), **close),
    }


def _log_likelihood(log_probs, labels):
    return torch.distributions.Categorical(logits=log_probs).log_prob(labels)


NEGATIVE_ELBO = Task(
    name="negative_elbo",
    points=2,
    cases=_elbo_cases,
    probe=_elbo_probe,
    oracle=_elbo_oracle,
    misconceptions=[
        Misconception(
            lambda log_probs, labels, kl: (
                kl / len(labels) - _log_likelihood(log_probs, labels)
            ).mean(-1),
            "you divide the KL by N. That is right for one latent that all data points share; here each has its own, and "
            "its KL counts in full.",
        ),
        Misconception(
            lambda log_probs, labels, kl: (kl - _log_likelihood(log_probs, labels)).sum(
                -1
            ),
            "you sum over the data. The task asks for the mean: −ELBO per data point.",
        ),
        Misconception(
            lambda log_probs, labels, kl: (
                -kl - _log_likelihood(log_probs, labels)
            ).mean(-1),
            "you subtract the KL from the loss, which rewards noise far from the prior.",
        ),
        Misconception(
            lambda log_probs, labels, kl: (
                _log_likelihood(log_probs, labels) - kl
            ).mean(-1),
            "you return the ELBO. The loss is its negative.",
        ),
        Misconception(
            lambda log_probs, labels, kl: (
                kl - _log_likelihood(log_probs, labels).exp()
            ).mean(-1),
            "you average probabilities in place of their logarithms.",
        ),
        Misconception(
            lambda log_probs, labels, kl: (
                kl.sum(-1) - _log_likelihood(log_probs, labels).mean(-1)
            ),
            "you average the likelihood over the data but sum the KL: they are then on different scales.",
        ),
        Misconception(
            lambda log_probs, labels, kl: (
                kl.detach() - _log_likelihood(log_probs, labels)
            ).mean(-1),
            "you detach the KL (.detach(), .item() or no_grad): the prior then has no effect.",
        ),
    ],
    hints=[
        "Per data point: −log p(y | x, z) + KL. Both have shape (…, N).",
        "Categorical(logits=log_probs).log_prob(labels) picks log p(y | x, z), with the labels broadcast over draws.",
        "Both terms raise the loss: minus the log-likelihood, plus the KL. Average over the data points.",
    ],
)


def _predict_cases(rng):
    return [
        {
            "x": rng.uniform(0.3, 0.9, shape),
            "classes": classes,
            "seed": int(rng.integers(2**31)),
        }
        for shape, classes in (((3, 2), 4), ((1, 1), 3), ((2, 3), 2))
    ]


def _predict_probe(answer, x, classes, seed):
    import numpy as np
    import torch

    class Model(torch.nn.Module):
        """The first class has the probability v x₀; the others share the rest equally.

        v is the mean of the squares of the first and the last coordinate of the noise, which
        is uniform on (0, 1): v of the mean noise is not the mean of v.
        """

        def __init__(self):
            super().__init__()
            self.one = torch.nn.Parameter(torch.ones(()))

        def draw(self, shape, *, generator):
            return torch.rand(shape, generator=generator).clamp(1e-6, 1 - 1e-6)

        def forward(self, x, z0):
            x, noise = torch.broadcast_tensors(x * self.one, z0)
            first = (noise[..., :1] ** 2 + noise[..., -1:] ** 2) / 2 * x[..., :1]
            rest = ((1 - first) / (classes - 1)).expand(*x.shape[:-1], classes - 1)
            log_det = torch.zeros(z0.shape[:-1])
            return torch.cat([first, rest], -1).log(), z0, log_det

    def once(offset=0, draws=2000):
        data = torch.tensor(np.float32(x))
        result = answer(Model(), data, draws=draws, generator=seeded(seed + offset))
        return (None, None) if result is None else result

    def equal(one, two):
        floats = isinstance(one, torch.Tensor) and isinstance(two, torch.Tensor)
        return floats and torch.equal(one, two)

    mean, variance = once()
    own = 0.0  # do the data differ in their draws of v?
    if isinstance(mean, torch.Tensor) and mean.shape == (len(x), classes):
        v = mean[:, 0].detach() / torch.tensor(np.float32(x[:, 0]))
        own = float(len(x) == 1 or v.max() - v.min() > 1e-5)
    return {
        "mean": mean,
        "variance": variance,
        "detached": float(
            not getattr(mean, "requires_grad", False)
            and not getattr(variance, "requires_grad", False)
        ),
        "noise_of_its_own": own,
        "draws_count": float(not equal(once(draws=3)[0], once(draws=4)[0])),
        "reproducible": float(equal(mean, once()[0])),
        "another_seed_another_draw": float(not equal(mean, once(offset=1)[0])),
    }


def _predict_oracle(x, classes, seed):
    first, shared = x[:, :1], [1] + [classes - 1] * (classes - 1)
    mean = np.concatenate([first / 3, 1 - first / 3 + np.zeros(classes - 1)], 1)
    # The square of a uniform number has the variance 4/45 and the kurtosis 15/7. Of the mean of
    # two the variance is half of that, and so is the kurtosis's distance from 3.
    two = x.shape[1] > 1
    of_v, kurtosis = (2 / 45, 18 / 7) if two else (4 / 45, 15 / 7)
    variance = of_v * first**2
    draws = 2000
    mean_error = float(np.sqrt(variance.max() / draws))
    variance_error = float(variance.max() * np.sqrt((kurtosis - 1) / draws))
    mean, variance = mean / shared, variance / np.square(shared)
    return {
        "mean": Close(mean, atol=6 * mean_error, because=DRAWS),
        "variance": Close(variance, atol=6 * variance_error, because=DRAWS),
        "detached": Close(1.0, because=EXACT),
        "noise_of_its_own": Close(1.0, because=EXACT),
        "draws_count": Close(1.0, because=EXACT),
        "reproducible": Close(1.0, because=EXACT),
        "another_seed_another_draw": Close(1.0, because=EXACT),
    }


def _predicted(
    summary=lambda p: (p.mean(0), p.var(0, correction=0)),
    *,
    graph=False,
    shape_of=lambda draws, x: (draws, *x.shape),
    noise_of=lambda generator: generator,
):
    def answer(model, x, *, draws, generator):
        with torch.set_grad_enabled(graph):
            z0 = model.draw(shape_of(draws, x), generator=noise_of(generator))
            log_probs, _, _ = model(x, z0)
            return summary(log_probs.exp())

    return answer


def _plugged_in(model, x, *, draws, generator):
    with torch.no_grad():
        z0 = model.draw((draws, *x.shape), generator=generator)
        variance = model(x, z0)[0].exp().var(0, correction=0)
        return model(x, z0.mean(0))[0].exp(), variance


PREDICT = Task(
    name="predict",
    points=3,
    cases=_predict_cases,
    probe=_predict_probe,
    oracle=_predict_oracle,
    made_of="The check supplies the model: its noise is uniform, and the probability of its first class is "
    "x[:, 0] times the mean of the squares of the first and the last coordinate of the noise.",
    misconceptions=[
        Misconception(
            _plugged_in,
            "you plug in the mean noise, model(x, z0.mean(0)). The mean of a model's probabilities is not the "
            "probability at the mean noise: average over the draws last.",
        ),
        Misconception(
            _predicted(lambda p: (p.log().mean(0).exp(), p.var(0, correction=0))),
            "you average log-probabilities. That is a geometric mean; the predictive integral averages probabilities.",
        ),
        Misconception(
            _predicted(graph=True),
            "you build a graph, which keeps every draw of every data point for a backward pass that never happens. Use "
            "torch.no_grad().",
        ),
        Misconception(
            _predicted(lambda p: (p.mean(0), p.std(0, correction=0))),
            "you return the standard deviation; the task asks for the variance.",
        ),
        Misconception(
            _predicted(lambda p: (p.mean(0), p.mean(0) * (1 - p.mean(0)))),
            "you return the variance of the label, p(1 − p). The task asks how much p itself varies over the draws.",
        ),
        Misconception(
            _predicted(noise_of=lambda generator: None),
            "you do not use the generator: the same seed gives another prediction each time.",
        ),
        Misconception(
            _predicted(noise_of=lambda generator: torch.Generator().manual_seed(0)),
            "you draw the noise with the same seed in every call, whatever generator is passed in.",
        ),
        Misconception(
            _predicted(shape_of=lambda draws, x: (draws, 1, x.shape[1])),
            "you use the same noise for all data points. Each has its own latent: draw noise of shape (draws, N, D).",
        ),
        Misconception(
            _predicted(lambda p: (p.mean(0), p.var(0, correction=0) / len(p))),
            "you divide the variance by the number of draws: that is the squared standard error of their mean, not how much p varies.",
        ),
    ],
    hints=[
        "model.draw takes a shape: with the number of draws as its first dimension, it gives noise for every draw and every data point at once.",
        "model(x, z0) gives log-probabilities of shape (draws, N, K), in a torch.no_grad() block.",
        "Exponentiate first; then the mean and the variance over axis 0.",
    ],
)
