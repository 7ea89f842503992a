"""Packages that count as harmless give no access to modules that do not."""

import importlib
import sys
import types

import pytest

from grading.submissions.effects import DUNDER
from grading.submissions.harmless import (
    HARMLESS,
    LARGE,
    PARTS,
    _parts,
    harmless,
    within,
)

# Standard library modules that harmless packages refer to, and that cannot run code.
OFFERED = {"_random", "_sre", "array", "concurrent", "multiprocessing", "platform"}
OFFERED |= {"queue", "signal", "string", "types"}


@pytest.mark.long
def test_no_harmless_package_leads_to_a_module_that_is_not():
    """Follows all allowed attribute names of the installed packages to other modules."""
    # Import all parts that may be used, so that imports of other tests make no difference.
    used = [
        f"{package}.{part}"
        for package in LARGE
        for part in sorted(_parts(package) & PARTS)
    ]
    used += ["jax.scipy.stats", "numpyro.distributions", "torch.utils.data"]
    assert len(used) > 60
    importlib.import_module("torch._dynamo")  # as some functions of PyTorch do
    roots = [(importlib.import_module(name), name.split(".")) for name in used]
    for name in sorted(HARMLESS - {"__future__", "course"}):
        roots.append((importlib.import_module(name), [name]))
    waiting, seen, found = roots, set(), set()
    while waiting:
        module, path = waiting.pop(0)
        seen.add(id(module))
        for name, value in list(vars(module).items()):
            there = [*path, name]
            if not name.isidentifier() or DUNDER.fullmatch(name) or within(name):
                continue
            if path[0] in LARGE and not harmless(there):
                continue
            if issubclass(type(value), types.ModuleType) and id(value) not in seen:
                package = value.__name__.partition(".")[0]
                if package in HARMLESS or package == path[0]:
                    waiting.append((value, there))
                elif package in sys.stdlib_module_names - OFFERED:
                    found.add(".".join(there))
            assert not any(value is one for one in (exec, eval, compile)), there
    assert found == set()


def test_a_package_inside_itself_is_judged_as_itself():
    assert not harmless(["torch", "_dynamo"])
    assert not harmless(["torch", "autograd", "torch", "_dynamo", "convert_frame"])
    assert harmless(["torch", "autograd", "torch", "autograd", "grad"])
