"""Practical 1: deep ensembles (Lakshminarayanan, Pritzel and Blundell, 2017), in JAX.

Shapes: N data points, D inputs, K classes, M members of an ensemble. Every density is a
density of one data point; a loss is a mean over the N data points of a batch.
"""

from solutions.deep_ensembles.derivations import (
    gaussian_nll_expression,
    laplace_nll_expression,
)
from solutions.deep_ensembles.likelihoods import (
    gaussian_nll,
    laplace_nll,
    categorical_nll,
)
from solutions.deep_ensembles.student_t import (
    student_t_nll,
)
from solutions.deep_ensembles.networks import (
    init_mlp,
    init_ensemble,
    init_members,
    mlp,
    heads,
    MIN_SPREAD,
    Params,
)
from solutions.deep_ensembles.losses import (
    gaussian_loss,
    laplace_loss,
    squared_loss,
    absolute_loss,
    categorical_loss,
    fgsm,
    adversarial_loss,
    shared_pass,
    quick_adversarial_loss,
    weight_decay,
    Loss,
)
from solutions.deep_ensembles.training import (
    AdamState,
    hurried_adam_step,
    adam_step,
    Fit,
    draw_batches,
    train_ensemble,
    train_members,
)
from solutions.deep_ensembles.predictions import (
    gaussian_mixture_moments,
    laplace_mixture_moments,
    ensemble_log_probs,
    entropy,
    knowledge_uncertainty,
)
from solutions.deep_ensembles.regression import (
    predict_ensemble,
    regression_scores,
    RegressionScores,
)
