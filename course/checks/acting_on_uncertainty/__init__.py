"""Checks of practical 6. Oracles: conformal p-values, definitions in loops, scikit-learn."""

from course.checks.acting_on_uncertainty.groups import COVERAGE_BY_GROUP
from course.checks.acting_on_uncertainty.intervals import (
    CONFORMAL_QUANTILE,
    SCALED_INTERVAL,
    SPLIT_INTERVAL,
)
from course.checks.acting_on_uncertainty.labels import APS_SCORES
from course.checks.acting_on_uncertainty.quantiles import CQR_INTERVAL, PINBALL_LOSS
from course.checks.acting_on_uncertainty.quiz import CONFORMAL_PREDICTION
from course.checks.acting_on_uncertainty.shift import WEIGHTED_QUANTILE
from course.checks.acting_on_uncertainty.splitting import SPLIT_CONFORMAL
from course.quiz import quizzes
from course.task import tasks

TASKS = tasks(
    __name__,
    CONFORMAL_QUANTILE,
    SPLIT_INTERVAL,
    SPLIT_CONFORMAL,
    COVERAGE_BY_GROUP,
    SCALED_INTERVAL,
    PINBALL_LOSS,
    CQR_INTERVAL,
    APS_SCORES,
    WEIGHTED_QUANTILE,
)

QUIZZES = quizzes(__name__, conformal_prediction=CONFORMAL_PREDICTION)
