"""What checks of random draws expect, whatever the practical."""

import math

from course.task import Close

DRAWS = 2_000


def gaussian_distance(draws: int = DRAWS) -> Close:
    """The mean distance from the mean, in standard deviations of the draws themselves.

    √(2/π) = .798 for a Gaussian, .866 for a uniform distribution, .707 for a Laplace one:
    14 and 19 standard errors off in 2,000 draws.

    Source: Geary (1935), the ratio of the mean deviation to the standard deviation.
    """
    return Close(
        math.sqrt(2 / math.pi),
        atol=6 * math.sqrt((1 - 3 / math.pi) / draws),
        because=f"six standard errors of {draws:,} draws: a Gaussian's mean distance from "
        "its mean is √(2/π) of its standard deviation",
    )
