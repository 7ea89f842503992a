"""Warm-up: what the four practicals take for granted, in JAX.

Shapes: N data points, D inputs, K classes, S draws, B data points in a minibatch. Every density is a
density of one data point.
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
