"""Checks of practical 4. Oracles: SciPy, autograd's slogdet, closed forms in double precision."""

from course.checks.calibration_and_flows.binning import (
    BRIER_DECOMPOSITION,
    CALIBRATION_BINS,
    CALIBRATION_ERROR,
)
from course.checks.calibration_and_flows.flows import AFFINE_FLOW, COMPOSE
from course.checks.calibration_and_flows.linear import (
    BOUNDARY_LINE,
    CALIBRATED_PROBS,
    FIT_TEMPERATURE,
)
from course.checks.calibration_and_flows.planar import INVERTIBLE_U, PLANAR_FLOW
from course.checks.calibration_and_flows.transfer import RADIAL_FLOW
from course.checks.calibration_and_flows.variational import (
    FLOW_KL,
    NEGATIVE_ELBO,
    PREDICT,
)
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
