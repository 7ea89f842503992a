"""Spoils a right answer in PyTorch: its noise, its generator, its graph."""

import inspect
from unittest import mock

import torch


def _wrapped(answer, wrap, methods=("forward",)):
    """A function wrapped, or a class whose methods are."""
    if not isinstance(answer, type):
        return wrap(answer)
    changed = {name: wrap(getattr(answer, name)) for name in methods}
    return type(answer.__name__, (answer,), changed)


def uniform(shape, *, generator=None, dtype=None, device=None):
    """Mean 0 and variance 1, and no Gaussian."""
    return 12**0.5 * (torch.rand(shape, generator=generator, dtype=dtype) - 0.5)


def signs(shape, *, generator=None, dtype=None, device=None):
    """−1 or 1."""
    return (
        torch.randint(2, shape, generator=generator).to(dtype or torch.float32) * 2 - 1
    )


def laplace(shape, *, generator=None, dtype=None, device=None):
    """Mean 0 and variance 1, with heavy tails."""
    u = torch.rand(shape, generator=generator, dtype=dtype) - 0.5
    return -u.sign() * torch.log1p(-2 * u.abs().clamp(max=0.4999999)) / 2**0.5


def with_noise(answer, noise):
    """Draws ``noise`` where the answer draws Gaussian noise."""

    def wrap(function):
        def spoilt(*args, **kwargs):
            with mock.patch.object(torch, "randn", noise):
                return function(*args, **kwargs)

        return spoilt

    return _wrapped(answer, wrap)


def frozen(answer, when=lambda: True):
    """The same noise at every call, whatever the generator."""

    def wrap(function):
        def spoilt(*args, generator, **kwargs):
            if when():
                generator = torch.Generator().manual_seed(11)
            return function(*args, generator=generator, **kwargs)

        return spoilt

    return _wrapped(answer, wrap)


def without_graph(answer, methods=("forward",)):
    """Computed under no_grad."""

    def wrap(function):
        def spoilt(*args, **kwargs):
            with torch.no_grad():
                return function(*args, **kwargs)

        return spoilt

    return _wrapped(answer, wrap, methods)


def of_noise(answer):
    """All that goes wrong with noise."""
    return {
        "uniform noise": with_noise(answer, uniform),
        "signs for noise": with_noise(answer, signs),
        "Laplace noise": with_noise(answer, laplace),
        "frozen noise": frozen(answer),
        "frozen noise without gradients": frozen(
            answer, when=lambda: not torch.is_grad_enabled()
        ),
    }


def of_graph(answer, *names):
    """The graph cut behind each of the named inputs, and altogether."""
    order = list(inspect.signature(answer).parameters)

    def cut(name):
        def spoilt(*args, **kwargs):
            args = list(args)
            args[order.index(name)] = args[order.index(name)].detach()
            return answer(*args, **kwargs)

        return spoilt

    return {f"{name} is cut off": cut(name) for name in names} | {
        "no graph": without_graph(answer)
    }
