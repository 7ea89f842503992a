"""Every task of every practical: the reference is right, every misconception is named."""

import contextlib
import dataclasses
import importlib
import inspect
import itertools
import math
import textwrap

import numpy as np
import pytest
import scipy.special
import scipy.stats
from seeds import SOAK, first_seed, half

from course import feedback, probing
from course.feedback import SEEDS, Check, CheckFailed, check
from course.judge import Draw, answered, compare, expected
from course.task import find, stem_of, stems, tasks_of

TASKS = [task for stem in stems() for task in tasks_of(stem).values()]
MISTAKES = [(task, row) for task in TASKS for row in task.misconceptions]
DRAWN = half(stems())  # ``test_draws`` judges all mistakes of these for this commit
each_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)


def reference(task):
    stem = stem_of(task.id)
    return getattr(importlib.import_module(f"solutions.{stem}"), task.name)


@each_task
def test_the_reference_passes_on_every_seed(task):
    for seed in range(1000, 1000 + (30 if SOAK else 2)):
        cases = task.cases(np.random.default_rng(seed))
        assert (
            compare(answered(task, reference(task), cases), expected(task, cases))
            is None
        ), seed


@pytest.mark.parametrize(
    ("id_", "seed"),
    [
        ("which-method/mimo-inputs", 147),  # a mean of equal numbers is rounded
        ("which-method/mimo-loss", 20022),  # a loss near 0
        ("calibration-and-flows/predict", 20236),  # two means agree by chance
        # The terms of the KL cancel; noise moves the only logit by very little.
        ("approximate-inference/gaussian-kl", (371412948, 2307932607)),
        ("approximate-inference/variational-mlp", (3384669713, 2587325322)),
    ],
)
def test_the_reference_passes_on_a_draw_that_refused_it(id_, seed):
    task = find(id_)
    cases = task.cases(np.random.default_rng(seed))
    assert (
        compare(answered(task, reference(task), cases), expected(task, cases)) is None
    )


def test_a_logistic_curve_is_far_from_a_normal_distribution():
    """On one draw in thousands it was within the tolerance."""
    task = find("which-method/gaussian-crps")
    for seed in range(30):
        (first, *_) = task.cases(np.random.default_rng(seed))
        mean, std, y = first.values()
        z = (y - mean) / std
        probability = scipy.special.expit(1.702 * z)
        inner = z * (2 * probability - 1) + 2 * scipy.stats.norm.pdf(z)
        close = expected(task, [first])[0]["crps"]
        off = np.abs(std * (inner - 1 / np.sqrt(np.pi)) - close.value)
        tolerance = close.atol + close.rtol * np.abs(close.value)
        assert off[0] > 50 * tolerance[0], seed  # the others are anywhere


@each_task
def test_the_check_ticks_the_reference(task, capsys):
    check(task.id, reference(task))
    assert capsys.readouterr().out.startswith(
        f"✓ {task.id} ·\xa0{task.points}\xa0point"
    )


def pytest_generate_tests(metafunc):
    """Where ``test_draws`` judges all mistakes, ``check`` judges one of each task."""
    if "mistake" in metafunc.fixturenames:
        rows = MISTAKES
        if not (SOAK or metafunc.config.option.keyword):  # somebody works on a task
            rows = [
                (task, row)
                for task, row in MISTAKES
                if stem_of(task.id) not in DRAWN
                or row is task.misconceptions[first_seed() % len(task.misconceptions)]
            ]
        ids = [f"{task.id}-{task.misconceptions.index(row) + 1}" for task, row in rows]
        metafunc.parametrize(("task", "mistake"), rows, ids=ids)


def test_a_known_mistake_fails_and_is_named(task, mistake):
    for seed in range(8 if SOAK else 0):  # `check` below draws some of its own
        cases = task.cases(np.random.default_rng(seed))
        draw = Draw(task, cases)
        values = answered(task, mistake.answer, cases)
        assert compare(values, draw.right) is not None, (
            f"seed {seed}: the mistake passes"
        )
        assert draw.recognise(values) is mistake, (
            f"seed {seed}: it is taken for another one"
        )
    with pytest.raises(CheckFailed) as failure:
        check(task.id, mistake.answer)
    assert mistake.hint in " ".join(str(failure.value).split())


@each_task
def test_a_task_knows_what_goes_wrong(task):
    assert len(task.misconceptions) >= 2
    assert 1 <= len(task.hints) <= 3
    assert find(task.id) is task


@each_task
def test_a_probe_is_self_contained(task):
    """Its source and that of ``probing``, in an empty module, give the same numbers.

    The grader needs that.
    """
    namespace = {}
    for part in (probing, task.probe):
        exec(textwrap.dedent(inspect.getsource(part)), namespace)
    cases = task.cases(np.random.default_rng(5))
    probe = namespace[task.probe.__name__]
    values = [dict(probe(reference(task), **case)) for case in cases]
    assert compare(values, expected(task, cases)) is None


def changed(value, change):
    """Change every tensor in an answer's value, keeping tuples and named tuples."""
    if isinstance(value, tuple):
        parts = [changed(part, change) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return change(value)


def of(value, number):
    """Fill with a number, keeping shape, dtype and graph of the right value."""
    if getattr(value, "dtype", None) is not None and "bool" in str(value.dtype):
        return value & False if number == 0 else value | True
    return value * 0 + number


def zeros(value, inputs):
    return changed(value, lambda part: of(part, 0))


def ones(value, inputs):
    return changed(value, lambda part: of(part, 1))


def nans(value, inputs):
    return changed(value, lambda part: of(part, math.nan))


def input_number(index):
    def given_back(value, inputs):
        return changed(value, lambda part: inputs[index])

    return given_back


def instead(answer, change):
    """Wrap the reference, or its methods, to return ``change(value, inputs)``."""
    if not isinstance(answer, type):
        return lambda *inputs, **options: change(answer(*inputs, **options), inputs)

    def replaced(method):
        def replacement(self, *inputs, **options):
            return change(method(self, *inputs, **options), inputs)

        return replacement

    names = [name for name in ("forward", "kl") if hasattr(answer, name)]
    methods = {name: replaced(getattr(answer, name)) for name in names}
    return type(answer.__name__, (answer,), methods)


@each_task
def test_nothing_that_ignores_its_inputs_passes(task):
    def passes(change):
        answer = instead(reference(task), change)
        try:
            return all(  # one at a time: most fail the first
                compare(answered(task, answer, [case]), [closes]) is None
                for case, closes in zip(cases, right, strict=True)
            )
        except Exception:  # a graded notebook would display no values
            return False

    cases = task.cases(np.random.default_rng(50))
    right = expected(task, cases)
    assert passes(lambda value, inputs: value)
    for change in (zeros, ones, nans, *map(input_number, range(5))):
        assert not passes(change), change


@each_task
def test_a_list_is_not_taken_for_an_array(task):
    lists = []

    def listed(part):
        if getattr(part, "ndim", 0) == 0:
            return part
        lists.append(getattr(part, "detach", lambda: part)().tolist())
        return lists[-1]

    answer = instead(reference(task), lambda value, inputs: changed(value, listed))
    cases = task.cases(np.random.default_rng(50))
    try:
        values = answered(task, answer, cases)
    except Exception:  # the probe, or JAX, wants an array
        return
    assert not lists or compare(values, expected(task, cases)) is not None


@each_task
def test_what_an_answer_leaves_behind_is_seen(task):
    """It changes its arguments, where they can be changed, and seeds NumPy's global generator."""
    changed_any, left = [], []

    def spoil(value, inputs):
        np.random.seed(3)  # noqa: NPY002
        for one in inputs:
            numbers = one.detach() if hasattr(one, "detach") else one
            if isinstance(one, np.ndarray) or numbers is not one:
                numbers *= 3
                numbers += 1
                changed_any.append(True)
        return value

    case = task.cases(np.random.default_rng(50))[:1]
    with contextlib.suppress(Exception):  # the probe may need what was changed
        answered(task, instead(reference(task), spoil), case, left)
    kinds = {kind for kind, _ in left}
    assert kinds == {"generator"} | ({"changed"} if changed_any else set())


@each_task
def test_a_list_or_dictionary_that_an_answer_empties_is_seen(task):
    emptied, left = [], []

    def empty(value, inputs):
        for one in inputs:
            if isinstance(one, list | dict) and one:
                one.clear()
                emptied.append(True)
        return value

    case = task.cases(np.random.default_rng(50))[:1]
    with contextlib.suppress(Exception):  # the probe may need what was in it
        answered(task, instead(reference(task), empty), case, left)
    assert {kind for kind, _ in left} == ({"changed"} if emptied else set())


@each_task
def test_what_is_right_for_one_draw_is_wrong_for_another(task):
    """Values cannot be hard-coded, not even those of the public check's draws."""
    draws = [task.cases(np.random.default_rng(seed)) for seed in (*SEEDS, 50)]
    values = [answered(task, reference(task), cases) for cases in draws]
    right = [expected(task, cases) for cases in draws]
    for one, other in itertools.permutations(range(len(draws)), 2):
        assert compare(values[one], right[other]) is not None


@each_task
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "is None"),
        (3.0, "not a function or class"),
        (lambda *args, **kwargs: None, ""),
        (lambda *args, **kwargs: "a string", ""),
        (lambda *args, **kwargs: np.zeros((7, 5, 3)), ""),
        (lambda *args, **kwargs: float("nan"), ""),
        (lambda *args, **kwargs: 1 + 2j, ""),
    ],
    ids=[
        "none",
        "number",
        "returns-none",
        "returns-string",
        "wrong-shape",
        "nan",
        "complex",
    ],
)
def test_nonsense_gets_a_plain_message(task, answer, words):
    with pytest.raises(CheckFailed) as failure:
        check(task.id, answer)
    message = str(failure.value)
    assert words in message
    assert message.startswith(f"✗ {task.id}")
    assert "Traceback" not in message
    assert failure.value.__cause__ is None
    assert failure.value.__suppress_context__


@each_task
def test_a_stub_is_told_so(task):
    def stub(*args, **kwargs):
        raise NotImplementedError()

    with pytest.raises(CheckFailed, match="not written yet"):
        check(task.id, stub)


@each_task
def test_hints_say_more_each_time_and_then_end(task, capsys):
    for level in range(1, len(task.hints) + 1):
        check.hint(task.id, level)
        assert f"Hint {level} of {len(task.hints)}" in capsys.readouterr().out
    for level in (0, len(task.hints) + 1):
        with pytest.raises(ValueError, match="there is no hint"):
            check.hint(task.id, level)


@each_task
def test_a_hint_goes_one_further_each_time_and_stays_at_the_last(task, capsys):
    ask, count = Check(), len(task.hints)
    for level in [*range(1, count + 1), count, count]:
        ask.hint(task.id)
        assert f"Hint {level} of {count}" in capsys.readouterr().out
    ask.hint(task.id)
    assert "there are no more" in capsys.readouterr().out


def test_a_hint_asked_for_by_number_is_where_the_next_goes_on(capsys):
    task = next(task for task in TASKS if len(task.hints) == 3)
    other = next(row for row in TASKS if row is not task)
    ask = Check()
    ask.hint(task.id, 2)
    assert f"(More: check.hint({task.id!r}))" in capsys.readouterr().out
    ask.hint(other.id)
    assert "Hint 1 of" in capsys.readouterr().out
    ask.hint(task.id)
    assert "Hint 3 of 3" in capsys.readouterr().out
    ask.hint(task.id, level=1)
    assert "Hint 1 of 3" in capsys.readouterr().out
    with pytest.raises(ValueError, match="there is no hint 4"):
        ask.hint(task.id, 4)
    ask.hint(task.id)
    assert "Hint 2 of 3" in capsys.readouterr().out


def test_a_task_without_hints_says_so(monkeypatch):
    task = dataclasses.replace(TASKS[0], hints=[])
    monkeypatch.setattr(feedback, "find", lambda task_id: task)
    with pytest.raises(ValueError, match=f"{task.id} has no hints"):
        check.hint(task.id)
