"""Public examples: inputs of the notebook's own check, kept from run to run."""

import re

import numpy as np
from click.testing import CliRunner
from graded_class import FILE, ROOT, write_submissions
from labs import COURSE
from pages import text_of

from commands import main
from course.task import Close, Misconception, Task, find, tasks_of
from grading import app
from grading.execution.examples import Example, Shown, examples, shown
from grading.record import Result, Verdict

KL = "bayes-by-backprop/gaussian-kl"
PINBALL = "acting-on-uncertainty/pinball-loss"


def test_examples_are_those_of_the_check_and_kept(tmp_path, monkeypatch):
    lab = COURSE.lab("acting_on_uncertainty_a")
    tasks = tasks_of(lab.stem)
    wanted = [(id_, "") for id_ in tasks]
    hint = tasks[PINBALL].misconceptions[0].hint
    wanted.append((PINBALL, hint))
    found = examples([lab], tmp_path, wanted[1:])
    assert set(found) == set(tasks)
    assert found == examples([lab], tmp_path, wanted[-1:])
    found = examples([lab], tmp_path, wanted)  # more is added to the same file
    (path,) = tmp_path.iterdir()
    assert path.stat().st_size < 20_000
    for id_, task in tasks.items():
        hints = ["", hint] if id_ == PINBALL else [""]
        assert found[id_] == Example(tuple(task.hints), shown(task, hints))
        assert found[id_].of("").inputs
    monkeypatch.setattr("grading.execution.examples._computed", None)
    assert examples([lab], tmp_path, wanted) == found


def test_a_check_that_cannot_run_costs_only_the_examples(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.executable", "/bin/false")
    assert examples([COURSE.lab("acting_on_uncertainty_a")], tmp_path) == {}
    assert not list(tmp_path.iterdir())


def test_small_expected_values_keep_their_digits():
    task = Task(
        "f",
        1,
        lambda rng: [{"x": np.array([1.5])}],
        lambda answer, x: {"value": answer(x)},
        lambda x: {"value": Close(x * [1e-7, 0.00025316789], because="exact")},
    )
    assert "[1.50000e-07 3.79752e-04]" in shown(task, [""])[""].expected


def a_task(*misconceptions):
    """The sum of squares; a mean is not told apart by one number, nor a sum by ones."""
    inputs = [[1.0], [2.0], [1e-6, 1e-6], [0.5, 0.5, 3.0], [1.0, 1.0]]
    known = {
        "you take the mean.": lambda x: np.mean(x**2),
        "you forget the square.": lambda x: np.sum(x),
        "you do neither.": lambda x: np.mean(x),
        "you return what was given.": lambda x: x,
        "you fail.": lambda x: 1 // 0,
    }
    return Task(
        "f",
        1,
        lambda rng: [{"x": np.array(x)} for x in inputs],
        lambda answer, x: {"value": answer(x)},
        lambda x: {"value": Close(np.sum(x**2), rtol=1e-9, because="exact")},
        [Misconception(known[hint], hint) for hint in misconceptions or known],
    )


def test_a_mistake_is_shown_on_the_simplest_input_on_which_it_differs():
    task = a_task()
    found = shown(task, ["", *(one.hint for one in task.misconceptions)])
    mean, sum_ = found["you take the mean."], found["you forget the square."]
    assert mean == Shown("    x = [1. 1.]", "    value = 2.", "    value = 1.")
    assert sum_ == Shown("    x = [2.]", "    value = 4.", "    value = 2.")
    assert "shape (1,)" in found["you return what was given."].mistaken
    # The others are shown where most mistakes differ.
    three = Shown("    x = [0.5 0.5 3. ]", "    value = 9.5")
    assert found[""] == found["you fail."] == three
    few = a_task("you take the mean.")
    assert shown(few, [""])[""].inputs == "    x = [1. 1.]"


def test_the_mean_of_the_kl_is_not_shown_on_a_single_weight():
    task = find(KL)
    hint = next(m.hint for m in task.misconceptions if "average" in m.hint)
    found = shown(task, ["", hint])
    assert "mu = [[" in found[hint].inputs
    assert found[""].inputs == found[hint].inputs
    assert "kl = " in found[hint].expected
    assert found[hint].mistaken != found[hint].expected


def test_the_report_of_a_class_shows_what_its_mistake_does(tmp_path, monkeypatch):
    """A made-up grade stands in for that of a kernel."""
    (hint,) = (m.hint for m in find(KL).misconceptions if "average" in m.hint)
    verdict = Verdict(KL, 2, "wrong", hint=hint, key=f"{KL}#1")
    done = Result(
        "ada", "bayes_by_backprop", FILE, "0" * 64, verdicts=(verdict,), part="a"
    )
    monkeypatch.setattr(app, "_grade", lambda *_: ([done], 0))
    monkeypatch.chdir(ROOT)
    write_submissions(tmp_path / "in", 1)
    given = ["grade", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    ran = CliRunner().invoke(main, given)
    assert ran.exit_code == 0, ran.output
    page = text_of((tmp_path / "out" / "report.html").read_text("utf-8"))
    asked = page.partition("A question to ask the class")[2]
    assert re.search(
        r"mu = \[\[.* Expected kl = 12\.\d+ With this mistake kl = 2\.\d", asked
    )
    (feedback,) = tmp_path.glob("out/feedback/*/*.html")
    text = text_of(feedback.read_text("utf-8"))
    assert re.search(r"For this input mu = \[\[.* the check expects kl = 12", text)
