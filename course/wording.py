"""What messages call the values that are compared."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

# Lines of a message; a term such as log-determinant stays whole.
wrapped = partial(
    textwrap.fill, width=88, break_on_hyphens=False, break_long_words=False
)
DERIVATIVES = {
    "gradient_of_": "the gradient with respect to",
    "slope_in_": "the derivative with respect to",
}

# Values that tell whether an answer has a property, and the sentence for one that lacks it.
PROPERTIES = {
    "detached": "the result still requires gradients. Detach it with `.detach()`.",
    "fields": "the parts of the result do not have the required names. Return the named tuple.",
    "reproducible": "the same seed gives different results in two calls. Draw everything from the key or "
    "generator that is passed in.",
    "another_seed_another_draw": "another seed gives the same result. Draw from the key or generator that is "
    "passed in.",
    "fresh": "two calls in a row give the same draw. Draw anew in every call.",
    "draws_count": "the number of draws makes no difference to the result.",
    "noise_averages_out": "the noise does not average out over the draws. Each needs noise of its own, with mean 0.",
    "noise_of_its_own": "some noise is used more than once. Every value that is drawn needs its own noise.",
    "noise_has_tails": "of 8,000 draws, none is farther than three standard deviations from the mean. Do you cut the "
    "noise off?",
    "layers_have_noise_of_their_own": "layers share their noise. Each layer needs its own.",
    "one_draw_for_all_data": "equal inputs get different outputs in one call. Draw the weights once for all rows.",
    "the_same_draw_in_eval": "the layer draws differently after `eval()`. Weights stay random there: predictions "
    "average over draws.",
    "first_means_come_from_the_generator": "the initial means do not come from the generator that is passed in.",
    "old_values_stay": "the old tensors are changed in place. Return new ones.",
    "ready_for_another_step": "the new tensors do not require gradients. End with `.detach().requires_grad_()`.",
    "new_leaves": "the new tensors still carry the graph of the old ones. End with `.detach().requires_grad_()`.",
    "targets_shuffled": "the targets keep their order, but the inputs do not.",
    "integer_array": "the result is not a NumPy array of integers.",
    "is_boolean": "the mask is not a tensor of dtype torch.bool.",
}


# Values are compared with 0 in place of ±∞; what is infinite is compared under this name.
INFINITE = "infinite_"


def is_property(key: str) -> bool:
    """Does a value say whether an answer has a property?"""
    return key in PROPERTIES or key.startswith(INFINITE)


def lacks(key: str, got: Any, value: Any) -> str | None:
    """Return the sentence for a property that an answer lacks; ``None`` for other values.

    Args:
        key: what is compared.
        got: the answer's number or numbers: for ``infinite_…``, 1 for +∞, −1 for −∞, 0 elsewhere.
        value: the expected ones.
    """
    if not key.startswith(INFINITE):
        return PROPERTIES.get(key)
    got, value = np.asarray(got, float), np.asarray(value, float)
    wrong, name = got != value, subject(key)
    if np.all(value[wrong] == 0):
        return f"{name} is infinite where it should be finite."
    if np.all(got[wrong] == 0):
        return f"{name} is finite where it should be infinite."
    return f"{name} is infinite in the wrong places, or with the wrong sign."


def returned(keys: Iterable[str]) -> list[str]:
    """The names of the values that an answer returns: no derivatives, and no properties."""
    derived = "gradient", "slope"
    return [k for k in keys if not k.startswith(derived) and not is_property(k)]


def nothing_returned(values: Mapping[str, Any]) -> bool:
    """Is everything that an answer returns ``None``?"""
    return all(values[key] is None for key in returned(values))


def named(key: str) -> str:
    """Return what a student calls a value: `gradient_of_rho` is a gradient with respect to rho."""
    key = key.removeprefix(INFINITE)
    for prefix, words in DERIVATIVES.items():
        if key.startswith(prefix):
            return f"{words} `{key.removeprefix(prefix)}`"
    return f"`{key}`"


def not_finite(key: str) -> str:
    """Return the sentence for a value with nan or inf; what may be infinite has nan only."""
    if key.startswith(INFINITE):
        return f"{subject(key)} contains nan, which is not a number."
    return f"{subject(key)} contains a number that is not finite (nan or inf)."


def subject(key: str) -> str:
    """Return a value's name as the beginning of a sentence: "The value `low`"."""
    if key == "value":
        return "The value"
    name = named(key)
    return f"The value {name}" if name.startswith("`") else as_sentence(name)


def listed(keys: Iterable[str]) -> str:
    """Return the names of at least one value: "`a`, `b` and `c`"."""
    *others, last = map(named, keys)
    return f"{', '.join(others)} and {last}" if others else last


def as_sentence(text: str) -> str:
    """Begin with a capital letter."""
    return text[:1].upper() + text[1:]
