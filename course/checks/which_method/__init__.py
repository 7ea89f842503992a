"""Checks of chapter 5. Oracles: scikit-learn, SciPy and double precision NumPy."""

from course.checks.which_method.comparison import (
    DIFFERENCE_INTERVAL,
    GAUSSIAN_CRPS,
    OOD_AUROC,
)
from course.checks.which_method.laplace import LAST_LAYER_LOG_PROBS
from course.checks.which_method.mimo import MIMO_INPUTS, MIMO_LOG_PROBS, MIMO_LOSS
from course.checks.which_method.quiz import COMPARISON
from course.quiz import quizzes
from course.task import tasks

TASKS = tasks(
    __name__,
    OOD_AUROC,
    DIFFERENCE_INTERVAL,
    GAUSSIAN_CRPS,
    LAST_LAYER_LOG_PROBS,
    MIMO_INPUTS,
    MIMO_LOSS,
    MIMO_LOG_PROBS,
)

QUIZZES = quizzes(__name__, comparison=COMPARISON)
