"""Practical 4: calibration, and stochastic layers with normalizing flows, in PyTorch.

Shapes: N data, D inputs, K classes, S draws, R runs trained side by side; "…" is any
number of leading axes. A latent is drawn per datum, so everything here counts per datum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.distributions import Normal
from torch.func import functional_call, stack_module_state, vmap
from torch.nn.functional import cross_entropy, log_softmax, one_hot, softmax, softplus

# --- Calibration ---------------------------------------------------------------------


class Bins(NamedTuple):
    """What happened in each bin, three tensors of shape (n_bins,); an empty bin holds zeros."""

    share: Tensor
    confidence: Tensor
    accuracy: Tensor


class BrierParts(NamedTuple):
    """Brier score = reliability − resolution + uncertainty."""

    reliability: Tensor
    resolution: Tensor
    uncertainty: Tensor


class Scored(NamedTuple):
    """A model's logits, shape (N, K), with the true labels, shape (N,)."""

    logits: Tensor
    labels: Tensor


def bin_index(values: Tensor, n_bins: int) -> Tensor:
    """The number of the equal-width bin on [0, 1] in which each value lies.

    A value on an inner boundary belongs to the bin above it, 1 to the last bin. Rounding
    can push a probability past 0 or 1: it stays in the outermost bin.

    Args:
        values: numbers in [0, 1], shape (N,).
        n_bins: how many bins.

    Returns:
        Integers from 0 to n_bins − 1, shape (N,).
    """
    edges = torch.linspace(0, 1, n_bins + 1, dtype=values.dtype)
    return (torch.bucketize(values.contiguous(), edges, right=True) - 1).clamp(
        0, n_bins - 1
    )


def calibration_bins(probs: Tensor, labels: Tensor, n_bins: int = 15) -> Bins:
    """Share of the data, mean confidence and accuracy in each bin of the confidence.

    The confidence is the probability of the most probable class.

    Args:
        probs: probabilities, shape (N, K).
        labels: true classes, integers, shape (N,).
        n_bins: how many bins of equal width.

    Returns:
        ``Bins``: shares that sum to 1, mean confidences and accuracies, each (n_bins,).

    Source: Guo et al. (2017), section 2.
    """
    # bin_index says which bin; torch.bincount(index, weights, minlength) adds up by bin.
    # An empty bin would be 0 / 0: let it hold zeros.
    ### BEGIN SOLUTION
    confidence, predicted = probs.max(-1)
    correct = (predicted == labels).to(probs.dtype)
    index = bin_index(confidence, n_bins)
    count = torch.bincount(index, minlength=n_bins).to(probs.dtype)
    at_least_one = count.clamp(min=1)
    return Bins(
        share=count / len(probs),
        confidence=torch.bincount(index, confidence, n_bins) / at_least_one,
        accuracy=torch.bincount(index, correct, n_bins) / at_least_one,
    )
    ### END SOLUTION


def expected_calibration_error(
    probs: Tensor, labels: Tensor, n_bins: int = 15
) -> Tensor:
    """ECE = Σ_b share_b · |accuracy_b − confidence_b|.

    Args:
        probs: probabilities, shape (N, K).
        labels: true classes, integers, shape (N,).
        n_bins: how many bins of equal width.

    Returns:
        A scalar between 0 and 1.

    Source: Naeini, Cooper and Hauskrecht (2015), section 3; Guo et al. (2017), equation 3.
    """
    ### BEGIN SOLUTION
    bins = calibration_bins(probs, labels, n_bins)
    return (bins.share * (bins.accuracy - bins.confidence).abs()).sum()
    ### END SOLUTION


def maximum_calibration_error(
    probs: Tensor, labels: Tensor, n_bins: int = 15
) -> Tensor:
    """MCE = max_b |accuracy_b − confidence_b|: the worst bin, however few data it holds.

    Source: Naeini, Cooper and Hauskrecht (2015), section 3.
    """
    bins = calibration_bins(probs, labels, n_bins)
    return (bins.accuracy - bins.confidence).abs().max()


def adaptive_calibration_error(
    probs: Tensor, labels: Tensor, n_bins: int = 15
) -> Tensor:
    """The ECE of the top label in bins that hold equally many data, rather than of equal width.

    Source: Nguyen and O'Connor (2015), section 3; Nixon et al. (2019), section 3.
    """
    confidence, predicted = probs.max(-1)
    order = confidence.argsort(stable=True)
    gap = ((predicted == labels).to(probs.dtype) - confidence)[order]
    return sum(part.sum().abs() for part in gap.tensor_split(n_bins)) / len(gap)


def brier_score(probs: Tensor, labels: Tensor) -> Tensor:
    """The mean over the data of Σ_k (p_k − [y = k])², between 0 and 2.

    Source: Brier (1950), equation 2.
    """
    target = one_hot(labels, probs.shape[-1]).to(probs.dtype)
    return ((probs - target) ** 2).sum(-1).mean()


def brier_decomposition(
    forecast: Tensor, outcome: Tensor, n_bins: int = 15
) -> BrierParts:
    """Murphy's three parts of the Brier score of a binary forecast.

    With n_b of the N data, the mean forecast f_b and the mean outcome o_b in bin b, and
    the mean outcome o of all data:

        reliability = Σ_b n_b/N (f_b − o_b)²
        resolution  = Σ_b n_b/N (o_b − o)²
        uncertainty = o (1 − o)

    Args:
        forecast: probabilities of the event, shape (N,).
        outcome: 1 where it happened and 0 where it did not, shape (N,).
        n_bins: how many bins of equal width.

    Returns:
        ``BrierParts``, three scalars. Reliability − resolution + uncertainty is exactly the
        mean of (f − o)² when each forecast is replaced by the mean forecast of its bin.

    Source: Murphy (1973), equation 7.
    """
    ### BEGIN SOLUTION
    outcome = outcome.to(forecast.dtype)
    index = bin_index(forecast, n_bins)
    count = torch.bincount(index, minlength=n_bins).to(forecast.dtype)
    weight = count / len(forecast)
    mean_forecast = torch.bincount(index, forecast, n_bins) / count.clamp(min=1)
    mean_outcome = torch.bincount(index, outcome, n_bins) / count.clamp(min=1)
    overall = outcome.mean()
    return BrierParts(
        reliability=(weight * (mean_forecast - mean_outcome) ** 2).sum(),
        resolution=(weight * (mean_outcome - overall) ** 2).sum(),
        uncertainty=overall * (1 - overall),
    )
    ### END SOLUTION


def fit_temperature(logits: Tensor, labels: Tensor) -> Tensor:
    """The temperature T > 0 that minimises the mean of −log softmax(logits / T)[label].

    Args:
        logits: shape (N, K).
        labels: true classes, integers, shape (N,), not all of them classified rightly.

    Returns:
        A scalar; above 1 when the model is over-confident.

    Source: Guo et al. (2017), section 4.2.
    """
    # One number is sought: let torch.optim.LBFGS (line_search_fn="strong_wolfe") move log T.
    ### BEGIN SOLUTION
    logits = logits.detach().double()
    log_temperature = torch.zeros((), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [log_temperature],
        max_iter=100,
        tolerance_grad=1e-10,
        tolerance_change=1e-14,
        line_search_fn="strong_wolfe",
    )

    def closure() -> Tensor:
        optimiser.zero_grad()
        loss = cross_entropy(logits / log_temperature.exp(), labels)
        loss.backward()
        return loss

    optimiser.step(closure)
    return log_temperature.detach().exp()
    ### END SOLUTION


def calibrated_probs(training: Scored, held_out: Scored, logits: Tensor) -> Tensor:
    """Probabilities of new data after temperature scaling.

    Args:
        training: logits and labels of the data that the model was trained on.
        held_out: logits and labels of data that it has not seen.
        logits: logits of the new data, shape (N, K).

    Returns:
        Probabilities, shape (N, K).

    Source: Guo et al. (2017), section 4.2.
    """
    # Which of the two sets can tell how far the model's confidence may be trusted?
    ### BEGIN SOLUTION
    temperature = fit_temperature(held_out.logits, held_out.labels)
    return softmax(logits / temperature, dim=-1)
    ### END SOLUTION


# --- Logistic regression -------------------------------------------------------------


def uniform_linear(
    classes: int, dims: int, *, generator: torch.Generator
) -> tuple[nn.Parameter, nn.Parameter]:
    """A weight of shape (K, D) and a bias (K,), uniform on ±1/√D as ``nn.Linear`` has them."""
    weight = torch.rand(classes, dims, generator=generator) * 2 - 1
    bias = torch.rand(classes, generator=generator) * 2 - 1
    return nn.Parameter(weight / math.sqrt(dims)), nn.Parameter(bias / math.sqrt(dims))


class LogisticRegression(nn.Module):
    """Logistic regression as the softmax of K linear functions; gives log-probabilities (N, K)."""

    def __init__(self, dims: int, classes: int, *, generator: torch.Generator):
        super().__init__()
        self.weight, self.bias = uniform_linear(classes, dims, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        return log_softmax(x @ self.weight.T + self.bias, dim=-1)


def boundary_line(weight: Tensor, bias: Tensor, x1: Tensor) -> Tensor:
    """Where two classes of a linear model are equally probable: x₀ as a function of x₁.

    Args:
        weight: shape (2, 2), a row per class.
        bias: shape (2,).
        x1: second coordinates, shape (M,).

    Returns:
        First coordinates x₀ of the points of the boundary, shape (M,).
    """
    # The logits are equal there: c · x + d = 0 with the difference c of the rows.
    ### BEGIN SOLUTION
    c = weight[0] - weight[1]
    d = bias[0] - bias[1]
    return -(c[1] * x1 + d) / c[0]
    ### END SOLUTION


def boundary_plane(weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """The same boundary in D dimensions: a point on it, and the directions along it.

    Args:
        weight: shape (2, D), a row per class.
        bias: shape (2,).

    Returns:
        The point nearest to the origin, shape (D,), and an orthonormal basis of the null
        space of c = weight[0] − weight[1], shape (D − 1, D).
    """
    c, d = weight[0] - weight[1], bias[0] - bias[1]
    _, _, rows = torch.linalg.svd(c[None, :])
    return -d * c / (c @ c), rows[1:]


# --- Flows ---------------------------------------------------------------------------


def affine_flow(z: Tensor, shift: Tensor, log_scale: Tensor) -> tuple[Tensor, Tensor]:
    """f(z) = shift + exp(log_scale) ⊙ z, and log|det ∂f/∂z|.

    Args:
        z: points, shape (…, D).
        shift: shape (D,).
        log_scale: logarithms of the scales, shape (D,).

    Returns:
        The points f(z), shape (…, D), and one log|det| per point, shape (…).
    """
    ### BEGIN SOLUTION
    log_det = log_scale.sum(-1).expand(z.shape[:-1])
    return shift + log_scale.exp() * z, log_det
    ### END SOLUTION


def planar_flow(z: Tensor, u: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """f(z) = z + u tanh(wᵀz + b), and log|det ∂f/∂z| = log|1 + uᵀw (1 − tanh²(wᵀz + b))|.

    Args:
        z: points, shape (…, D).
        u: where the points are pushed, shape (D,), with wᵀu > −1.
        w: across which planes, shape (D,).
        b: a scalar.

    Returns:
        The points f(z), shape (…, D), and one log|det| per point, shape (…).

    Source: Rezende and Mohamed (2015), equations 10 and 12.
    """
    # torch.log1p(a) is log(1 + a), exact for a small a as well.
    ### BEGIN SOLUTION
    h = torch.tanh(z @ w + b)
    log_det = torch.log1p((u @ w) * (1 - h**2))
    return z + u * h[..., None], log_det
    ### END SOLUTION


def invertible_u(u: Tensor, w: Tensor) -> Tensor:
    """Move u along w until wᵀu > −1, so that the planar flow is invertible; u = 0 stays 0.

        û = u + (m(wᵀu) − wᵀu) w / ‖w‖²    with    m(a) = −1 + softplus(a + log(e − 1))

    Args:
        u: shape (D,), anything.
        w: shape (D,).

    Returns:
        û, shape (D,), with wᵀû = m(wᵀu).

    Source: Rezende and Mohamed (2015), appendix A.1, with m shifted so that m(0) = 0.
    """
    ### BEGIN SOLUTION
    a = w @ u
    m = -1 + softplus(a + math.log(math.expm1(1)))
    return u + (m - a) * w / (w @ w).clamp(min=torch.finfo(w.dtype).tiny)
    ### END SOLUTION


def printed_u(u: Tensor, w: Tensor) -> Tensor:
    """As ``invertible_u``, with the paper's m(a) = −1 + log(1 + eᵃ): u = 0 becomes −.31 w / ‖w‖²."""
    a = w @ u
    return u + (-1 + softplus(a) - a) * w / (w @ w)


def radial_flow(
    z: Tensor, centre: Tensor, alpha: Tensor, beta: Tensor
) -> tuple[Tensor, Tensor]:
    """f(z) = z + β h (z − c) with h = 1/(α + r) and r = ‖z − c‖, and log|det ∂f/∂z|.

    Args:
        z: points, shape (…, D), any D.
        centre: the centre c, shape (D,).
        alpha: a scalar α > 0.
        beta: a scalar β > −α; negative values pull towards the centre.

    Returns:
        The points f(z), shape (…, D), and one log|det| per point, shape (…).

    Source: Rezende and Mohamed (2015), equation 14.
    """
    # Across the radius the map stretches D − 1 times by one factor, along it by another.
    ### BEGIN SOLUTION
    offset = z - centre
    r = torch.linalg.vector_norm(offset, dim=-1)
    h = 1 / (alpha + r)
    across = torch.log1p(beta * h)
    along = torch.log1p(beta * alpha * h**2)  # 1 + βh + βh′r with h′ = −h²
    return z + beta * h[..., None] * offset, (z.shape[-1] - 1) * across + along
    ### END SOLUTION


def compose(
    layers: Sequence[Callable[[Tensor], tuple[Tensor, Tensor]]], z: Tensor
) -> tuple[Tensor, Tensor]:
    """Send z through one flow after the other.

    Args:
        layers: each gives ``(f(z), log|det|)`` for points z; there may be none.
        z: points z₀, shape (…, D).

    Returns:
        The points z_K, shape (…, D), and log|det ∂z_K/∂z₀|, shape (…).

    Source: Rezende and Mohamed (2015), equations 6 and 7.
    """
    ### BEGIN SOLUTION
    total = z.new_zeros(z.shape[:-1])
    for layer in layers:
        z, log_det = layer(z)
        total = total + log_det
    return z, total
    ### END SOLUTION


class Affine(nn.Module):
    """``affine_flow`` with its parameters, the identity at first; fixed there unless ``learnable``."""

    def __init__(self, dims: int, *, learnable: bool = True):
        super().__init__()
        self.shift = nn.Parameter(torch.zeros(dims), requires_grad=learnable)
        self.log_scale = nn.Parameter(torch.zeros(dims), requires_grad=learnable)

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:
        return affine_flow(z, self.shift, self.log_scale)


class Planar(nn.Module):
    """``planar_flow`` with its parameters; ``constrain`` makes an invertible u of any u."""

    def __init__(
        self,
        dims: int,
        *,
        generator: torch.Generator,
        constrain: Callable = invertible_u,
    ):
        super().__init__()
        self.u = nn.Parameter(0.01 * torch.randn(dims, generator=generator))
        self.w = nn.Parameter(0.01 * torch.randn(dims, generator=generator))
        self.b = nn.Parameter(torch.zeros(()))
        self.constrain = constrain

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:
        return planar_flow(z, self.constrain(self.u, self.w), self.w, self.b)


# --- A stochastic layer --------------------------------------------------------------


class StochasticLogisticRegression(nn.Module):
    """Logistic regression whose inputs are multiplied by noise, or have it added.

    The noise z_K of a datum is a draw z₀ of ``base`` that went through an affine and
    ``depth`` planar flows.

    Args:
        dims: D.
        classes: K.
        depth: how many planar flows.
        multiply: x ⊙ z_K; otherwise x + z_K.
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
        """Log-probabilities (…, N, K), the noise z_K (…, N, D) and log|det| (…, N) for z₀ (…, N, D)."""
        z, log_det = compose(self.flow, z0)
        noisy = x * z if self.multiply else x + z
        return log_softmax(noisy @ self.weight.T + self.bias, dim=-1), z, log_det


def hurried_flow_kl(
    base: Normal, prior: Normal, z0: Tensor, z: Tensor, log_det: Tensor
) -> Tensor:
    """KL(q ‖ p), a summand per draw, with a mistake in it, one that a hurried colleague made."""
    return -log_det


def flow_kl(
    base: Normal, prior: Normal, z0: Tensor, z: Tensor, log_det: Tensor
) -> Tensor:
    """log q(z_K) − log p(z_K) for draws of q: their mean estimates KL(q ‖ p).

    Args:
        base: the distribution q₀ of each coordinate of z₀.
        prior: the distribution p of each coordinate of the noise.
        z0: draws of the base, shape (…, D).
        z: the same draws after the flow, shape (…, D).
        log_det: log|det ∂z_K/∂z₀|, shape (…).

    Returns:
        One summand per draw, in nats, shape (…).

    Source: Rezende and Mohamed (2015), equations 13 and 15.
    """
    # Start from hurried_flow_kl and mend it. What is log q(z_K), by the change of variables?
    ### BEGIN SOLUTION
    log_q = base.log_prob(z0).sum(-1) - log_det
    log_p = prior.log_prob(z).sum(-1)
    return log_q - log_p
    ### END SOLUTION


def negative_elbo(log_probs: Tensor, labels: Tensor, kl: Tensor) -> Tensor:
    """−ELBO per datum, where every datum has a latent of its own.

    Args:
        log_probs: log p(y | x, z) for each draw, shape (…, N, K).
        labels: true classes, integers, shape (N,).
        kl: a summand of KL(q ‖ p) for each draw, shape (…, N).

    Returns:
        The mean over the N data of −log p(y | x, z) + KL, in nats, shape (…).

    Source: Kingma and Welling (2014), equations 3 and 8.
    """
    # torch.distributions.Categorical(logits=log_probs) broadcasts the labels over the draws.
    ### BEGIN SOLUTION
    log_likelihood = torch.distributions.Categorical(logits=log_probs).log_prob(labels)
    return (kl - log_likelihood).mean(-1)
    ### END SOLUTION


def predict(
    model: nn.Module, x: Tensor, *, draws: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """The predictive probabilities p(y | x) ≈ 1/S Σ_s p(y | x, z_s), and how much they vary with z.

    Args:
        model: ``model.draw(shape, generator=…)`` gives noise z₀, and ``model(x, z0)`` gives
            ``(log_probs, z, log_det)``; x broadcasts against z0 of shape (S, N, D).
        x: inputs, shape (N, D).
        draws: S, for every datum its own.
        generator: for the noise.

    Returns:
        The mean and the variance over the draws of the K probabilities, both (N, K),
        without a graph. K need not be D.
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
    """What training recorded, (R, steps, terms), and norms of gradients by parameter, (R, steps)."""

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
    """Train R models of one kind side by side, each for itself, by Adam on all data at once.

    Args:
        models: R models; they hold the trained parameters in the end.
        objective: takes what the models return, with R in front, and the noise if there is
            any; gives (R, terms), of which the first column is minimised.
        x: inputs, shape (N, D).
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
    call = vmap(lambda p, *noise: functional_call(models[0], p, (x, *noise)))
    terms, gradients = [], {name: [] for name in watch}
    for _ in range(steps):
        noise = () if draw is None else (draw(),)
        values = objective(call(parameters, *noise), *noise)
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
