"""JAX lowers all programs of a process in one MLIR context, where it is told to."""

import os
import subprocess
import sys

# How many contexts are made for three programs, which are lowered to the same text.
SCRIPT = """
import sys
import jax
import numpy as np
from jax._src.interpreters import mlir
from jax._src.interpreters.mlir import JaxIrContext
from project.jax_options import share_context

made = []
class Counted(JaxIrContext):
    def __init__(self, *args, **kwargs):
        made.append(self)
        super().__init__(*args, **kwargs)

mlir.JaxIrContext = Counted
if sys.argv[1] == "shared":
    share_context()
for size in (1, 2, 3):
    print(jax.jit(lambda x: x + x.sum()).lower(np.ones(size)).as_text())
print(len(made), file=sys.stderr)
"""


def lowered(how):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, how],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, int(done.stderr)


def test_one_context_does_for_all_programs():
    """The name that is replaced is not public: this fails if JAX has another one."""
    shared, one = lowered("shared")
    apart, several = lowered("apart")
    assert shared == apart
    assert (one, several) == (1, 3)
