"""Clocks on a busy machine: time in which other programs have the processor is not counted."""

import contextlib
import dataclasses
import os
import sys
import threading
import time
from pathlib import Path

import nbformat
import psutil
import pytest
from busy import busy_loops
from environments import limited, material_of, prepared

from grading.execution import runner
from grading.execution.grader import grade
from grading.sandbox.bubblewrap import Limits
from grading.sandbox.clock import Clock, Reading
from grading.submissions.answers import Answer, Answers

ROOT = Path(__file__).parents[2]
LAB = "acting_on_uncertainty_a"  # which imports no framework
TASK, OTHER = (
    f"acting-on-uncertainty/{name}" for name in ("conformal-quantile", "pinball-loss")
)
COMPUTES = """
spent = []
def compute(seconds):
    import time
    began = time.process_time()
    while not spent and time.process_time() < began + seconds:
        pass
    spent.append(seconds)
"""


def tree_of(process):
    return [process, *process.children(recursive=True)]


def used_by(processes):
    """Return their processor time in seconds."""
    used = 0.0
    for one in processes:
        with contextlib.suppress(psutil.Error):
            used += sum(one.cpu_times()[:4])
    return used


def watched(process, seconds, children=False):
    """Watch a process for some seconds; return the reading of its clock.

    With it comes the processor time at the last look: on a busy machine, a look of one's own
    may come much later.
    """
    clock = Clock()
    began = clock.now()
    while time.monotonic() < began.wall + seconds:
        time.sleep(0.05)
        processes = tree_of(process) if children else [process]
        used = used_by(processes)
        clock.look([one.pid for one in processes], used)
    return clock.latest - began, used


@contextlib.contextmanager
def running(text):
    process = psutil.Popen([sys.executable, "-c", text])
    try:
        yield process
    finally:
        for one in [*process.children(recursive=True), process]:
            one.kill()
        process.wait()


def test_what_counts_is_between_processor_time_and_wall_time():
    assert Reading(10.0, waited=7.0, processor=2.0).counted == 3.0
    assert Reading(10.0, waited=10.0, processor=2.0).counted == 2.0
    assert Reading(10.0, waited=0.0, processor=20.0).counted == 10.0


def test_only_others_make_a_machine_busy(monkeypatch):
    monkeypatch.setattr("grading.sandbox.clock.CORES", 2)
    assert Reading(10.0, waited=7.0, processor=3.0).busy  # competes with other programs
    assert not Reading(10.0, waited=7.0, processor=20.0).busy  # competes with itself
    assert not Reading(10.0, waited=2.0, processor=4.0).busy  # waits only occasionally
    assert Reading(10.0, stalled=2.0).busy


def test_a_loop_on_a_busy_machine_is_charged_for_little_more_than_its_own_time():
    with busy_loops(3 * os.cpu_count()), running("while True: pass") as loop:
        time.sleep(0.5)
        before = used_by([loop])
        passed, after = watched(loop, 4.0)
    used = after - before
    assert passed.busy
    assert used < 0.7 * passed.wall
    assert passed.counted < used + 0.25 * passed.wall


def test_a_sleeping_program_is_charged_for_wall_time():
    with running("import time; time.sleep(60)") as asleep:
        time.sleep(0.5)
        passed, _ = watched(asleep, 1.0)
    # On a busy machine the watching thread itself may have to wait.
    assert passed.counted > 0.5 * passed.wall


def test_a_program_gains_nothing_by_competing_with_itself():
    """Processes of one program, pinned to one processor, sleep and wake together."""
    text = (
        "import os, threading, time\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "children = [os.fork() for _ in range(4)]\n"
        "while True:\n"
        "    time.sleep(0.02 - time.monotonic() % 0.02)\n"
        "    until = time.monotonic() + 0.005\n"
        "    while time.monotonic() < until: pass\n"
    )
    with running(text) as loop:
        time.sleep(0.5)
        before = used_by(tree_of(loop))
        passed, after = watched(loop, 2.0, children=True)
    used = after - before
    # Without other programs that is all of one processor; they may have a part of it.
    assert used > 0.1 * passed.wall
    assert passed.counted > 0.9 * used


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    limits = Limits(task=2.0, start=60.0, submission=60.0, patience=40.0)
    with prepared(tmp_path_factory.mktemp("stage"), LAB, limits) as environment:
        yield environment


@pytest.fixture(scope="module")
def practical(tmp_path_factory):
    return material_of(LAB, tmp_path_factory.mktemp("expected"))


@pytest.fixture
def graded(practical, environment):
    def run(source, **limits):
        sources = {TASK: source, OTHER: practical.reference[OTHER]}
        answers = Answers({t: Answer(t, s) for t, s in sources.items()}, {})
        found = grade(answers, practical, limited(environment, **limits))
        by_task = {verdict.task: verdict for verdict in found.verdicts}
        return by_task[TASK], by_task[OTHER]

    return run


def computing(practical, what):
    """Return the right answer with a statement inserted before its ``return``."""
    source = practical.reference[TASK]
    body = source.index("return ")
    return f"{COMPUTES}\n{source[:body]}{what}\n    {source[body:]}"


@pytest.mark.long
@pytest.mark.sandbox
def test_a_right_answer_is_right_beside_six_busy_loops(practical, graded):
    """It needs three fifths of its time limit, and gets at most a third of a processor."""
    answer = computing(practical, "compute(1.2)")
    with busy_loops(3 * os.cpu_count()):
        verdict, other = graded(answer)
    assert (verdict.status, other.status) == ("right", "right"), verdict


@pytest.mark.sandbox
def test_an_endless_loop_ends_by_its_own_time(practical, graded):
    answer = computing(practical, "while True: pass")
    with busy_loops(os.cpu_count()):
        verdict, other = graded(answer)
    assert "it ran for more than 2 s" in verdict.reason
    assert other.status == "right"
    assert verdict.seconds > 2.0


@pytest.mark.sandbox
def test_an_endless_sleep_ends_by_the_clock_on_the_wall(practical, graded):
    answer = computing(practical, "import time; time.sleep(1000)")
    verdict, other = graded(answer)
    assert "it ran for more than 2 s" in verdict.reason
    assert other.status == "right"


@contextlib.contextmanager
def neighbour(loops):
    """Simulate another pass with busy loops that ends when a pass asks to run alone."""
    asked, over = threading.Event(), threading.Event()

    def work():
        with runner._pass_lock.hold(False), busy_loops(loops):
            while not over.wait(0.05):
                if runner._pass_lock._alone:
                    asked.set()
                    return

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield asked
    finally:
        over.set()
        thread.join()


@pytest.mark.sandbox
def test_what_patience_has_ended_is_judged_again_alone(practical, graded):
    """Patience, a factor on the limit, is below 1 here, so it ends a kernel that sleeps."""
    answer = computing(practical, "import time; time.sleep(1000)")
    with neighbour(loops=0) as asked:
        verdict, other = graded(answer, patience=0.9)
    assert asked.is_set()
    assert "Its code was stopped: it ran for more than 1.8 s" in verdict.reason
    assert other.status == "right"


@pytest.mark.long
@pytest.mark.sandbox
def test_a_right_answer_that_a_busy_machine_has_stopped_is_right(practical, graded):
    """It needs half of its time limit, but gets less than a sixth of a processor at first."""
    answer = computing(practical, "compute(1.0)")
    with neighbour(loops=8 * os.cpu_count()) as asked:
        verdict, other = graded(answer, patience=3.0)
    assert asked.is_set()
    assert (verdict.status, other.status) == ("right", "right"), verdict


@pytest.fixture
def run(practical):
    """A function that runs a pass of one given cell in an environment."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")])
    notebook.cells[0].metadata["course"] = {"role": "given"}
    return lambda environment: runner.run_pass(
        notebook, 1, [], practical.expected, environment, 60.0, LAB
    )


@pytest.mark.sandbox
def test_waiting_for_a_busy_machine_during_a_start_is_excused(run, environment):
    """A start that is too slow says how much of its time does not count."""
    cold = dataclasses.replace(limited(environment, start=0.3), runtime_dirs={})
    with busy_loops(3 * os.cpu_count()):
        result = run(cold)
    assert not result.started
    assert result.excused > 0.1


@pytest.mark.sandbox
def test_a_pass_ends_as_soon_as_its_result_is_written(run, environment, monkeypatch):
    """Nothing that comes after it can hang: there is no summary, which nobody would read."""
    folders = []
    with monkeypatch.context() as here:
        here.setattr(runner, "remove", folders.append)
        assert run(environment).finished
    assert b" passed" not in (folders[0] / "log").read_bytes()
    for folder in folders:
        runner.remove(folder)


def test_one_that_is_alone_waits_for_the_others_and_they_for_it():
    lock, together, seen = runner._PassLock(), [], []

    def one(alone):
        with lock.hold(alone):
            together.append(alone)
            time.sleep(0.02)
            seen.append((alone, len(together)))
            together.remove(alone)

    threads = [
        threading.Thread(target=one, args=(n % 4 == 3,), daemon=True) for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert len(seen) == 12
    assert [many for alone, many in seen if alone] == [1, 1, 1]


def test_waiting_to_be_alone_ends_with_the_run():
    lock, said = runner._PassLock(), []

    def wait():
        try:
            with lock.hold(True):
                pass
        except InterruptedError as ended:
            said.append(str(ended))

    try:
        with lock.hold(False):
            waiting = threading.Thread(target=wait, daemon=True)
            waiting.start()
            runner.end_passes()
            waiting.join(timeout=10)
    finally:
        runner.allow_passes()
    assert said == ["the run is ending"]
    with lock.hold(True):  # it is free again
        pass
