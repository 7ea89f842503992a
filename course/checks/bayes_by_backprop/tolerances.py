"""Reasons for tolerances, as shown to students, and a function that several checks use."""

import numpy as np

from course.checks.draws import DRAWS

EXACT = "answers may be in single precision, which carries 7 digits"
SINGLE = (
    "Normal and torch.tensor turn Python's numbers into single precision, "
    "which carries 7 digits"
)
SIX_ERRORS = f"six standard errors of {DRAWS} draws"


def softplus(rho):
    """Compute log(1 + exp ρ) in double precision, without overflow."""
    return np.logaddexp(0.0, rho)
