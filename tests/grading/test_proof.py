"""Results are held until the reference solutions have full marks."""

import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from grading.settings import Settings
from grading.worker import Worker
from project.errors import CourseError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("outcome", ["proved", "cold", "refused"])
def test_a_result_is_held_until_the_reference_has_passed(outcome, tmp_path):
    """If it fails in warm kernels, what they judged meanwhile is judged again."""
    worker = Worker(Settings(ROOT, tmp_path / "out"), tmp_path / "library")
    worker.runtime_dirs["lab"], graded = tmp_path, []

    def grade(submission):
        graded.append("lab" in worker.runtime_dirs)
        return f"result {len(graded)}"

    worker.grade = grade
    submission = SimpleNamespace(lab="lab")
    proof = Future()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(worker.grade_proved, submission, proof)
        while not graded:
            time.sleep(0.01)
        assert not waiting.done()
        if outcome == "cold":
            del worker.runtime_dirs["lab"]
        if outcome == "refused":
            worker.refused["lab"] = CourseError("lab", None, "It fails.", "")
        proof.set_result(None)
        assert waiting.result() == ("result 1" if outcome == "proved" else "result 2")
    assert (
        graded
        == {"proved": [True], "cold": [True, False], "refused": [True] * 2}[outcome]
    )
    failed = Future()
    failed.set_exception(CourseError("lab", None, "It fails.", ""))
    with pytest.raises(CourseError):
        worker.grade_proved(submission, failed)
