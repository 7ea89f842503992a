"""The ELBO of a model with one latent variable per data point, and its predictions."""

from __future__ import annotations

import numpy as np
import scipy.special
import scipy.stats
import torch

from course.checks.calibration_and_flows.divergence import FLOW_KL_MISTAKES
from course.checks.calibration_and_flows.predictions import PREDICT_MISTAKES
from course.checks.calibration_and_flows.tolerances import DRAWS, EXACT, FLOAT32
from course.checks.concepts_of_densities import FAR
from course.checks.concepts_of_objectives import wrong_terms
from course.probing import gradients_of, leaves, seeded
from course.task import Close, Misconception, Task


def _kl_cases(rng):
    """Draw cases; in the last, z is where the prior's density underflows."""
    cases = [
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
    last = cases[-1]
    last["z"][0] = last["prior_mean"] + FAR * last["prior_std"]
    return cases


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


FLOW_KL = Task(
    name="flow_kl",
    points=3,
    cases=_kl_cases,
    probe=_kl_probe,
    oracle=_kl_oracle,
    misconceptions=FLOW_KL_MISTAKES,
    hints=[
        "KL(q‖p) = E[log q(z_L) − log p(z_L)], with z_L = f(z₀): two log-densities, each at its own point.",
        "log q(z_L) = log q₀(z₀) − log|det J|.",
        "base.log_prob(z0) has a value for each coordinate: add them up with .sum(-1). Do the same for the prior, at z.",
    ],
)


def _elbo_cases(rng):
    """Draw cases; in the first, the probability of a label is 0 in single precision.

    In the last but one, the labels have a leading axis, too; in the last, the KL is scalar.
    """
    cases = []
    for lead, n, k in (
        ((3,), 5, 4),
        ((), 1, 2),
        ((2, 2), 3, 6),
        ((2,), 5, 3),
        ((3,), 4, 7),
    ):
        case = {
            "log_probs": rng.normal(0, 2, (*lead, n, k)),
            "labels": rng.integers(0, k, n),
            "kl": rng.uniform(0.5, 2, (*lead, n)),
        }
        cases.append(case)
    first, *_, labelled, scalar = cases
    first["log_probs"][0, 0, first["labels"][0]] = -200
    labelled["labels"] = rng.integers(0, 3, (2, 5))
    scalar["kl"] = scalar["kl"][0, 0]
    for case in cases:
        case["log_probs"] = scipy.special.log_softmax(case["log_probs"], axis=-1)
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
    loss = np.mean(kl - (log_probs * one_hot).sum(-1), axis=-1)
    count = log_probs.shape[-2]
    share = 1 / count if np.ndim(kl) else loss.size  # of the sum of all losses
    close = {"rtol": 1e-5, "atol": 1e-5, "because": FLOAT32}
    return {
        "loss": Close(loss, **close),
        "gradient_of_logits": Close((np.exp(log_probs) - one_hot) / count, **close),
        "gradient_of_kl": Close(np.full_like(kl, share), **close),
    }


def _log_likelihood(log_probs, labels):
    return torch.distributions.Categorical(logits=log_probs).log_prob(labels)


NEGATIVE_ELBO = Task(
    name="negative_elbo",
    points=2,
    cases=_elbo_cases,
    probe=_elbo_probe,
    oracle=_elbo_oracle,
    made_of="The check computes log_probs from logits: they are the log-softmax.",
    misconceptions=[
        *(
            Misconception(
                lambda log_probs, labels, kl, count=count: (
                    kl / count(labels) - _log_likelihood(log_probs, labels)
                ).mean(-1),
                "you divide the KL by N. That is right for one latent that all data points share; here each has its own, "
                "and its KL counts in full.",
            )
            for count in (len, lambda labels: labels.shape[-1])
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
                kl.mean(-1) - _log_likelihood(log_probs, labels).sum(-1)
            ),
            "you average the KL over the data but sum the NLL: they are then on different scales.",
        ),
        Misconception(
            lambda log_probs, labels, kl: (
                kl - _log_likelihood(log_probs, labels)
            ).mean(),
            "you average over all axes. Average over the data points, the last axis, and keep those before it.",
        ),
        Misconception(
            lambda log_probs, labels, kl: kl - _log_likelihood(log_probs, labels),
            "you return one value for each data point; average over the data points.",
        ),
        Misconception(
            lambda log_probs, labels, kl: (
                kl - _log_likelihood(log_probs, labels)
            ).mean(0),
            "you average over the first axis. The data points are on the last one.",
        ),
        Misconception(
            lambda log_probs, labels, kl: (kl - log_probs.mean(-1)).mean(-1),
            "you average the log-probabilities of all classes; pick that of the label.",
        ),
        Misconception(
            lambda log_probs, labels, kl: (kl - log_probs.sum(-1)).mean(-1),
            "you add up the log-probabilities of all classes; pick that of the label.",
        ),
        Misconception(
            lambda log_probs, labels, kl: (
                -_log_likelihood(log_probs, labels).mean(-1) + 0 * kl.sum(-1)
            ),
            "you leave out the KL: this is the NLL alone.",
        ),
        *wrong_terms(
            lambda log_probs, labels, kl: -_log_likelihood(log_probs, labels).mean(-1),
            lambda log_probs, labels, kl: kl.mean(-1) + 0 * log_probs.sum((-2, -1)),
            *("minus NLL", "no NLL"),
        ),
        Misconception(
            lambda log_probs, labels, kl: kl.mean(-1),
            "you leave out the NLL: this is the KL alone.",
        ),
        Misconception(
            lambda log_probs, labels, kl: (
                kl.detach() - _log_likelihood(log_probs, labels)
            ).mean(-1),
            "you detach the KL (.detach(), .item() or no_grad): the prior then has no effect.",
        ),
    ],
    hints=[
        "Per data point: −log p(y | x, z) + KL. The first term has shape (…, N); the KL has the same shape or is scalar.",
        "torch.distributions.Categorical takes the logits; its log_prob(labels) picks log p(y | x, z), with the labels broadcast over draws.",
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
        is uniform on (0, 1): v of the mean noise is not the mean of v. With ``quiet``, the
        noise is within 1e-4 of ½.
        """

        def __init__(self, quiet=False):
            super().__init__()
            self.one, self.quiet = torch.nn.Parameter(torch.ones(())), quiet

        def draw(self, shape, *, generator):
            noise = torch.rand(shape, generator=generator).clamp(1e-6, 1 - 1e-6)
            return 0.5 + 2e-4 * (noise - 0.5) if self.quiet else noise

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
        try:
            return bool(np.array_equal(np.asarray(one), np.asarray(two)))
        except RuntimeError:  # a tensor that requires gradients
            return torch.equal(one, two)

    def differ(means):
        """Whether the data differ in v, if these are means of the probabilities."""
        if getattr(means, "shape", None) != (len(x), classes):
            return False
        v = torch.as_tensor(means)[:, 0].detach() / torch.tensor(np.float32(x[:, 0]))
        return len(x) == 1 or bool(v.max() - v.min() > 1e-5)

    def quiet_variance():
        """Return the variance of nearly equal draws, relative to that of the model."""
        model, data = Model(quiet=True), torch.tensor(np.float32(x))
        result = answer(model, data, draws=400, generator=seeded(seed))
        variance = None if result is None else result[1]
        if getattr(variance, "shape", None) != (len(x), classes):
            return variance
        # The square of ½ + d varies as d does, which is uniform with a width of 2e-4.
        of_first = (2e-4 * x[:, :1]) ** 2 / 12 / min(x.shape[1], 2)
        shared = np.array([1.0] + [classes - 1.0] * (classes - 1))
        return variance / torch.tensor(of_first / shared**2)

    mean, variance = once()
    mean_of_one, variance_of_one = once(draws=1)
    return {
        "draws_count": float(not equal(once(draws=3)[0], once(draws=4)[0])),
        "mean": mean,
        "variance": variance,
        "variance_of_one_draw": variance_of_one,
        "ratio_of_a_small_variance": quiet_variance(),
        "detached": float(
            not getattr(mean, "requires_grad", False)
            and not getattr(variance, "requires_grad", False)
        ),
        # Two means of many draws may agree to 1e-5 by chance, but hardly those of one, too.
        "noise_of_its_own": float(differ(mean) or differ(mean_of_one)),
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
        "draws_count": Close(1.0, because=EXACT),
        "mean": Close(mean, atol=6 * mean_error, because=DRAWS),
        "variance": Close(variance, atol=6 * variance_error, because=DRAWS),
        "variance_of_one_draw": Close(
            np.zeros_like(mean), atol=1e-6, because="one draw does not vary"
        ),
        "ratio_of_a_small_variance": Close(
            np.ones_like(mean),
            # The kurtosis of a uniform number is 9/5.
            rtol=6 * float(np.sqrt(((12 / 5 if two else 9 / 5) - 1) / 400)),
            because=DRAWS,
        ),
        "detached": Close(1.0, because=EXACT),
        "noise_of_its_own": Close(1.0, because=EXACT),
        "reproducible": Close(1.0, because=EXACT),
        "another_seed_another_draw": Close(1.0, because=EXACT),
    }


PREDICT = Task(
    name="predict",
    points=3,
    cases=_predict_cases,
    probe=_predict_probe,
    oracle=_predict_oracle,
    made_of="The check supplies the model: its noise is uniform, and the probability of its first class is "
    "x[:, 0] times the mean of the squares of the first and the last coordinate of the noise. For one value, "
    "ratio_of_a_small_variance, the noise is nearly ½ everywhere.",
    misconceptions=PREDICT_MISTAKES,
    hints=[
        "model.draw takes a shape: with the number of draws as its first dimension, it gives noise for every draw and every data point at once.",
        "`model(x, z0)` gives log-probabilities of shape (draws, N, K), in a torch.no_grad() block.",
        "Exponentiate first; then the mean and the variance over axis 0.",
    ],
)
