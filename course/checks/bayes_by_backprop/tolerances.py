"""Why an answer need not agree to the last digit, and what more than one check needs."""

import numpy as np

from course.checks.draws import DRAWS

EXACT = "double precision, from which a few digits get lost on the way"
SINGLE = (
    "Normal and torch.tensor turn Python's numbers into single precision, "
    "which carries 7 digits"
)
SIX_ERRORS = f"six standard errors of {DRAWS} draws"


def softplus(rho):
    """log(1 + exp ρ) in double precision, for any ρ."""
    return np.logaddexp(0.0, rho)
