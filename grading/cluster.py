"""Send submissions to the workers of a Dask cluster, which grade them as one process does.

A worker needs this project and bubblewrap, and does not see the grader's files: it is sent the
job, the expected values and the content of one submission at a time. Tasks of a worker that
dies are rescheduled.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path

from distributed import Client

from grading.execution.expected import beside, everything
from grading.execution.material import LabMaterial
from grading.execution.runner import new_folder, remove, sweep
from grading.record import Result
from grading.sandbox.bubblewrap import require_sandbox
from grading.settings import Settings
from grading.submissions.cells import NotGradable
from grading.submissions.intake import Submission
from grading.worker import Worker, Workers, content, not_graded
from project.errors import CourseError

AHEAD = 2  # submissions for each of the cluster's threads, so that none waits for its next one
WAIT = 30.0  # seconds for a scheduler to answer, and for a first worker


@dataclass(frozen=True)
class Job:
    """Everything that grading needs besides the submissions; sent to every worker.

    Args:
        materials: by lab.
        settings: how they are graded.
        expected: the contents of the two files of expected values, by lab.
        id: distinguishes runs.
    """

    materials: Mapping[str, LabMaterial]
    settings: Settings
    expected: Mapping[str, Sequence[bytes]]
    id: str = field(default_factory=lambda: secrets.token_hex(8))


@contextlib.contextmanager
def cluster(
    materials: Mapping[str, LabMaterial], settings: Settings
) -> Iterator[Workers]:
    """Connect to a cluster; yields the threads of its workers.

    Raises:
        CourseError: no scheduler answers at the address, or it has no workers.
    """
    address = settings.dask
    try:
        client = Client(address, timeout=WAIT)
    except (OSError, ValueError) as problem:
        raise CourseError(
            address,
            None,
            f"No Dask scheduler answers at this address ({problem}).",
            "Start one with `dask scheduler`, and `dask worker ADDRESS` on every machine.",
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=WAIT)
        except TimeoutError:
            raise CourseError(
                address,
                None,
                "The cluster has no workers.",
                "Start `dask worker ADDRESS` on every machine that should grade.",
            ) from None
        values = {
            lab: (one.expected.read_bytes(), everything(one.expected))
            for lab, one in materials.items()
        }
        job = Job(materials, settings, values)
        sent = client.scatter(job, broadcast=True, hash=False)
        executor = client.get_executor(pure=False)

        def submit(submission: Submission) -> Future[Result]:
            material = materials.get(submission.lab)
            try:
                data = content(submission, material)
            except NotGradable as problem:
                done: Future[Result] = Future()
                done.set_result(not_graded(submission, material, problem.reason))
                return done
            return executor.submit(grade_on_worker, sent, submission, data)

        try:
            yield Workers(AHEAD * sum(client.nthreads().values()), submit)
        finally:
            executor.shutdown(wait=False)  # cancels pending tasks
            client.run(stop_job, job.id)


def grade_on_worker(job: Job, submission: Submission, data: bytes) -> Result:
    """Grade one submission, on a worker of the cluster."""
    with _lock:
        if job.id not in _worker_threads:
            _worker_threads[job.id] = _WorkerThread(job)
    return _worker_threads[job.id].worker().grade(submission, data)


def stop_job(job_id: str) -> None:
    """Stop everything that a job has started, on a worker of the cluster."""
    with _lock:
        thread = _worker_threads.pop(job_id, None)
    if thread is not None:
        thread.close()


class _WorkerThread(threading.Thread):
    """A thread that keeps a ``Worker`` on a worker of the cluster.

    Zygotes end with the thread that starts them, so it has to live as long as they do.
    """

    def __init__(self, job: Job) -> None:
        super().__init__(name="worker", daemon=True)
        self._job = job
        self._ready: Future[Worker] = Future()
        self._closing = threading.Event()
        self.start()

    def worker(self) -> Worker:
        """Wait until the worker is ready, and return it.

        Raises:
            CourseError: the sandbox does not work here, or no reference gets full marks.
        """
        return self._ready.result()

    def close(self) -> None:
        """Stop everything that it has started."""
        self._closing.set()
        self.join()

    def run(self) -> None:
        """Create the worker and keep it until ``close`` is called."""
        # Dask's workers are daemons, which may not start processes. Allow it: the grader's
        # processes check whether the worker is alive, and end with it.
        multiprocessing.current_process()._config["daemon"] = False
        sweep()
        folder = new_folder()
        try:
            with contextlib.closing(self._new_worker(folder)) as worker:
                self._ready.set_result(worker)
                self._closing.wait()
        except BaseException as problem:
            self._ready.set_exception(problem)
        finally:
            remove(folder)

    def _new_worker(self, folder: Path) -> Worker:
        job = self._job
        if job.settings.sandboxed:
            require_sandbox()
        materials = {}
        for lab, material in job.materials.items():
            path = folder / f"{lab}.msgpack"
            for place, data in zip(
                (path, beside(path)), job.expected[lab], strict=True
            ):
                place.write_bytes(data)
            materials[lab] = replace(material, expected=path)
        worker = Worker(job.settings, folder / "library")
        try:
            worker.warm_up({lab: one.released for lab, one in materials.items()})
            worker.open(materials)
            for lab in materials:
                worker.prove(lab)
            if materials and len(worker.refused) == len(materials):
                raise next(iter(worker.refused.values()))
        except BaseException:
            worker.close()
            raise
        return worker


_worker_threads: dict[str, _WorkerThread] = {}
_lock = threading.Lock()
