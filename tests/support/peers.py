"""Independent implementations that the tests compare ours with."""

import contextlib
import sys
import warnings
from functools import cache
from unittest import mock

# PyTorch's own forward-mode derivatives still use a function that it has deprecated.
OWN_WARNING = "ignore:`torch.jit.script` is deprecated:DeprecationWarning"


@contextlib.contextmanager
def without_torchvision():
    """Let peers be imported that import torchvision and use nothing of it here.

    Its wheel may not fit torch's CPU build; a stand-in takes its place where it does not.
    """
    stand_ins = {}
    try:
        import torchvision  # noqa: F401
    except (ImportError, RuntimeError):
        names = ("torchvision", "torchvision.models", "torchvision.transforms")
        stand_ins = {name: mock.MagicMock() for name in names}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name in stand_ins:
            del sys.modules[name]


@cache
def laplace_torch():
    with warnings.catch_warnings(), without_torchvision():
        warnings.simplefilter("ignore")  # at import, of its own dependencies
        import laplace
        import laplace.curvature
    return laplace
