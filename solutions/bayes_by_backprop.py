"""Practical 3: Bayes by Backprop (Blundell, Cornebise, Kavukcuoglu and Wierstra, 2015), in PyTorch.

Every weight has its own Gaussian, q(w) = N(w | µ, σ²) with σ = softplus(ρ). Shapes: N data,
D inputs, K classes, S draws of the weights, M minibatches. Densities are in nats and
elementwise, one value per weight or datum; where they are summed, the sum is written out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributions import Normal

# --- One step by hand ----------------------------------------------------------------


def reparametrise(mu: Tensor, rho: Tensor, epsilon: Tensor) -> Tensor:
    """w = µ + σε with σ = softplus(ρ): a weight as a function of its parameters and of noise.

    Args:
        mu: means µ, any shape.
        rho: parameters ρ of the standard deviations, of the same shape.
        epsilon: standard normal noise ε, of the same shape.

    Returns:
        Weights w, of the same shape.

    Source: Blundell et al. (2015), section 3.2, steps 1 and 2.
    """
    # F.softplus stays finite where log(1 + exp(ρ)) overflows, and positive where it rounds to 0.
    ### BEGIN SOLUTION
    return mu + F.softplus(rho) * epsilon
    ### END SOLUTION


def sample_weights(mu: Tensor, rho: Tensor, *, generator: torch.Generator) -> Tensor:
    """One draw from q(w) = N(w | µ, softplus(ρ)²), independent for every weight.

    Args:
        mu: means µ, any shape.
        rho: parameters ρ, of the same shape.
        generator: the source of randomness.

    Returns:
        Weights w, of the same shape; gradients reach µ and ρ through them.

    Source: Blundell et al. (2015), section 3.2, steps 1 and 2.
    """
    # torch.randn takes a shape, a generator and a dtype.
    ### BEGIN SOLUTION
    epsilon = torch.randn(
        mu.shape, generator=generator, dtype=mu.dtype, device=mu.device
    )
    return reparametrise(mu, rho, epsilon)
    ### END SOLUTION


def log_posterior(w: Tensor, mu: Tensor, rho: Tensor) -> Tensor:
    """log q(w) = log N(w | µ, softplus(ρ)²), one value per weight.

    Args:
        w: weights, any shape.
        mu: means µ, of a shape that broadcasts.
        rho: parameters ρ, of a shape that broadcasts.

    Returns:
        Log densities, of the shape of ``w``.

    Source: Blundell et al. (2015), section 3.2, step 4.
    """
    ### BEGIN SOLUTION
    return Normal(mu, F.softplus(rho)).log_prob(w)
    ### END SOLUTION


def log_prior(w: Tensor, prior_std: float) -> Tensor:
    """log p(w) = log N(w | 0, σ₀²), one value per weight.

    Args:
        w: weights, any shape.
        prior_std: the prior's standard deviation σ₀ > 0, not its variance.

    Returns:
        Log densities, of the shape of ``w``.
    """
    ### BEGIN SOLUTION
    return Normal(0.0, prior_std).log_prob(w)
    ### END SOLUTION


def log_likelihood(prediction: Tensor, y: Tensor, noise_std: float) -> Tensor:
    """log p(y | w, x) = log N(y | f(x; w), τ²), one value per datum.

    Args:
        prediction: the network's outputs f(x; w), shape (N,).
        y: targets, shape (N,).
        noise_std: the standard deviation τ > 0 of the observations' noise.

    Returns:
        Log densities, shape (N,).
    """
    ### BEGIN SOLUTION
    return Normal(prediction, noise_std).log_prob(y)
    ### END SOLUTION


def draw_loss(
    mu: Tensor,
    rho: Tensor,
    epsilon: Tensor,
    x: Tensor,
    y: Tensor,
    *,
    noise_std: float,
    prior_std: float,
) -> Tensor:
    """The loss of one draw for the model y = wx: Σ log q(w) − Σ log p(w) − Σ log p(y | w, x).

    Its expectation over ε is the negative ELBO; a single value of it is not.

    Args:
        mu: the mean µ of the one weight, shape (1,).
        rho: its parameter ρ, shape (1,).
        epsilon: its noise ε, shape (1,).
        x: inputs, shape (N,).
        y: targets, shape (N,).
        noise_std: the noise's standard deviation τ.
        prior_std: the prior's standard deviation σ₀.

    Returns:
        A scalar.

    Source: Blundell et al. (2015), section 3.2, step 4.
    """
    # You have written all four parts already.
    ### BEGIN SOLUTION
    w = reparametrise(mu, rho, epsilon)
    complexity = log_posterior(w, mu, rho).sum() - log_prior(w, prior_std).sum()
    return complexity - log_likelihood(w * x, y, noise_std).sum()
    ### END SOLUTION


def paper_gradients(
    df_dw: Tensor, df_dmu: Tensor, df_drho: Tensor, rho: Tensor, epsilon: Tensor
) -> tuple[Tensor, Tensor]:
    """The gradients with respect to µ and ρ from the partial derivatives of f(w, µ, ρ).

    f is the loss of one draw, once as a function of w with µ and ρ held fixed, and once of
    µ and ρ with w held fixed; the chain rule along w = µ + softplus(ρ)·ε joins them.

    Args:
        df_dw: ∂f/∂w, any shape.
        df_dmu: ∂f/∂µ with w held fixed, of the same shape.
        df_drho: ∂f/∂ρ with w held fixed, of the same shape.
        rho: parameters ρ, of the same shape.
        epsilon: the draw's noise ε, of the same shape.

    Returns:
        ∇µ and ∇ρ, each of the same shape.

    Source: Blundell et al. (2015), equations 3 and 4.
    """
    # What is dw/dµ, and what is dw/dρ?
    ### BEGIN SOLUTION
    grad_mu = df_dw + df_dmu
    grad_rho = df_dw * epsilon * torch.sigmoid(rho) + df_drho
    return grad_mu, grad_rho
    ### END SOLUTION


def gradient_step(
    loss: Tensor, mu: Tensor, rho: Tensor, rate: float
) -> tuple[Tensor, Tensor]:
    """One step of gradient descent on µ and ρ.

    Args:
        loss: a scalar that was computed from ``mu`` and ``rho``.
        mu: means µ, a leaf that requires a gradient.
        rho: parameters ρ, a leaf that requires a gradient.
        rate: the learning rate α.

    Returns:
        New leaves µ' and ρ' that require gradients themselves; the old ones stay as they are.

    Source: Blundell et al. (2015), section 3.2, step 7.
    """
    # torch.autograd.grad gives gradients without storing them anywhere.
    ### BEGIN SOLUTION
    grad_mu, grad_rho = torch.autograd.grad(loss, (mu, rho))
    new_mu = (mu - rate * grad_mu).detach().requires_grad_()
    new_rho = (rho - rate * grad_rho).detach().requires_grad_()
    return new_mu, new_rho
    ### END SOLUTION


def exact_loss(
    mu: Tensor, rho: Tensor, x: Tensor, y: Tensor, *, noise_std: float, prior_std: float
) -> Tensor:
    """The negative ELBO of the model y = wx in closed form: ``draw_loss`` averaged over all ε.

    KL(q ‖ p) + Σᵢ ½ log 2πτ² + ((yᵢ − µxᵢ)² + σ²xᵢ²) / (2τ²).

    Args:
        mu: the mean µ of the one weight, shape (1,).
        rho: its parameter ρ, shape (1,).
        x: inputs, shape (N,).
        y: targets, shape (N,).
        noise_std: the noise's standard deviation τ.
        prior_std: the prior's standard deviation σ₀.

    Returns:
        A scalar.
    """
    # Needed: E[w] = µ and E[w²] = µ² + σ², in log p(y | w, x) and in log p(w).
    ### BEGIN SOLUTION
    std = F.softplus(rho)
    squared_error = (y - mu * x) ** 2 + std**2 * x**2
    nll = 0.5 * math.log(2 * math.pi * noise_std**2) + squared_error / (
        2 * noise_std**2
    )
    kl = (
        math.log(prior_std)
        - torch.log(std)
        + (mu**2 + std**2) / (2 * prior_std**2)
        - 0.5
    )
    return nll.sum() + kl.sum()
    ### END SOLUTION


# --- Priors and their divergence -----------------------------------------------------


def gaussian_kl(mu: Tensor, rho: Tensor, prior_std: float) -> Tensor:
    """KL(N(µ, σ²) ‖ N(0, σ₀²)), summed over all weights.

    log(σ₀/σ) + (σ² + µ²)/(2σ₀²) − ½ for every weight.

    Args:
        mu: means µ, any shape.
        rho: parameters ρ, of the same shape.
        prior_std: the prior's standard deviation σ₀ > 0.

    Returns:
        A scalar, in nats, at least 0.

    Source: Kingma and Welling (2014), appendix B, with a prior of standard deviation σ₀.
    """
    # A sum: the KL of independent weights adds up, whatever their number.
    ### BEGIN SOLUTION
    std = F.softplus(rho)
    return (
        math.log(prior_std)
        - torch.log(std)
        + (std**2 + mu**2) / (2 * prior_std**2)
        - 0.5
    ).sum()
    ### END SOLUTION


def log_scale_mixture(
    w: Tensor, share: float, wide_std: float, narrow_std: float
) -> Tensor:
    """log(π N(w | 0, σ₁²) + (1 − π) N(w | 0, σ₂²)), one value per weight.

    Args:
        w: weights, any shape.
        share: the share π of the wide component, 0 < π < 1.
        wide_std: its standard deviation σ₁.
        narrow_std: the other component's standard deviation σ₂ < σ₁.

    Returns:
        Log densities, of the shape of ``w``.

    Source: Blundell et al. (2015), equation 7.
    """
    # Both densities may underflow to 0: torch.logaddexp adds what is given by logarithms.
    ### BEGIN SOLUTION
    wide = math.log(share) + Normal(0.0, wide_std).log_prob(w)
    narrow = math.log1p(-share) + Normal(0.0, narrow_std).log_prob(w)
    return torch.logaddexp(wide, narrow)
    ### END SOLUTION


def sampled_kl(
    mu: Tensor,
    rho: Tensor,
    log_prior: Callable[[Tensor], Tensor],
    *,
    draws: int,
    generator: torch.Generator,
) -> Tensor:
    """An unbiased estimate of KL(q ‖ p), summed over all weights, for any prior p.

    The mean over draws w of q of Σ log q(w) − Σ log p(w).

    Args:
        mu: means µ, any shape.
        rho: parameters ρ, of the same shape.
        log_prior: the prior's log density, elementwise, for weights of any shape.
        draws: S, how many draws to average.
        generator: the source of randomness.

    Returns:
        A scalar, in nats. An estimate may be negative; what it estimates is not.

    Source: Blundell et al. (2015), equation 2.
    """
    # mu.expand(draws, *mu.shape) has one copy of µ per draw: no loop is needed.
    ### BEGIN SOLUTION
    w = sample_weights(
        mu.expand(draws, *mu.shape), rho.expand(draws, *rho.shape), generator=generator
    )
    return (log_posterior(w, mu, rho) - log_prior(w)).sum() / draws
    ### END SOLUTION


# --- Layers --------------------------------------------------------------------------


class BayesianLinear(nn.Module):
    """A linear layer y = Wx + b, each of whose weights and biases has a Gaussian q.

    Args:
        inputs: D, how many inputs.
        outputs: how many outputs.
        prior_std: the standard deviation of the prior N(0, σ₀²) of every weight and bias.
        initial_rho: where every ρ starts; −5 is a standard deviation of .007.
        generator: draws the initial means, N(0, 1/D) for weights; those of biases are 0.

    Source: Blundell et al. (2015), section 3.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        *,
        prior_std: float,
        initial_rho: float = -5.0,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.prior_std = prior_std
        self.weight_mu = nn.Parameter(
            torch.randn(outputs, inputs, generator=generator) / math.sqrt(inputs)
        )
        self.weight_rho = nn.Parameter(
            torch.full((outputs, inputs), float(initial_rho))
        )
        self.bias_mu = nn.Parameter(torch.zeros(outputs))
        self.bias_rho = nn.Parameter(torch.full((outputs,), float(initial_rho)))

    def forward(self, x: Tensor, *, generator: torch.Generator) -> Tensor:
        """Outputs, shape (N, outputs), under one fresh draw of the weights and biases, weights first."""
        # One draw serves all N rows of x; the next call draws anew.
        ### BEGIN SOLUTION
        weight = sample_weights(self.weight_mu, self.weight_rho, generator=generator)
        bias = sample_weights(self.bias_mu, self.bias_rho, generator=generator)
        return F.linear(x, weight, bias)
        ### END SOLUTION

    def kl(self) -> Tensor:
        """KL(q ‖ p) of this layer's weights and biases, a scalar in nats."""
        ### BEGIN SOLUTION
        weights = gaussian_kl(self.weight_mu, self.weight_rho, self.prior_std)
        return weights + gaussian_kl(self.bias_mu, self.bias_rho, self.prior_std)
        ### END SOLUTION


def sample_activations(
    x: Tensor,
    weight_mu: Tensor,
    weight_rho: Tensor,
    bias_mu: Tensor,
    bias_rho: Tensor,
    *,
    generator: torch.Generator,
) -> Tensor:
    """Draw a layer's outputs instead of its weights: the local reparametrisation trick.

    A sum of independent Gaussians is a Gaussian: output j of row x has the mean
    Σᵢ µⱼᵢxᵢ + µⱼ and the variance Σᵢ σⱼᵢ²xᵢ² + σⱼ². Every row and output has noise of its own.

    Args:
        x: inputs, shape (N, D).
        weight_mu: means of the weights, shape (outputs, D).
        weight_rho: their parameters ρ, of the same shape.
        bias_mu: means of the biases, shape (outputs,).
        bias_rho: their parameters ρ, of the same shape.
        generator: the source of randomness.

    Returns:
        One draw of the outputs, shape (N, outputs).

    Source: Kingma, Salimans and Welling (2015), equation 6.
    """
    # F.linear(x, W, b) is x @ W.T + b, for variances as well as for means.
    ### BEGIN SOLUTION
    mean = F.linear(x, weight_mu, bias_mu)
    variance = F.linear(x**2, F.softplus(weight_rho) ** 2, F.softplus(bias_rho) ** 2)
    epsilon = torch.randn(
        mean.shape, generator=generator, dtype=mean.dtype, device=mean.device
    )
    return mean + torch.sqrt(variance) * epsilon
    ### END SOLUTION


class BayesianMLP(nn.Module):
    """A multilayer perceptron of Bayesian linear layers.

    Args:
        sizes: the layers' widths, inputs and outputs included.
        prior_std: the standard deviation of every weight's and bias's prior.
        initial_rho: where every ρ starts.
        activation: what stands between the layers.
        generator: draws the initial means.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        *,
        prior_std: float,
        initial_rho: float = -5.0,
        activation: Callable[[Tensor], Tensor] = torch.relu,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.activation = activation
        self.layers = nn.ModuleList(
            BayesianLinear(
                n, m, prior_std=prior_std, initial_rho=initial_rho, generator=generator
            )
            for n, m in itertools.pairwise(sizes)
        )

    def forward(
        self, x: Tensor, *, generator: torch.Generator, local: bool = False
    ) -> Tensor:
        """Outputs under one draw: of the weights, or (``local``) of every layer's activations."""
        for index, layer in enumerate(self.layers):
            x = x if index == 0 else self.activation(x)
            if local:
                q = layer.weight_mu, layer.weight_rho, layer.bias_mu, layer.bias_rho
                x = sample_activations(x, *q, generator=generator)
            else:
                x = layer(x, generator=generator)
        return x

    def kl(self) -> Tensor:
        """KL(q ‖ p) of all weights and biases, a scalar in nats."""
        return sum(layer.kl() for layer in self.layers)


# --- Training ------------------------------------------------------------------------


def kl_weights(batches: int, *, decreasing: bool) -> Tensor:
    """The share of the KL that each of M minibatches of an epoch pays; the shares sum to 1.

    Args:
        batches: M, the number of minibatches, hundreds of them allowed.
        decreasing: False for 1/M each; True for the paper's 2^(M−i) / (2^M − 1), i = 1, …, M.

    Returns:
        Shares, shape (M,).

    Source: Blundell et al. (2015), section 3.4, equation 9.
    """
    # 2.0**469 is not a number that float32 can hold: divide both parts by 2^M first.
    ### BEGIN SOLUTION
    if not decreasing:
        return torch.full((batches,), 1 / batches)
    i = torch.arange(1, batches + 1)
    return 0.5**i / (1 - 0.5**batches)
    ### END SOLUTION


def minibatch_loss(
    logits: Tensor, targets: Tensor, kl: Tensor, kl_share: float
) -> Tensor:
    """The loss of one minibatch: the *sum* of its NLL, plus its share of the KL.

    Summed over the minibatches of an epoch, it estimates the negative ELBO of all the data.

    Args:
        logits: unnormalised log-probabilities under one draw of the weights, shape (B, K).
        targets: labels, integers of shape (B,).
        kl: KL(q ‖ p) of all weights, a scalar.
        kl_share: the share of it that this minibatch pays.

    Returns:
        A scalar, in nats.

    Source: Blundell et al. (2015), equation 8.
    """
    ### BEGIN SOLUTION
    log_probs = F.log_softmax(logits, dim=-1)
    nll = -log_probs.gather(-1, targets[:, None]).sum()
    return nll + kl_share * kl
    ### END SOLUTION


class History(NamedTuple):
    """What a training run records, one value per step: summed NLL (scaled up to all N data) and KL."""

    nll: Tensor
    kl: Tensor


def train(
    model: nn.Module,
    nll: Callable[[Tensor, Tensor], Tensor],
    x: Tensor,
    y: Tensor,
    *,
    steps: int,
    rate: float,
    generator: torch.Generator,
    batch_size: int | None = None,
    draws: int = 1,
    local: bool = True,
    temperature: float = 1.0,
) -> History:
    """Minimise the negative ELBO (of a model with a KL) or the NLL, with Adam and a cosine schedule.

    Args:
        model: a ``BayesianMLP``, or any module without a method ``kl``.
        nll: ``nll(outputs, targets)``, summed over the batch.
        x: inputs, shape (N, D).
        y: targets, N of them.
        steps: how many steps.
        rate: the initial learning rate.
        generator: draws minibatches, weights and activations.
        batch_size: how many data each step sees; None for all N.
        draws: how many draws of the weights each step averages.
        local: draw activations instead of weights.
        temperature: what multiplies the KL; only 1 gives the ELBO, less is a "cold" posterior.

    Returns:
        The history of the two terms.
    """
    bayesian = hasattr(model, "kl")
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    n, record = len(x), torch.zeros(2, steps)
    for step in range(steps):
        x_batch, y_batch = x, y
        if batch_size is not None:
            rows = torch.randint(n, (batch_size,), generator=generator)
            x_batch, y_batch = x[rows], y[rows]
        if (
            bayesian and local
        ):  # the draws of activations stand below one another in one batch
            x_draws, y_draws = x_batch.repeat(draws, 1), torch.cat([y_batch] * draws)
            fit = nll(model(x_draws, generator=generator, local=True), y_draws) / draws
        elif bayesian:
            fit = (
                sum(
                    nll(model(x_batch, generator=generator), y_batch)
                    for _ in range(draws)
                )
                / draws
            )
        else:
            fit = nll(model(x_batch), y_batch)
        kl = model.kl() if bayesian else torch.zeros(())
        share = len(x_batch) / n
        optimiser.zero_grad()
        (fit + temperature * share * kl).backward()
        optimiser.step()
        schedule.step()
        record[:, step] = torch.stack([fit.detach() / share, kl.detach()])
    return History(*record)


@torch.no_grad()
def predict(
    model: nn.Module, x: Tensor, *, draws: int, generator: torch.Generator
) -> Tensor:
    """A Bayesian model's outputs under S draws of its weights, shape (S, N, K): a loop, for it is fastest."""
    return torch.stack([model(x, generator=generator) for _ in range(draws)])


# --- Predictions ---------------------------------------------------------------------


def predictive_moments(
    outputs: Tensor, noise_std: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Mean and spread of f(x), and the spread of a new observation y = f(x) + noise.

    Args:
        outputs: f(x; w) under S draws of the weights, shape (S, N).
        noise_std: the standard deviation τ of the observations' noise.

    Returns:
        The mean of f, its standard deviation (epistemic; divided by S), and the standard
        deviation of y (epistemic and aleatoric), each of shape (N,).

    Source: Kendall and Gal (2017), section 3.
    """
    # Variances add; standard deviations do not.
    ### BEGIN SOLUTION
    epistemic_variance = outputs.var(dim=0, correction=0)
    predictive_variance = epistemic_variance + noise_std**2
    return (
        outputs.mean(dim=0),
        torch.sqrt(epistemic_variance),
        torch.sqrt(predictive_variance),
    )
    ### END SOLUTION


def hurried_predictive_entropy(log_probs: Tensor) -> Tensor:
    """The entropy of the predictive distribution, in bits, with a mistake in it.

    Args:
        log_probs: log-probabilities under S draws of the weights, shape (S, N, K).

    Returns:
        Entropies, shape (N,).
    """
    probs = torch.exp(log_probs.mean(dim=0))
    return -(probs * torch.log2(probs + 1e-10)).sum(dim=-1)


def predictive_entropy(log_probs: Tensor) -> Tensor:
    """The entropy of the predictive distribution p(y | x) = 1/S Σₛ p(y | x, wₛ), in bits.

    Args:
        log_probs: log-probabilities under S draws of the weights, shape (S, N, K); −inf is allowed.

    Returns:
        Entropies, between 0 and log₂ K, shape (N,).

    Source: Shannon (1948), section 6.
    """
    # Start from hurried_predictive_entropy and mend it. torch.special.entr is −p ln p, and 0 at 0.
    ### BEGIN SOLUTION
    probs = torch.exp(log_probs).mean(dim=0)
    return torch.special.entr(probs).sum(dim=-1) / math.log(2)
    ### END SOLUTION


def keep_mask(mu: Tensor, rho: Tensor, removed: float) -> Tensor:
    """Which weights to keep when those with the smallest signal-to-noise ratio |µ|/σ are removed.

    Args:
        mu: means µ of all weights, shape (n,).
        rho: their parameters ρ, of the same shape.
        removed: the share of the weights to remove, from 0 to 1.

    Returns:
        True for a weight to keep, shape (n,); round(removed · n) of them are False.

    Source: Blundell et al. (2015), section 5.1 (where the ratio is in decibels).
    """
    # argsort puts the smallest first.
    ### BEGIN SOLUTION
    ratio = mu.abs() / F.softplus(rho)
    keep = torch.ones(len(mu), dtype=torch.bool)
    keep[ratio.argsort()[: round(removed * len(mu))]] = False
    return keep
    ### END SOLUTION
