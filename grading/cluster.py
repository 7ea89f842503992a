"""Sends submissions to the workers of a Dask cluster, where they are graded as they are here.

A worker needs this project and bubblewrap, and sees nothing of the grader's files: it is sent
the order, the expected values and the content of one submission at a time. What a worker that
dies was at is given to another one.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path

from distributed import Client

from grading.execution.runner import new_folder, remove, sweep
from grading.record import Result
from grading.sandbox.bubblewrap import require_wall
from grading.submissions.cells import NotGradable
from grading.submissions.intake import Submission
from grading.worker import Bench, Hands, Order, content, not_graded
from project.errors import CourseError

AHEAD = (
    2  # submissions for each of the cluster's threads, so that none waits for the next
)
WAIT = 30.0  # seconds for a scheduler to answer, and for a first worker


@dataclass(frozen=True)
class Parcel:
    """An order with the expected values in it, by practical."""

    order: Order
    expected: dict[str, bytes]
    id: str = field(default_factory=lambda: secrets.token_hex(8))


@contextlib.contextmanager
def cluster(address: str, order: Order) -> Iterator[Hands]:
    """The threads of a cluster's workers.

    Raises:
        CourseError: no scheduler answers there, or it has no workers.
    """
    try:
        client = Client(address, timeout=WAIT)
    except (OSError, ValueError) as problem:
        raise CourseError(
            address,
            None,
            f"No Dask scheduler answers there ({problem}).",
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
                "Start `dask worker ADDRESS` on every machine that shall grade.",
            ) from None
        practicals = order.practicals
        values = {stem: p.expected.read_bytes() for stem, p in practicals.items()}
        parcel = Parcel(order, values)
        sent = client.scatter(parcel, broadcast=True, hash=False)
        executor = client.get_executor(pure=False)

        def submit(submission: Submission) -> Future[Result]:
            practical = practicals.get(submission.practical)
            try:
                data = content(submission, practical)
            except NotGradable as problem:
                done: Future[Result] = Future()
                done.set_result(not_graded(submission, practical, problem.reason))
                return done
            return executor.submit(grade_there, sent, submission, data)

        try:
            yield Hands(AHEAD * sum(client.nthreads().values()), submit)
        finally:
            executor.shutdown(wait=False)  # what is not done is cancelled
            client.run(put_away, parcel.id)


def grade_there(parcel: Parcel, submission: Submission, data: bytes) -> Result:
    """On a worker: one submission."""
    with _lock:
        if parcel.id not in _places:
            _places[parcel.id] = _Place(parcel)
    return _places[parcel.id].bench().grade(submission, data)


def put_away(parcel_id: str) -> None:
    """On a worker: end what grading for an order has started."""
    with _lock:
        place = _places.pop(parcel_id, None)
    if place is not None:
        place.close()


class _Place(threading.Thread):
    """A bench on a worker; templates end with the thread that starts them, which is this."""

    def __init__(self, parcel: Parcel) -> None:
        super().__init__(name="bench", daemon=True)
        self._parcel = parcel
        self._ready: Future[Bench] = Future()
        self._over = threading.Event()
        self.start()

    def bench(self) -> Bench:
        """The bench, when it stands.

        Raises:
            CourseError: the sandbox does not work here, or the reference does not get full marks.
        """
        return self._ready.result()

    def close(self) -> None:
        """End what it has started."""
        self._over.set()
        self.join()

    def run(self) -> None:
        """Make the bench and keep it until it is closed."""
        # Dask's workers are daemons, which could start no processes of their own. Ours end
        # with a worker: they look whether it is alive.
        multiprocessing.current_process()._config["daemon"] = False
        sweep()
        folder = new_folder()
        try:
            with contextlib.closing(self._made(folder)) as bench:
                self._ready.set_result(bench)
                self._over.wait()
        except BaseException as problem:
            self._ready.set_exception(problem)
        finally:
            remove(folder)

    def _made(self, folder: Path) -> Bench:
        order = self._parcel.order
        if order.terms.walled:
            require_wall()
        practicals = {}
        for stem, practical in order.practicals.items():
            path = folder / f"{stem}.json"
            path.write_bytes(self._parcel.expected[stem])
            practicals[stem] = replace(practical, expected=path)
        bench = Bench(order.terms, folder / "library")
        try:
            bench.warm_up({stem: one.released for stem, one in practicals.items()})
            bench.open(practicals)
            for stem in practicals:
                bench.prove(stem)
            if practicals and len(bench.refused) == len(practicals):
                raise next(iter(bench.refused.values()))
        except BaseException:
            bench.close()
            raise
        return bench


_places: dict[str, _Place] = {}
_lock = threading.Lock()
