"""Grades many submissions, some at a time; a killed run goes on where it stopped.

Everything that is kept stands in ``.grading`` of the output folder: one file for each grade,
named after all that it depends on, written whole as soon as it is known. A run draws one
seed; it is kept until the run has ended, so that one that goes on judges on the same inputs.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import secrets
import shutil
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import nbformat

from course.errors import CourseError
from course.files import write_whole
from course.grading import expected
from course.grading.answers import read_answers
from course.grading.cells import NotGradable
from course.grading.grader import Practical, canary, grade
from course.grading.intake import Submission
from course.grading.record import Result, Verdict, Written
from course.grading.runner import Workshop, allow_passes, end_passes, sweep
from course.grading.sandbox import Limits, require_wall, stage_library
from course.source import files_of, read_solutions

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
        limits: what one submission may use.
    """

    root: Path
    out: Path
    jobs: int = 1
    walled: bool = True
    retry: bool = False
    limits: Limits = field(default_factory=Limits)


def grade_class(
    submissions: Sequence[Submission], settings: Settings, report: Report
) -> list[Result]:
    """Grade what has not been graded; the results, in the order of the submissions.

    Args:
        submissions: what was handed in.
        settings: how.
        report: told of each result as it comes, and whether it is a new one.

    Raises:
        CourseError: bubblewrap does not work, another run is at it, or the reference itself
            does not get full marks.
    """
    if settings.walled:
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
            bench = _Bench(settings, state, machinery)
            needed = {submissions[index].practical for index in todo} - {""}
            bench.prepare(sorted(needed))

            def work(index: int) -> tuple[int, Result]:
                try:
                    result = bench.grade(submissions[index])
                except InterruptedError:
                    raise
                # A fault of ours costs one grade and not the run; the next run tries again.
                except Exception as error:
                    return index, bench.failed(submissions[index], error)
                store.put(names[index], result)
                return index, result

            for index, result in _side_by_side(work, todo, settings.jobs):
                results[index] = result
                report(result, True)
            bench.close()
        return [result for result in results if result is not None]


def released(root: Path, stem: str) -> nbformat.NotebookNode:
    """The exercise of a practical as it is handed out.

    Raises:
        CourseError: there is none.
    """
    return nbformat.reads(_exercise(root, stem).read_text("utf-8"), as_version=4)


class _Bench:
    """What all submissions of a run have in common."""

    def __init__(self, settings: Settings, state: Path, machinery: dict[str, str]):
        self.settings, self.state, self.machinery = settings, state, machinery
        self.run = state / "run.json"
        self.library = state / "library"
        self.practicals: dict[str, Practical] = {}

    def prepare(self, stems: Iterable[str]) -> None:
        """Draw the inputs, and see that the reference gets full marks on them."""
        run = self._begin()
        shutil.rmtree(self.library, ignore_errors=True)
        stage_library(self.library)
        settings = self.settings
        self.workshop = Workshop(
            self.library,
            settings.limits,
            settings.walled,
            hidden=(settings.root.resolve(), settings.out.resolve()),
        )
        for stem in stems:
            path = self.state / f"expected-{self.machinery[stem][:16]}.json"
            proven = run["proven"].get(stem) == self.machinery[stem]
            if not path.exists():
                new = path.with_suffix(".new")
                expected.draw(stem, run["seed"], new)
                new.chmod(0o600)
                new.replace(path)
            keys = expected.read(path)
            module = read_solutions(settings.root, stem)
            sources = {n: d.shown() for n, d in module.definitions.items()}
            practical = Practical(
                stem,
                released(settings.root, stem),
                reference={task: sources.pop(key.name) for task, key in keys.items()},
                given=sources,
                expected=path,
                keys=keys,
            )
            if not proven:
                canary(practical, self.workshop)
                run["proven"][stem] = self.machinery[stem]
                self._keep(run)
            self.practicals[stem] = practical

    def grade(self, submission: Submission) -> Result:
        """One submission."""
        began = time.monotonic()
        result = Result(
            student=_student(submission),
            practical=submission.practical,
            notebook=submission.notebook,
            digest=submission.digest,
            identifier=submission.identifier,
            flags=submission.flags,
        )
        practical = self.practicals.get(submission.practical)
        try:
            if practical is None:
                raise NotGradable("It cannot be told which practical this is.")
            answers = read_answers(submission.read(), practical.released)
        except NotGradable as problem:
            return self._not_graded(result, problem.reason)
        graded = grade(answers, practical, self.workshop)
        return replace(
            result,
            graded=not graded.problem,
            problem=graded.problem,
            verdicts=graded.verdicts,
            written=tuple(_written(practical, answers.written)),
            flags=(*submission.flags, *answers.flags, *graded.flags),
            seconds=round(time.monotonic() - began, 3),
        )

    def failed(self, submission: Submission, error: Exception) -> Result:
        """A submission at which the grader itself failed; the log says how."""
        with open(self.state / "errors.log", "a", encoding="utf-8") as log:
            log.write(f"{submission.student!r} {submission.notebook!r}\n")
            traceback.print_exception(error, file=log)
        result = Result(
            _student(submission),
            submission.practical,
            submission.notebook,
            submission.digest,
            submission.identifier,
            flags=submission.flags,
        )
        return self._not_graded(
            result, f"The grader itself failed at it: see {STATE}/errors.log."
        )

    def _not_graded(self, result: Result, problem: str) -> Result:
        practical = self.practicals.get(result.practical)
        verdicts = tuple(
            Verdict(task, key.points, "not-graded", reason=problem)
            for task, key in (practical.keys if practical else {}).items()
        )
        return replace(result, graded=False, problem=problem, verdicts=verdicts)

    def close(self) -> None:
        """The run has ended: the next one draws new inputs."""
        self.run.unlink(missing_ok=True)
        for path in self.state.glob("expected-*"):
            path.unlink()

    def _begin(self) -> dict:
        with contextlib.suppress(OSError, ValueError):
            return json.loads(self.run.read_text("utf-8"))
        for path in self.state.glob("expected-*"):  # of a run whose seed is lost
            path.unlink()
        run = {"seed": secrets.randbits(128), "proven": {}}
        self._keep(run)
        return run

    def _keep(self, run: dict) -> None:
        write_whole(self.run, json.dumps(run))
        self.run.chmod(0o600)


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


def _side_by_side(
    work: Callable[[int], tuple[int, Result]], todo: Sequence[int], jobs: int
) -> Iterator[tuple[int, Result]]:
    """The results of ``work`` as they come; if the caller gives up, all passes end."""
    waiting = iter(todo)
    running: set[Future] = set()
    with ThreadPoolExecutor(jobs, thread_name_prefix="grade") as pool:
        try:
            while True:
                while len(running) < jobs:
                    index = next(waiting, None)
                    if index is None:
                        break
                    running.add(pool.submit(work, index))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        except BaseException:
            end_passes()
            raise


def _student(submission: Submission) -> str:
    """The name with the platform's number: two students may be called the same."""
    parts = [submission.student, submission.identifier]
    return "_".join(part for part in parts if part)


def _written(practical: Practical, texts: dict[str, str]) -> Iterator[Written]:
    for cell in practical.released.cells:
        course = cell.metadata.get("course", {})
        if course.get("role") == "written":
            points = cell.metadata["nbgrader"]["points"]
            yield Written(course["task"], points, texts.get(course["task"], ""))


def _exercise(root: Path, stem: str) -> Path:
    paths = list((root / "exercises").glob(f"*-{stem.replace('_', '-')}.ipynb"))
    if len(paths) != 1:
        raise CourseError(
            root / "exercises",
            None,
            f"There is no exercise of {stem}.",
            "Write it with `course exercises`.",
        )
    return paths[0]


def _machinery(settings: Settings, stem: str) -> str:
    """A hash of all that a grade depends on beside the submission."""
    code = hashlib.sha256()
    package = Path(__file__).parents[1]
    paths = [
        _exercise(settings.root, stem),
        *files_of(settings.root, stem),
        *sorted(package.glob("*.py")),
        *sorted((package / "grading").glob("*.py")),
        *sorted((package / "checks" / stem).glob("*.py")),
    ]
    for path in paths:
        code.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    code.update(json.dumps([asdict(settings.limits), settings.walled]).encode())
    return code.hexdigest()


def _name(submission: Submission, machinery: str) -> str:
    """The name of a submission's grade."""
    parts = [
        _student(submission),
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
