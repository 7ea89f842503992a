"""Gradients of one draw's loss, and a step along them."""

from __future__ import annotations

import torch
from torch import Tensor


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
        New leaves µ' and ρ' that require gradients themselves. The old ones stay as
        they are, and so does what is stored in their ``.grad``, which plays no part.

    Source: Blundell et al. (2015), section 3.2, step 7.
    """
    # torch.autograd.grad gives gradients without storing them anywhere.
    ### BEGIN SOLUTION
    grad_mu, grad_rho = torch.autograd.grad(loss, (mu, rho))
    new_mu = (mu - rate * grad_mu).detach().requires_grad_()
    new_rho = (rho - rate * grad_rho).detach().requires_grad_()
    return new_mu, new_rho
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
