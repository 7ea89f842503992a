"""What messages call the values that are compared."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from functools import partial

# Lines of a message; a term such as log-determinant stays whole.
wrapped = partial(
    textwrap.fill, width=88, break_on_hyphens=False, break_long_words=False
)
DERIVATIVES = {
    "gradient_of_": "the gradient with respect to",
    "slope_in_": "the derivative with respect to",
}


def named(key: str) -> str:
    """Return what a student calls a value: `gradient_of_rho` is a gradient with respect to rho."""
    for prefix, words in DERIVATIVES.items():
        if key.startswith(prefix):
            return f"{words} `{key.removeprefix(prefix)}`"
    return f"`{key}`"


def listed(keys: Iterable[str]) -> str:
    """Return the names of at least one value: "`a`, `b` and `c`"."""
    *others, last = map(named, keys)
    return f"{', '.join(others)} and {last}" if others else last


def as_sentence(text: str) -> str:
    """Begin with a capital letter."""
    return text[:1].upper() + text[1:]
