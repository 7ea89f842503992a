"""Read the sentences of ``course.relations``, and evaluate what they say independently."""

import math
import re

import numpy as np
import pytest


def tolerance(close):
    return np.broadcast_to(
        close.atol + close.rtol * np.abs(close.value), close.value.shape
    )


def wrong_somewhere(values, right, key):
    return any(
        row[key].shape != closes[key].value.shape
        or not np.all(closes[key].near(row[key]))
        for row, closes in zip(values, right, strict=True)
    )


def sizes_of(text, case):
    """Read 'n is the length of axis 0 of `x`' for a case."""
    sizes = {}
    for name, axis, of in re.findall(
        r"\b([nm]) is the length of axis ([−\d]+) of `([^`]+)`", text
    ):
        sizes[name] = np.shape(case[of])[int(axis.replace("−", "-"))]
    for name, of in re.findall(r"\b([nm]) is the number of entries of `([^`]+)`", text):
        sizes[name] = np.size(case[of])
    return sizes


def number(text, sentence, case):
    """Evaluate what a sentence calls a number, such as `√(n/(n − 1))` or `½ log 2π`."""
    names = {f"v{i}": case[name] for i, name in enumerate(case)}
    for i, name in enumerate(case):
        text = text.replace(f"`{name}`", f"v{i}")
    for old, new in (("−", "-"), ("·", "*"), ("²", "**2"), ("2πe", "(2*pi*e)")):
        text = text.replace(old, new)
    text = re.sub(r"(\d)π", r"(\1*pi)", text.replace("½ ", "0.5*")).replace("½", "0.5")
    text = re.sub(r"(log|√) ?(?=[\w(])", r"\1 ", text.replace("π", "pi"))
    text = re.sub(r"(log|√) (\(\d\*pi\*?e?\)|[\w.*]+)(?!\()", r"\1(\2)", text)
    text = text.replace("log (", "log(").replace("√ (", "√(").replace("√", "sqrt")
    text = re.sub(r"(\d) (log|v\d|n\b)", r"\1*\2", text).replace("¼", "0.25")
    space = {"log": np.log, "sqrt": np.sqrt, "pi": math.pi, "e": math.e}
    return eval(text, {}, space | names | sizes_of(sentence, case))


SIMPLE = {
    "the negative of": lambda w: -w,
    "twice": lambda w: 2 * w,
    "half of": lambda w: w / 2,
    "three times": lambda w: 3 * w,
    "four times": lambda w: 4 * w,
    "a third of": lambda w: w / 3,
    "a quarter of": lambda w: w / 4,
    "1 minus": lambda w: 1 - w,
    "1 plus": lambda w: 1 + w,
    "the square of": np.square,
    "half the square of": lambda w: w**2 / 2,
    "the square root of": np.sqrt,
    "the exponential of": np.exp,
    "the logarithm of": np.log,
    "the absolute value of": np.abs,
    "the softplus of": lambda w: np.maximum(w, 0) + np.log1p(np.exp(-np.abs(w))),
    "1 divided by": lambda w: 1 / w,
}


def holds(relation, values, right, cases):
    """Evaluate a sentence anew, from its words."""
    text = relation.sentence
    if relation.kind == "right":
        fine = [key for key in right[0] if not wrong_somewhere(values, right, key)]
        return set(relation.keys) <= set(fine)
    return all(holds_of(key, text, values, right, cases) for key in relation.keys)


def holds_of(key, text, values, right, cases):
    rows = [row for row in right if key in row]
    got = [row[key] for row in values]
    near = [row[key].near for row in rows]
    if "0 everywhere" in text:
        return not any(np.any(g) for g in got)
    if "same on every input" in text:
        return all(np.array_equal(g, got[0]) for g in got)
    counted = re.search(r"right (?:in|on) (\d+) of (\d+) (entries|inputs)", text)
    if counted:
        flat = [np.ravel(f(g)) for f, g in zip(near, got, strict=True)]
        if counted[3] == "inputs":
            flat = [[np.all(part)] for part in flat]
        flat = np.concatenate(flat)
        return (sum(flat), len(flat)) == (int(counted[1]), int(counted[2]))
    predict = reading(text)
    if predict is None:
        pytest.fail(f"no independent reading of: {text}")
    with np.errstate(all="ignore"):
        return all(
            reaches(predict, g, row[key], case, text)
            for g, row, case in zip(got, rows, cases, strict=True)
        )


def reaches(predict, got, close, case, text):
    tol = tolerance(close)
    parts = [predict(close.value + s * tol, got, case, text) for s in (-1, 0, 1)]
    if parts[0] is None:
        return False
    (low, one), (middle, two), (high, three) = parts
    spread = np.maximum(np.abs(low - middle), np.abs(high - middle))
    spread = spread + np.abs(one - two) + np.abs(three - two)
    gap = np.abs(middle - two)
    return middle.shape == two.shape and np.all(
        gap
        <= 1.01 * spread + tol.max(initial=0) * ("axis" in text) + 1e-5 * np.abs(middle)
    )


def reading(text):
    """Return a function that computes both sides of a sentence: (predicted, got)."""
    body = re.sub(r"^.*?(?:exactly|about) ", "", text, count=1)
    if text.startswith("Apart from its shape"):
        return lambda w, g, case, t: (w, g.reshape(w.shape))
    if match := re.match(
        r"The (mean|sum) of .* over (axis (\d+)|all entries) is", text
    ):
        f = {"mean": np.mean, "sum": np.sum}[match[1]]
        axis = int(match[3]) if match[3] else None
        return lambda w, g, case, t: (w, np.asarray(f(g, axis=axis)))
    if match := re.match(r"The (first|last) entry of .* along axis (\d+) is", text):
        place = {"first": 0, "last": -1}[match[1]]
        return lambda w, g, case, t: (w, np.take(g, place, int(match[2])))
    if text.startswith("The diagonal"):
        return lambda w, g, case, t: (w, np.diag(g))
    if "Within each input, the difference" in text:
        return lambda w, g, case, t: (w - w.mean(), g - g.mean())
    if text.startswith("Within each input") and "times one number" in text:
        return lambda w, g, case, t: (w * (g.sum() / w.sum()), g)
    if body.startswith("the expected values, repeated"):
        return lambda w, g, case, t: (np.broadcast_to(w, g.shape), g)
    if body.startswith("the expected values in another shape"):
        return lambda w, g, case, t: (w.ravel(), g.ravel())
    if match := re.match(r"the (first|last) entry of .* along axis (\d) alone", body):
        place = {"first": 0, "last": -1}[match[1]]
        return lambda w, g, case, t: (np.take(w, place, int(match[2])), g)
    if match := re.match(
        r"the (sum|mean|largest) of what is expected over (axis (\d)|all)", body
    ):
        f = {"sum": np.sum, "mean": np.mean, "largest": np.max}[match[1]]
        axis = int(match[3]) if match[3] else None
        return lambda w, g, case, t: (np.asarray(f(w, axis=axis)), g)
    if match := re.match(r"what is expected, in reverse order along axis (−?\d)", body):
        axis = int(match[1].replace("−", "-"))
        return lambda w, g, case, t: (np.flip(w, axis), g)
    if match := re.match(r"the cumulative sum of .* along axis (−?\d)", body):
        axis = int(match[1].replace("−", "-"))
        return lambda w, g, case, t: (np.cumsum(w, axis), g)
    if match := re.match(r"what is expected (plus|minus) (.*?), on every", body):
        sign = {"plus": 1, "minus": -1}[match[1]]
        return lambda w, g, case, t: (w + sign * number(match[2], t, case), g)
    if match := re.match(r"what is expected, (moved|sorted|transposed)", body):
        return lambda w, g, case, t: (np.sort(w, None), np.sort(g, None))
    for words, function in SIMPLE.items():
        if body.startswith(f"{words} what is expected, on every input"):
            return lambda w, g, case, t, f=function: (f(w), g)
    if match := re.match(r"(.*) times what is expected, on every input", body):
        return lambda w, g, case, t: (w * number(match[1], t, case), g)
    return None
