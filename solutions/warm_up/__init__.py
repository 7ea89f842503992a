"""Warm-up: what the practicals take for granted, in JAX.

Shapes: N data points, D inputs, K classes, S draws, B data points in a minibatch; in the modules on
regression, D features and N' new inputs. Every density is a density of one data point.
"""

from solutions.warm_up.probability import (
    kl_categorical,
    log_normal_log_density,
    log_mean_exp,
)
from solutions.warm_up.derivatives import (
    Loss,
    poisson_nll,
    curvature,
    squared_errors,
    per_example_gradients,
    rounded,
)
from solutions.warm_up.objectives import (
    minibatch_objective,
    weight_decay_of,
)
from solutions.warm_up.linear_regression import (
    weight_posterior,
    linear_predictive,
    log_evidence,
)
from solutions.warm_up.gaussian_processes import (
    Kernel,
    fourier_features,
    squared_exponential,
    gp_predictive,
    forgetful_log_evidence,
    gp_log_evidence,
)
from solutions.warm_up.unknown_noise import student_t_predictive
