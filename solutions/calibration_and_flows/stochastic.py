"""A stochastic layer: logistic regression with noise from a flow, and its ELBO."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.distributions import Normal
from torch.func import functional_call, stack_module_state, vmap
from torch.nn.functional import log_softmax

from solutions.calibration_and_flows.flows import Affine, compose
from solutions.calibration_and_flows.logistic import uniform_linear
from solutions.calibration_and_flows.planar import Planar, invertible_u


class StochasticLogisticRegression(nn.Module):
    """Logistic regression whose inputs are multiplied by noise, or have it added.

    The noise z_L of a data point is a draw z₀ of ``base`` that went through L flows: an
    affine one and ``depth`` planar ones.

    Args:
        dims: D.
        classes: K.
        depth: how many planar flows.
        multiply: x ⊙ z_L; otherwise x + z_L.
        base: the distribution q₀ of each coordinate of z₀.
        learnable_affine: whether the affine flow is trained.
        constrain: what keeps the planar flows invertible.
        generator: for the initial parameters.
    """

    def __init__(
        self,
        dims: int,
        classes: int,
        depth: int,
        *,
        generator: torch.Generator,
        multiply: bool = True,
        base: Normal | None = None,
        learnable_affine: bool = True,
        constrain: Callable = invertible_u,
    ):
        super().__init__()
        self.weight, self.bias = uniform_linear(classes, dims, generator=generator)
        planar = [
            Planar(dims, generator=generator, constrain=constrain) for _ in range(depth)
        ]
        self.flow = nn.ModuleList([Affine(dims, learnable=learnable_affine), *planar])
        self.base = Normal(1.0, 0.1) if base is None else base
        self.multiply = multiply

    def draw(self, shape: Sequence[int], *, generator: torch.Generator) -> Tensor:
        """Noise z₀ of the given shape, drawn from ``base``."""
        return self.base.mean + self.base.stddev * torch.randn(
            shape, generator=generator
        )

    def forward(self, x: Tensor, z0: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Log-probabilities, the noise z_L and log|det| for z₀ of shape (…, N, D).

        Their shapes are (…, N, K), (…, N, D) and (…, N).
        """
        z, log_det = compose(self.flow, z0)
        noisy = x * z if self.multiply else x + z
        return log_softmax(noisy @ self.weight.T + self.bias, dim=-1), z, log_det


def hurried_flow_kl(
    base: Normal, prior: Normal, z0: Tensor, z: Tensor, log_det: Tensor
) -> Tensor:
    """KL(q‖p), a summand per draw, with a mistake."""
    return -log_det


def flow_kl(
    base: Normal, prior: Normal, z0: Tensor, z: Tensor, log_det: Tensor
) -> Tensor:
    """log q(z_L) − log p(z_L) for draws of q: their mean estimates KL(q‖p).

    Args:
        base: the distribution q₀ of each coordinate of z₀.
        prior: the distribution p of each coordinate of the noise.
        z0: draws of the base, shape (…, D).
        z: the same draws after the flow, shape (…, D).
        log_det: log|det ∂z_L/∂z₀|, shape (…).

    Returns:
        One summand per draw, in nats, shape (…).

    Source: Rezende and Mohamed (2015), equations 13 and 15.
    """
    # Start from hurried_flow_kl and correct it.
    # What is log q(z_L), by the change of variables?
    ### BEGIN SOLUTION
    log_q = base.log_prob(z0).sum(-1) - log_det
    log_p = prior.log_prob(z).sum(-1)
    return log_q - log_p
    ### END SOLUTION


def negative_elbo(log_probs: Tensor, labels: Tensor, kl: Tensor) -> Tensor:
    """−ELBO per data point, where every data point has a latent of its own.

    Args:
        log_probs: log p(y | x, z) for each draw, shape (…, N, K).
        labels: true classes, integers, shape (N,) or (…, N).
        kl: a summand of KL(q‖p) for each draw, shape (…, N), or scalar.

    Returns:
        The mean over the N data points of −log p(y | x, z) + KL, in nats, shape (…).

    Source: Kingma and Welling (2014), equations 3 and 8.
    """
    # torch.distributions.Categorical(logits=log_probs) broadcasts the labels
    # over the draws.
    ### BEGIN SOLUTION
    log_likelihood = torch.distributions.Categorical(logits=log_probs).log_prob(labels)
    return (kl - log_likelihood).mean(-1)
    ### END SOLUTION


def predict(
    model: nn.Module, x: Tensor, *, draws: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """The predictive probabilities, and their variance over the draws.

    p(y | x) ≈ 1/S Σ_s p(y | x, z_s) with z_s ~ q.

    Args:
        model: ``model.draw(shape, generator=…)`` gives noise z₀, and ``model(x, z0)``
            gives ``(log_probs, z, log_det)``; x broadcasts against z0 of shape
            (S, N, D).
        x: inputs, shape (N, D).
        draws: S, drawn anew for every data point.
        generator: for the noise.

    Returns:
        The mean and the variance (divided by S) over the draws of the K probabilities,
        both (N, K), without a graph. K need not be D.
    """
    # Which of the two is averaged, probabilities or their logarithms?
    ### BEGIN SOLUTION
    with torch.no_grad():
        z0 = model.draw((draws, *x.shape), generator=generator)
        log_probs, _, _ = model(x, z0)
        probs = log_probs.exp()
        return probs.mean(0), probs.var(0, correction=0)
    ### END SOLUTION


class Fit(NamedTuple):
    """What training recorded, and norms of gradients by parameter.

    The shapes are (R, steps, terms) and, for each parameter, (R, steps).
    """

    terms: Tensor
    gradients: dict[str, Tensor]


def fit(
    models: Sequence[nn.Module],
    objective: Callable[..., Tensor],
    x: Tensor,
    *,
    steps: int,
    rate: float,
    draw: Callable[[], Tensor] | None = None,
    frozen: Sequence[str] = (),
    watch: Sequence[str] = (),
) -> Fit:
    """Train R models of one kind side by side, each alone, by Adam on all data at once.

    Args:
        models: R models; they hold the trained parameters in the end.
        objective: takes what the models return, with R in front, and the noise if there
            is any; gives (R, terms), of which the first column is minimised.
        x: inputs, shape (N, D) for all runs, or (R, N, D), its own for each.
        steps: how many steps.
        rate: the learning rate.
        draw: gives the noise z₀ of a step, shape (R, …, N, D); None for models without.
        frozen: parameters whose names end so stay as they are.
        watch: names of parameters whose gradients are recorded.

    Returns:
        The terms at every step, and the norms of the watched gradients.
    """
    parameters, _ = stack_module_state(list(models))
    moving = {
        k: p
        for k, p in parameters.items()
        if p.requires_grad and not k.endswith(tuple(frozen))
    }
    optimiser = torch.optim.Adam(moving.values(), lr=rate, fused=True)
    inputs = x.expand(len(models), *x.shape[-2:])
    call = vmap(lambda p, x, *noise: functional_call(models[0], p, (x, *noise)))
    terms, gradients = [], {name: [] for name in watch}
    for _ in range(steps):
        noise = () if draw is None else (draw(),)
        values = objective(call(parameters, inputs, *noise), *noise)
        optimiser.zero_grad()
        values[:, 0].sum().backward()
        optimiser.step()
        terms.append(values.detach())
        for name in watch:
            by_run = moving[name].grad.reshape(len(models), -1)
            gradients[name].append(by_run.norm(dim=1))
    with torch.no_grad():
        for run, model in enumerate(models):
            for name, parameter in model.named_parameters():
                parameter.copy_(parameters[name][run])
    return Fit(
        torch.stack(terms, 1), {k: torch.stack(v, 1) for k, v in gradients.items()}
    )
