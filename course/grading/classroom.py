"""Grades many submissions, some at a time; a killed run goes on where it stopped.

Everything that is kept stands in ``.grading`` of the output folder: one file for each grade,
named after all that it depends on, written whole as soon as it is known. A run draws one
seed; it is kept until the run has ended, so that one that goes on judges on the same inputs.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
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
from dataclasses import asdict, dataclass, field
from pathlib import Path

from course.errors import CourseError
from course.files import write_whole
from course.grading.bench import Bench, Hands, Order, Terms, blank, not_graded
from course.grading.handed_in.intake import Submission
from course.grading.handed_out import path_of, released
from course.grading.judging import expected
from course.grading.judging.grader import Practical
from course.grading.judging.runner import allow_passes, end_passes, sweep
from course.grading.record import NOT_RUN, Result
from course.grading.wall.sandbox import Limits, require_wall
from course.source import files_of

STATE = ".grading"
Report = Callable[[Result, bool], None]


@dataclass(frozen=True)
class Settings:
    """How a class is graded.

    Args:
        root: the checkout, with ``exercises`` and ``solutions``.
        out: where everything goes.
        jobs: how many submissions at a time.
        walled: use bubblewrap.
        retry: judge once more where code was stopped or a task was not reached.
        warm: fork kernels from processes that have imported what notebooks import.
        dask: the address of a cluster's scheduler, or the empty string.
        limits: what one submission may use.
    """

    root: Path
    out: Path
    jobs: int = 1
    walled: bool = True
    retry: bool = False
    warm: bool = True
    dask: str = ""
    limits: Limits = field(default_factory=Limits)


def grade_class(
    submissions: Sequence[Submission],
    settings: Settings,
    report: Report,
    say: Callable[[str], None] | None = None,
) -> list[Result]:
    """Grade what has not been graded; the results, in the order of the submissions.

    Args:
        submissions: what was handed in.
        settings: how.
        report: told of each result as it comes, and whether it is a new one.
        say: told what somebody who waits should know, in a sentence.

    Raises:
        CourseError: bubblewrap does not work, another run is at it, or the reference itself
            does not get full marks.
    """
    if settings.walled and not settings.dask:
        require_wall()
    state = settings.out / STATE
    state.mkdir(parents=True, exist_ok=True)
    with _alone(state):
        sweep()
        allow_passes()
        store = _Store(state / "results")
        stems = sorted({s.practical for s in submissions if s.practical})
        machinery = {stem: _machinery(settings, stem) for stem in stems}
        names = [_name(s, machinery.get(s.practical, "")) for s in submissions]
        results: list[Result | None] = [store.get(name) for name in names]
        if settings.retry:
            results = [None if kept and kept.cut_short else kept for kept in results]
        for result in results:
            if result is not None:
                report(result, False)
        todo = [index for index, result in enumerate(results) if result is None]
        if todo:
            run = _Run(settings, state, machinery)
            needed = sorted({submissions[index].practical for index in todo} - {""})
            with _hands(needed, settings, run, say) as hands:
                for index, future in _as_they_come(hands, submissions, todo):
                    submission = submissions[index]
                    try:
                        results[index] = future.result()
                        if not results[index].problem.startswith(NOT_RUN):
                            store.put(names[index], results[index])
                    except (InterruptedError, CourseError):
                        raise
                    # A fault of ours costs one grade and not the run; the next run tries again.
                    except Exception as error:
                        results[index] = run.failed(submission, error)
                    report(results[index], True)
            run.close()
        return [result for result in results if result is not None]


class _Run:
    """What is kept of a run until it has ended: its seed, and what has been drawn from it."""

    def __init__(self, settings: Settings, state: Path, machinery: dict[str, str]):
        self.settings, self.state, self.machinery = settings, state, machinery
        self.path = state / "run.json"
        self.kept = self._begin()
        self.practicals: dict[str, Practical] = {}

    def draw(self, stems: Sequence[str], hands: Executor) -> dict[str, Practical]:
        """Draw the inputs of practicals, several at a time."""
        drawn = hands.map(self._practical, stems)
        self.practicals = dict(zip(stems, drawn, strict=True))
        return self.practicals

    def is_proven(self, stem: str) -> bool:
        """Has the reference got full marks in this run?"""
        return self.kept["proven"].get(stem) == self.machinery[stem]

    def proven(self, stem: str) -> None:
        """It has."""
        self.kept["proven"][stem] = self.machinery[stem]
        self._keep()

    def failed(self, submission: Submission, error: Exception) -> Result:
        """A submission at which the grader itself failed; the log says how."""
        with (
            contextlib.suppress(OSError),  # a disk that is full may be the cause
            open(self.state / "errors.log", "a", encoding="utf-8") as log,
        ):
            log.write(f"{submission.student!r} {submission.notebook!r}\n")
            traceback.print_exception(error, file=log)
        said = f"The grader itself failed at it: see {STATE}/errors.log."
        return not_graded(submission, self.practicals.get(submission.practical), said)

    def close(self) -> None:
        """The run has ended: the next one draws new inputs."""
        self.path.unlink(missing_ok=True)
        for path in self.state.glob("expected-*"):
            path.unlink()

    def _practical(self, stem: str) -> Practical:
        path = self.state / f"expected-{self.machinery[stem][:16]}.json"
        if not path.exists():
            new = path.with_suffix(".new")
            expected.draw(stem, self.kept["seed"], new)
            new.chmod(0o600)
            new.replace(path)
        return Practical.read(self.settings.root, stem, path)

    def _begin(self) -> dict:
        with contextlib.suppress(OSError, ValueError):
            return json.loads(self.path.read_text("utf-8"))
        for path in self.state.glob("expected-*"):  # of a run whose seed is lost
            path.unlink()
        self.kept = {"seed": secrets.randbits(128), "proven": {}}
        self._keep()
        return self.kept

    def _keep(self) -> None:
        write_whole(self.path, json.dumps(self.kept))
        self.path.chmod(0o600)


class _Store:
    """Grades by name, one file each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def get(self, name: str) -> Result | None:
        """The grade of this name, if it is there."""
        try:
            return Result.from_json(json.loads(self._path(name).read_text("utf-8")))
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def put(self, name: str, result: Result) -> None:
        """Keep a grade."""
        write_whole(self._path(name), json.dumps(result.to_json(), ensure_ascii=True))

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"


@contextlib.contextmanager
def _hands(
    stems: Sequence[str],
    settings: Settings,
    run: _Run,
    say: Callable[[str], None] | None,
) -> Iterator[Hands]:
    """Who grades, ready: threads of this process, or the workers of a cluster."""
    hidden = (settings.root.resolve(), settings.out.resolve())
    terms = Terms(settings.limits, settings.walled, settings.warm, hidden)
    if settings.dask:
        try:
            from course.grading.cluster import cluster
        except ImportError:
            raise CourseError(
                "--dask",
                None,
                "distributed is not installed.",
                "Install the project with its extra: pip install -e '.[cluster]'",
            ) from None
        with ThreadPoolExecutor(settings.jobs) as pool:
            order = Order(run.draw(stems, pool), terms)
        with cluster(settings.dask, order) as hands:
            yield hands
        return
    library = run.state / "library"
    shutil.rmtree(library, ignore_errors=True)
    with (
        contextlib.closing(Bench(terms, library, say)) as bench,
        ThreadPoolExecutor(settings.jobs, thread_name_prefix="grade") as pool,
    ):
        bench.warm_up({stem: released(settings.root, stem) for stem in stems})
        bench.open(run.draw(stems, pool))
        for stem in stems:
            if not run.is_proven(stem):
                bench.prove(stem)
                run.proven(stem)
        try:
            yield Hands(settings.jobs, lambda one: pool.submit(bench.grade, one))
        except BaseException:
            end_passes()
            raise


def _as_they_come(
    hands: Hands, submissions: Sequence[Submission], todo: Iterable[int]
) -> Iterator[tuple[int, Future[Result]]]:
    """Hand out a few at a time; each, by its index, when it is done."""
    waiting, running = iter(todo), {}
    while True:
        for index in itertools.islice(waiting, hands.many - len(running)):
            running[hands.submit(submissions[index])] = index
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            yield running.pop(future), future


def _machinery(settings: Settings, stem: str) -> str:
    """A hash of all that a grade depends on beside the submission."""
    code = hashlib.sha256()
    package = Path(__file__).parents[1]
    paths = [
        path_of(settings.root, stem),
        *files_of(settings.root, stem),
        *sorted(package.glob("*.py")),
        *sorted((package / "grading").rglob("*.py")),
        *sorted((package / "checks").glob("*.py")),
        *sorted((package / "checks" / stem).glob("*.py")),
    ]
    for path in paths:
        code.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    code.update(json.dumps([asdict(settings.limits), settings.walled]).encode())
    return code.hexdigest()


def _name(submission: Submission, machinery: str) -> str:
    """The name of a submission's grade."""
    parts = [
        blank(submission).student,
        submission.practical,
        submission.notebook,
        submission.digest,
        submission.problem,
        *(item.code for item in submission.flags),
        machinery,
    ]
    text = json.dumps(parts, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:40]


@contextlib.contextmanager
def _alone(state: Path) -> Iterator[None]:
    """No two runs at a time in one folder."""
    with open(state / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CourseError(
                state.parent,
                None,
                "Another run is grading into this folder.",
                "Wait for it, or choose another --out.",
            ) from None
        yield
