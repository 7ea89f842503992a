"""Practical 4: calibration, and stochastic layers with normalizing flows, in PyTorch.

Shapes: N data points, D inputs, K classes, S draws, L flows, R runs trained side by side; "…"
is any number of leading axes. Each data point has a latent of its own, so losses and
divergences are per data point.
"""

from solutions.calibration_and_flows.calibration import (
    Bins,
    BrierParts,
    bin_index,
    calibration_bins,
    calibration_error,
    maximum_calibration_error,
    adaptive_calibration_error,
    brier_score,
    brier_decomposition,
)
from solutions.calibration_and_flows.logistic import (
    uniform_linear,
    LogisticRegression,
    boundary_line,
    boundary_plane,
)
from solutions.calibration_and_flows.temperature import (
    Scored,
    fit_temperature,
    calibrated_probs,
)
from solutions.calibration_and_flows.flows import (
    affine_flow,
    radial_flow,
    compose,
    Affine,
)
from solutions.calibration_and_flows.planar import (
    planar_flow,
    invertible_u,
    printed_u,
    Planar,
)
from solutions.calibration_and_flows.stochastic import (
    StochasticLogisticRegression,
    hurried_flow_kl,
    flow_kl,
    negative_elbo,
    predict,
    Fit,
    fit,
)
