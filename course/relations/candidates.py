"""The relations between what came and what is expected, the simplest first.

Each is a sentence and a function that computes, from the expected values, those that would
come if it held.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from course.relations.evidence import Candidate, Pair, Predict
from course.relations.names import arrays, factors, offsets, sizes
from course.wording import named

EVERY = "on every input"


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(0, x)


# What stands before "what is expected", and the function.
FUNCTIONS = (
    ("the square of", np.square),
    ("the square root of", np.sqrt),
    ("the exponential of", np.exp),
    ("the logarithm of", np.log),
    ("1 minus", lambda x: 1 - x),
    ("1 divided by", lambda x: 1 / x),
    ("the absolute value of", np.abs),
    ("minus the logarithm of", lambda x: -np.log(x)),
    ("the exponential of minus", lambda x: np.exp(-x)),
    ("the softplus of", _softplus),
    ("the inverse softplus of", lambda x: x + np.log(-np.expm1(-x))),
    ("the logistic sigmoid of", lambda x: 1 / (1 + np.exp(-x))),
    ("the logit of", lambda x: np.log(x / (1 - x))),
    ("the logarithm to base 2 of", np.log2),
    ("1 divided by the square of", lambda x: x**-2.0),
    ("1 divided by the square root of", lambda x: x**-0.5),
    ("half the square of", lambda x: x**2 / 2),
    ("twice the square of", lambda x: 2 * x**2),
    ("twice the logarithm of", lambda x: 2 * np.log(x)),
    ("half the logarithm of", lambda x: np.log(x) / 2),
    ("half the exponential of", lambda x: np.exp(x) / 2),
    ("minus the square root of", lambda x: -np.sqrt(x)),
    ("minus the exponential of", lambda x: -np.exp(x)),
    ("the hyperbolic tangent of", np.tanh),
    ("the sign of", np.sign),
    ("the third power of", lambda x: x**3),
    ("1 plus", lambda x: 1 + x),
    ("the exponential, less 1, of", np.expm1),
    ("the logarithm of 1 plus", np.log1p),
)


def numeric(cases: Sequence[Mapping], *, linear: bool = False) -> Iterator[Candidate]:
    """Yield factors, offsets and functions; with ``linear``, factors alone."""
    several = _factor_candidates(cases)
    yield from _few(several, 11)
    if not linear:
        for words, function in FUNCTIONS[:6]:
            yield _function(words, function)
        terms = _offset_candidates(cases)
        yield from _few(terms, 16)
    yield from several
    if not linear:
        yield from terms
        for words, function in FUNCTIONS[6:]:
            yield _function(words, function)


def of_inputs(cases: Sequence[Mapping], pairs: Sequence[Pair]) -> Iterator[Candidate]:
    """Yield relations with an input that is an array: a term, a factor, or the input itself."""
    for name in arrays(cases):
        inputs = [np.asarray(case[name], np.float64) for case in cases]
        if not all(
            _fits(a.shape, pair.want.shape)
            for a, pair in zip(inputs, pairs, strict=True)
        ):
            continue
        for words, function in (
            ("`{}`", lambda a: a),
            ("the square of `{}`", np.square),
            ("the logarithm of `{}`", np.log),
            ("half of `{}`", lambda a: a / 2),
            ("half the square of `{}`", lambda a: a**2 / 2),
            ("half the logarithm of `{}`", lambda a: np.log(a) / 2),
            ("twice `{}`", lambda a: 2 * a),
            ("the exponential of `{}`", np.exp),
            ("the softplus of `{}`", _softplus),
            ("the square root of `{}`", np.sqrt),
            ("the absolute value of `{}`", np.abs),
        ):
            with np.errstate(all="ignore"):
                terms = [function(a) for a in inputs]
            text = words.format(name)

            def value(want, i, terms=terms):
                return np.broadcast_to(terms[i], want.shape)

            def more(want, i, terms=terms):
                return want + terms[i]

            def less(want, i, terms=terms):
                return want - terms[i]

            def times(want, i, terms=terms):
                return want * terms[i]

            def over(want, i, terms=terms):
                return want / terms[i]

            for kind, sentence, predict in (
                ("input", f"{{keys}} {{is}} {{exactly}}{text}, {EVERY}.", value),
                ("offset", _more(text, "larger"), more),
                ("offset", _more(text, "smaller"), less),
                (
                    "factor",
                    f"{{keys}} {{is}} {{exactly}}what is expected times {text}, {EVERY}.",
                    times,
                ),
                (
                    "factor",
                    f"{{keys}} {{is}} {{exactly}}what is expected divided by {text}, {EVERY}.",
                    over,
                ),
            ):
                yield Candidate(kind, sentence, predict)


def of_sums(cases: Sequence[Mapping], pairs: Sequence[Pair]) -> Iterator[Candidate]:
    """Yield terms that are a multiple of the sum or the mean of an input."""
    counts = [None, *sizes(cases)]
    for name in arrays(cases):
        inputs = [np.asarray(case[name], np.float64) for case in cases]
        axes = [None] + [axis for axis in (0, -1) if min(a.ndim for a in inputs) > 1]
        for axis in axes:
            along = "" if axis is None else f" over axis {axis}".replace("-", "−")
            for words, function in (
                ("`{}`", lambda a: a),
                ("the squares of `{}`", np.square),
                ("the logarithms of `{}`", np.log),
                ("the absolute values of `{}`", np.abs),
            ):
                with np.errstate(all="ignore"):
                    sums = [np.sum(function(a), axis=axis) for a in inputs]
                if not all(
                    np.all(np.isfinite(s)) and _fits(s.shape, pair.want.shape)
                    for s, pair in zip(sums, pairs, strict=True)
                ):
                    continue
                for count in counts:
                    n = np.ones(len(cases)) if count is None else count.values
                    terms = [s / k for s, k in zip(sums, n, strict=True)]
                    scale = _multiple(pairs, terms)
                    if scale is None:
                        continue
                    what = f"the sum{along} of {words.format(name)}"
                    where = "" if count is None else count.where
                    what += "" if count is None else ", divided by n"
                    text = (
                        f"{{keys}} {{is}} {{exactly}}what is expected {_plus(scale)} "
                        f"{what}, {EVERY}{where}."
                    )
                    yield Candidate(
                        "offset",
                        text,
                        lambda want, i, terms=terms, scale=scale: (
                            want + scale * terms[i]
                        ),
                        fitted=1,
                    )


def of_keys(
    key: str, right: Sequence[Mapping[str, np.ndarray]], pairs: Sequence[Pair]
) -> Iterator[Candidate]:
    """Yield relations with another value that is asked for."""
    for other in right[0]:
        if other == key or any(other not in row for row in right):
            continue
        wants = [row[other] for row in right]
        if all(w.shape == pair.got.shape for w, pair in zip(wants, pairs, strict=True)):
            yield Candidate(
                "key",
                f"{{keys}} {{is}} {{exactly}}what is expected of {named(other)}, {EVERY}.",
                lambda want, i, wants=wants: wants[i],
            )


def _few(candidates: Iterator[Candidate], count: int) -> Iterator[Candidate]:
    for _, candidate in zip(range(count), candidates, strict=False):
        yield candidate


def _factor_candidates(cases: Sequence[Mapping]) -> Iterator[Candidate]:
    for words, where, values in factors(cases):
        yield Candidate(
            "factor",
            f"{{keys}} {{is}} {{exactly}}{words} what is expected, {EVERY}{where}.",
            lambda want, i, values=values: want * values[i],
        )


def _offset_candidates(cases: Sequence[Mapping]) -> Iterator[Candidate]:
    for name, where, values in offsets(cases):
        for sign, word in ((1, "larger"), (-1, "smaller")):
            yield Candidate(
                "offset",
                _more(name, word, where),
                lambda want, i, values=values, sign=sign: want + sign * values[i],
            )


def _more(name: str, word: str, where: str = "") -> str:
    if word == "larger":
        return (
            f"{{keys}} {{is}} {{exactly}}what is expected plus {name}, {EVERY}{where}."
        )
    return f"{{keys}} {{is}} {{exactly}}what is expected minus {name}, {EVERY}{where}."


def _function(words: str, function) -> Candidate:
    text = f"{{keys}} {{is}} {{exactly}}{words} what is expected, {EVERY}."
    predict: Predict = lambda want, i: function(want)  # noqa: E731
    return Candidate("function", text, predict)


def _fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


def _multiple(pairs: Sequence[Pair], terms: Sequence[np.ndarray]) -> float | None:
    """Return the multiple of the terms by which all values are off, if there is one."""
    with np.errstate(all="ignore"):
        found = np.concatenate(
            [
                np.ravel(
                    (pair.got - pair.want) / np.broadcast_to(term, pair.want.shape)
                )
                for pair, term in zip(pairs, terms, strict=True)
            ]
        )
    found = found[np.isfinite(found)]
    if len(found) == 0:
        return None
    scale = float(np.median(found))
    near = [c for c in COEFFICIENTS if abs(scale - c) <= 1e-4 * abs(c)]
    return near[0] if near else None


COEFFICIENTS = (1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 0.25, -0.25, 1.5, -1.5, 3.0, -3.0)
SPELT = {
    1.0: "",
    0.5: "half of ",
    2.0: "twice ",
    0.25: "a quarter of ",
    1.5: "1.5 times ",
    3.0: "three times ",
}


def _plus(scale: float) -> str:
    return f"{'plus' if scale > 0 else 'minus'} {SPELT[abs(scale)]}".rstrip()
