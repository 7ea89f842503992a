"""Real passes: a real kernel in the sandbox, judged by nbval outside it."""

import dataclasses
import os
from pathlib import Path

import pytest
from environments import limited, material_of, prepared

from grading.execution import runner
from grading.execution.canary import canary
from grading.execution.grader import STOOD_IN, grade
from grading.execution.passes import PROGRESS, PassResult
from grading.record import Verdict
from grading.sandbox.bubblewrap import Limits
from grading.sandbox.zygote import NAME
from grading.submissions.answers import Added, Answer, Answers
from project.errors import CourseError

ROOT = Path(__file__).parents[2]
LAB = "bayes_by_backprop_a"
FIRST, SECOND, THIRD, FOURTH, FIFTH = (
    f"bayes-by-backprop/{name}"
    for name in (
        "reparametrise",
        "log-posterior",
        "log-prior",
        "log-likelihood",
        "draw-loss",  # calls the other four
    )
)
pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stage")
    with prepared(folder, LAB, Limits(task=20.0, submission=120.0)) as environment:
        yield environment


@pytest.fixture(scope="module")
def practical(tmp_path_factory):
    return material_of(LAB, tmp_path_factory.mktemp("expected"))


@pytest.fixture
def graded(practical, environment):
    def run(changes=None, added=(), tasks=None, **limits):
        tasks = tasks or (FIRST, SECOND, THIRD)
        sources = {task: practical.reference[task] for task in tasks} | (changes or {})
        own = tuple(
            Added(f"added--{n:04}", before.replace("/", "--"), source)
            for n, (before, source) in enumerate(added)
        )
        answers = Answers({t: Answer(t, s) for t, s in sources.items()}, {}, own)
        result = grade(answers, practical, limited(environment, **limits))
        result_by = {verdict.task: verdict for verdict in result.verdicts}
        return result, {task: result_by[task] for task in sources}

    return run


def statuses(verdicts):
    return [verdict.status for verdict in verdicts.values()]


@pytest.mark.parametrize("name", ["calibration_and_flows_a", "calibration_and_flows_b"])
def test_the_reference_gets_full_marks(name, environment, tmp_path):
    canary(material_of(name, tmp_path, mistakes=False), environment)


def test_a_reference_that_fails_stops_the_run(practical, environment):
    broken = practical.reference[FIRST].replace("return", "return 2 *")
    assert broken != practical.reference[FIRST]
    spoilt = dataclasses.replace(
        practical, reference={**practical.reference, FIRST: broken}
    )
    with pytest.raises(CourseError, match=rf"full marks.*{FIRST}"):
        canary(spoilt, environment)


def test_missing_answers_are_wrong_and_the_rest_is_judged(graded):
    result, verdicts = graded()
    assert statuses(verdicts) == ["right", "right", "right"]
    others = [v for v in result.verdicts if v.task not in verdicts]
    assert {(v.status, v.reason) for v in others} == {
        ("not-attempted", "Its cell is missing.")
    }
    assert result.flags == ()


def test_what_an_answer_leaves_behind_is_named(practical, graded):
    seeds = practical.reference[FIRST].replace(
        "return", "__import__('random').seed(0)\n    return"
    )
    _, verdicts = graded({FIRST: seeds})
    assert statuses(verdicts) == ["wrong", "right", "right"]
    assert "Python's global random generator" in verdicts[FIRST].reason


def test_a_wrong_early_task_does_not_spoil_those_that_build_on_it(practical, graded):
    wrong = practical.reference[FIRST].replace("return", "return 2 *")
    tasks = (FIRST, SECOND, THIRD, FOURTH, FIFTH)
    result, verdicts = graded({FIRST: wrong}, tasks=tasks)
    assert statuses(verdicts) == ["wrong", "right", "right", "right", "right"]
    assert (verdicts[FIFTH].attempt, verdicts[FIFTH].reason) == (2, STOOD_IN)
    assert verdicts[SECOND].attempt == 1
    assert result.flags == ()


@pytest.mark.long
def test_tasks_that_lean_on_one_another_get_a_pass_each(practical, graded):
    """If only one answer, on which others depend, is wrong, no other task loses a point."""
    wrong = practical.reference[FIRST].replace("return", "return 2 *")
    result, _ = graded({FIRST: wrong}, tasks=tuple(practical.reference))
    lost = [verdict.task for verdict in result.verdicts if verdict.status != "right"]
    assert lost == [FIRST]


def test_cells_cannot_spell_out_what_stands_in(practical, graded):
    """Exceptions could encode the reference's source; a second pass reports neither type nor cell."""
    kinds = ["KeyError", "ValueError", "TypeError", "IndexError"]
    spell = [
        (FIFTH, f"if 'draws' not in dir(): raise {kind}('{n}')")
        for n, kind in enumerate(kinds)
    ]
    wrong = practical.reference[FIRST].replace("return", "return 2 *")
    # This answer is right only if everything is run, and with the reference in FIRST's place.
    needing = "for factor in [1.0]: print()\n" + practical.reference[FIFTH].replace(
        "return complexity", "return factor * complexity"
    )
    assert "factor *" in needing
    tasks = (FIRST, SECOND, THIRD, FOURTH, FIFTH)
    result, verdicts = graded({FIRST: wrong, FIFTH: needing}, added=spell, tasks=tasks)
    assert verdicts[FIFTH].attempt == 2
    result = dataclasses.replace(
        result, flags=tuple(f for f in result.flags if f.code != "acting-code")
    )
    assert [item.code for item in result.flags] == ["added-raised"]
    assert not any(kind in repr(result) for kind in kinds)


def test_a_second_pass_forgives_nothing_of_its_own(practical, graded):
    """A task that is wrong itself stays wrong, even if it also uses a wrong answer."""
    wrong = practical.reference[FIRST].replace("return", "return 2 *")
    itself = practical.reference[FIFTH].replace(
        "return complexity -", "return complexity +"
    )
    assert itself != practical.reference[FIFTH]
    tasks = (FIRST, SECOND, THIRD, FOURTH, FIFTH)
    _, verdicts = graded({FIRST: wrong, FIFTH: itself}, tasks=tasks)
    assert statuses(verdicts) == ["wrong", "right", "right", "right", "wrong"]
    assert verdicts[FIFTH].attempt == 2


def test_the_reference_that_stands_in_cannot_be_taken_along(practical, graded):
    """In the second pass an answer can read the source of an earlier task, but not send it."""
    spy = practical.reference[FIFTH].split('"""')[0].rstrip() + (
        f"\n    text = repr({practical.keys[FIRST].name}.__code__.co_consts)\n"
        "    raise type('Stolen_' + text, (Exception,), {})(text)\n"
    )
    tasks = (FIRST, SECOND, THIRD, FOURTH, FIFTH)
    result, verdicts = graded({FIRST: "1 / 0", FIFTH: spy}, tasks=tasks)
    assert verdicts[FIFTH].attempt == 2
    assert verdicts[FIFTH].reason == "Calling it raised an exception."
    assert "Stolen" not in repr(result)


EXACT, KL = "bayes-by-backprop/exact-loss", "bayes-by-backprop/gaussian-kl"
# An answer that calls another task, on which its own does not depend.
CALLS = """
def exact_loss(mu, rho, x, y, *, noise_std, prior_std):
    variance = F.softplus(rho) ** 2
    misfit = ((y - mu * x) ** 2 + x**2 * variance) / (2 * noise_std**2)
    nll = misfit + 0.5 * math.log(2 * math.pi * noise_std**2)
    return nll.sum() + other(mu, rho, prior_std)
"""


def test_a_task_that_is_not_solved_does_not_stand_in_for_another(practical, graded):
    """It does for tasks that depend on it; a dependency made by the student is flagged."""
    direct = CALLS.replace("other", "gaussian_kl")
    _, verdicts = graded({EXACT: direct})
    assert statuses(verdicts) == ["right", "right", "right", "wrong"]
    tried = {KL: practical.reference[KL].replace("0.5", "0.4")}
    for answer, added in ((direct, []), (CALLS, [(EXACT, "other = gaussian_kl")])):
        result, verdicts = graded(tried | {EXACT: answer}, added=added)
        assert verdicts[KL].status == "wrong"
        assert verdicts[EXACT].status == "right"
        assert [(f.code, f.where) for f in result.flags] == [("stood-in", EXACT)]
        assert result.flags[0].message.endswith("(gaussian-kl).")


def test_an_exception_in_one_cell_leaves_the_others(graded):
    _, verdicts = graded({SECOND: "1 / 0"})
    assert statuses(verdicts) == ["right", "wrong", "right"]
    assert verdicts[SECOND].reason == "Its cell raised ZeroDivisionError in line 1."


def test_a_cell_that_defines_the_answer_before_it_breaks_is_judged(practical, graded):
    _, verdicts = graded({SECOND: practical.reference[SECOND] + "\n1 / 0"})
    assert statuses(verdicts) == ["right", "right", "right"]


def test_a_hanging_answer_costs_its_own_points(graded):
    hangs = "def log_posterior(w, mu, rho):\n    while True: pass"
    _, verdicts = graded({SECOND: hangs}, task=4.0)
    assert statuses(verdicts) == ["right", "wrong", "right"]
    assert verdicts[SECOND].reason == "Its code was stopped: it ran for more than 4 s."
    assert verdicts[THIRD].attempt == 2
    assert verdicts[THIRD].reason == ""  # it uses none of the others


def test_a_cell_that_hangs_costs_its_own_points(graded):
    """The others are judged right before it is run."""
    _, verdicts = graded({SECOND: "while True: pass"}, task=4.0)
    assert statuses(verdicts) == ["right", "wrong", "right"]
    assert verdicts[SECOND].reason == "Its code was stopped: it ran for more than 4 s."
    assert (verdicts[THIRD].attempt, verdicts[THIRD].reason) == (1, "")


def test_a_dead_kernel_is_noticed_at_once(graded):
    _, verdicts = graded({SECOND: "import os; os._exit(0)"}, task=100.0)
    assert statuses(verdicts) == ["right", "wrong", "right"]
    assert verdicts[SECOND].reason == "Its code was stopped: its kernel died."
    assert verdicts[SECOND].seconds < 20


def test_a_cell_of_ones_own_that_kills_is_left_out(graded):
    added = [(SECOND, "import os; os.kill(os.getpid(), 9)")]
    result, verdicts = graded({THIRD: "x = 1"}, added=added)
    assert statuses(verdicts) == ["right", "right", "wrong"]
    assert [(f.code, f.where) for f in result.flags] == [
        ("added-stopped", "added--0000")
    ]
    result, verdicts = graded(added=added)  # no answer needs the cell, so it is not run
    assert statuses(verdicts) == ["right", "right", "right"]
    assert result.flags == ()


def test_what_a_stopped_cell_defines_can_still_be_used(practical, graded):
    """An added cell contains a helper and a training loop that uses it."""
    helper = "def spread(rho):\n    return torch.nn.functional.softplus(rho)\n"
    own = helper + "twice = partial(torch.mul, 2.0)\nwhile True: spread(torch.ones(()))"
    answer = practical.reference[FIRST].replace("F.softplus", "spread")
    answer = answer.replace("return ", "return 0.5 * twice(1.0 * (", 1) + "))"
    assert "spread(" in answer
    imports = [(FIRST, "from functools import partial")]
    added = [*imports, (FIRST, own)]
    result, verdicts = graded({FIRST: answer}, added=added, task=6.0)
    assert statuses(verdicts) == ["right", "right", "right"], verdicts
    assert result.flags == ()  # the training is not run
    # If an answer is wrong, the cell is run, and reduced to definitions once it was stopped.
    own = own.replace("while", "for factor in [1.0]: print()\nwhile")
    needing = "for one in [1.0]: print()\n" + answer.replace(
        "return ", "return one * ", 1
    )
    added = [*imports, (FIRST, own)]
    result, verdicts = graded({FIRST: needing}, added=added, task=6.0)
    assert statuses(verdicts) == ["right", "right", "right"], verdicts
    result = dataclasses.replace(
        result, flags=tuple(f for f in result.flags if f.code != "acting-code")
    )
    assert [(f.code, f.where) for f in result.flags] == [
        ("added-stopped", "added--0001")
    ]


def test_a_name_that_is_not_known_is_said(practical, graded):
    answer = practical.reference[FIRST].replace("F.softplus", "my_softplus")
    _, verdicts = graded({FIRST: answer})
    assert "NameError about `my_softplus`" in verdicts[FIRST].reason


@pytest.mark.long
def test_the_clock_of_the_whole_notebook_ends_it(practical, graded):
    hanging = dict.fromkeys((FIRST, SECOND, THIRD), "while True: pass")
    _, verdicts = graded(hanging, task=6.0, submission=9.0)
    assert "right" not in statuses(verdicts)
    assert verdicts[THIRD].status == "not-reached"
    assert verdicts[THIRD].reason == "The time for the whole notebook was used up."


def test_values_that_a_student_displays_do_not_count(graded):
    forged = (
        "from IPython.display import publish_display_data\n"
        "publish_display_data({'application/vnd.known-unknowns.values+json':\n"
        f"    {{'task': '{SECOND}', 'values': [{{}}]}}}})\n"
    )
    result, verdicts = graded({SECOND: forged})
    assert verdicts[SECOND].status == "wrong"
    assert [f.code for f in result.flags] == ["forged-values"]


def test_nothing_is_left_behind(graded, environment):
    runtime_dirs = environment.runtime_dirs[LAB]
    before = set(Path("/tmp").glob(f"ku-{os.getpid()}-*"))
    assert runtime_dirs in before
    graded({SECOND: "import os; os._exit(0)"})
    assert set(Path("/tmp").glob(f"ku-{os.getpid()}-*")) == before
    assert [path.name for path in runtime_dirs.iterdir()] == [NAME]


def test_a_patch_by_a_wrong_answer_costs_no_other(graded):
    """Code that may affect other answers is not run in the pass that judges those first."""
    patch = "import math\ntorch.distributions.Normal.log_prob = None\n1 / 0"
    _, verdicts = graded({FIRST: patch})
    assert statuses(verdicts) == ["wrong", "right", "right"]
    assert {verdicts[task].attempt for task in (SECOND, THIRD)} == {1}


def test_a_thread_that_outlives_its_cell_costs_no_other(practical, graded):
    late = (
        "import os, threading, time\n"
        "def wait():\n"
        "    while 'log_prior' not in globals():\n"
        "        time.sleep(0.0001)\n"
        "    os._exit(1)\n"
        "threading.Thread(target=wait, daemon=True).start()\n"
    )
    _, verdicts = graded({SECOND: late + practical.reference[SECOND]})
    assert statuses(verdicts) == ["right", "right", "right"]


def test_folders_nested_beyond_pythons_reach_are_removed(tmp_path):
    box, here = tmp_path / "box", os.getcwd()
    (box / "s").mkdir(parents=True)
    try:
        os.chdir(box / "s")
        for _ in range(1500):
            os.mkdir("d" * 100)
            os.chdir("d" * 100)
    finally:
        os.chdir(here)
    runner.remove(box)
    assert not box.exists()


def test_a_pass_that_is_killed_has_noted_the_cell_that_it_sent_last(tmp_path):
    result = PassResult(started=True)
    result.save(tmp_path)
    assert PassResult.load(tmp_path).running == ""
    for cell in ("one", "two"):
        result.send(cell, tmp_path)
    assert PassResult.load(tmp_path) == result
    (tmp_path / PROGRESS).write_text("")  # killed before it was written
    assert PassResult.load(tmp_path).running == ""


def test_a_pass_that_is_killed_has_noted_the_verdicts_by_then(tmp_path):
    tasks = ("a/one", "a/two")
    result = PassResult({task: Verdict(task, 1) for task in tasks}, started=True)
    result.save(tmp_path)
    result.send("a--one--probe", tmp_path)
    result.decide(Verdict("a/one", 1, "right"), 2.5, tmp_path)
    result.send("a--two--probe", tmp_path)
    killed = PassResult.load(tmp_path)
    assert killed == result
    assert (killed.running, killed.excused) == ("a--two--probe", 2.5)
    progress = tmp_path / PROGRESS
    whole = progress.read_text("utf-8")
    torn = whole.splitlines()[1][:40]  # killed while it was written
    progress.write_text(whole + torn, "utf-8")
    assert PassResult.load(tmp_path) == result
    result.excused = 3.0
    result.save(tmp_path)
    assert PassResult.load(tmp_path) == result
    result.finished, result.excused = True, 3.5
    result.save(tmp_path)
    assert PassResult.load(tmp_path) == result


WRONG = {FIRST: "def reparametrise(mu, rho, epsilon):\n    return mu"}
ALL_FIVE = (FIRST, SECOND, THIRD, FOURTH, FIFTH)


def test_own_cells_that_take_long_do_not_use_up_the_time_of_other_passes(graded):
    """There is time to run three trainings once, but not twice."""
    added = [(FIRST, "import time\nx = time.sleep(6)")] * 3
    _, verdicts = graded(WRONG, added=added, tasks=ALL_FIVE, submission=34.0)
    assert statuses(verdicts) == ["wrong", *["right"] * 4]
    assert verdicts[FIFTH].attempt == 2


def test_what_was_to_be_judged_again_is_not_wrong_when_the_time_is_up(graded):
    """Another pass is due for one task as a cell acts, and for one as it uses a wrong answer."""
    added = [(FIRST, "import sys, time\nx = time.sleep(6)")]
    _, verdicts = graded(WRONG, added=added, tasks=ALL_FIVE, submission=5.0)
    assert statuses(verdicts) == ["not-reached", *["right"] * 3, "not-reached"]
    assert "time for the whole notebook" in verdicts[FIFTH].reason
