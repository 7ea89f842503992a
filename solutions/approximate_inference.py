"""Practical 2: approximate inference in classification, in PyTorch.

Shapes: N data, D weights of a logistic model (inputs carry a column of ones, so the bias
is one of them), S samples, H hidden units, K classes. Objectives are sums over the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

# --- Logistic regression: mode and curvature -----------------------------------------


def with_bias(x: Tensor) -> Tensor:
    """Append a column of ones, so that the last weight is the bias: (N, D − 1) → (N, D)."""
    return torch.cat([x, torch.ones_like(x[:, :1])], dim=1)


def negative_log_joint(
    w: Tensor, x: Tensor, y: Tensor, prior_variance: float
) -> Tensor:
    """−log p(y, w | X) = Σₙ −log p(yₙ | xₙ, w) − log N(w | 0, σ₀² I), every constant included.

    As a function of w it is the negative log posterior, up to the constant log p(y | X).

    Args:
        w: weights, shape (D,).
        x: inputs with their column of ones, shape (N, D).
        y: labels, 0.0 or 1.0, shape (N,).
        prior_variance: σ₀², the same for every weight.

    Returns:
        A scalar, in nats.

    Source: Bishop, Pattern Recognition and Machine Learning (2006), equation 4.142.
    """
    # Logits of a thousand are allowed: F.binary_cross_entropy_with_logits copes, log(sigmoid) does not.
    ### BEGIN SOLUTION
    nll = F.binary_cross_entropy_with_logits(x @ w, y, reduction="sum")
    normaliser = 0.5 * len(w) * math.log(2 * math.pi * prior_variance)
    return nll + w @ w / (2 * prior_variance) + normaliser
    ### END SOLUTION


def prior_variance_of(weight_decay: float, n: int) -> float:
    """The prior variance σ₀² that a penalty λ‖w‖², added to the *mean* loss of n data, stands for.

    Args:
        weight_decay: λ.
        n: the number of data.

    Returns:
        σ₀².
    """
    # Multiply the objective by n: then its terms are those of the negative log joint.
    ### BEGIN SOLUTION
    return 1 / (2 * n * weight_decay)
    ### END SOLUTION


def hessian_by_backward(function: Callable[[Tensor], Tensor], w: Tensor) -> Tensor:
    """The Hessian of a scalar function, row by row, by differentiating its gradient.

    Args:
        function: takes w, gives a scalar.
        w: where, shape (D,).

    Returns:
        The Hessian, shape (D, D), detached.
    """
    w = w.detach().requires_grad_()
    # torch.autograd.grad with create_graph=True gives a gradient that can be differentiated again.
    ### BEGIN SOLUTION
    (gradient,) = torch.autograd.grad(function(w), w, create_graph=True)
    rows = [
        torch.autograd.grad(component, w, retain_graph=True)[0]
        for component in gradient
    ]
    return torch.stack(rows)
    ### END SOLUTION


def logistic_hessian(w: Tensor, x: Tensor, prior_variance: float) -> Tensor:
    """The Hessian of ``negative_log_joint`` in closed form: Xᵀ diag(p(1 − p)) X + I/σ₀².

    Args:
        w: weights, shape (D,).
        x: inputs with their column of ones, shape (N, D).
        prior_variance: σ₀².

    Returns:
        Shape (D, D). It does not depend on the labels.

    Source: Bishop (2006), equations 4.97 and 4.143.
    """
    ### BEGIN SOLUTION
    p = torch.sigmoid(x @ w)
    return (x.T * (p * (1 - p))) @ x + torch.eye(len(w), dtype=x.dtype) / prior_variance
    ### END SOLUTION


def find_mode(x: Tensor, y: Tensor, prior_variance: float, steps: int = 30) -> Tensor:
    """The posterior's mode w_MAP, by Newton's method from w = 0: w ← w − H⁻¹g.

    Args:
        x, y, prior_variance: as for ``negative_log_joint``.
        steps: how many steps; each doubles the number of right digits, once near.

    Returns:
        Weights, shape (D,), where the gradient of ``negative_log_joint`` vanishes.

    Source: Bishop (2006), section 4.3.3.
    """
    w = torch.zeros(x.shape[1], dtype=x.dtype)
    for _ in range(steps):
        # The gradient is Xᵀ(p − y) + w/σ₀². torch.linalg.solve(H, g) is H⁻¹g.
        ### BEGIN SOLUTION
        gradient = x.T @ (torch.sigmoid(x @ w) - y) + w / prior_variance
        w = w - torch.linalg.solve(logistic_hessian(w, x, prior_variance), gradient)
        ### END SOLUTION
    return w


# --- Laplace's approximation ---------------------------------------------------------


def hurried_laplace_covariance(
    w: Tensor, x: Tensor, y: Tensor, prior_variance: float
) -> Tensor:
    """The covariance of Laplace's approximation, with a mistake that a hurried colleague made.

    Args:
        w: the mode, shape (D,).
        x, y, prior_variance: as for ``negative_log_joint``.

    Returns:
        What should be the posterior's covariance, shape (D, D).
    """
    n = len(x)
    weight_decay = 1 / (2 * n * prior_variance)

    def loss(w: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(x @ w, y) + weight_decay * (w @ w)

    return torch.linalg.inv(torch.autograd.functional.hessian(loss, w))


def laplace_covariance(
    w: Tensor, x: Tensor, y: Tensor, prior_variance: float
) -> Tensor:
    """The covariance of Laplace's approximation: (−∇∇ log p(w | y, X))⁻¹ at the mode.

    Args:
        w: the mode, shape (D,).
        x, y, prior_variance: as for ``negative_log_joint``.

    Returns:
        The posterior's covariance Σ, shape (D, D).

    Source: MacKay (1992), section 2; Bishop (2006), section 4.4.
    """
    # Start from hurried_laplace_covariance and mend it: whose Hessian does it invert?
    ### BEGIN SOLUTION
    n = len(x)
    weight_decay = 1 / (2 * n * prior_variance)

    def loss(w: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(x @ w, y) + weight_decay * (w @ w)

    return torch.linalg.inv(n * torch.autograd.functional.hessian(loss, w))
    ### END SOLUTION


def laplace_log_evidence(
    w: Tensor, covariance: Tensor, x: Tensor, y: Tensor, prior_variance: float
) -> Tensor:
    """log p(y | X) ≈ log p(y, w_MAP | X) + D/2 log 2π + ½ log det Σ.

    Args:
        w: the mode, shape (D,).
        covariance: Σ, shape (D, D).
        x, y, prior_variance: as for ``negative_log_joint``.

    Returns:
        A scalar, in nats.

    Source: Bishop (2006), equation 4.137.
    """
    ### BEGIN SOLUTION
    log_joint = -negative_log_joint(w, x, y, prior_variance)
    return (
        log_joint
        + 0.5 * len(w) * math.log(2 * math.pi)
        + 0.5 * torch.logdet(covariance)
    )
    ### END SOLUTION


def softmax_laplace_covariance(
    weights: Tensor, x: Tensor, prior_variance: float
) -> Tensor:
    """Laplace's covariance for K classes: (Σₙ (diag(pₙ) − pₙpₙᵀ) ⊗ xₙxₙᵀ + I/σ₀²)⁻¹.

    Args:
        weights: the mode, one row for each class, shape (K, D); logits are x @ weights.T.
        x: inputs with their column of ones, shape (N, D).
        prior_variance: σ₀².

    Returns:
        The covariance of ``weights.flatten()``, shape (K·D, K·D).

    Source: Bishop (2006), equation 4.110.
    """
    # torch.einsum builds all N blocks at once: entry (k, i, l, j) belongs to weights k, i and l, j.
    ### BEGIN SOLUTION
    p = torch.softmax(x @ weights.T, dim=-1)
    curvature = torch.diag_embed(p) - p[:, :, None] * p[:, None, :]
    hessian = torch.einsum("nkl,ni,nj->kilj", curvature, x, x).reshape(
        weights.numel(), weights.numel()
    )
    return torch.linalg.inv(
        hessian + torch.eye(weights.numel(), dtype=x.dtype) / prior_variance
    )
    ### END SOLUTION


# --- Predictions ---------------------------------------------------------------------


def sampled_predictive(x: Tensor, weights: Tensor, chunk: int = 512) -> Tensor:
    """p(y = 1 | x) ≈ 1/S Σₛ sigmoid(xᵀwₛ), from samples of the posterior.

    Args:
        x: inputs with their column of ones, shape (N, D).
        weights: samples wₛ, shape (S, D).
        chunk: how many inputs at a time: (chunk, S) logits fit into the processor's cache.

    Returns:
        Probabilities, shape (N,).
    """
    probs = []
    for rows in x.split(chunk):
        # rows has the shape (at most chunk, D): append their predictive probabilities.
        ### BEGIN SOLUTION
        probs.append(torch.sigmoid(rows @ weights.T).mean(dim=1))
        ### END SOLUTION
    return torch.cat(probs)


def probit_predictive(x: Tensor, mean: Tensor, covariance: Tensor) -> Tensor:
    """p(y = 1 | x) ≈ sigmoid(m / √(1 + πv/8)) with m = xᵀµ and v = xᵀΣx.

    Args:
        x: inputs with their column of ones, shape (N, D).
        mean: µ, shape (D,).
        covariance: Σ, shape (D, D).

    Returns:
        Probabilities, shape (N,).

    Source: MacKay (1992), equation 10; Bishop (2006), equations 4.153 to 4.155.
    """
    ### BEGIN SOLUTION
    logit_mean = x @ mean
    logit_variance = ((x @ covariance) * x).sum(dim=1)
    return torch.sigmoid(logit_mean / torch.sqrt(1 + math.pi * logit_variance / 8))
    ### END SOLUTION


# --- Variational inference -----------------------------------------------------------


def reparametrised_sample(mu: Tensor, rho: Tensor, *, generator: Generator) -> Tensor:
    """w = µ + σ ε with σ = softplus(ρ) and ε ~ N(0, 1), one ε for each weight.

    Args:
        mu: means µ, any shape.
        rho: ρ, the same shape; the standard deviation is σ = softplus(ρ).
        generator: the source of ε.

    Returns:
        One draw of w, the same shape, differentiable with respect to µ and ρ.

    Source: Kingma and Welling (2014), section 2.4; Blundell et al. (2015), section 3.2.
    """
    # torch.randn takes a shape, a dtype and a generator.
    ### BEGIN SOLUTION
    epsilon = torch.randn(mu.shape, dtype=mu.dtype, generator=generator)
    return mu + F.softplus(rho) * epsilon
    ### END SOLUTION


def gaussian_kl(mu: Tensor, rho: Tensor, prior_std: float) -> Tensor:
    """KL(q‖p) = Σᵢ log(σ₀/σᵢ) + (σᵢ² + µᵢ²)/(2σ₀²) − ½ of q = Πᵢ N(µᵢ, σᵢ²) and p = N(0, σ₀² I).

    Args:
        mu: means µ, any shape.
        rho: ρ, the same shape; the standard deviation is σ = softplus(ρ).
        prior_std: the prior's standard deviation σ₀, not its variance.

    Returns:
        A scalar, in nats: the sum over all weights.

    Source: Kingma and Welling (2014), appendix B.
    """
    ### BEGIN SOLUTION
    std = F.softplus(rho)
    return (
        math.log(prior_std)
        - torch.log(std)
        + (std**2 + mu**2) / (2 * prior_std**2)
        - 0.5
    ).sum()
    ### END SOLUTION


def negative_elbo(logits: Tensor, y: Tensor, kl: Tensor) -> Tensor:
    """−ELBO ≈ 1/S Σₛ Σₙ −log p(yₙ | xₙ, wₛ) + KL(q‖p).

    Args:
        logits: of S draws of the weights, shape (S, N).
        y: labels, 0.0 or 1.0, shape (N,).
        kl: KL(q‖p), a scalar.

    Returns:
        A scalar, in nats: a mean over draws, a sum over data.
    """
    ### BEGIN SOLUTION
    nll = F.binary_cross_entropy_with_logits(
        logits, y.expand_as(logits), reduction="none"
    )
    return nll.sum(dim=1).mean() + kl
    ### END SOLUTION


class LinearVariational(nn.Module):
    """y = Wx + b, every weight and every bias with a Gaussian of its own.

    Args:
        input_size: the number of inputs.
        output_size: the number of outputs.
        prior_std: the standard deviation σ₀ of the prior of weights and biases.
        rho: where every ρ starts; the standard deviations are softplus(ρ).
        generator: draws the first means.
    """

    def __init__(
        self,
        input_size: int,
        output_size: int,
        prior_std: float,
        rho: float = -3.0,
        *,
        generator: Generator,
    ) -> None:
        super().__init__()
        self.prior_std = prior_std
        mu = torch.randn(output_size, input_size, generator=generator) / math.sqrt(
            input_size
        )
        self.w_mu, self.w_rho = nn.Parameter(mu), nn.Parameter(torch.full_like(mu, rho))
        self.b_mu = nn.Parameter(torch.zeros(output_size))
        self.b_rho = nn.Parameter(torch.full((output_size,), rho))

    def kl(self) -> Tensor:
        """KL(q‖p) of weights and biases together, a scalar in nats."""
        ### BEGIN SOLUTION
        weights = gaussian_kl(self.w_mu, self.w_rho, self.prior_std)
        return weights + gaussian_kl(self.b_mu, self.b_rho, self.prior_std)
        ### END SOLUTION

    def forward(self, x: Tensor, *, generator: Generator) -> Tensor:
        """Outputs, (N, input_size) → (N, output_size), with one fresh draw of W and b for all N data."""
        ### BEGIN SOLUTION
        weight = reparametrised_sample(self.w_mu, self.w_rho, generator=generator)
        bias = reparametrised_sample(self.b_mu, self.b_rho, generator=generator)
        return F.linear(x, weight, bias)
        ### END SOLUTION


class LocalLinearVariational(LinearVariational):
    """The same layer, its noise drawn where it lands: on every output of every datum.

    Source: Kingma, Salimans and Welling (2015), section 2.2.
    """

    def forward(self, x: Tensor, *, generator: Generator) -> Tensor:
        """Outputs, (N, output_size): Gaussian, with mean xµᵀ + µ_b and variance x²(σ²)ᵀ + σ_b²."""
        ### BEGIN SOLUTION
        mean = F.linear(x, self.w_mu, self.b_mu)
        variance = F.linear(
            x**2, F.softplus(self.w_rho) ** 2, F.softplus(self.b_rho) ** 2
        )
        epsilon = torch.randn(mean.shape, dtype=mean.dtype, generator=generator)
        return mean + torch.sqrt(variance) * epsilon
        ### END SOLUTION


class VariationalMLP(nn.Module):
    """One hidden layer of ReLUs between two variational layers; gives logits.

    Args:
        input_size: the number of inputs.
        hidden_size: the number H of hidden units.
        prior_std: the standard deviation σ₀ of the prior of every weight and bias.
        rho: where every ρ starts.
        layer: the class of both layers.
        generator: draws the first means.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        prior_std: float,
        rho: float = -3.0,
        *,
        layer: type[LinearVariational] = LinearVariational,
        generator: Generator,
    ) -> None:
        super().__init__()
        self.hidden = layer(
            input_size, hidden_size, prior_std, rho, generator=generator
        )
        self.output = layer(hidden_size, 1, prior_std, rho, generator=generator)

    def kl(self) -> Tensor:
        """KL(q‖p) of all weights and biases, a scalar in nats."""
        ### BEGIN SOLUTION
        return self.hidden.kl() + self.output.kl()
        ### END SOLUTION

    def forward(self, x: Tensor, *, generator: Generator) -> Tensor:
        """Logits, (N, input_size) → (N,), with one fresh draw of all weights."""
        ### BEGIN SOLUTION
        hidden = F.relu(self.hidden(x, generator=generator))
        return self.output(hidden, generator=generator).squeeze(-1)
        ### END SOLUTION


# --- Monte Carlo dropout -------------------------------------------------------------


class DropoutMLP(nn.Module):
    """One hidden layer of ReLUs, of which each draw keeps a random part; gives logits.

    Args:
        input_size: the number of inputs.
        hidden_size: the number H of hidden units.
        p: the probability with which a hidden unit is dropped.
    """

    def __init__(
        self, input_size: int, hidden_size: int, p: float = 0.5, *, generator: Generator
    ) -> None:
        super().__init__()
        self.hidden, self.output, self.p = (
            nn.Linear(input_size, hidden_size),
            nn.Linear(hidden_size, 1),
            p,
        )
        for layer in (self.hidden, self.output):
            nn.init.normal_(
                layer.weight, std=layer.in_features**-0.5, generator=generator
            )
            nn.init.zeros_(layer.bias)

    def forward(self, x: Tensor, *, generator: Generator) -> Tensor:
        """Logits, (N, input_size) → (N,): every datum keeps its own hidden units, divided by 1 − p.

        In ``train()`` and in ``eval()`` alike: a prediction needs the masks as well.

        Source: Gal and Ghahramani (2016), sections 3 and 4.
        """
        hidden = F.relu(self.hidden(x))
        # torch.rand takes a shape and a generator; a unit is kept where it gives p or more.
        ### BEGIN SOLUTION
        keep = torch.rand(hidden.shape, generator=generator) >= self.p
        return self.output(hidden * keep / (1 - self.p)).squeeze(-1)
        ### END SOLUTION

    def deterministic(self, x: Tensor) -> Tensor:
        """Logits of the whole network, no unit dropped: (N, input_size) → (N,)."""
        return self.output(F.relu(self.hidden(x))).squeeze(-1)


def dropout_predictive(
    model: DropoutMLP, x: Tensor, draws: int, *, generator: Generator, chunk: int = 512
) -> Tensor:
    """p(y = 1 | x) ≈ 1/S Σₛ sigmoid(logit(x; maskₛ)), (N,): one mask for each draw, shared by all data.

    A mask on the hidden units is a mask on the output's weights, so all draws of a chunk
    of inputs are one matrix product: (chunk, H) times (H, S).
    """
    keep = torch.rand(draws, model.hidden.out_features, generator=generator) >= model.p
    weights = model.output.weight * keep / (1 - model.p)
    with torch.no_grad():
        logits = (
            F.linear(F.relu(model.hidden(rows)), weights) for rows in x.split(chunk)
        )
        return torch.cat(
            [torch.sigmoid(rows + model.output.bias).mean(dim=1) for rows in logits]
        )


# --- The long way round ---------------------------------------------------------------


def hmc(
    potential: Callable[[Tensor], Tensor],
    start: Tensor,
    *,
    step_size: float,
    leapfrog_steps: int,
    draws: int,
    generator: Generator,
) -> tuple[Tensor, Tensor]:
    """Hamiltonian Monte Carlo: draws from exp(−potential), C chains side by side.

    Args:
        potential: energies of C positions, (C, D) → (C,).
        start: where the chains begin, shape (C, D).
        step_size: of the leapfrog, varied by ±20 % from draw to draw.
        leapfrog_steps: between two draws.
        draws: per chain; those of the beginning are not thrown away.
        generator: the source of momenta, step sizes and acceptances.

    Returns:
        Draws, shape (draws, C, D), and each chain's acceptance rate, shape (C,).

    Source: Neal (2011), section 3.2.
    """

    def force(q: Tensor) -> tuple[Tensor, Tensor]:
        q = q.detach().requires_grad_()
        energy = potential(q)
        return energy.detach(), torch.autograd.grad(energy.sum(), q)[0]

    q, (energy, gradient) = start.detach(), force(start)
    kept, accepted = [], torch.zeros_like(energy)
    for _ in range(draws):
        step = step_size * (0.8 + 0.4 * float(torch.rand((), generator=generator)))
        momentum = torch.randn(q.shape, dtype=q.dtype, generator=generator)
        before = energy + 0.5 * (momentum**2).sum(dim=1)
        new_q, new_energy, new_gradient = q, energy, gradient
        for _ in range(leapfrog_steps):
            momentum = momentum - 0.5 * step * new_gradient
            new_q = new_q + step * momentum
            new_energy, new_gradient = force(new_q)
            momentum = momentum - 0.5 * step * new_gradient
        after = new_energy + 0.5 * (momentum**2).sum(dim=1)
        accept = (
            torch.rand(len(q), dtype=q.dtype, generator=generator).log()
            < before - after
        )
        q = torch.where(accept[:, None], new_q, q)
        energy = torch.where(accept, new_energy, energy)
        gradient = torch.where(accept[:, None], new_gradient, gradient)
        kept.append(q)
        accepted = accepted + accept
    return torch.stack(kept), accepted / draws
