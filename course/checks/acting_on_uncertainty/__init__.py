"""Checks of practical 6. Oracles: conformal p-values, definitions in loops, scikit-learn, SciPy."""

from course.checks.acting_on_uncertainty.acquisition import BALD_SCORES, DIVERSE_BATCH
from course.checks.acting_on_uncertainty.decisions import (
    BAYES_ACTIONS,
    CHOW_LABELS,
    VALUE_OF_INFORMATION,
)
from course.checks.acting_on_uncertainty.detectors import MAHALANOBIS_SCORES
from course.checks.acting_on_uncertainty.groups import COVERAGE_BY_GROUP
from course.checks.acting_on_uncertainty.intervals import (
    CONFORMAL_QUANTILE,
    SPLIT_INTERVAL,
)
from course.checks.acting_on_uncertainty.labels import APS_SCORES
from course.checks.acting_on_uncertainty.optimisation import EXPECTED_IMPROVEMENT
from course.checks.acting_on_uncertainty.quantiles import CQR_INTERVAL, PINBALL_LOSS
from course.checks.acting_on_uncertainty.quiz import (
    ABSTAIN_DECIDE_ASK,
    CONFORMAL_PREDICTION,
)
from course.checks.acting_on_uncertainty.scaling import SCALED_INTERVAL
from course.checks.acting_on_uncertainty.selection import AURC, RISK_COVERAGE
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
    BAYES_ACTIONS,
    CHOW_LABELS,
    RISK_COVERAGE,
    AURC,
    MAHALANOBIS_SCORES,
    VALUE_OF_INFORMATION,
    BALD_SCORES,
    DIVERSE_BATCH,
    EXPECTED_IMPROVEMENT,
)

QUIZZES = quizzes(
    __name__,
    conformal_prediction=CONFORMAL_PREDICTION,
    abstain_decide_ask=ABSTAIN_DECIDE_ASK,
)
