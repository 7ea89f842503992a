"""Expected values for checks of random draws, shared by the practicals."""

import math

from course.task import Close

DRAWS = 2_000
APART = Close(
    0.0,
    # By the t-distribution with 18 degrees of freedom of r √(18 / (1 − r²)).
    atol=0.95,
    because="the noise of a call is independent: over twenty calls, its correlation is beyond "
    "±0.95 with a probability of 2e-10",
)
CENTRED = (
    "you subtract the mean of the noise of a draw, or standardise it. Its ε are then not "
    "independent, and those of few weights are far from standard normal."
)
TAILS = Close(1.0, because="some of 8,000 Gaussian draws are beyond 3σ")


def gaussian_distance(draws: int = DRAWS) -> Close:
    """The mean absolute deviation of Gaussian draws, in units of their standard deviation.

    √(2/π) = 0.798 for a Gaussian, 0.866 for a uniform and 0.707 for a Laplace distribution.
    With 2,000 draws the latter two are 14 and 19 standard errors away.

    Source: Geary (1935), the ratio of the mean deviation to the standard deviation.
    """
    return Close(
        math.sqrt(2 / math.pi),
        atol=6 * math.sqrt((1 - 3 / math.pi) / draws),
        because=f"six standard errors of {draws:,} draws: a Gaussian's mean distance from "
        "its mean is √(2/π) of its standard deviation",
    )
