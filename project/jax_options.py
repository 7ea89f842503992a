"""How JAX compiles for the book, the grader and the tests.

Their programs are many and small, and most run a few times: to optimise them further takes
longer than that saves.
"""

import functools
import sys

XLA_FLAGS = "--xla_backend_optimization_level=1 --xla_cpu_use_fusion_emitters=false"


def share_context() -> None:
    """Let JAX, if it is imported, lower all programs of this process in one MLIR context.

    It makes a context for each program, which takes most of the time of lowering a small one,
    and keeps it as long as the program, so that a thousand of them fill gigabytes. The function
    is not public: where JAX has none of this name, nothing changes.
    """
    mlir = sys.modules.get("jax._src.interpreters.mlir")
    if hasattr(mlir, "make_ir_context"):
        mlir.make_ir_context = functools.cache(mlir.make_ir_context)
