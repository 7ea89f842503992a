"""Watch the calls of an answer: arguments that it changes, and state that it leaves behind.

The source of this module is copied into graded notebooks with that of each probe, so its
imports are inside its functions.
"""


class WrongCall(TypeError):
    """An answer cannot take the arguments that it is called with."""


def watched(answer, left):
    """Wrap a function, or the methods of a class, and record what its calls leave behind.

    The answer gets copies of arrays, so that nothing else sees them changed. Modes that it
    leaves behind are restored after each call.

    Args:
        answer: the function or class.
        left: a list, to which pairs of a kind and a name are added: ``("changed", name)`` for
            an argument, ``("generator", library)``, ``("gradients", "")``, ``("dtype", "")``.
    """
    if not isinstance(answer, type):
        return _watched_function(answer, left)
    methods = {}
    for base in reversed(answer.__mro__):
        if base.__module__.partition(".")[0] not in ("torch", "builtins", "typing"):
            methods |= {
                name: value
                for name, value in vars(base).items()
                if hasattr(value, "__code__")
                and (not name.startswith("_") or name in ("__init__", "__call__"))
            }
    wrapped = {
        name: _watched_function(method, left, builds=name == "__init__", first=1)
        for name, method in methods.items()
    }
    kept = {"__module__": answer.__module__, "__qualname__": answer.__qualname__}
    try:
        return type(answer)(answer.__name__, (answer,), wrapped | kept)
    except Exception:  # a class that allows no subclass
        return answer


def _watched_function(function, left, builds=False, first=0):
    """Wrap one function; its arguments before ``first`` are not watched.

    Building a layer may draw from the global generator, as all layers of PyTorch do.
    """
    import functools
    import inspect

    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # built-in functions may have none
        signature = None

    @functools.wraps(function, updated=())
    def called(*args, **kwargs):
        names = [""] * len(args)
        if signature is not None:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError as error:
                count = len(args) - first
                given = f"{count} argument{'s' * (count != 1)} by position"
                given += "".join(f", {name}=…" for name in kwargs)
                raise WrongCall(f"could not be called with {given}: {error}") from None
            names = list(bound.arguments)[: len(args)]
            names += [""] * (len(args) - len(names))
        restore = (lambda after: None) if builds else _displace(left)
        before, given, copies = state(), [], list(args)
        for index in range(first, len(args)):
            original, copies[index] = _copied(args[index])
            given.append((names[index], original, copies[index]))
        for name, value in kwargs.items():
            original, kwargs[name] = _copied(value)
            given.append((name, original, kwargs[name]))
        try:
            return function(*copies, **kwargs)
        finally:
            found = [
                ("changed", name)
                for name, original, copy in given
                if original is not None and _differs(original, copy)
            ]
            found += _left_since(before, builds)
            restore([name for kind, name in found if kind == "generator"])
            left.extend(one for one in found if one not in left)

    return called


def _copied(value):
    """Return a copy to compare with, and what the answer is given; no copy of other values."""
    import sys

    import numpy as np

    torch = sys.modules.get("torch")
    if type(value) is np.ndarray:
        return value, value.copy()
    if torch is not None and type(value) is torch.Tensor:
        try:
            if torch._C._functorch.is_functorch_wrapped_tensor(value):
                return None, value
        except AttributeError:
            pass
        if value.requires_grad:  # the graph leads to this tensor
            return value.detach().clone(), value
        return value, value.clone()
    return None, value


def _differs(one, two):
    """Whether two arrays have different entries; not-a-number equals itself."""
    try:
        two = two.detach() if hasattr(two, "detach") else two
        if one.shape != two.shape or one.dtype != two.dtype:
            return True
        return not bool(((one == two) | ((one != one) & (two != two))).all())
    except Exception:  # arrays of objects
        return False


other_states = {}  # of the global generators, by library; computed when first needed


def _other_state(library):
    """Return a state of a library's global generator that no answer sets."""
    import random
    import sys

    import numpy as np

    seed = 0x6B6E6F776E
    if library not in other_states:
        if library == "random":
            state = random.Random(seed).getstate()
        elif library == "numpy":
            state = np.random.RandomState(seed % 2**32).get_state()
        else:
            torch = sys.modules["torch"]
            state = torch.Generator().manual_seed(seed).get_state()
        other_states[library] = state
    return other_states[library]


def _displace(left):
    """Give global generators another state, so that it is seen if they are seeded once more.

    Those that an answer is known to use are left alone, so that its draws differ.

    Returns:
        a function that restores the generators, but for the named ones.
    """
    import random
    import sys

    import numpy as np

    torch = sys.modules.get("torch")
    known = [name for kind, name in left if kind == "generator"]
    restore = {}
    if "random" not in known:
        old = random.getstate()
        restore["random"] = lambda: random.setstate(old)
        random.setstate(_other_state("random"))
    if "numpy" not in known:
        numpy_state = np.random.get_state()  # noqa: NPY002
        restore["numpy"] = lambda: np.random.set_state(numpy_state)  # noqa: NPY002
        np.random.set_state(_other_state("numpy"))  # noqa: NPY002
    if "torch" not in known and hasattr(torch, "get_rng_state"):
        torch_state = torch.get_rng_state()
        restore["torch"] = lambda: torch.set_rng_state(torch_state)
        torch.set_rng_state(_other_state("torch"))

    def restored(but):
        for name, back in restore.items():
            if name not in but:
                back()

    return restored


def state():
    """Return the state of global generators and modes, of the libraries that are imported."""
    import random
    import sys

    import numpy as np

    numpy_state = np.random.get_state()  # noqa: NPY002
    found = {
        "random": random.getstate(),
        "numpy": (numpy_state[1].tobytes(), *numpy_state[2:]),
    }
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if hasattr(torch, "get_rng_state"):
        found["torch"] = torch.get_rng_state().numpy().tobytes()
        found["gradients"] = torch.is_grad_enabled()
        found["dtype"] = torch.get_default_dtype()
    if hasattr(jax, "config"):
        found["x64"] = jax.config.jax_enable_x64
    return found


def _left_since(before, builds):
    """Compare the state with an earlier one, and restore modes."""
    import sys

    after = state()
    found = [
        ("generator", name)
        for name in ("torch", "numpy", "random")
        if name in before and before[name] != after[name]
    ]
    if builds:
        found = []
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if before.get("gradients", True) != after.get("gradients", True):
        torch.set_grad_enabled(before["gradients"])
        found.append(("gradients", ""))
    if "dtype" in before and before["dtype"] != after["dtype"]:
        torch.set_default_dtype(before["dtype"])
        found.append(("dtype", ""))
    if "x64" in before and before["x64"] != after["x64"]:
        jax.config.update("jax_enable_x64", before["x64"])
        found.append(("dtype", ""))
    return found


def sentences(left):
    """Say what calls have left behind."""
    libraries = {"torch": "PyTorch", "numpy": "NumPy", "random": "Python"}
    told = []
    for kind, name in left:
        if kind == "changed":
            argument = f"`{name}`" if name else "an argument"
            told.append(
                f"You changed {argument} in place, so it is changed for the caller as well. "
                "Work on a copy."
            )
        elif kind == "generator":
            told.append(
                f"You seeded {libraries[name]}'s global random generator or drew from it. "
                "Leave it alone: draw anything random from an argument."
            )
        elif kind == "gradients":
            told.append(
                "You changed whether gradients are computed (torch.set_grad_enabled) and did "
                "not restore it. Use `with torch.no_grad():`, which does so after its block."
            )
        elif kind == "dtype":
            told.append(
                "You changed the default dtype and did not restore it. Pass dtype= where you need one."
            )
    return " ".join(told)
