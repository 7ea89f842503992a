"""The variational layers, which draw weights or the noise of outputs."""

from __future__ import annotations

from course.checks.approximate_inference.moments import (
    layer_cases,
    layer_oracle,
    layer_probe,
)
from course.checks.approximate_inference.wrong_layers import LAYERS
from course.checks.approximate_inference.wrong_local_layers import LOCAL_LAYERS
from course.task import Task

LINEAR_VARIATIONAL = Task(
    name="LinearVariational",
    points=3,
    cases=layer_cases,
    probe=layer_probe,
    oracle=layer_oracle(shared=True),
    misconceptions=LAYERS,
    hints=[
        "You have the two parts already: reparametrised_sample and gaussian_kl.",
        "`kl`: weights plus biases. `forward`: one draw of the weights, one of the biases, then F.linear.",
        "The weight is reparametrised_sample of its own µ and ρ, and so is the bias; both draws take the generator.",
    ],
)


LOCAL_LINEAR_VARIATIONAL = Task(
    name="LocalLinearVariational",
    points=2,
    cases=layer_cases,
    probe=layer_probe,
    oracle=layer_oracle(shared=False),
    misconceptions=LOCAL_LAYERS,
    hints=[
        "An output is a sum of independent Gaussians, so it is Gaussian. What are its mean and its variance?",
        "Linear layers compute both: the mean from x and µ, the variance from x² and the squares of softplus(ρ).",
        "Draw as reparametrised_sample does, with the outputs' mean and standard deviation: one ε for every output of every row.",
    ],
)
