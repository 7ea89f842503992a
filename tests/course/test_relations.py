"""Relations of wrong numbers to the expected ones: found on every task, true, and no chance.

The answers are made of the oracles' values, with errors of half the tolerance.
``readings`` evaluates once more what a sentence says, from its words.
"""

import math
import re
from functools import cache
from itertools import compress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import holds, tolerance, wrong_somewhere

from course import feedback
from course.judge import expected
from course.relations import find, told
from course.task import Close, stems, tasks_of
from course.task import find as task_of
from course.wording import INFINITE

EVERY_TASK = [id_ for stem in stems() for id_ in tasks_of(stem)]
each_task = pytest.mark.parametrize("task", EVERY_TASK)
CHANGES = {
    "twice": lambda w: 2 * w,
    "half of": lambda w: w / 2,
    "the negative of": lambda w: -w,
    "1/log 2 times": lambda w: w / math.log(2),
    "π times": lambda w: math.pi * w,
    "plus ½ log 2π": lambda w: w + 0.5 * math.log(2 * math.pi),
    "minus 1": lambda w: w - 1,
    "the square of": lambda w: w**2,
    "1 minus": lambda w: 1 - w,
    "the exponential of": np.exp,
    "the softplus of": lambda w: np.logaddexp(0, w),
    "reverse": lambda w: w[::-1] if w.ndim else w,
    "cumulative": lambda w: np.cumsum(w, 0) if w.ndim else w,
    "the mean": lambda w: w.mean(0) if w.ndim else w,
    "first entry": lambda w: w[0] if w.ndim and len(w) else w,
    "Apart from its shape": lambda w: w[..., None],
    "repeated": lambda w: np.repeat(w[None], 3, 0) if w.ndim else w,
    "0 everywhere": lambda w: 0 * w,
}


@cache
def drawn(task_id):
    """Return a task's cases and right values."""
    task = task_of(task_id)
    cases = task.cases(np.random.default_rng(7))
    return cases, expected(task, cases)


def answers(right, rng, share=0.5):
    """Values that are right, with errors of a share of the tolerance."""
    return [
        {
            key: np.asarray(
                close.value
                + share * tolerance(close) * rng.uniform(-1, 1, close.value.shape)
            )
            for key, close in row.items()
        }
        for row in right
    ]


def is_counted(closes):
    """Is it a value that can only be 0 or 1?"""
    return all(np.all(tolerance(close) == 0) for close in closes)


def is_infinite(closes):
    """Is anything infinite in what is expected on this input?"""
    return any(n.startswith(INFINITE) and one.value.any() for n, one in closes.items())


def changed(values, right, key, change):
    """Change one value; where something is infinite, it stays infinite."""
    with np.errstate(all="ignore"):
        return [
            row
            if is_infinite(closes)
            else row | {key: np.asarray(change(row[key]), dtype=float)}
            for row, closes in zip(values, right, strict=True)
        ]


@cache
def said(task_id):
    """List change, key, the values and the relations for every change of the first value."""
    cases, right = drawn(task_id)
    rng = np.random.default_rng(1)
    found = []
    for key in right[0]:
        if is_counted([row[key] for row in right if key in row]):
            continue
        for words, change in CHANGES.items():
            values = changed(answers(right, rng), right, key, change)
            if all(np.all(np.isfinite(row[key])) for row in values) and (
                wrong_somewhere(values, right, key)
            ):
                found.append((words, key, values, find(values, right, cases)))
        break
    return found


@each_task
def test_what_is_said_of_a_changed_value_is_true(task):
    cases, right = drawn(task)
    finite = [not is_infinite(closes) for closes in right]
    for words, _, values, relations in said(task):
        for relation in relations:
            of_finite = "with a finite result" in relation.sentence
            kept = finite if of_finite else [True] * len(finite)
            rows = (list(compress(rows, kept)) for rows in (values, right, cases))
            assert holds(relation, *rows), (words, relation)


def test_changes_are_named_wherever_the_numbers_are_precise():
    """Random draws have too few digits for most relations, so they are left out."""
    named = 0
    missed = []
    for task in EVERY_TASK:
        _, right = drawn(task)
        for words, key, _, relations in said(task):
            sentences = " ".join(r.sentence for r in relations if r.kind != "right")
            sizes = [
                tolerance(row[key]) / (np.abs(row[key].value) + 1) for row in right
            ]
            if max(np.max(size, initial=0) for size in sizes) > 1e-3:
                continue
            if words in sentences or re.search(r"(exactly|about)", sentences):
                named += 1
            else:
                missed.append(f"{task}: {words}")
    assert named >= 0.93 * (named + len(missed)), missed


NOISY = (
    "warm-up/kl-categorical",
    "deep-ensembles/heads",
    "calibration-and-flows/flow-kl",
)


@pytest.mark.parametrize("task", NOISY)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.floats(-8, 2))
def test_random_values_have_no_relation(task, seed, size):
    cases, right = drawn(task)
    rng = np.random.default_rng(seed)

    def noisy(close):
        shape, tol = close.value.shape, tolerance(close)
        scale = 10**size * (1 + np.abs(close.value))
        away = rng.choice([-1, 1], shape) * (
            1.01 * tol + scale * rng.uniform(0, 1, shape)
        )
        return np.asarray(close.value + away)

    values = [{key: noisy(close) for key, close in row.items()} for row in right]
    assert find(values, right, cases) == []


def test_of_random_wrong_entries_nothing_is_said_but_their_number():
    cases, right = drawn("calibration-and-flows/flow-kl")
    for seed in range(25):
        rng = np.random.default_rng(seed)
        values = [
            {
                key: np.asarray(c.value + (rng.random(c.value.shape) < 0.4))
                for key, c in row.items()
            }
            for row in right
        ]
        relations = find(values, right, cases)
        assert {r.kind for r in relations} <= {"entries", "inputs", "right"}
        assert all(holds(r, values, right, cases) for r in relations)


def closes(*values, rtol=1e-6):
    return [{"value": Close(v, rtol=rtol, because="a test")} for v in values]


RNG = np.random.default_rng(0)
X = [RNG.normal(0, 1, (4, 3)), RNG.normal(0, 1, (5, 3)), RNG.normal(0, 1, (7, 3))]
CASES = [{"x": x, "scale": float(i + 2), "seed": i} for i, x in enumerate(X)]
W = [x[:, 0] ** 2 + 1 for x in X]
SQUARE = [RNG.normal(0, 1, (4, 4)), RNG.normal(0, 1, (6, 6))]


@pytest.mark.parametrize(
    ("got", "want", "words"),
    [
        (
            [len(w) * w for w in W],
            W,
            "exactly n times what is expected, on every input, where n is the length of axis 0 of `x`",
        ),
        ([w / len(w) for w in W], W, "exactly 1/n times"),
        ([w * len(w) / (len(w) - 1) for w in W], W, "exactly n/(n − 1) times"),
        ([w / math.log(2) for w in W], W, "the factor from nats to bits"),
        (
            [w * c["scale"] for w, c in zip(W, CASES, strict=True)],
            W,
            "exactly `scale` times",
        ),
        ([w + np.log(len(w)) for w in W], W, "exactly what is expected plus log n"),
        (
            [w - np.log(c["scale"]) for w, c in zip(W, CASES, strict=True)],
            W,
            "exactly what is expected minus log `scale`",
        ),
        (
            [w + 2 * np.sum(x**2) for w, x in zip(W, X, strict=True)],
            W,
            "exactly what is expected plus twice the sum of the squares of `x`",
        ),
        ([w.sum() for w in W], W, "exactly the sum of what is expected over axis 0"),
        (
            [np.subtract.outer(w, w) + w for w in W],
            W,
            "The diagonal of `value` is exactly what is expected",
        ),
        (
            [np.where(x < 0, 0, x) for x in X],
            X,
            "is wrong exactly where what is expected is negative",
        ),
        (
            [np.where(np.abs(x) > 0.9, 5, x) for x in X],
            X,
            "exactly where what is expected is large in magnitude",
        ),
        (
            [np.maximum(x, -0.5) for x in X],
            X,
            "is −0.5 wherever what is expected is smaller, in 14 of 48 entries, and right elsewhere, as if",
        ),
        (
            [np.minimum(20 * w, -math.log(1e-12)) for w in W],
            [20 * w for w in W],
            "is 27.631 (which is −log 1e−12) wherever what is expected is larger",
        ),
        (
            [np.where(x < 0, np.nan, x) for x in X],
            X,
            "is not finite exactly where what is expected is negative",
        ),
        ([x.T for x in X], X, "exactly what is expected, transposed"),
        ([x.T for x in SQUARE], SQUARE, "exactly what is expected, transposed"),
        (
            [np.diag(np.diag(x)) for x in SQUARE],
            SQUARE,
            "is wrong exactly off the diagonal",
        ),
        (
            [x - x.max(1, keepdims=True) for x in X],
            X,
            "Along axis 1, the difference between `value` and what is expected is exactly constant",
        ),
        (
            [w[np.random.default_rng(1).permutation(len(w))] for w in X],
            X,
            "in another order along axis 0",
        ),
        (
            [w * 1.2345 for w in W],
            W,
            "exactly what is expected times one number, the same on every input",
        ),
        (
            [np.array([1.0, 2.0])] * 2,
            [np.array([3.0, 5.0]), np.array([4.0, 9.0])],
            "is the same on every input",
        ),
    ],
)
def test_a_relation_is_said_in_words(got, want, words):
    cases = (CASES if len(want) == 3 else [{"x": w} for w in want])[: len(want)]
    values = [{"value": np.asarray(g)} for g in got]
    text = told(values, closes(*want), cases)
    assert words in text


def test_too_few_entries_or_digits_are_no_evidence():
    assert told([{"value": np.asarray(2.0)}], closes(1.0), [{}]) == ""
    values = [{"value": 2 * w} for w in W]
    assert told(values, closes(*W), CASES)
    assert told(values, closes(*W, rtol=0.3), CASES) == ""


def test_a_right_value_with_a_wrong_gradient():
    right = [
        {
            "nll": Close(w, rtol=1e-6, because="a test"),
            "gradient_of_x": Close(x, rtol=1e-6, because="a test"),
        }
        for w, x in zip(W, X, strict=True)
    ]

    def text(gradient):
        values = [
            {"nll": w, "gradient_of_x": gradient(x)} for w, x in zip(W, X, strict=True)
        ]
        return told(values, right, CASES)

    assert "The value is right, and a gradient is not." in text(lambda x: -x)
    assert "exactly the negative of" in text(lambda x: -x)
    assert "0 everywhere" in text(lambda x: 0 * x)
    assert "detached" in text(lambda x: 0 * x)
    assert text(lambda x: x) == ""


@pytest.mark.parametrize(
    "got",
    [
        np.full((3, 3), np.nan), np.full(3, np.inf), np.full(4, 1e308), np.zeros((0,)),
        np.zeros((4, 0, 3)), np.zeros((1,) * 16), np.array(1e-320), np.full((4, 3), -1e308),
        np.full((4, 3), 5e-324), np.zeros((2000, 30)), None,
    ],
    ids=lambda got: str(np.shape(got)),
)  # fmt: skip
def test_any_array_at_all_is_survived(got):
    want = [X[0], np.zeros((0, 3))]
    told([{"value": got}, {"value": got}], closes(*want), CASES[:2])
    told([{"value": got}], closes(np.float64(3.0)), [{"x": X[0]}])


def test_the_check_says_a_relation_if_no_mistake_is_recognised():
    with pytest.raises(feedback.CheckFailed) as failure:
        feedback.check("which-method/gaussian-crps", lambda mean, std, y: 3 * mean)
    assert "exactly" not in str(failure.value)
    with pytest.raises(feedback.CheckFailed) as failure:
        feedback.check(
            "approximate-inference/prior-variance-of",
            lambda weight_decay, n: 3.5 / n / weight_decay,
        )
    message = " ".join(str(failure.value).split())
    assert "what is expected times one number, the same on every input." in message
