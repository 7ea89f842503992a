"""Answers that change their arguments or leave state behind, and calls that make no sense."""

import json
import random
from unittest import mock

import numpy as np
import pytest
import torch
from torch import nn

from course import feedback
from course.feedback import CheckFailed, check
from course.side_effects import WrongCall, watched
from course.task import Close, Task
from grading.execution.expected import key_of
from grading.execution.values import VALUES
from grading.execution.verdicts import WRONG_CALL, judge


def double(answer, x):
    import torch

    return {"value": answer(torch.tensor(x))}


TASK = Task(
    id="a-practical/double",
    name="double",
    points=1,
    cases=lambda rng: [{"x": rng.normal(0, 1, 3)}],
    probe=double,
    oracle=lambda x: {"value": Close(2 * x, rtol=1e-9, because="a test")},
)


def checked(monkeypatch, answer, task=TASK):
    """Return the message of the check; empty if the answer is right."""
    monkeypatch.setattr(feedback, "find", lambda task_id: task)
    try:
        check(task.id, answer)
    except CheckFailed as failure:
        return " ".join(str(failure).split())
    return ""


def graded(answer, task=TASK, source="def double(x):"):
    """Run the source of a probe on an answer as the grader does; return the verdict."""
    key, shown = key_of(task, 5), []
    with mock.patch("IPython.display.publish_display_data", shown.append):
        exec(key.probe, {task.name: answer})
    data = json.loads(json.dumps(shown[0]))
    outputs = [{"output_type": "display_data", "data": data}]
    return judge(key, outputs, pass_number=1, source=source)


def in_place(x):
    x *= 2
    return x


def seeds_torch(x):
    torch.manual_seed(3)
    return 2 * x


def draws_from_torch(x):
    return 2 * x + 0 * torch.randn(3)


def seeds_numpy(x):
    np.random.seed(3)  # noqa: NPY002
    return 2 * x


def draws_from_python(x):
    return 2 * x + 0 * random.random()


def switches_gradients_off(x):
    torch.set_grad_enabled(False)
    return 2 * x


def changes_the_dtype(x):
    torch.set_default_dtype(torch.float64)
    return 2 * x


EFFECTS = {
    in_place: "You changed `x` in place",
    seeds_torch: "PyTorch's global random generator",
    draws_from_torch: "PyTorch's global random generator",
    seeds_numpy: "NumPy's global random generator",
    draws_from_python: "Python's global random generator",
    switches_gradients_off: "You changed whether gradients are computed",
    changes_the_dtype: "You changed the default dtype",
}
each_effect = pytest.mark.parametrize(
    ("answer", "words"), EFFECTS.items(), ids=lambda value: getattr(value, "__name__", "")
)  # fmt: skip


@each_effect
def test_the_check_names_what_a_right_answer_leaves_behind(monkeypatch, answer, words):
    assert words in checked(monkeypatch, answer)


@each_effect
def test_so_does_the_grader(answer, words):
    verdict = graded(answer)
    assert verdict.status == "wrong"
    assert words in verdict.reason


@each_effect
def test_modes_are_restored_after_the_call(answer, words):
    before = torch.is_grad_enabled(), torch.get_default_dtype()
    with watched(answer, []) as observed:
        observed(torch.ones(3))
    assert (torch.is_grad_enabled(), torch.get_default_dtype()) == before


def test_seeding_once_more_with_the_same_seed_is_seen(monkeypatch):
    seeds_numpy(0)
    assert "NumPy's" in checked(monkeypatch, seeds_numpy)


def test_the_check_itself_leaves_the_generators_alone(monkeypatch):
    before = random.getstate(), torch.get_rng_state(), np.random.get_state()[1]  # noqa: NPY002
    assert checked(monkeypatch, lambda x: 2 * x) == ""
    assert before[0] == random.getstate()
    assert torch.equal(before[1], torch.get_rng_state())
    np.testing.assert_array_equal(before[2], np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("answer", [lambda x: 2 * x, lambda x: x / 0, seeds_torch])
def test_also_a_normal_number_that_numpy_keeps_for_the_next_call(monkeypatch, answer):
    np.random.seed(3)  # noqa: NPY002
    expected = np.random.randn(2)  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    assert np.random.randn() == expected[0]  # noqa: NPY002
    checked(monkeypatch, answer)
    assert np.random.randn() == expected[1]  # noqa: NPY002


def test_another_generator_in_place_of_numpys_is_seen():
    before, left = np.random.get_bit_generator(), []

    def answer(x):
        np.random.set_bit_generator(np.random.MT19937(5))
        return 2 * x

    try:
        with watched(answer, left) as observed:
            observed(torch.ones(3))
    finally:
        np.random.set_bit_generator(before)
    assert left == [("generator", "numpy")]


def test_a_notebook_may_have_another_generator_in_place_of_numpys(monkeypatch):
    before = np.random.get_bit_generator()
    np.random.set_bit_generator(np.random.PCG64(5))
    try:
        assert checked(monkeypatch, lambda x: 2 * x) == ""
        assert "Python's" in checked(monkeypatch, draws_from_python)
    finally:
        np.random.set_bit_generator(before)


def test_what_leaves_nothing_behind_is_right(monkeypatch):
    def answer(x):
        with torch.no_grad():
            noise = torch.randn(3, generator=torch.Generator().manual_seed(1))
        own = x.clone()
        own += x + 0 * noise * np.random.default_rng(0).normal()
        return own

    assert checked(monkeypatch, answer) == ""
    assert graded(answer).status == "right"


def test_a_wrong_value_and_a_side_effect_are_both_said(monkeypatch):
    def answer(x):
        x += 1
        return x

    message = checked(monkeypatch, answer)
    assert "The value is not right" in message
    assert "You changed `x` in place" in message
    reason = graded(answer).reason
    assert "The value is not right" in reason
    assert "You changed `x` in place" in reason


def test_an_oracle_does_not_read_what_an_answer_has_left():
    """The largest area is right for the inputs that this answer makes."""

    def answer(inside, outside):
        inside[:], outside[:] = 0.0, 1.0
        return 1.0

    with pytest.raises(CheckFailed, match="The value `area` is not right") as failure:
        check("which-method/ood-auroc", answer)
    assert "You changed `inside` in place" in str(failure.value)


def test_a_copy_is_given_so_that_later_calls_see_the_inputs():
    left, x = [], np.arange(3.0)
    with watched(in_place, left) as observed:
        assert list(observed(x)) == [0.0, 2.0, 4.0]
    assert list(x) == [0.0, 1.0, 2.0]
    assert left == [("changed", "x")]


def test_a_leaf_that_carries_the_graph_is_watched_as_it_is():
    def answer(x):
        with torch.no_grad():
            x.mul_(2)
        return x

    left, x = [], torch.ones(3, requires_grad=True)
    with watched(answer, left) as observed:
        assert observed(x) is x
    assert left == [("changed", "x")]


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)  # draws from the global generator

    def forward(self, x):
        x += 1
        return self.linear(x)


def test_a_wrong_call_is_seen_after_a_right_one_with_as_many_arguments():
    with watched(lambda x, *, scale=1.0: scale * x, []) as scaled:
        assert scaled(2.0) == 2.0
        assert scaled(2.0, scale=3.0) == 6.0
        with pytest.raises(WrongCall, match="1 argument by position, shape=…"):
            scaled(2.0, shape=3)


def test_methods_of_a_class_are_watched_but_not_how_a_layer_is_built():
    left = []
    with watched(Layer, left) as observed:
        layer = observed(2)
        assert isinstance(layer, Layer)
        assert left == []
        layer(torch.ones(1, 2))
        assert left == [("changed", "x")]
        with pytest.raises(WrongCall, match="could not be called with 2 arguments"):
            observed(2, 3)


def test_layers_are_built_from_the_generator_of_whoever_seeded_it():
    torch.manual_seed(5)
    expected = [Layer(2).linear.weight, Layer(2).linear.weight]
    torch.manual_seed(5)
    with watched(Layer, []) as observed:
        layers = [observed(2)]
        layers[0](torch.ones(1, 2))
        layers.append(observed(2))
    for weight, layer in zip(expected, layers, strict=True):
        assert torch.equal(weight, layer.linear.weight)


def test_calls_within_a_call_are_not_watched_one_by_one():
    """A function that calls itself changes its own numbers; those of its caller stay."""

    class Countdown:
        def one(self, x):
            x -= 1
            return x

        def all(self, x):
            return self.one(self.one(x + 0))

        def drawn(self, x):
            return self.one(x + np.random.normal())  # noqa: NPY002

    left = []
    with watched(Countdown, left) as observed:
        assert list(observed().all(np.arange(3.0))) == [-2.0, -1.0, 0.0]
        observed().drawn(np.arange(3.0))
        assert left == []
        observed().one(np.arange(3.0))
        assert left == [("changed", "x")]
    assert left[1:] == [("generator", "numpy")]


def test_a_draw_is_seen_although_an_exception_or_another_layer_follows():
    class Drawing:
        def __init__(self):
            self.drawn = random.random()  # which layers may do when they are built

        def draw(self):
            return np.random.normal()  # noqa: NPY002

    def raises():
        random.random()
        raise ValueError("on purpose")

    left = []
    with watched(Drawing, left) as observed:
        observed().draw()
        observed()
        assert left == [("generator", "numpy")]
    assert left == [("generator", "numpy")]

    left = []
    with pytest.raises(ValueError, match="purpose"), watched(raises, left) as observed:
        observed()
    assert left == [("generator", "random")]


@pytest.mark.parametrize(
    "left",
    [
        "changed",
        [["changed"]],
        [["changed", 3]],
        [["generator", "secret"]],
        [["anything", "x"]],
        [[["changed", "x"]]],
        [["gradients", ""]] * 101,
    ],
)
def test_side_effects_that_no_probe_displays_are_refused(left):
    key = key_of(TASK, 5)
    value = {
        "dtype": "float64",
        "shape": [3],
        "data": key.right[0]["value"].value.tolist(),
    }
    payload = {"task": TASK.id, "values": [{"value": value}], "left": left}
    outputs = [{"output_type": "display_data", "data": {VALUES: payload}}]
    assert "cannot be read" in judge(key, outputs, pass_number=1).reason
    outputs[0]["data"][VALUES] = payload | {"left": [["changed", "secret_0731"]]}
    reason = judge(key, outputs, pass_number=1, source="def double(x):").reason
    assert reason.startswith("You changed an argument in place")


def test_a_wrong_signature_is_named(monkeypatch):
    for answer in (lambda: 1.0, lambda x, y: x, lambda *, x: x):
        message = checked(monkeypatch, answer)
        assert "`double` could not be called with 1 argument by position" in message
        assert "using its value" not in message
    with pytest.raises(TypeError, match="could not be called with 1 argument by"):
        graded(lambda: 1.0)
    error = {"output_type": "error", "ename": "WrongCall", "evalue": "of its own"}
    verdict = judge(key_of(TASK, 5), [error], pass_number=1)
    assert verdict.reason == WRONG_CALL


def test_an_exception_of_a_library_within_the_call_is_not_put_down_to_its_value(
    monkeypatch,
):
    message = checked(monkeypatch, np.linalg.inv)
    assert "raised LinAlgError" in message
    assert "using its value" not in message
