"""Errors of a student's own code, in a real kernel, and calls that a check cannot take."""

import jax
import jax.numpy as jnp
import nbformat
import pytest
from nbclient import NotebookClient

from course.errors import CELLS_ABOVE
from course.feedback import CheckFailed, WrongUse, check
from course.task import find
from solutions.which_method import mimo_inputs


@pytest.mark.parametrize(
    ("code", "advised"),
    [
        ("history = fitted(3)", True),
        ("def f():\n    x += 1\nf()", False),  # an UnboundLocalError
        ("1 / 0", False),
    ],
)
def test_a_name_from_a_cell_that_was_not_run_points_to_the_cells_above(code, advised):
    cells = [
        nbformat.v4.new_code_cell(text) for text in ("from course import check", code)
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, allow_errors=True, kernel_name="python3").execute()
    (error,) = notebook.cells[1].outputs
    shown = "\n".join(error.traceback)
    assert (CELLS_ABOVE in shown) == advised
    assert CELLS_ABOVE not in error.evalue
    assert error.evalue in shown


def test_exchanged_arguments_get_a_sentence():
    def entropy(probs):
        return probs

    with pytest.raises(WrongUse) as wrong:
        check(entropy, "deep-ensembles/entropy")
    assert 'Write check("deep-ensembles/entropy", entropy).' in str(wrong.value)
    assert wrong.value._render_traceback_() == [str(wrong.value)]
    with pytest.raises(WrongUse, match="id of a task"):
        check(entropy, entropy)
    with pytest.raises(WrongUse, match="id of a task"):
        check.hint(entropy)


def test_missing_arguments_get_a_sentence():
    with pytest.raises(WrongUse, match=r'as in check\("deep-ensembles/entropy", entr'):
        check()
    with pytest.raises(WrongUse, match=r'check\("warm-up/rounded", rounded\)'):
        check("warm-up/rounded")
    with pytest.raises(WrongUse, match=r'as in check\.hint\("deep-ensembles/entropy"'):
        check.hint()


@pytest.mark.parametrize("level", ["2", 2.0, True, [1]])
def test_a_level_that_is_no_whole_number_gets_a_sentence(level):
    with pytest.raises(WrongUse, match="The level of a hint is a whole number"):
        check.hint("warm-up/rounded", level)


def test_an_instance_for_a_class_and_a_class_for_a_function_get_a_sentence():
    task = find("bayes-by-backprop/bayesian-linear")
    instance = type(task.name, (), {"__call__": lambda self: 1})()
    with pytest.raises(CheckFailed, match="an instance of it: write check"):
        check(task.id, instance)
    with pytest.raises(CheckFailed, match="`rounded` is a class; a function is asked"):
        check("warm-up/rounded", type("rounded", (), {}))


def test_a_gradient_is_not_said_to_be_returned():
    def wrong(mean, std, y):
        nll = jnp.log(std) + 0.5 * ((y - mean) / std) ** 2 + 0.5 * jnp.log(2 * jnp.pi)
        return nll + mean - jax.lax.stop_gradient(mean)

    with pytest.raises(CheckFailed, match=r"`gaussian_nll` gave\n +gradient with"):
        check("deep-ensembles/gaussian-nll", wrong)
    with pytest.raises(CheckFailed, match=r"`gaussian_nll` returned\n +nll"):
        check("deep-ensembles/gaussian-nll", lambda mean, std, y: mean + std + y)


def test_targets_of_another_shape_are_not_said_to_be_unshuffled():
    def wrong(x, targets, members, repetition, *, key):
        inputs, chosen = mimo_inputs(x, targets, members, repetition, key=key)
        return inputs, chosen[:, 0]

    with pytest.raises(CheckFailed, match="The value `targets` is an array of shape"):
        check("which-method/mimo-inputs", wrong)
