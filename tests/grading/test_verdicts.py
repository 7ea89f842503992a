"""Verdicts from displayed numbers, with reasons that leak no information."""

import dataclasses
import random
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing.connection import Client, Listener
from types import SimpleNamespace

import numpy as np
import pytest
from assembled import tasks_in
from labs import COURSE
from seeds import first_seed

from course.judge import same
from course.task import Close, stems, tasks_of
from grading.execution.expected import (
    ENCODER,
    KEYS,
    Key,
    KnownMistake,
    asked,
    beside,
    draw,
    everything,
    key_of,
    mistakes_of,
    read,
)
from grading.execution.programs import folder_of, mark_of
from grading.execution.values import VALUES
from grading.execution.verdicts import UNWRITTEN, judge, raised

RIGHT = [{"mean": Close([1.25, 2.5], atol=0.01, because="a test")}]
KEY = Key(
    task="practical/task",
    name="moments",
    points=3,
    probe="",
    right=RIGHT,
    mistakes=[
        KnownMistake(1, "you flip the sign.", [{"mean": np.array([-1.25, -2.5])}]),
        KnownMistake(2, "you double it.", [{"mean": np.array([2.5, 5.0])}]),
    ],
)


def shown(*data, dtype="float64", shape=(2,)):
    value = {"dtype": dtype, "shape": list(shape), "data": list(data)}
    return display([{"mean": value}])


def display(values):
    payload = {"task": KEY.task, "values": values}
    return {"output_type": "display_data", "metadata": {}, "data": {VALUES: payload}}


def test_right_numbers_earn_the_points():
    verdict = judge(KEY, [shown(1.255, 2.5)], pass_number=1)
    assert (verdict.status, verdict.earned, verdict.reason) == ("right", 3, "")


def test_a_known_mistake_is_named_and_counted():
    verdict = judge(KEY, [shown(2.5, 5.0)], pass_number=2)
    assert (verdict.status, verdict.earned, verdict.attempt) == ("wrong", 0, 2)
    assert verdict.hint == "you double it."
    assert verdict.key == "practical/task#2"


def test_a_mistake_is_known_when_another_processor_rounds_its_large_numbers():
    right = [{"mean": Close([0.0, 0.0], atol=1e-9, because="a test")}]
    mistake = KnownMistake(
        3, "you shift it.", [{"mean": np.array([-0.15415954, 18.0])}]
    )
    key = dataclasses.replace(KEY, right=right, mistakes=[mistake])
    assert judge(key, [shown(-0.15415926, 18.00000006)], pass_number=1).hint
    assert not judge(key, [shown(-0.1547, 18.0)], pass_number=1).hint
    # A wrong value stays wrong, however near it is.
    assert judge(key, [shown(1e-8, 0.0)], pass_number=1).status == "wrong"


@pytest.mark.parametrize("infinite", [-np.inf, np.inf])
def test_only_an_infinite_number_equals_an_infinite_one_of_a_mistake(infinite):
    right = [{"mean": Close([1.25, 2.5], rtol=1e-5, because="a test")}]
    mistake = KnownMistake(1, "it underflows.", [{"mean": np.array([infinite, 2.5])}])
    key = dataclasses.replace(KEY, right=right, mistakes=[mistake])
    assert not judge(key, [shown(7.0, 2.5)], pass_number=1).hint
    assert not judge(key, [shown(str(-infinite), 2.5)], pass_number=1).hint
    assert not judge(key, [shown("nan", 2.5)], pass_number=1).hint
    assert judge(key, [shown(str(infinite), 2.5)], pass_number=1).hint


def test_a_relation_is_said_where_no_mistake_is_known():
    right = [{"mean": Close([1.25, 2.5, 0.3], atol=1e-6, because="a test")}]
    key = dataclasses.replace(
        KEY, right=right, mistakes=[], cases=[{"x": np.zeros((7, 2))}]
    )
    verdict = judge(key, [shown(8.75, 17.5, 2.1, shape=(3,))], pass_number=1)
    assert verdict.reason == (
        "The value `mean` is not right. `mean` is exactly n times what is expected, on every input, "
        "where n is the length of axis 0 of `x`."
    )
    without = dataclasses.replace(key, cases=[])
    verdict = judge(without, [shown(8.75, 17.5, 2.1, shape=(3,))], pass_number=1)
    assert "times one number" in verdict.reason


@pytest.mark.parametrize(
    ("outputs", "reason"),
    [
        ([], "Calling it produced no values."),
        ([shown(1.25, 2.6)], "The value `mean` is not right."),
        ([shown(1.25, 2.5), shown(1.25, 2.5)], "More than one set of values"),
        (
            [shown(1.25, 2.5), {"output_type": "error", "ename": "KeyError"}],
            "Calling it raised KeyError.",
        ),
        ([shown(1.25, shape=(1,))], "wrong shape: an array of shape (2,) is expected"),
        ([shown(1.25, "nan")], "The value `mean` contains a number that is not finite"),
        ([display([{"mean": {"dtype": "int64", "shape": [2]}}])], "floating-point"),
        ([display([{}])], "`moments` returned no `mean`"),
        ([display([{"mean": None}])], "Is a `return` missing?"),
        ([display([])], "Values are missing."),
        ([display([{"mean": [1.25, 2.5]}])], "cannot be read"),
        ([{"output_type": "display_data", "data": {VALUES: "1.25"}}], "cannot be read"),
        ([{"output_type": "stream", "name": "stdout", "text": "✓"}], "no values"),
        (
            [{"output_type": "error", "ename": "ValueError"}],
            "Calling it raised ValueError.",
        ),
        ([{"output_type": "error", "ename": "NotImplementedError"}], UNWRITTEN),
    ],
)
def test_anything_else_is_wrong_and_said(outputs, reason):
    verdict = judge(KEY, outputs, pass_number=1)
    assert (verdict.status, verdict.earned) == ("wrong", 0)
    assert reason in verdict.reason


def test_what_is_no_array_of_integers_is_said_in_words():
    right = {
        "labels": Close([1, -1], because="a test", integers=True),
        "integer_array": Close(1.0, because="a test"),
    }
    key = dataclasses.replace(KEY, right=[right], mistakes=[])
    labels = {"dtype": "float64", "shape": [2], "data": [1.0, -1.0]}
    flag = {"dtype": "float64", "shape": [], "data": [0.0]}
    for value, reason in (
        (labels, "The result is not a NumPy array of integers."),
        (
            {"dtype": "bool", "shape": [2]},
            "The value `labels` is not an array of integers",
        ),
    ):
        outputs = [display([{"labels": value, "integer_array": flag}])]
        assert reason in judge(key, outputs, pass_number=1).reason


@pytest.mark.parametrize(
    "outputs", [[shown(1.25, 2.6)], [shown(1.25)], [shown("inf", 0)], [shown(2.5, 5.0)]]
)
def test_no_sentence_holds_a_number_of_either_side(outputs):
    verdict = judge(KEY, outputs, pass_number=1)
    for number in ("1.25", "2.5", "2.6", "5.0"):
        assert number not in verdict.reason + verdict.hint


def test_in_a_later_pass_no_name_of_an_answer_is_repeated():
    """It could be a piece of the reference that stood in for another answer."""
    outputs = display(
        [{"mean": {"dtype": "float64", "shape": [2], "data": [1.25, 2.5]}}]
    )
    outputs["data"][VALUES]["left"] = [["changed", "len"]]
    first, second = (
        judge(KEY, [outputs], pass_number=number, source="length") for number in (1, 2)
    )
    assert "`len`" in first.reason
    assert second.reason == first.reason.replace("`len`", "an argument")


def test_an_exception_cannot_speak_for_itself():
    assert raised("Its cell", "NameError", 3) == "Its cell raised NameError in line 3."
    said, source = "name 'helper' is not defined", "return helper(x) + x.shap"
    assert "about `helper`: only" in raised(
        "Its cell", "NameError", said=said, source=source
    )
    said = "'Tensor' object has no attribute 'shap'"
    assert raised("Calling it", "AttributeError", said=said, source=source).endswith(
        "raised AttributeError about `shap`."
    )
    # Only names that occur in the answer are repeated.
    for other in ("name 'secret' is not defined", "name 'help' is not defined", "1.25"):
        assert raised("Its cell", "NameError", said=other, source=source) == (
            "Its cell raised NameError."
        )
    error = {"output_type": "error", "ename": "NameError"}
    missing = error | {"evalue": "name 'moments' is not defined"}
    reason = "`moments` is not defined: the answer has to have this name."
    assert judge(KEY, [missing], pass_number=1).reason == reason
    stolen = "w_is_0_731_and_the_reference_is_def_f"
    assert stolen not in raised("Its cell", stolen)
    assert "an exception of its own" in raised("Its cell", stolen)


@pytest.mark.parametrize(
    "value",
    [
        np.array([[0.1, np.nan], [np.inf, -0.0]]),
        np.arange(6).reshape(2, 3),
        np.float32([1 / 3]),
        np.zeros((0, 2)),
        np.float64(0.1),
        0.1,
        7,
        "mean",
        None,
    ],
)
def test_values_are_stored_exactly(value):
    key = dataclasses.replace(KEY, mistakes=[KnownMistake(1, "", [{"mean": value}])])
    (stored,) = KEYS.decode(ENCODER.encode([key]))
    back = stored.mistakes[0].values[0]["mean"]
    np.testing.assert_array_equal(back, value)
    assert np.asarray(back).dtype == np.asarray(value).dtype
    assert np.shape(back) == np.shape(value)


@pytest.mark.parametrize(
    "name", ["bayes_by_backprop_a", "bayes_by_backprop_b", "calibration_and_flows_b"]
)
def test_another_process_computes_the_same_keys(name, tmp_path):
    drawing = draw(COURSE.lab(name), 12, tmp_path / "expected.msgpack")
    read_back = read(tmp_path / "expected.msgpack")
    assert list(read_back) == list(tasks_in(name))
    for task in tasks_in(name).values():
        key, here = read_back[task.id], key_of(task, 12)
        assert (key.name, key.points, key.probe) == (here.name, here.points, here.probe)
        for one, two in zip(key.right, here.right, strict=True):
            assert one.keys() == two.keys()
            for part in one:
                np.testing.assert_array_equal(one[part].value, two[part].value)
                np.testing.assert_array_equal(one[part].atol, two[part].atol)
    drawn = random.Random(first_seed()).choice(list(tasks_in(name).values()))
    mistakes = mistakes_of(drawn, key_of(drawn, 12).cases)
    assert mistakes
    for one, two in zip(read_back[drawn.id].mistakes, mistakes, strict=True):
        assert (one.number, one.hint) == (two.number, two.hint)
        assert same(one.values, two.values, key_of(drawn, 12).right)
    drawing.finish()


@pytest.fixture
def one_task(tmp_path):
    tasks = ["warm-up/squared-errors"]
    return SimpleNamespace(stem="warm_up", root=tmp_path, tasks=lambda: tasks)


def test_mistakes_are_compiled_with_the_options_of_kernels(
    one_task, tmp_path, monkeypatch
):
    """Whether programs are kept or not; a process with these options would not start."""
    monkeypatch.setenv("XLA_FLAGS", "--no-such-option")
    drawing = draw(one_task, 1, path := tmp_path / "new")
    assert read(path)[one_task.tasks()[0]].mistakes[0].values
    drawing.finish()


def test_programs_that_were_compiled_for_a_draw_are_kept_for_the_next(
    one_task, tmp_path
):
    found, marks = [], []
    kept = folder_of(tmp_path, "warm_up")
    for number in (1, 2):
        compiled = tmp_path / f"compiled {number}"
        compiled.mkdir()
        drawing = draw(one_task, number, path := tmp_path / f"{number}.new", compiled)
        asked(path, *one_task.tasks())
        drawing.finish()
        found.append({path.name for path in compiled.glob("*-cache")})
        marks.append({path.name for path in kept.glob("*.mark")})
    assert found[0]
    # Not compiled again, though the folder has another name.
    assert found[1] == {path.name for path in kept.glob("*-cache")}
    assert len(found[1]) < 1.5 * len(found[0])
    assert len(marks[0]) == 1
    assert marks[1] == marks[0]  # other numbers of the same shapes


def test_a_mark_is_of_a_task_its_shapes_and_its_mistakes():
    case = {"x": np.zeros(3), "scale": 2.0}
    same = mark_of("a/b", [{"x": np.ones(3), "scale": 1.0}], 4)
    others = [
        mark_of("a/c", [case], 4),
        mark_of("a/b", [{**case, "x": np.zeros(2)}], 4),
        mark_of("a/b", [case, case], 4),
        mark_of("a/b", [case], 5),
    ]
    assert mark_of("a/b", [case], 4) == same
    assert len({same, *others}) == 5


@pytest.fixture
def listening(tmp_path):
    """The file of a key without its mistakes, and what listens at the address beside it."""
    path = tmp_path / "expected.msgpack"
    path.write_bytes(ENCODER.encode([dataclasses.replace(KEY, mistakes=())]))
    with Listener(family="AF_UNIX") as listener:
        path.with_suffix(".address").write_text(listener.address)
        yield path, listener


def test_an_answer_that_is_not_right_waits_for_the_known_mistakes(listening):
    """They are computed when a verdict needs them, and not before."""
    path, listener = listening
    key = read(path)[KEY.task]
    assert judge(key, [shown(1.25, 2.5)], pass_number=1).status == "right"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(judge, key, [shown(-1.25, -2.5)], pass_number=1)
        with listener.accept() as asks:
            assert asks.recv_bytes() == KEY.task.encode()
            assert not waiting.done()
            asks.send_bytes(ENCODER.encode(KEY.mistakes))
        assert waiting.result().hint == "you flip the sign."


def test_if_the_known_mistakes_are_never_computed_nothing_is_judged_wrong(listening):
    path, listener = listening
    wrong = [shown(-1.25, -2.5)]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(judge, read(path)[KEY.task], wrong, pass_number=1)
        with listener.accept() as asks:  # and ends, as when that process is killed
            assert asks.recv_bytes() == KEY.task.encode()
        with pytest.raises(EOFError):
            waiting.result()
    listener.close()
    with pytest.raises(FileNotFoundError):
        judge(read(path)[KEY.task], wrong, pass_number=1)


def test_the_process_that_drew_answers_until_the_end(tmp_path):
    """It answers several processes, also after one has closed its connection at once.

    Tasks are graded in the order of the notebook, which is not that of this lab's checks.
    """
    path, lab = tmp_path / "expected.msgpack", COURSE.lab("acting_on_uncertainty_b")
    drawing = draw(lab, 3, path)
    Client(path.with_suffix(".address").read_text()).close()
    tasks = lab.tasks()
    assert [id_ for id_ in tasks_of(lab.stem) if id_ in tasks] != tasks
    assert list(read(path)) == tasks
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(partial(asked, path), tasks * 3))
    assert found == found[: len(tasks)] * 3
    assert found[0] == ENCODER.encode(list(read(path)[tasks[0]].mistakes))
    beside(path).write_bytes(everything(path))  # for machines that cannot ask
    drawing.finish()
    assert not drawing.folder.exists()
    with pytest.raises(FileNotFoundError):
        asked(path, tasks[0])
    assert found[-1] == ENCODER.encode(list(read(path)[tasks[-1]].mistakes))


@pytest.mark.parametrize("stem", stems())
def test_every_task_asks_something_that_depends_on_the_seed(stem):
    """Otherwise its values could be hard-coded."""
    for task in tasks_of(stem).values():
        one, two = key_of(task, 1), key_of(task, 2)
        assert one.probe != two.probe
        assert any(
            not np.array_equal(a[name].value, b[name].value)
            for a, b in zip(one.right, two.right, strict=False)
            for name in a.keys() & b.keys()
        ), task.id
