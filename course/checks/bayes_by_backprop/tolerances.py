"""Why an answer need not agree to the last digit, and what more than one check needs."""

import math

import numpy as np

from course.task import Close

EXACT = "double precision, from which a few digits get lost on the way"
SINGLE = (
    "Normal and torch.tensor turn Python's numbers into single precision, "
    "which carries 7 digits"
)
DRAWS = 2_000
SIX_ERRORS = f"six standard errors of {DRAWS} draws"


def softplus(rho):
    """log(1 + exp ρ) in double precision, for any ρ."""
    return np.logaddexp(0.0, rho)


def gaussian_distance(draws: int = DRAWS) -> Close:
    """The mean distance from the mean, in standard deviations of the draws themselves.

    √(2/π) = .798 for a Gaussian, .866 for a uniform distribution, .707 for a Laplace one:
    14 and 19 standard errors off in 2,000 draws.

    Source: Geary (1935), the ratio of the mean deviation to the standard deviation.
    """
    return Close(
        math.sqrt(2 / math.pi),
        atol=6 * math.sqrt((1 - 3 / math.pi) / draws),
        because=f"six standard errors of {draws} draws: a Gaussian's mean distance from "
        "its mean is √(2/π) of its standard deviation",
    )
