"""Cases vary every size that a docstring names, so that no answer can hard-code one.

The shapes that docstrings state, such as ``(N, D)``, are matched with the cases' arrays.
"""

import importlib
import inspect
import itertools
import re

import numpy as np
import pytest

from course.task import find, stem_of, stems, tasks_of

EVERY_TASK = [id_ for stem in stems() for id_ in tasks_of(stem)]
LEAST = {"K": 2, "R": 2}  # of one class or one run there is nothing to tell; else 1
FEWEST = 3  # values of each size over a task's cases
ENTRY = re.compile(r"^    (\w+(?:, \w+)*): (.*?)(?=^    \S|^\S|\Z)", re.M | re.S)

FEWER = {
    "calibration-and-flows/fit-temperature": {
        "N": 2
    },  # one alone has no best temperature
    "calibration-and-flows/calibrated-probs": {"N'": 2},
    "acting-on-uncertainty/split-conformal": {"N": 2},  # one trains, one calibrates
    "acting-on-uncertainty/mahalanobis-scores": {"N": 2},  # one has no covariance
    # The probes of layers pass one row as well.
    "bayes-by-backprop/bayesian-linear": {"N": 2},
    "approximate-inference/linear-variational": {"N": 3},
    "approximate-inference/local-linear-variational": {"N": 3},
}

# Shapes of inputs from which checks make the arguments, or which may lack axes: their
# docstrings name others, too.
MADE = {
    "deep-ensembles/adam-step": {"gradients": "(steps, n)"},
    "approximate-inference/hessian-by-backward": {"w": "(D,)"},
    "approximate-inference/ggn": {"a": "(N, D)", "w": "(D,)"},
    "approximate-inference/linearised-predictive": {
        "a": "(N, D)",
        "w": "(D,)",
        "covariance": "(D, D)",
    },
    "approximate-inference/linear-variational": {"x": "(N, D)", "w_mu": "(D,)"},
    "approximate-inference/local-linear-variational": {"x": "(N, D)", "w_mu": "(D,)"},
    "approximate-inference/variational-mlp": {"x": "(N, D)", "hidden": "(H, …)"},
    "approximate-inference/dropout-mlp": {"x": "(D,)", "hidden": "(H, …)"},
    "bayes-by-backprop/bayesian-linear": {"x": "(N, D)", "weight_mu": "(D,)"},
    "bayes-by-backprop/gradient-step": {"mu": "(…)", "rho": "(…)"},
    "bayes-by-backprop/sample-activations": {
        "x": "(D,)",
        "weight_mu": "(outputs, D)",
        "bias_mu": "(outputs,)",
    },
    "calibration-and-flows/compose": {"z": "(…, D)", "strengths": "(L,)"},
    "calibration-and-flows/calibrated-probs": {
        "held_out_logits": "(N', K)",
        "logits": "(N, K)",
    },
    "calibration-and-flows/negative-elbo": {"log_probs": "(…, N, K)"},
    "calibration-and-flows/predict": {"x": "(N, D)", "classes": "K"},
    "which-method/mimo-log-probs": {"x": "(N, D)", "weights": "(M, D, M, K)"},
}


def shapes_of(task):
    """Return the stated shapes by the name of the input; sizes that are numbers by themselves."""
    if task.id in MADE:
        return MADE[task.id]
    module = importlib.import_module(f"solutions.{stem_of(task.id)}")
    return stated(getattr(module, task.name), module)


def stated(function, module):
    found, last = {}, None
    for names, text in ENTRY.findall(inspect.getdoc(function)):
        text, listed = " ".join(text.split()), names.split(", ")
        elsewhere = re.match(r"as for ``(\w+)``", text)
        if elsewhere:
            others = stated(getattr(module, elsewhere[1]), module)
            found |= {name: others[name] for name in listed if name in others}
            continue
        shape = re.search(r"shape (\([^)]*\))|\b([A-Z]) of them|^([A-Z]\b)", text)
        if re.search(r"(any|same) shape", text):
            last = "(…)" if "any shape" in text else last
        elif shape:
            last = shape[1] or (f"({shape[2]}, …)" if shape[2] else shape[3])
        else:
            continue
        found |= dict.fromkeys(listed, last)
    return found


def sizes(case, shapes):
    """Return the sizes of one case by name; of axes without names, their product and number."""
    found = {}
    for key, shape in shapes.items():
        if key not in case:
            continue
        if not shape.startswith("("):
            found[shape] = case[key]
            continue
        axes, names = list(np.shape(case[key])), re.findall(r"[^(), ]+", shape)
        if "…" in names:
            first = names.index("…")
            last = len(axes) - (len(names) - 1 - first)
            if first == 0:
                found["…"], found["axes"] = int(np.prod(axes[:last])), last
            axes[first:last], names[first : first + 1] = [], []
        assert len(axes) == len(names), f"{key} is not of shape {shape}"
        for name, size in zip(names, axes, strict=True):
            assert found.setdefault(name, size) == size, f"{name} differs in {key}"
    return {name: size for name, size in found.items() if not name.isdigit()}


def too_kind(cases, least=LEAST):
    """Name what the sizes of these cases would let pass."""
    found = []
    for name in sorted({name for case in cases for name in case}):
        values = {case[name] for case in cases if name in case}
        if name == "axes":
            if len(values) < 2:
                found.append(f"inputs always have {values} axes")
            continue
        if len(values) < FEWEST or min(values) > least.get(name, 1):
            found.append(f"{name} is one of {sorted(values)}")
    names = sorted({name for case in cases for name in case} - {"axes"})
    for one, other in itertools.combinations(names, 2):
        both = [(c[one], c[other]) for c in cases if one in c and other in c]
        if both and not any(a and b and a % b and b % a for a, b in both):
            found.append(f"{one} and {other} are always multiples: {both}")
    return found


@pytest.mark.parametrize("id_", EVERY_TASK)
def test_no_size_can_be_hard_coded(id_):
    task = find(id_)
    shapes = shapes_of(task)
    for seed in range(3):
        cases = task.cases(np.random.default_rng(seed))
        found = too_kind(
            [sizes(case, shapes) for case in cases], LEAST | FEWER.get(id_, {})
        )
        assert found == []


def test_cases_that_are_too_kind_are_found():
    kind = [{"N": 4, "D": 2}, {"N": 1, "D": 2}, {"N": 6, "D": 3}]
    assert too_kind(kind) == [
        "D is one of [2, 3]",
        "D and N are always multiples: [(2, 4), (2, 1), (3, 6)]",
    ]
    assert too_kind([*kind, {"N": 3, "D": 2}, {"N": 1, "D": 1}]) == []
    assert too_kind([{"…": 6, "axes": 2}, {"…": 1, "axes": 2}, {"…": 2, "axes": 2}])
