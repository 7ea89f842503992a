"""Independent implementations that the tests compare ours with."""

import sys
import warnings
from functools import cache
from unittest import mock

# PyTorch's own forward-mode derivatives still use a function that it has deprecated.
OWN_WARNING = "ignore:`torch.jit.script` is deprecated:DeprecationWarning"


@cache
def laplace_torch():
    """The peer. It imports torchvision, whose wheel may not fit torch's CPU build.

    Nothing of torchvision is used here, so a stand-in will do where it cannot be imported.
    """
    stand_ins = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at import, of its own dependencies
        try:
            import torchvision  # noqa: F401
        except (ImportError, RuntimeError):
            names = ("torchvision", "torchvision.models", "torchvision.transforms")
            stand_ins = {name: mock.MagicMock() for name in names}
        sys.modules.update(stand_ins)
        try:
            import laplace
            import laplace.curvature
        finally:
            for name in stand_ins:
                del sys.modules[name]
    return laplace
