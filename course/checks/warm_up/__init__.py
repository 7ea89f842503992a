"""Checks of the warm-up. Oracles: SciPy and double precision NumPy."""

from course.checks.warm_up.derivatives import (
    CURVATURE,
    PER_EXAMPLE_GRADIENTS,
    ROUNDED,
    SQUARED_ERRORS,
)
from course.checks.warm_up.gaussian_processes import (
    FOURIER_FEATURES,
    GP_LOG_EVIDENCE,
    GP_PREDICTIVE,
)
from course.checks.warm_up.linear_regression import (
    LINEAR_PREDICTIVE,
    LOG_EVIDENCE,
    WEIGHT_POSTERIOR,
)
from course.checks.warm_up.objectives import MINIBATCH_OBJECTIVE, WEIGHT_DECAY_OF
from course.checks.warm_up.probability import KL_CATEGORICAL, LOG_MEAN_EXP, LOG_NORMAL
from course.checks.warm_up.quiz import BASICS, LINEAR_REGRESSION
from course.checks.warm_up.unknown_noise import STUDENT_T_PREDICTIVE
from course.quiz import quizzes
from course.task import tasks

TASKS = tasks(
    __name__,
    KL_CATEGORICAL,
    LOG_NORMAL,
    CURVATURE,
    SQUARED_ERRORS,
    PER_EXAMPLE_GRADIENTS,
    ROUNDED,
    LOG_MEAN_EXP,
    MINIBATCH_OBJECTIVE,
    WEIGHT_DECAY_OF,
    WEIGHT_POSTERIOR,
    LINEAR_PREDICTIVE,
    FOURIER_FEATURES,
    LOG_EVIDENCE,
    GP_PREDICTIVE,
    GP_LOG_EVIDENCE,
    STUDENT_T_PREDICTIVE,
)

QUIZZES = quizzes(__name__, basics=BASICS, linear_regression=LINEAR_REGRESSION)
