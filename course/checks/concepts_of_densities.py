"""Mistakes in writing out log N(x | mean, std²), whatever the library of the numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from course.task import Misconception

# A Gaussian's density is 0 in double precision at this many standard deviations.
FAR = 42

# By name: factors of the terms, what is said, and what is said where −log N is asked for.
LOG_NORMALS: dict[str, tuple[dict[str, float], str, str]] = {
    "constant": (
        {"constant": 0},
        "you leave out the constant −½ log 2π.",
        "you leave out the constant ½ log 2π.",
    ),
    "normaliser": (
        {"constant": 0, "log_std": 0},
        "you leave out the normaliser: minus the logarithm of the standard deviation, and −½ log 2π.",
        "you leave out the normaliser: the logarithm of the standard deviation, and ½ log 2π.",
    ),
    "log std": (
        {"log_std": 0},
        "you leave out the logarithm of the standard deviation: a wider Gaussian is lower at its mean.",
        "you leave out the logarithm of the standard deviation: a wider Gaussian is lower at its mean.",
    ),
    "sign of log std": (
        {"log_std": -1},
        "you add the logarithm of the standard deviation; subtract it: a wider Gaussian is lower at its mean.",
        "you subtract the logarithm of the standard deviation; add it: a wider Gaussian is lower at its mean.",
    ),
    "log variance": (
        {"log_std": 2},
        "you subtract the logarithm of the variance, which is twice that of the standard deviation: a ½ is missing.",
        "you add the logarithm of the variance, which is twice that of the standard deviation: a ½ is missing.",
    ),
    "half": ({"half": 1}, *["you leave out the ½ before the squared distance."] * 2),
    "no variance": (
        {"power": 0},
        *["you do not divide the squared distance by the variance."] * 2,
    ),
    "std": (
        {"power": 1},
        *[
            "you divide the squared distance by the standard deviation; divide it by the variance."
        ]
        * 2,
    ),
    "half log std": (
        {"log_std": 0.5},
        "you halve the logarithm of the standard deviation; ½ belongs to the logarithm of the variance.",
        "you halve the logarithm of the standard deviation; ½ belongs to the logarithm of the variance.",
    ),
    "brackets": (
        {"power": -2},
        *[
            "you leave out the brackets: `… / 2 * std**2` multiplies the squared distance by the variance."
        ]
        * 2,
    ),
    "2 of 2π": (
        {"constant": math.log(math.pi) / math.log(4 * math.pi**2)},
        *["you leave out the 2 of the constant ½ log 2π."] * 2,
    ),
    "root of 2π": (
        {"constant": 1},
        *["you forget the square root of 2π: its logarithm is ½ log 2π."] * 2,
    ),
}


def log_normal(x, mean, std, log, *, half=0.5, log_std=1.0, constant=0.5, power=2):
    """Compute log N(x | mean, std²), or what comes if its terms have wrong factors."""
    return (
        -half * (x - mean) ** 2 / std**power
        - log_std * log(std)
        - constant * math.log(2 * math.pi)
    )


def wrong_log_normals(
    make: Callable[[Callable], Callable[..., Any]],
    *names: str,
    log: Callable[[Any], Any],
    negative: bool = False,
) -> list[Misconception]:
    """Return the mistakes in writing out log N; ``make(log_density)`` makes an answer.

    Args:
        make: takes a function from x, mean and std to the logarithm of a density.
        names: which of ``LOG_NORMALS``; by default all, and the density itself.
        log: takes logarithms of standard deviations.
        negative: −log N is asked for.
    """

    def wrong(**factors):
        return make(lambda *case: log_normal(*case, log, **factors))

    def density(*case):
        return math.e ** log_normal(*case, log) * (-1 if negative else 1)

    rows = [LOG_NORMALS[name] for name in names or LOG_NORMALS]
    found = [Misconception(wrong(**row[0]), row[1 + negative]) for row in rows]
    if not names:
        asked = "minus its logarithm" if negative else "its logarithm"
        hint = f"you return the density; the task asks for {asked}."
        found.append(Misconception(make(density), hint))
    return found
