"""Settings of the whole process, which a test that changes them must set back."""

import functools
import os
import sys

OURS = ("course", "authoring", "grading", "project", "solutions", "studies")


@functools.lru_cache(maxsize=1)
def tables(modules):
    """Return the tables of our packages (dicts, lists and sets in capitals), by name.

    ``modules`` is how many modules are imported: only a further one can bring further tables.
    """
    return {
        f"{module.__name__}.{name}": value
        for module in list(sys.modules.values())
        if getattr(module, "__name__", "").partition(".")[0] in OURS
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, dict | list | set)
    }


def settings():
    """Return the settings, by name: those of the libraries that are imported by now."""
    found = {"the folder": os.getcwd(), "recursion": sys.getrecursionlimit()}
    if matplotlib := sys.modules.get("matplotlib"):
        found["matplotlib.rcParams"] = dict.copy(matplotlib.rcParams)
    if numpy := sys.modules.get("numpy"):
        found["numpy.errstate"] = numpy.geterr()
    if torch := sys.modules.get("torch"):
        found["torch's dtype"] = torch.get_default_dtype()
        found["torch's gradients"] = torch.is_grad_enabled()
        found["torch's threads"] = torch.get_num_threads()
    if jax := sys.modules.get("jax"):
        found["jax's precision"] = jax.config.jax_enable_x64
        found["jax's checks"] = jax.config.jax_debug_nans
    for name, table in tables(len(sys.modules)).items():
        found[name] = len(table)
    return found
