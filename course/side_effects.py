"""Watch the calls of an answer: arguments that it changes, and state that it leaves behind.

In a graded notebook, each probe runs this module anew in its own namespace, so most of its
imports are inside its functions.
"""

from contextlib import contextmanager

DEEPEST = 4  # lists in lists that are watched


class WrongCall(TypeError):
    """An answer cannot take the arguments that it is called with."""


@contextmanager
def watched(answer, left):
    """Wrap a function, or the methods of a class, and record what its calls leave behind.

    The answer gets copies of arrays, so that nothing else sees them changed. Modes that it
    leaves behind are restored after each call, and in the end the global generators, but for
    those that it used.

    Args:
        answer: the function or class.
        left: a list, to which pairs of a kind and a name are added: ``("changed", name)`` for
            an argument, ``("generator", library)``, ``("gradients", "")``, ``("dtype", "")``.
    """
    generators = _Generators({name for kind, name in left if kind == "generator"})
    wrap = _watched_class if isinstance(answer, type) else _watched_function
    generators.displace()
    try:
        yield wrap(answer, left, generators)
    finally:
        _add(left, generators.moved())
        generators.restore()


def _watched_class(answer, left, generators):
    """Wrap the methods of a class."""
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
        name: _watched_function(method, left, generators, name == "__init__", first=1)
        for name, method in methods.items()
    }
    kept = {"__module__": answer.__module__, "__qualname__": answer.__qualname__}
    try:
        return type(answer)(answer.__name__, (answer,), wrapped | kept)
    except Exception:  # a class that allows no subclass
        return answer


def _watched_function(function, left, generators, builds=False, first=0):
    """Wrap one function; its arguments before ``first`` are not watched.

    Building a layer may draw from the global generator, as all layers of PyTorch do. Calls
    within a watched call are not watched: what they do is seen after that one.
    """
    import functools
    import inspect

    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # built-in functions may have none
        signature = None

    names_of = {}  # by number of arguments and keywords; to bind takes long

    def named(args, kwargs):
        names = [""] * len(args)
        if signature is None:
            return names
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            count = len(args) - first
            given = f"{count} argument{'s' * (count != 1)} by position"
            given += "".join(f", {name}=…" for name in kwargs)
            raise WrongCall(f"could not be called with {given}: {error}") from None
        found = list(bound.arguments)[: len(args)]
        return found + names[len(found) :]

    @functools.wraps(function, updated=())
    def called(*args, **kwargs):
        form = len(args), *kwargs
        if form not in names_of:
            names_of[form] = named(args, kwargs)
        names = names_of[form]
        if generators.in_use:
            return function(*args, **kwargs)
        before, given, copies = _modes(), [], list(args)
        for index in range(first, len(args)):
            original, copies[index] = _copied(args[index])
            given.append((names[index], original, copies[index]))
        for name, value in kwargs.items():
            original, kwargs[name] = _copied(value)
            given.append((name, original, kwargs[name]))
        if builds:
            _add(left, generators.moved())
            generators.restore()
        generators.in_use = True
        try:
            return function(*copies, **kwargs)
        finally:
            generators.in_use = False
            found = [
                ("changed", name)
                for name, original, copy in given
                if original is not None and _differs(original, copy)
            ]
            if builds:
                generators.displace()
            _add(left, found + _restored(before))

    return called


def _add(left, found):
    left.extend(one for one in found if one not in left)


def _copied(value, depth=0):
    """Return a copy to compare with, and what the answer is given; no copy of other values.

    For a list, a dictionary, a tuple or a named one, down to ``DEEPEST``, the former maps each
    place or key to the two of its value.
    """
    import sys

    import numpy as np

    is_named = isinstance(value, tuple) and hasattr(value, "_fields")
    if depth < DEEPEST and (is_named or type(value) in (list, tuple, dict)):
        items = value.items() if type(value) is dict else enumerate(value)
        parts = {key: _copied(part, depth + 1) for key, part in items}
        copies = {key: copy for key, (_, copy) in parts.items()}
        if type(value) is dict:
            return parts, copies
        return parts, (value._make if is_named else type(value))(copies.values())
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
    """Whether two arrays have different entries; not-a-number equals itself.

    For lists, tuples and dictionaries, ``one`` is the first value that ``_copied`` returned.
    """
    if isinstance(one, dict):
        now = two if isinstance(two, dict) else dict(enumerate(two))
        return one.keys() != now.keys() or any(
            now[key] is not copy or (original is not None and _differs(original, copy))
            for key, (original, copy) in one.items()
        )
    try:
        two = two.detach() if hasattr(two, "detach") else two
        if one.shape != two.shape or one.dtype != two.dtype:
            return True
        if hasattr(one, "equal") and one.equal(two):  # of PyTorch, and quick
            return False
        return not bool(((one == two) | ((one != one) & (two != two))).all())
    except Exception:  # arrays of objects
        return False


displaced = {}  # states that no answer sets, by library; made when first needed


class _Generators:
    """The global generators of imported libraries, but for those that an answer is known to use.

    Those have to be left alone, so that its draws differ.
    """

    def __init__(self, known):
        import ctypes
        import random
        import sys

        import numpy as np

        torch, seed = sys.modules.get("torch"), 0x6B6E6F776E
        found = {
            "random": _Generator(
                random.getstate,
                random.setstate,
                lambda: random.Random(seed).getstate(),
            ),
        }
        bits = np.random.get_bit_generator()
        if isinstance(bits, np.random.MT19937):  # as it is, if nobody exchanges it
            # NumPy takes 30 µs to say its state, so its numbers are read where they are.
            memory = bits.ctypes.state_address, 625 * 4
            found["numpy"] = _Generator(
                np.random.get_state,
                np.random.set_state,
                lambda: np.random.RandomState(seed % 2**32).get_state(),
                lambda: (
                    np.random.get_bit_generator() is bits,
                    ctypes.string_at(*memory),
                ),
            )
        if hasattr(torch, "get_rng_state"):
            found["torch"] = _Generator(
                torch.get_rng_state,
                torch.set_rng_state,
                lambda: torch.Generator().manual_seed(seed).get_state(),
                lambda: torch.get_rng_state().numpy().tobytes(),
            )
        for name in found.keys() - displaced.keys():
            displaced[name] = found[name].other()
        self.unused = {name: found[name] for name in found if name not in known}
        self.in_use = False  # while the answer runs

    def displace(self):
        """Give them other states."""
        import sys

        self.modules = len(sys.modules)
        for name, generator in self.unused.items():
            generator.displace(displaced[name])

    def restore(self):
        """Give them their own states back."""
        for generator in self.unused.values():
            generator.write(generator.own)

    def moved(self):
        """Find those that were used since they were displaced; they are left alone from now on.

        Python's own may have been used by a module that was imported, as scikit-learn does.
        """
        import sys

        found = [name for name, one in self.unused.items() if one.seen() != one.then]
        if len(sys.modules) > self.modules and "random" in found:
            found.remove("random")
        for name in found:
            del self.unused[name]
        return [("generator", name) for name in found]


class _Generator:
    """A global generator that can be displaced: given a state that no answer sets.

    So it is seen if it is seeded once more.
    """

    def __init__(self, read, write, other, seen=None):
        self.read, self.write, self.other, self.seen = read, write, other, seen or read

    def displace(self, state):
        self.own = self.read()
        self.write(state)
        self.then = self.seen()


def _modes():
    """Return the modes of the libraries that are imported."""
    import sys

    torch, jax, found = sys.modules.get("torch"), sys.modules.get("jax"), {}
    if hasattr(torch, "get_rng_state"):
        found["gradients"] = torch.is_grad_enabled()
        found["dtype"] = torch.get_default_dtype()
    if hasattr(jax, "config"):
        found["x64"] = jax.config.jax_enable_x64
    return found


def _restored(before):
    """Compare the modes with earlier ones, and restore them."""
    import sys

    after, found = _modes(), []
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
