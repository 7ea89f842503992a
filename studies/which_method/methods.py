"""The methods that are compared, their frameworks, and the values tried for their settings."""

from __future__ import annotations

from typing import NamedTuple

HIDDEN = 50  # units of the one hidden layer that every method has
MEMBERS = 5  # of a deep ensemble
SUBNETWORKS = 3  # of a MIMO network
DRAWS = 100  # for each prediction of a method that samples
SEEDS = 5
# Standard deviations; the best for the regression are between 0.1 and 0.3, so the grid is finer
# there.
PRIORS = (0.03, 0.1, 0.15, 0.2, 0.3, 1.0, 3.0, 10.0)
LONGER = 4  # factor on the steps, to check that the usual number is enough


class Method(NamedTuple):
    """A method's framework, the name and values of its one setting, and how it is trained.

    ``base`` names a method above it in the table, from which it takes its other settings.
    """

    framework: str
    setting: str | None
    values: tuple[float, ...]
    steps: int
    rate: float
    base: str | None = None


METHODS = {
    "MAP": Method("torch", "prior std", PRIORS, 1000, 0.01),
    "temperature": Method("torch", "temperature", (), 0, 0.0, "MAP"),
    "last-layer Laplace": Method("torch", "prior std", PRIORS, 0, 0.0, "MAP"),
    "Laplace": Method("torch", "prior std", PRIORS, 0, 0.0, "MAP"),
    "variational": Method("torch", "prior std", PRIORS, 2000, 0.03),
    "Bayes by Backprop": Method("torch", "prior std", PRIORS, 2000, 0.03),
    "cold Bayes by Backprop": Method(
        "torch", "KL factor", (0.001, 0.01, 0.1, 0.3), 2000, 0.03, "Bayes by Backprop"
    ),
    "MC dropout": Method(
        "torch", "dropped share", (0.03, 0.1, 0.3, 0.5), 1000, 0.01, "MAP"
    ),
    "flow noise": Method(
        "torch", "noise std", (0.03, 0.1, 0.3, 1.0), 1000, 0.01, "MAP"
    ),
    "deep ensemble": Method("jax", "prior std", PRIORS, 1000, 0.01),
    "MIMO": Method("jax", "repetition", (0.0, 0.5, 0.9), 2000, 0.01, "deep ensemble"),
}

# Methods that the chapter mentions outside its main comparison.
OWN_PRIOR = "Laplace, MAP's prior"
LONG = "Bayes by Backprop, longer"
SQUARES = "least squares"
SINGLE = "one network, JAX"
DISTANCE = "distance to the nearest data point"
