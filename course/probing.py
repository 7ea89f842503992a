"""Functions that probes share, for PyTorch, JAX and NumPy.

In a graded notebook, each probe runs this module anew in its own namespace. It holds functions
alone, and all their imports are inside them.
"""


def leaves(*values):
    """Return tensors that require gradients; Python's numbers become double precision."""
    import numpy as np
    import torch

    return [torch.tensor(np.asarray(value), requires_grad=True) for value in values]


def gradients(value, inputs):
    """Return the gradients of the sum of a tensor, all 0 if it carries no graph."""
    import torch

    if not getattr(value, "requires_grad", False):
        return [torch.zeros_like(leaf) for leaf in inputs]
    return torch.autograd.grad(
        value.sum(), inputs, retain_graph=True, materialize_grads=True
    )


def gradients_of(value, **inputs):
    """Return the same gradients by name, as ``gradient_of_<name>``."""
    found = gradients(value, list(inputs.values()))
    return {
        f"gradient_of_{name}": gradient
        for name, gradient in zip(inputs, found, strict=True)
    }


def of_parts(loss, twice, **inputs):
    """Split a loss into its parts, and return them with its gradients.

    Args:
        loss: the loss.
        twice: the loss with every data point there twice.
        inputs: leaves.
    """
    change = rest = loss  # if it is none, or of another shape than is asked for
    if loss is not None and getattr(loss, "shape", ()) == getattr(twice, "shape", ()):
        change, rest = twice - loss, 2 * loss - twice
    return {
        "change_with_the_same_data_twice": change,
        "loss_without_data": rest,
        **gradients_of(loss, **inputs),
    }


def fields(result, *names):
    """Return the parts of a named tuple by name, and whether it has these names.

    Args:
        result: what an answer returned; a plain tuple gives the same parts in this order.
        names: the fields.
    """
    values = dict(zip(names, names if result is None else result, strict=True))
    if result is None:
        return dict.fromkeys(values)
    return values | {"fields": float(all(hasattr(result, name) for name in names))}


def unless_default(answer, value, default):
    """Return the last argument of a call, or none where it is the default of the answer's stub.

    An answer whose last argument has no default always gets it.
    """
    import inspect

    last = [*inspect.signature(answer).parameters.values()][-1:]
    has_default = any(each.default is not each.empty for each in last)
    return () if has_default and value == default else (value,)


def finite_or_infinite(name, value):
    """Return a value with 0 in place of ±∞, and where it was infinite: ±1 there, 0 elsewhere.

    nan stays nan in both values.
    """
    import numpy as np

    # The judge takes no list for an array, so a list is passed on as it is.
    array = np.asarray(None if isinstance(value, list | tuple) else value)
    if array.dtype.kind != "f":
        return {f"infinite_{name}": value, name: value}
    infinite = np.isinf(array)
    return {
        f"infinite_{name}": np.where(
            infinite, np.sign(array), 0 * np.where(infinite, 0, array)
        ),
        name: np.where(infinite, 0.0, array),
    }


def interval(result):
    """Return the ends of intervals, which may be infinite."""
    low, high = (None, None) if result is None else result
    return finite_or_infinite("low", low) | finite_or_infinite("high", high)


def integers(name, value):
    """Return integers as floating-point numbers, and whether they are an array of integers.

    An empty array may have any dtype.
    """
    import numpy as np

    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        return {name: value, "integer_array": None if value is None else 0.0}
    whole = array.dtype.kind in "iu" or array.size == 0
    is_list = isinstance(value, list | tuple)
    return {
        name: array.astype(float),
        "integer_array": float(whole and not is_list),
    }


def flow_values(flow, **inputs):
    """Call a flow; return its points, log|det|, and the gradients of the sum of both.

    All in single precision, as in the notebook.
    """
    import numpy as np

    named = dict(zip(inputs, leaves(*map(np.float32, inputs.values())), strict=True))
    result = flow(*named.values())
    points, log_det = (None, None) if result is None else result
    total = sum(part.sum() for part in (points, log_det) if hasattr(part, "sum"))
    return {"points": points, "log_det": log_det, **gradients_of(total, **named)}


def unwrapped(value):
    """Return a tensor as it is outside of ``torch.func.vmap`` and the like."""
    import torch

    functions = torch._C._functorch
    while functions.is_functorch_wrapped_tensor(value):
        value = functions.get_unwrapped(value)
    return value


def seeded(seed):
    """Return a random generator of PyTorch with this seed."""
    import torch

    return torch.Generator().manual_seed(seed)


def drawn(draw, seed):
    """Call ``draw(generator)``; return the draw, and comparisons with others.

    These are made as they are asked for. The second draw takes the same generator again, the
    third a new one with the same seed, the fourth one with another seed. The last two take the
    first generator, without gradients.
    """
    import torch

    generator = seeded(seed)
    first = draw(generator)

    def comparisons():
        second = draw(generator)
        yield "reproducible", float(torch.equal(first, draw(seeded(seed))))
        other = draw(seeded(seed + 1))
        yield "another_seed_another_draw", float(not torch.equal(first, other))
        with torch.no_grad():
            fifth, sixth = draw(generator), draw(generator)
        fresh = not torch.equal(first, second) and not torch.equal(fifth, sixth)
        yield "fresh", float(fresh)

    return first, comparisons()


def own_noise(noise):
    """Return 1, or 0 if the noise is the same all along one of its axes."""
    import torch

    if not torch.any(noise.abs() > 1e-6):  # there is none
        return 1.0
    firsts = (noise.narrow(axis, 0, 1) for axis in range(noise.ndim))
    return float(
        not any(
            noise.shape[axis] > 1
            and torch.allclose(noise, first.expand_as(noise), atol=1e-6)
            for axis, first in enumerate(firsts)
        )
    )


def correlation_of_two(draw, seed):
    """Return the correlation of two numbers that one call draws, over twenty calls.

    It is −1 if the noise of a call is centred or standardised, 1 if both are the same number,
    and nearer to 0 if they are independent.

    Args:
        draw: takes a generator, returns a tensor with two numbers.
        seed: of the generator, which is the same in all calls.
    """
    import torch

    generator = seeded(seed)
    with torch.no_grad():
        pairs = [draw(generator).flatten()[[0, -1]] for _ in range(20)]
    return torch.corrcoef(torch.stack(pairs, dim=1).double())[0, 1]


def has_tails(noise):
    """Return 1, or 0 if no number of at least 8,000 is beyond ±3: the noise is cut off.

    Of 8,000 standard Gaussian draws, none is beyond ±3 with a probability of 4e-10.
    """
    return float(noise.numel() < 8_000 or (noise.abs() > 3.001).any())


def value_and_gradients(keys, function, *inputs, compiled=False):
    """Call a function of JAX arrays; return its value and the gradients of the value's sum.

    Args:
        keys: of the value, and of the gradient with respect to each of the first inputs.
        function: the function.
        inputs: its inputs.
        compiled: whether the function must run under ``jax.jit``, too.
    """
    import jax
    import jax.numpy as jnp

    def total(*at):
        value = function(*at)
        return (0.0 if value is None else jnp.sum(value)), value

    inputs = [jnp.asarray(value) for value in inputs]
    found, value = jax.grad(total, tuple(range(len(keys) - 1)), has_aux=True)(*inputs)
    if value is None:
        return {keys[0]: None}
    if compiled:
        jax.make_jaxpr(function)(*inputs)
    return dict(zip(keys, (value, *found), strict=True))


def curved_network(a, b, c):
    """Return a function from weights (D,) to N logits that curves in its weights.

    Args:
        a, b: shape (N, D).
        c: shape (N,).
    """
    import torch

    a, b, c = (torch.tensor(value) for value in (a, b, c))
    return lambda w: torch.tanh(a @ w) + (b @ w) ** 2 / 2 + c
