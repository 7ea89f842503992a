"""Practical 2: approximate inference in classification, in PyTorch.

Shapes: N data points, D weights of a logistic model (inputs carry a column of ones, so the
bias is one of them), S samples, H hidden units, K classes. Objectives are sums over the
data.
"""

from solutions.approximate_inference.objective import (
    with_bias,
    negative_log_joint,
    prior_variance_of,
)
from solutions.approximate_inference.descent import gradient_descent
from solutions.approximate_inference.mode import (
    hessian_by_backward,
    logistic_hessian,
    find_mode,
)
from solutions.approximate_inference.laplace import (
    hurried_laplace_covariance,
    laplace_covariance,
    laplace_log_evidence,
    softmax_laplace_covariance,
)
from solutions.approximate_inference.predictions import (
    sampled_predictive,
    probit_predictive,
)
from solutions.approximate_inference.reparametrisation import (
    reparametrised_sample,
)
from solutions.approximate_inference.elbo import (
    gaussian_kl,
    negative_elbo,
)
from solutions.approximate_inference.layers import (
    LinearVariational,
    LocalLinearVariational,
)
from solutions.approximate_inference.networks import (
    VariationalMLP,
)
from solutions.approximate_inference.dropout import (
    DropoutMLP,
    dropout_predictive,
)
from solutions.approximate_inference.hmc import (
    hmc,
)
from solutions.approximate_inference.curvature import (
    ggn,
    hurried_network_log_evidence,
    network_log_evidence,
)
from solutions.approximate_inference.linearised import (
    linearised_predictive,
    last_layer_laplace,
)
from solutions.approximate_inference.many_modes import (
    randomised_map,
    swag_moments,
    swag_sample,
    cyclical_step_size,
)
