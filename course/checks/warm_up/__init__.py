"""Checks of the warm-up. Oracles: SciPy and double precision NumPy."""

from course.checks.warm_up.derivatives import (
    CURVATURE,
    PER_EXAMPLE_GRADIENTS,
    ROUNDED,
    SQUARED_ERRORS,
)
from course.checks.warm_up.objectives import MINIBATCH_OBJECTIVE, WEIGHT_DECAY_OF
from course.checks.warm_up.probability import KL_CATEGORICAL, LOG_MEAN_EXP, LOG_NORMAL
from course.checks.warm_up.quiz import BASICS
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
)

QUIZZES = quizzes(__name__, basics=BASICS)
