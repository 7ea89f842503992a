"""Checks of chapter 5. Oracles: scikit-learn, SciPy and double precision NumPy."""

from course.checks.which_method.comparing import (
    DIFFERENCE_INTERVAL,
    GAUSSIAN_CRPS,
    OOD_AUROC,
)
from course.checks.which_method.mimo import MIMO_INPUTS, MIMO_LOG_PROBS, MIMO_LOSS
from course.checks.which_method.repairs import LAST_LAYER_LOG_PROBS

TASKS = {
    task.id: task
    for task in (
        OOD_AUROC,
        DIFFERENCE_INTERVAL,
        GAUSSIAN_CRPS,
        LAST_LAYER_LOG_PROBS,
        MIMO_INPUTS,
        MIMO_LOSS,
        MIMO_LOG_PROBS,
    )
}
