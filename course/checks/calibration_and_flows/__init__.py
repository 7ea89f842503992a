"""Checks of practical 4. Oracles: SciPy, autograd's slogdet, closed forms in double precision."""

from course.checks.calibration_and_flows.calibration import (
    BRIER_DECOMPOSITION,
    CALIBRATION_BINS,
    CALIBRATION_ERROR,
)
from course.checks.calibration_and_flows.flows import AFFINE_FLOW, COMPOSE, RADIAL_FLOW
from course.checks.calibration_and_flows.logistic import BOUNDARY_LINE
from course.checks.calibration_and_flows.planar import INVERTIBLE_U, PLANAR_FLOW
from course.checks.calibration_and_flows.quiz import CALIBRATION, STOCHASTIC_FLOWS
from course.checks.calibration_and_flows.stochastic import (
    FLOW_KL,
    NEGATIVE_ELBO,
    PREDICT,
)
from course.checks.calibration_and_flows.temperature import (
    CALIBRATED_PROBS,
    FIT_TEMPERATURE,
)
from course.quiz import quizzes
from course.task import tasks

TASKS = tasks(
    __name__,
    CALIBRATION_BINS,
    CALIBRATION_ERROR,
    BRIER_DECOMPOSITION,
    BOUNDARY_LINE,
    FIT_TEMPERATURE,
    CALIBRATED_PROBS,
    AFFINE_FLOW,
    PLANAR_FLOW,
    INVERTIBLE_U,
    COMPOSE,
    FLOW_KL,
    NEGATIVE_ELBO,
    PREDICT,
    RADIAL_FLOW,
)

QUIZZES = quizzes(__name__, calibration=CALIBRATION, stochastic_flows=STOCHASTIC_FLOWS)
