"""Checks of practical 3. Oracles: SciPy, numerical integration, autograd in double precision."""

from course.checks.bayes_by_backprop.activations import SAMPLE_ACTIVATIONS
from course.checks.bayes_by_backprop.densities import (
    LOG_LIKELIHOOD,
    LOG_POSTERIOR,
    LOG_PRIOR,
    LOG_SCALE_MIXTURE,
)
from course.checks.bayes_by_backprop.divergence import GAUSSIAN_KL, SAMPLED_KL
from course.checks.bayes_by_backprop.gradients import GRADIENT_STEP, PAPER_GRADIENTS
from course.checks.bayes_by_backprop.layers import BAYESIAN_LINEAR
from course.checks.bayes_by_backprop.losses import DRAW_LOSS, EXACT_LOSS
from course.checks.bayes_by_backprop.predictions import (
    KEEP_MASK,
    PREDICTIVE_ENTROPY,
    PREDICTIVE_MOMENTS,
)
from course.checks.bayes_by_backprop.quiz import DIGITS, REGRESSION
from course.checks.bayes_by_backprop.training import KL_WEIGHTS, MINIBATCH_LOSS
from course.checks.bayes_by_backprop.weights import REPARAMETRISE, SAMPLE_WEIGHTS
from course.quiz import quizzes
from course.task import tasks

TASKS = tasks(
    __name__,
    REPARAMETRISE,
    LOG_POSTERIOR,
    LOG_PRIOR,
    LOG_LIKELIHOOD,
    DRAW_LOSS,
    GRADIENT_STEP,
    PAPER_GRADIENTS,
    EXACT_LOSS,
    SAMPLE_WEIGHTS,
    GAUSSIAN_KL,
    LOG_SCALE_MIXTURE,
    SAMPLED_KL,
    BAYESIAN_LINEAR,
    SAMPLE_ACTIVATIONS,
    PREDICTIVE_MOMENTS,
    KL_WEIGHTS,
    MINIBATCH_LOSS,
    PREDICTIVE_ENTROPY,
    KEEP_MASK,
)

QUIZZES = quizzes(__name__, regression=REGRESSION, digits=DIGITS)
