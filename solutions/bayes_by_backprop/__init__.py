"""Practical 3: Bayes by Backprop, in PyTorch.

Every weight has its own Gaussian, q(w) = N(w | µ, σ²) with σ = softplus(ρ). Shapes:
N data points, D inputs, K classes, S draws of the weights, M minibatches. Densities are in
nats and elementwise, one value per weight or data point; where they are summed, the sum is
written out.

Source: Blundell, Cornebise, Kavukcuoglu and Wierstra (2015).
"""

from solutions.bayes_by_backprop.weights import (
    reparametrise,
    sample_weights,
)
from solutions.bayes_by_backprop.densities import (
    log_posterior,
    log_prior,
    log_likelihood,
    log_scale_mixture,
)
from solutions.bayes_by_backprop.losses import (
    draw_loss,
    exact_loss,
)
from solutions.bayes_by_backprop.gradients import (
    gradient_step,
    paper_gradients,
)
from solutions.bayes_by_backprop.divergence import (
    gaussian_kl,
    sampled_kl,
)
from solutions.bayes_by_backprop.layers import (
    BayesianLinear,
    BayesianMLP,
)
from solutions.bayes_by_backprop.activations import (
    sample_activations,
)
from solutions.bayes_by_backprop.training import (
    kl_weights,
    minibatch_loss,
    History,
    train,
    predict,
)
from solutions.bayes_by_backprop.predictions import (
    predictive_moments,
    hurried_predictive_entropy,
    predictive_entropy,
    keep_mask,
)
