"""How a difference is shown: never as two equal texts, and with the tolerance only if useful."""

import html
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
import torch
from assembled import TASKS

from course import feedback
from course.differences import Comparison, example, inputs
from course.feedback import CheckFailed, check
from course.judge import Mismatch
from course.task import Close, Misconception, Task, find
from course.wording import PROPERTIES
from solutions.calibration_and_flows import fit_temperature

REASON = "single precision carries 7 digits"


def failed(
    monkeypatch,
    answer,
    right=0.0,
    *,
    cases=({"x": 1.5},),
    oracle=None,
    because=REASON,
    known=(),
    **tolerance,
):
    """Return the error for a student whose function returns ``answer`` instead of ``right``.

    An ``oracle`` computes what is right from the input.
    """
    task = Task(
        id="a-practical/a-task",
        name="a_task",
        points=1,
        cases=lambda rng: list(cases),
        probe=lambda answer, x: {"value": answer(x)},
        oracle=lambda x: {
            "value": Close(oracle(x) if oracle else right, because=because, **tolerance)
        },
        misconceptions=known,
    )
    monkeypatch.setattr(feedback, "find", lambda task_id: task)
    with pytest.raises(feedback.CheckFailed) as failure:
        feedback.check(task.id, answer if callable(answer) else lambda x: answer)
    return failure.value


def told(monkeypatch, answer, right=0.0, because=REASON, **task):
    return str(failed(monkeypatch, answer, right, because=because, **task))


def rows_of(message):
    """Return the answer's and the expected value as shown, each as a list of words."""
    given, _, right = message.partition("returned\n")[2].partition("\nexpected\n")
    return given.split(), right.partition("\n    (")[0].split()


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        (np.float64(1 / 3 + 1e-7), 1 / 3),
        (np.float64(1 / 3 + 1e-14), 1 / 3),
        (np.float32(0.1), 0.1),
        (np.array([1.0, 2.0 + 1e-9]), np.array([1.0, 2.0])),
        (np.array([1e6, 2.0 + 1e-6]), np.array([1e6, 2.0])),
    ],
    ids=["7 digits", "14 digits", "single precision", "an array", "of two sizes"],
)
def test_values_that_are_refused_never_look_equal(monkeypatch, answer, right):
    given, expected = rows_of(told(monkeypatch, answer, right))
    assert given != expected


@pytest.mark.parametrize(
    "values",
    [
        0.00025316789,
        np.float32(0.012345678),
        [0.00025316789, 0.098765432, 0.0],
        [1.2345678, -0.056789123],
        [5.4321e-7, 0.12345678],
        [[1234.5678], [0.5]],
    ],
)
def test_inputs_are_printed_with_five_significant_digits(values):
    """Whoever computes on the printed input gets the expected value, but for rounding."""
    printed = inputs(find("deep-ensembles/entropy"), None, {"x": np.asarray(values)})
    read = [float(n) for n in re.findall(r"[-+.e\d]*\d[-+.e\d]*", printed)]
    np.testing.assert_allclose(read, np.ravel(values), rtol=5.1e-5)


def test_few_digits_where_few_will_do(monkeypatch):
    given, expected = rows_of(told(monkeypatch, np.float64(2 / 3), 1 / 3))
    assert (given[-1], expected[-1]) == ("0.66667", "0.33333")


@pytest.mark.parametrize("wrong", [5.0, 1 + 1e-8, np.nan])
def test_an_entry_that_a_long_array_hides_is_shown(monkeypatch, wrong):
    right = np.ones((10, 10))
    answer = right.copy()
    answer[4, 5] = wrong
    message = told(monkeypatch, answer, right, atol=1e-9)
    given, expected = rows_of(message)
    assert given[0] == expected[0] == "value[4,"
    assert given != expected


def test_a_long_array_is_shown_where_it_differs_in_sight(monkeypatch):
    message = told(monkeypatch, np.zeros(100), np.ones(100), rtol=1e-5)
    assert "value = [0. 0. ... 0. 0.]" in message


def test_the_tolerance_stands_where_the_values_agree_to_some_digits(monkeypatch):
    assert REASON in told(monkeypatch, np.float64(1.0005), 1.0, rtol=1e-5)
    for far in (28.1, -1.0, 1.1, np.nan):
        assert REASON not in told(monkeypatch, np.float64(far), 1.0, rtol=1e-5)
    one_of_two = np.array([1.0001, 3.0])
    assert REASON not in told(monkeypatch, one_of_two, np.ones(2), rtol=1e-5)


def test_the_tolerance_stands_where_it_is_nearly_met(monkeypatch):
    reason = "six standard errors"
    for value, stands in ((1.5, True), (4.0, False)):
        message = told(monkeypatch, np.float64(value), 1.0, reason, atol=0.1)
        assert (reason in message) is stands


def test_the_reason_stands_where_a_value_must_be_met_exactly(monkeypatch):
    message = told(monkeypatch, 0.0, 1.0, "the same generator, the same draw")
    assert "exactly: the same generator, the same draw" in message


def test_a_number_out_of_all_proportion_gets_a_word(monkeypatch):
    for number, stands in ((1e15, True), (1e5, False)):
        message = told(monkeypatch, np.full(3, number), np.ones(3), rtol=1e-5)
        assert ("hardly has an inverse" in message) is stands
    known = (Misconception(lambda x: np.full(3, 1e15), "you divide."),)
    named = told(monkeypatch, np.full(3, 1e15), np.ones(3), known=known, rtol=1e-5)
    assert "You get this if you divide." in named
    assert "hardly has an inverse" not in named


def test_what_a_singular_matrix_raises_gets_a_word(monkeypatch):
    message = told(monkeypatch, lambda x: np.linalg.inv(np.zeros((2, 2))), 1.0)
    assert "raised LinAlgError" in message
    assert "no inverse" in message


def test_a_name_of_a_cell_that_was_not_run_gets_a_word(monkeypatch):
    message = told(monkeypatch, lambda x: not_run(x), 1.0)  # noqa: F821
    assert "name 'not_run' is not defined" in message
    assert "Run the cells above" in message


def test_a_lost_graph_gets_a_word(monkeypatch):
    def answer(x):
        raise RuntimeError("element 0 of tensors does not require grad")

    assert "create_graph" in told(monkeypatch, answer, 1.0)


def test_another_kind_of_value_is_named(monkeypatch):
    expected = "an array of shape (2,) of floating-point numbers is expected"
    for value, found in (
        ([1.0, 1.0], "The value is a list"),
        ((1.0, 1.0), "The value is a tuple"),
        (np.ones(2, dtype=int), "The value has the dtype int64"),
        (np.ones(2, dtype=bool), "The value has the dtype bool"),
    ):
        said = " ".join(told(monkeypatch, value, np.ones(2)).split())
        assert f"{found}; {expected}" in said
    assert "The value is an int; a single floating-point number is expected" in told(
        monkeypatch, 1, 1.0
    )


def test_a_property_that_an_answer_lacks_is_told_in_a_sentence():
    """No value that is yes or no is shown as a number."""
    told = set()
    for task in TASKS:
        rights = [
            task.oracle(**case)
            for seed in range(2)
            for case in task.cases(np.random.default_rng(seed))
        ]
        told |= {
            key
            for key in rights[0]
            if all(yes(right[key]) for right in rights) and "gradient" not in key
        }
    assert told == set(PROPERTIES)

    def kept(logits, labels):
        log_t = torch.zeros((), dtype=torch.float64, requires_grad=True)
        return fit_temperature(logits, labels) * log_t.exp()

    with pytest.raises(feedback.CheckFailed) as failure:
        feedback.check("calibration-and-flows/fit-temperature", kept)
    message = " ".join(str(failure.value).split())
    assert "The result still requires gradients. Detach it with `.detach()`." in message
    assert "returned" not in message


def yes(close):
    """Return whether the right value is 1, exactly."""
    return (
        np.shape(close.value) == ()
        and close.near(np.ones(())).all()
        and not (close.rtol or close.atol)
    )


def test_an_input_that_is_no_argument_is_explained(monkeypatch):
    message = " ".join(told(monkeypatch, lambda z: 0.0, 1.0).split())
    assert "yours has no argument called x." in message
    assert "no argument" not in told(monkeypatch, lambda x: 0.0, 1.0)
    assert "no argument" not in told(monkeypatch, lambda *inputs: 0.0, 1.0)


def test_a_task_says_what_its_inputs_are_made_into():
    with pytest.raises(feedback.CheckFailed) as failure:
        feedback.check("calibration-and-flows/compose", lambda layers, z: (z, z))
    message = " ".join(str(failure.value).split())
    assert "the others map z to z + strengths[k] · tanh(z + shifts[k])" in message


DISTANCES = {
    "Abs": lambda y, mu: sympy.Abs(y - mu),
    "Max": lambda y, mu: sympy.Max(y - mu, mu - y),
    "Max and Min": lambda y, mu: sympy.Max(y, mu) - sympy.Min(y, mu),
    "Piecewise": lambda y, mu: sympy.Piecewise((y - mu, y >= mu), (mu - y, True)),
    "sign": lambda y, mu: (y - mu) * sympy.sign(y - mu),
    "root": lambda y, mu: sympy.sqrt((y - mu) ** 2),
    "Heaviside": lambda y, mu: (y - mu) * (2 * sympy.Heaviside(y - mu) - 1),
}


@pytest.mark.parametrize("distance", DISTANCES.values(), ids=DISTANCES)
def test_an_exact_expression_is_proved_however_it_is_written(distance, capsys):
    def laplace_nll_expression(y, mu, b):
        return sympy.log(2) + sympy.log(b) + distance(y, mu) / b

    check("deep-ensembles/laplace-nll-expression", laplace_nll_expression)
    assert "✓" in capsys.readouterr().out


@pytest.mark.parametrize(
    "distance",
    [
        lambda y, mu: sympy.Abs(y - mu) * sympy.Float("1.00000000000001"),
        lambda y, mu: sympy.Piecewise((y - mu, y > mu), (mu - y, y < mu), (1, True)),
    ],
    ids=["rounded", "at the mean"],
)
def test_an_expression_whose_numbers_agree_is_not_yet_proved(distance):
    def laplace_nll_expression(y, mu, b):
        return sympy.log(2 * b) + distance(y, mu) / b

    with pytest.raises(CheckFailed, match="could not prove"):
        check("deep-ensembles/laplace-nll-expression", laplace_nll_expression)


def test_the_smallest_input_that_shows_it_is_shown_after_the_sentence():
    def gaussian_nll(mean, std, y):
        right = jnp.log(2 * jnp.pi) / 2 + jnp.log(std) + ((y - mean) / std) ** 2 / 2
        return 2 * right

    with pytest.raises(CheckFailed) as failure:
        check("deep-ensembles/gaussian-nll", gaussian_nll)
    said = " ".join(str(failure.value).split())
    assert "twice what is expected, on every input. on the input mean = [" in said
    sizes = {
        case["mean"].size
        for case in find("deep-ensembles/gaussian-nll").cases(np.random.default_rng(0))
    }
    shown = re.search(r"nll = \[(.*?)\] expected", said)[1].split()
    assert len(shown) == min(sizes) < max(sizes)


@pytest.mark.parametrize("smallest", [1e-6, 1e6])
def test_an_ordinary_input_is_shown_before_a_smaller_extreme_one(monkeypatch, smallest):
    cases = [{"x": np.array(x)} for x in ([1.0, 2.0], [smallest])]
    shown = told(monkeypatch, lambda x: 2 * x, cases=cases, oracle=lambda x: x)
    assert "x = [1. 2.]" in shown
    # A mistake that only extreme numbers show is shown with these.
    shown = told(
        monkeypatch,
        lambda x: x if 0.1 < x[0] < 10 else 2 * x,
        cases=cases,
        oracle=lambda x: x,
    )
    assert "x = [1. 2.]" not in shown
    assert "on the input\n    x = [1" in shown


def test_a_gradient_is_called_one():
    with pytest.raises(CheckFailed) as failure:
        check(
            "deep-ensembles/gaussian-nll",
            lambda mean, std, y: (
                -jax.scipy.stats.norm.logpdf(y, mean, jax.lax.stop_gradient(std))
            ),
        )
    assert (
        "the gradient with respect to `std`"
        in " ".join(str(failure.value).split()).lower()
    )


def test_an_expected_zero_makes_no_number_large(monkeypatch):
    assert "So large" not in told(monkeypatch, 1.0, 0.0, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("given", "right", "marked"),
    [
        ("y = [1. 2. 4.]", "y = [1. 3. 5.]", ["2.", "3."]),
        ("y = [[0.1]\n     [0.2]]", "y = [[0.1]\n     [nan]]", ["0.2", "nan"]),
        ("y = 1.", "y = 1.", []),
        ("y = [1. 2.]", "y = [1. 2. 3.]", []),
    ],
)
def test_the_first_difference_is_marked_in_both_values(given, right, marked):
    shown = Comparison("x = 1", "f", given, right)._repr_html_()
    assert re.findall("<mark>(.*?)</mark>", shown) == marked


def test_markup_escapes_what_students_write():
    shown = Comparison("x = 1", "f", "y = '<b>'", "y = [<i>]")._repr_html_()
    assert "<b>" not in shown
    assert "<i>" not in shown


def unwritten(x):
    raise NotImplementedError


def raises(x):
    raise ValueError(f"<b>{x}</b>")


def of_another_kind(x):
    return "a text"


@pytest.mark.parametrize("off", [1e-9, 1e-3, 1.0, 1e12, np.nan])
def test_a_difference_on_any_input_of_any_task_can_be_shown(off):
    """Also those that are seldom the smallest: some tolerances are arrays."""
    for task in TASKS:
        for case in task.cases(np.random.default_rng(0)):
            right = dict(task.oracle(**case))
            values = {key: np.array(close.value + off) for key, close in right.items()}
            for key, close in right.items():
                mismatch = Mismatch("value", 0, key, values[key], close)
                shown = example(task, lambda: None, mismatch, case, values, right)
                assert "on the input" in str(shown), (task.id, key)
                told = re.search(r"\(to within ([^:]*):", str(shown))
                near = re.findall(r"(\d[\d.e+-]*)( of)?", told[1]) if told else []
                for number, of_value in near:
                    known = close.rtol, np.min(close.atol), np.max(close.atol)
                    allowed = known[:1] if of_value else known[1:]
                    assert np.isclose(float(number), allowed, 0.05, 0).any()


def test_an_array_of_three_dimensions_stays_in_one_piece(monkeypatch):
    cases = [{"x": np.arange(8.0).reshape(2, 2, 2)}]
    error = failed(monkeypatch, raises, cases=cases)
    assert "\n\n" in str(error).partition("on the input")[2].partition("Stuck?")[0]
    (shown,) = re.findall("<pre[^>]*>(    x = .*?)</pre>", error.html, re.S)
    assert "7." in shown


@pytest.mark.parametrize(
    "answer", [None, unwritten, raises, of_another_kind, np.zeros_like]
)
def test_every_message_has_markup_with_the_same_words(monkeypatch, answer):
    error = failed(monkeypatch, answer, 1.0)
    plain = str(error).replace("`", "").split()
    in_line = re.sub("</?(code|mark)>|`", "", error.html)
    assert html.unescape(re.sub("<[^>]+>", " ", in_line)).split() == plain[2:]
    assert "<b>1" not in error.html
    # Indented lines, such as those of an input, keep their columns.
    blocks = re.findall("<pre[^>]*>(.*?)</pre>", in_line, re.S)
    assert all(html.unescape(each) in str(error).replace("`", "") for each in blocks)
    assert any("x = 1.5" in each for each in blocks) == ("x = 1.5" in str(error))
