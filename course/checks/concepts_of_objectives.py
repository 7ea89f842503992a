"""Mistakes with the signs and terms of NLL + KL, the negative ELBO."""

from collections.abc import Callable
from typing import Any

from course.task import Misconception

# By name: factors of NLL and KL, and what is said.
TERMS = {
    "minus KL": ((1, -1), "you subtract the KL; the loss adds it."),
    "no KL": ((1, 0), "you leave out the KL."),
    "minus NLL": (
        (-1, 1),
        "you flip the sign of the NLL: this adds the log-likelihood.",
    ),
    "no NLL": ((0, 1), "you leave out the NLL: this is the KL alone."),
    "ELBO": ((-1, -1), "you return the ELBO; the loss is its negative."),
}


def wrong_terms(
    nll: Callable[..., Any], kl: Callable[..., Any], *names: str
) -> list[Misconception]:
    """Return the mistakes with signs and missing terms.

    Args:
        nll: computes the right NLL from the answer's arguments.
        kl: computes the right KL from them.
        names: which of ``TERMS``; all by default.
    """

    def combined(of_nll, of_kl):
        return lambda *case, **options: (
            of_nll * nll(*case, **options) + of_kl * kl(*case, **options)
        )

    rows = [TERMS[name] for name in names or TERMS]
    return [Misconception(combined(*factors), hint) for factors, hint in rows]
