"""Checks of practical 1. Oracles: SciPy, SymPy, optax and double precision NumPy."""

from course.checks.deep_ensembles.derivations import (
    GAUSSIAN_EXPRESSION,
    LAPLACE_EXPRESSION,
)
from course.checks.deep_ensembles.likelihoods import (
    CATEGORICAL_NLL,
    GAUSSIAN_NLL,
    LAPLACE_NLL,
)
from course.checks.deep_ensembles.losses import ADVERSARIAL_LOSS, FGSM
from course.checks.deep_ensembles.networks import HEADS
from course.checks.deep_ensembles.predictions import (
    ENSEMBLE_LOG_PROBS,
    ENTROPY,
    GAUSSIAN_MIXTURE,
    KNOWLEDGE,
    LAPLACE_MIXTURE,
)
from course.checks.deep_ensembles.quiz import CLASSIFICATION, REGRESSION
from course.checks.deep_ensembles.student_t import STUDENT_T_NLL
from course.checks.deep_ensembles.training import ADAM_STEP
from course.quiz import quizzes
from course.task import tasks

TASKS = tasks(
    __name__,
    GAUSSIAN_EXPRESSION,
    LAPLACE_EXPRESSION,
    HEADS,
    GAUSSIAN_NLL,
    LAPLACE_NLL,
    STUDENT_T_NLL,
    ADAM_STEP,
    FGSM,
    ADVERSARIAL_LOSS,
    GAUSSIAN_MIXTURE,
    LAPLACE_MIXTURE,
    CATEGORICAL_NLL,
    ENSEMBLE_LOG_PROBS,
    ENTROPY,
    KNOWLEDGE,
)

QUIZZES = quizzes(__name__, regression=REGRESSION, classification=CLASSIFICATION)
