"""How sure it is that two numbers which a call draws are independent."""

import math

import pytest
import scipy.stats
import torch

from course.checks.draws import APART
from course.probing import correlation_of_two

CALLS = 20


def test_the_probability_of_refusing_independent_noise_is_the_one_that_is_told():
    r, freedom = APART.atol, CALLS - 2
    t = r * math.sqrt(freedom / (1 - r**2))
    probability = 2 * scipy.stats.t.sf(t, freedom)
    assert f"probability of {probability:.0e}".replace("e-0", "e-") in APART.because


@pytest.mark.parametrize(
    ("noise_of", "low", "high"),
    [
        (lambda noise: noise, -APART.atol, APART.atol),
        (lambda noise: noise - noise.mean(), -1, -0.999),
        (lambda noise: (noise - noise.mean()) / noise.std(), -1, -0.999),
        (lambda noise: noise[:1].expand(2), 0.999, 1),
    ],
    ids=["independent", "centred", "standardised", "shared"],
)
def test_only_independent_noise_has_a_correlation_within_the_limit(noise_of, low, high):
    calls = []

    def draw(generator):
        calls.append(noise_of(torch.randn(2, generator=generator)))
        return calls[-1]

    correlation = float(correlation_of_two(draw, 3))
    assert low - 1e-6 <= correlation <= high + 1e-6
    assert len(calls) == CALLS
