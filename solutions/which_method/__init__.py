"""Chapter 5: comparing methods fairly, the cheap repairs, and MIMO, in JAX.

Shapes: N data points, D inputs, K classes, H features, M members, R runs. A loss is a mean
over the N data points of a batch.
"""

from solutions.which_method.comparison import (
    ood_auroc,
    hurried_difference_interval,
    difference_interval,
    gaussian_crps,
    predictive_entropy,
)
from solutions.which_method.networks import (
    Params,
    init_network,
    hidden_features,
    last_layer,
)
from solutions.which_method.laplace import (
    last_layer_covariances,
    last_layer_log_probs,
)
from solutions.which_method.mimo import (
    mimo_network,
    mimo_inputs,
    mimo_loss,
    mimo_log_probs,
    train_mimo,
)
