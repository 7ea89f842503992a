"""The modules, functions and attributes that affect nothing but their arguments."""

from __future__ import annotations

import builtins
import importlib.util
import pkgutil
import sys
from functools import lru_cache

from grading.submissions.sources import QUIET

# Modules whose functions change nothing but their arguments.
HARMLESS = QUIET | {
    *("bisect", "cmath", "contextlib", "datetime", "decimal", "fractions", "heapq"),
    *("matplotlib", "numbers", "optax", "re", "sklearn", "textwrap", "time"),
    "warnings",
}
# The harmless members of other modules; the rest evaluate strings or reach into Python.
MEMBERS = {
    "concurrent": {"futures"},
    "numpyro": {"distributions"},
    "sympy": {
        *("Abs", "E", "Expr", "Float", "I", "Integer", "Rational", "S", "Symbol"),
        *("cosh", "cos", "diff", "erf", "exp", "expand", "expand_log", "factor"),
        *("gamma", "init_printing", "integrate", "latex", "ln", "log", "loggamma"),
        *("logcombine", "oo", "pi", "simplify", "sin", "sinh", "solve", "sqrt"),
        *("symbols", "tanh"),
    },
    "sys": {"float_info", "maxsize", "version", "version_info"},
    "tqdm": {"auto", "notebook", "tqdm", "trange"},
    "types": {"MappingProxyType", "SimpleNamespace"},
}
# The submodules of the large packages that are used; others load files or compile strings.
LARGE = ("jax", "matplotlib", "numpy", "optax", "scipy", "sklearn", "torch")
PARTS = {
    *("autograd", "backends", "calibration", "cluster", "constants", "covariance"),
    *("cuda", "datasets", "discriminant_analysis", "distributions", "dtypes"),
    *("ensemble", "fft", "flatten_util"),
    *("func", "functional", "gaussian_process", "integrate", "interpolate"),
    *("isotonic", "lax"),
    *("linalg", "linear_model", "losses", "ma", "metrics", "mixture"),
    *("model_selection", "naive_bayes", "ndimage", "neighbors", "nn", "numpy"),
    *("ops", "optim", "optimize", "polynomial", "preprocessing", "pyplot"),
    *("random", "scipy", "sharding", "signal", "sparse", "spatial", "special"),
    *("stats", "svm", "tree", "tree_util", "typing", "version"),
}
# The built-in functions that only compute, and the exceptions.
PURE = {
    *("Ellipsis", "NotImplemented", "abs", "all", "any", "ascii", "bin", "bool"),
    *("bytearray", "bytes", "callable", "chr", "classmethod", "complex", "dict"),
    *("dir", "display", "divmod", "enumerate", "filter", "float", "format"),
    *("frozenset", "getattr", "hasattr", "hash", "hex", "id", "int", "isinstance"),
    *("issubclass", "iter", "len", "list", "map", "max", "memoryview", "min"),
    *("next", "object", "oct", "ord", "pow", "print", "property", "range", "repr"),
    *("reversed", "round", "set", "setattr", "slice", "sorted", "staticmethod"),
    *("str", "sum", "super", "tuple", "type", "zip"),
} | {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}
# The other built-in functions, and those that IPython adds.
IMPURE = (
    {*dir(builtins), "In", "Out", "exit", "get_ipython", "quit"}
    - PURE
    - {
        *("False", "None", "True"),
        *(name for name in dir(builtins) if name.startswith("_")),
    }
)
SHOWING = {"HTML", "Image", "Latex", "Markdown", "Math", "display"}  # of IPython
# Attributes, of any object, that give access to other names, files or the interpreter.
INNARDS = {
    *("CodeType", "Formatter", "ForwardRef", "FunctionType", "_getframe"),
    *("ag_frame", "attrgetter", "benchmark", "bltns", "cr_frame", "f_back"),
    *("f_builtins", "f_code", "f_globals", "f_locals", "get_objects"),
    *("get_referents", "get_referrers", "get_type_hints", "gi_frame", "lambdify"),
    *("methodcaller", "parse_expr", "setprofile", "settrace", "showtraceback"),
    *("sympify", "tb_frame", "tb_next", "user_ns"),
    # Aliases of the standard library's modules elsewhere, which read or find files.
    *("_osp", "resources"),
    # These set attributes of what they are given.
    *("total_ordering", "update_abstractmethods", "update_wrapper", "wraps"),
    # Of NumPy and PyTorch: these run or compile strings, or read objects from files.
    *("cpp_extension", "ctypeslib", "f2py", "fromfile", "hub", "load"),
    *("load_library", "memmap", "rundocs", "runstring", "testing"),
}
# The standard library's modules, except those whose names other attributes share.
MODULES = sys.stdlib_module_names - {
    *HARMLESS,
    *("array", "calendar", "chunk", "code", "concurrent", "html", "platform"),
    *("profile", "queue", "select", "signal", "site", "stat", "string", "symbol"),
    *("test", "this", "token", "trace", "types"),
}


def within(name: str) -> bool:
    """Is it the name of an internal of Python, or of a module that gives access to some?"""
    return name in INNARDS or name in MODULES or name.lstrip("_") in MODULES


def harmless(path: list[str]) -> bool:
    """Is the object that an import or an attribute names harmless?"""
    # Modules hold the packages that they import: torch.autograd.torch is torch.
    begin = max((at for at, name in enumerate(path) if name in LARGE), default=0)
    package, rest = path[begin], path[begin + 1 :]
    if package == "IPython":
        return bool(rest) and {*rest} <= SHOWING
    if package in MEMBERS:
        whole = package == "sympy" and rest == ["*"]
        return whole or bool(rest and rest[0] in MEMBERS[package])
    if package in LARGE and rest and rest[0] in _parts(package):
        return rest[0] in PARTS or rest[:2] == ["utils", "data"]
    return package in HARMLESS


@lru_cache(maxsize=len(LARGE))
def _parts(package: str) -> frozenset[str]:
    """The submodules of a package, found without importing it."""
    found = importlib.util.find_spec(package)
    places = list(found.submodule_search_locations or ()) if found else []
    return frozenset(one.name for one in pkgutil.iter_modules(places))
