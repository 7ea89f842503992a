"""Practical 3's layers, plain and fused, and their noise."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
import torch
import torch.nn.functional as F
from generators import seeded

from solutions import bayes_by_backprop as bbb
from studies.fused import FusedBayesianMLP, ParallelNoise, counter_noise, threefry


def test_local_draws_have_the_moments_of_a_layer():
    layer = bbb.BayesianLinear(
        3, 2, prior_std=1.0, initial_rho=0.3, generator=seeded(0)
    )
    x = torch.tensor([[1.0, -2.0, 0.5]])
    q = (layer.weight_mu, layer.weight_rho, layer.bias_mu, layer.bias_rho)
    generator, n = seeded(1), 20_000
    with torch.no_grad():
        local = bbb.sample_activations(x.expand(n, 3), *q, generator=generator)
        whole = torch.cat([layer(x, generator=generator) for _ in range(n // 10)])
    se = whole.std(0) / math.sqrt(len(whole))
    assert ((local.mean(0) - whole.mean(0)).abs() < 6 * se * math.sqrt(1.1)).all()
    assert (local.std(0) / whole.std(0) - 1).abs().max() < 6 * math.sqrt(
        1.1 / (2 * len(whole))
    )


@pytest.mark.parametrize("local", [False, True])
def test_a_network_draws_afresh_and_repeatably(local):
    model = bbb.BayesianMLP(
        (4, 5, 3), prior_std=1.0, initial_rho=0, generator=seeded(0)
    )
    x = torch.randn(6, 4, generator=seeded(1))
    generator = seeded(2)
    first, second = (model(x, generator=generator, local=local) for _ in range(2))
    assert first.shape == (6, 3)
    assert not torch.equal(first, second)
    assert torch.equal(first, model(x, generator=seeded(2), local=local))
    assert len(list(model.parameters())) == 8
    first.sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_local_draws_lower_the_gradients_variance():
    model = bbb.BayesianMLP(
        (20, 30, 5), prior_std=1.0, initial_rho=-2, generator=seeded(0)
    )
    x, y = torch.randn(100, 20, generator=seeded(1)), torch.arange(100) % 5
    noise = {}
    for local in (False, True):
        generator, gradients = seeded(2), []
        for _ in range(60):
            loss = F.cross_entropy(model(x, generator=generator, local=local), y)
            gradients.append(torch.autograd.grad(loss, model.layers[0].weight_mu)[0])
        noise[local] = torch.stack(gradients).var(0).mean().item()
    assert noise[True] < 0.5 * noise[False]


def test_the_fused_network_is_the_plain_one():
    """Outputs, KL and all gradients agree for the same noise."""
    sizes = (6, 5, 4)
    plain = bbb.BayesianMLP(
        sizes, prior_std=0.7, initial_rho=-1, generator=seeded(0)
    ).double()
    fused = FusedBayesianMLP(
        sizes, prior_std=0.7, initial_rho=-1, generator=seeded(0)
    ).double()
    torch.manual_seed(3)
    epsilon = torch.randn(len(fused.mu), dtype=torch.float64)
    x, y = torch.randn(8, 6, dtype=torch.float64), torch.arange(8) % 4
    parts = [
        part
        for layer in plain.layers
        for part in (
            (layer.weight_mu, layer.weight_rho),
            (layer.bias_mu, layer.bias_rho),
        )
    ]
    flat_mu, flat_rho = (
        torch.cat([pair[k].flatten() for pair in parts]) for k in (0, 1)
    )
    torch.testing.assert_close(fused.mu.detach(), flat_mu.detach())
    w = bbb.reparametrise(flat_mu, flat_rho, epsilon)
    kl = bbb.gaussian_kl(flat_mu, flat_rho, 0.7)
    logits, fused_kl = fused.with_noise(x, epsilon)
    w1, b1, w2, b2 = w.split([5 * 6, 5, 4 * 5, 4])
    plain_logits = F.linear(F.relu(F.linear(x, w1.view(5, 6), b1)), w2.view(4, 5), b2)
    torch.testing.assert_close(logits, plain_logits)
    torch.testing.assert_close(fused_kl, kl)
    torch.testing.assert_close(fused_kl, plain.kl())
    pairs = [pair[k] for k in (0, 1) for pair in parts]
    right = torch.autograd.grad(F.cross_entropy(plain_logits, y) + 0.3 * kl, pairs)
    got = torch.autograd.grad(
        F.cross_entropy(logits, y) + 0.3 * fused_kl, (fused.mu, fused.rho)
    )
    torch.testing.assert_close(torch.cat(got), torch.cat([g.flatten() for g in right]))


def test_parallel_noise_is_standard_normal_and_repeatable():
    noise = ParallelNoise(40_001, generator=seeded(0))
    first, second = noise(), noise()
    assert torch.equal(first, ParallelNoise(40_001, generator=seeded(0))())
    both = torch.cat([first, second])
    assert len(torch.unique(both)) > 0.99 * len(both)
    assert scipy.stats.kstest(both.numpy(), "norm").pvalue > 1e-6


@pytest.mark.parametrize("key", [(0, 0), (7, -3), (-(2**31), 2**31 - 1)])
def test_threefry_gives_the_bits_of_jax(key):
    words = torch.tensor(key, dtype=torch.int32)
    first, second = threefry(words, 1001)
    theirs = jax.random.wrap_key_data(
        jnp.asarray(words.numpy().view(np.uint32)), impl="threefry2x32"
    )
    ours = (first ^ second).numpy().view(np.uint32)
    np.testing.assert_array_equal(ours, jax.random.bits(theirs, (1001,)))


def test_counter_noise_is_standard_normal_and_repeatable():
    one, other = (torch.tensor(key, dtype=torch.int32) for key in ((1, 2), (1, 3)))
    first, second = counter_noise(one, 40_001), counter_noise(other, 40_001)
    assert torch.equal(first, counter_noise(one, 40_001))
    assert first.dtype == torch.float32
    assert abs(torch.corrcoef(torch.stack([first, second]))[0, 1]) < 0.03
    half = len(first) // 2
    assert abs(torch.corrcoef(first[: 2 * half].view(2, half))[0, 1]) < 0.04
    for noise in (first, second):
        assert scipy.stats.kstest(noise.numpy(), "norm").pvalue > 1e-6
