"""One step by hand: a weight, its log densities, its gradients."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Normal


def reparametrise(mu: Tensor, rho: Tensor, epsilon: Tensor) -> Tensor:
    """w = µ + σε with σ = softplus(ρ): a weight as a function of parameters and noise.

    Args:
        mu: means µ, any shape.
        rho: parameters ρ of the standard deviations, of the same shape.
        epsilon: standard normal noise ε, of the same shape.

    Returns:
        Weights w, of the same shape.

    Source: Blundell et al. (2015), section 3.2, steps 1 and 2.
    """
    # F.softplus stays finite where log(1 + exp(ρ)) overflows,
    # and positive where it rounds to 0.
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
    """The loss of one draw for y = wx: Σ log q(w) − Σ log p(w) − Σ log p(y | w, x).

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

    f is the loss of one draw, once as a function of w with µ and ρ held fixed, and once
    of µ and ρ with w held fixed; the chain rule along w = µ + softplus(ρ)·ε joins them.

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
        New leaves µ' and ρ' that require gradients themselves; the old ones stay as
        they are.

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
    """The negative ELBO for y = wx in closed form: ``draw_loss`` averaged over all ε.

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
