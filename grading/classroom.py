"""Grade many submissions in parallel, and resume a run that was killed.

All state is in ``.grading`` of the output folder: one file for each grade, named by a hash of
everything that it depends on, and written atomically as soon as it is known. A run draws one
seed, which is kept until the run has ended, so that a resumed run judges on the same inputs.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import json
import secrets
import shutil
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from functools import partial
from pathlib import Path
from typing import Any

from grading.execution import examples, expected
from grading.execution.material import LabMaterial
from grading.execution.runner import (
    SHORT,
    allow_passes,
    end_passes,
    new_folder,
    remove,
    sweep,
)
from grading.faults import keep_faults
from grading.record import PASSING, Result
from grading.sandbox.bubblewrap import COMPILED, require_sandbox
from grading.settings import STATE, Settings
from grading.store import Store, machinery_of, name_of
from grading.submissions.intake import Submission
from grading.worker import Worker, Workers, not_graded, refused
from project.errors import CourseError
from project.files import remove_unfinished, write_whole
from project.practicals import Course

RUN = "run.json"  # the seed of a run that has not ended
FAULTS = "faults.json"  # of the course
EXAMPLES = "examples"  # the folder of public examples, which are kept between runs
NEEDED = 1024 * 1024  # bytes of disk space without which nothing can be graded
Report = Callable[[Result, bool], None]


def grade_class(
    submissions: Sequence[Submission],
    settings: Settings,
    report: Report,
    say: Callable[[str], None] | None = None,
) -> list[Result]:
    """Grade what has not been graded; return all results in the order of the submissions.

    Args:
        submissions: all submissions of the class.
        settings: how to grade.
        report: called with each result as soon as it is known, and whether it is new.
        say: called with a sentence that a waiting person should read.

    Raises:
        CourseError: bubblewrap does not work, another run uses the folder, the state of an
            earlier run has another format, or the reference itself does not get full marks.
        OSError: grades cannot be stored, for example because the disk is full.
    """
    if settings.sandboxed and not settings.dask:
        require_sandbox()
    state = settings.out / STATE
    state.mkdir(parents=True, exist_ok=True)
    with _alone(state), contextlib.ExitStack() as stack:
        sweep()
        remove_unfinished(settings.out)
        allow_passes()
        store = Store(state / "results")
        course = Course.read(settings.root)
        machinery = {
            lab: machinery_of(course.lab(lab), settings.limits, settings.sandboxed)
            for lab in sorted({s.lab for s in submissions if s.lab})
        }
        names = [name_of(s, machinery.get(s.lab, "")) for s in submissions]
        results: list[Result | None] = [store.get(name) for name in names]
        if settings.retry:
            results = [None if kept and kept.cut_short else kept for kept in results]
        for result in results:
            if result is not None:
                report(result, False)
        todo = [index for index, result in enumerate(results) if result is None]
        if not todo and (state / RUN).exists():  # stopped after its last grade
            run = _Run(course, settings, state, machinery)
            run.finish()
            run.close()
        if todo:
            run = _Run(course, settings, state, machinery)
            stack.callback(run.stop)
            needed = sorted({submissions[index].lab for index in todo} - {""})
            with _workers(needed, settings, run, say) as workers:
                workers = run.without_refused(workers)
                for index, future in _as_they_come(workers, submissions, todo):
                    submission = submissions[index]
                    try:
                        result = future.result()
                    except (InterruptedError, CourseError):
                        raise
                    # A fault of the grader costs one grade, not the run; the next run retries.
                    except Exception as error:
                        _require_space(state)
                        result = run.failed(submission, error)
                    else:
                        if not result.problem.startswith(PASSING):
                            store.put(names[index], result)
                    results[index] = result
                    report(result, True)
                run.finish()  # while the library is there, which it adds programs to
            run.close()
        return [result for result in results if result is not None]


class _Run:
    """The state of a run that is kept until its end: the seed, and what was drawn from it."""

    def __init__(
        self,
        course: Course,
        settings: Settings,
        state: Path,
        machinery: dict[str, str],
    ) -> None:
        self.course, self.settings = course, settings
        self.state, self.machinery = state, machinery
        self.path = state / RUN
        self.kept = self._begin()
        self.materials: dict[str, LabMaterial] = {}
        self.drawings: list[expected.Drawing] = []
        self.refused: dict[str, CourseError] = {}

    def draw(
        self, labs: Sequence[str], workers: Executor, compiled: Path | None = None
    ) -> dict[str, LabMaterial]:
        """Draw the inputs of labs, several at a time.

        Args:
            labs: their names.
            workers: compute the right values.
            compiled: a folder to which the programs that JAX compiles for this are added.

        Raises:
            CourseError: none of them can be drawn. If only some cannot, these are refused.
        """
        drawings = workers.map(partial(self._drawn, compiled=compiled), labs)
        for lab, drawn in zip(labs, drawings, strict=True):
            if isinstance(drawn, CourseError):
                self.refused[lab] = drawn
            else:
                self.materials[lab] = drawn
        self._require_one()
        return self.materials

    def prove(self, worker: Worker) -> None:
        """Check that the references get full marks, once in a run.

        Raises:
            CourseError: none of them does. If only some do not, these labs are refused.
        """
        for lab in self.materials:
            if self.kept["proven"].get(lab) == self.machinery[lab]:
                continue
            if worker.prove(lab):
                self.kept["proven"][lab] = self.machinery[lab]
                self._keep()
        self.refused |= worker.refused
        self._require_one()

    def without_refused(self, workers: Workers) -> Workers:
        """Wrap the workers: a submission of a refused lab is not graded."""

        def submit(submission: Submission) -> Future[Result]:
            problem = self.refused.get(submission.lab)
            if problem is None:
                return workers.submit(submission)
            done: Future[Result] = Future()
            done.set_result(refused(submission, problem))
            return done

        return Workers(workers.many, submit)

    def _require_one(self) -> None:
        if self.refused and not self.materials.keys() - self.refused.keys():
            raise next(iter(self.refused.values()))

    def failed(self, submission: Submission, error: Exception) -> Result:
        """The result of a submission on which the grader itself failed; log the error."""
        with (
            contextlib.suppress(OSError),  # a full disk may be the cause
            open(self.state / "errors.log", "a", encoding="utf-8") as log,
        ):
            log.write(f"{submission.student!r} {submission.notebook!r}\n")
            traceback.print_exception(error, file=log)
        said = f"The grader itself failed on it: see {STATE}/errors.log."
        return not_graded(submission, self.materials.get(submission.lab), said)

    def finish(self) -> None:
        """End the processes that drew, and keep the faults that they found.

        Raises:
            CourseError: one of them failed.
        """
        for drawing in self.drawings:
            drawing.finish()
        for lab, machinery in self.machinery.items():
            failed = expected.read_failures(self._expected(lab)).values()
            found = itertools.chain.from_iterable(failed)
            keep_faults(self.state / FAULTS, lab, machinery, found)

    def stop(self) -> None:
        """End the processes that drew, whatever they are doing."""
        for drawing in self.drawings:
            drawing.stop()

    def close(self) -> None:
        """End the run: the next one draws new inputs."""
        self.path.unlink(missing_ok=True)
        for path in self.state.glob("expected-*"):
            path.unlink(missing_ok=True)

    def _expected(self, lab: str) -> Path:
        """The file of a lab's expected values."""
        return self.state / f"expected-{self.machinery[lab][:16]}.msgpack"

    def _drawn(self, lab: str, compiled: Path | None) -> LabMaterial | CourseError:
        try:
            return self._material(lab, compiled)
        except CourseError as problem:
            return problem

    def _material(self, name: str, compiled: Path | None) -> LabMaterial:
        lab = self.course.lab(name)
        path = self._expected(name)
        new = path.with_suffix(".new")
        try:
            shown = examples.kept_in(self.state / EXAMPLES, lab)
            drawing = expected.draw(lab, self.kept["seed"], new, compiled, shown)
        except CourseError:
            new.unlink(missing_ok=True)
            _require_space(self.state)
            raise
        self.drawings.append(drawing)
        new.replace(path)
        return LabMaterial.read(lab, path)

    def _begin(self) -> dict:
        with contextlib.suppress(FileNotFoundError, ValueError):
            return self._checked(json.loads(self.path.read_text("utf-8")))
        for path in self.state.glob("expected-*"):  # of a run whose seed is lost
            path.unlink()
        self.kept = {"seed": secrets.randbits(128), "proven": {}}
        self._keep()
        return self.kept

    def _checked(self, kept: Any) -> dict:
        """Return the state that was read if it has the format that ``_keep`` writes."""
        match kept:
            case {"seed": int(), "proven": dict() as proven} if set(
                map(type, proven.values())
            ) <= {str}:
                return kept
        raise CourseError(
            self.path,
            None,
            "It is not in the format of this version of the course.",
            "Delete it; known grades are kept.",
        )

    def _keep(self) -> None:
        write_whole(self.path, json.dumps(self.kept), mode=0o600)


@contextlib.contextmanager
def _workers(
    labs: Sequence[str],
    settings: Settings,
    run: _Run,
    say: Callable[[str], None] | None,
) -> Iterator[Workers]:
    """Start the workers: threads of this process, or the workers of a cluster."""
    if settings.dask:
        try:
            from grading.cluster import cluster
        except ImportError:
            raise CourseError(
                "--dask",
                None,
                "distributed is not installed.",
                "Install the project with its extra: pip install -e '.[cluster]'",
            ) from None
        with ThreadPoolExecutor(settings.jobs) as pool:
            materials = run.draw(labs, pool)
        with cluster(materials, settings) as workers:
            yield workers
        return
    with (
        _library() as library,
        contextlib.closing(Worker(settings, library, say)) as worker,
        ThreadPoolExecutor(settings.jobs, thread_name_prefix="grade") as pool,
        ThreadPoolExecutor(1, thread_name_prefix="prove") as prover,
    ):
        worker.warm_up({lab: run.course.lab(lab).released() for lab in labs})
        worker.open(run.draw(labs, pool, library / COMPILED))
        proof = prover.submit(run.prove, worker)
        try:
            yield Workers(
                settings.jobs, lambda one: pool.submit(worker.grade_proved, one, proof)
            )
        except BaseException:
            end_passes()
            raise


@contextlib.contextmanager
def _library() -> Iterator[Path]:
    """Create a folder for the modules that notebooks may import, not below ``--out``.

    A path with a colon cannot be in ``PYTHONPATH``, and ``--out`` may be any path.
    """
    folder = new_folder()
    try:
        yield folder / "library"
    finally:
        remove(folder)


def _require_space(state: Path) -> None:
    """Distinguish a full disk from a fault of the grader.

    Raises:
        OSError: there is no space left where grades are stored, or for temporary files.
    """
    for folder in (state, SHORT):
        if shutil.disk_usage(folder).free < NEEDED:
            raise OSError(errno.ENOSPC, "No space left on device", str(folder))


def _as_they_come(
    workers: Workers, submissions: Sequence[Submission], todo: Iterable[int]
) -> Iterator[tuple[int, Future[Result]]]:
    """Submit a few at a time, and yield each future with its index when it is done."""
    waiting, running = iter(todo), {}
    while True:
        for index in itertools.islice(waiting, workers.many - len(running)):
            running[workers.submit(submissions[index])] = index
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            yield running.pop(future), future


@contextlib.contextmanager
def _alone(state: Path) -> Iterator[None]:
    """Lock the folder, so that no two runs use it at a time."""
    with open(state / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CourseError(
                state.parent,
                None,
                "Another run is grading into this folder.",
                "Wait for it, or choose another --out.",
            ) from None
        except OSError as error:  # some network drives have no locks
            raise CourseError(
                state.parent,
                None,
                f"The folder cannot be locked: {error.strerror}.",
                "Choose an --out on a local disk.",
            ) from None
        yield
