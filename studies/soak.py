"""Judge right and wrong answers to every task on many draws of the grader's inputs.

``python -m studies.soak 200`` judges each reference, the wrong answers (misconceptions and
``tests/wrong_answers``) and ``tests/right_answers``. It keeps its counts in ``_build/soak.json``
and goes on where it was stopped, but for the practicals whose sources have changed; those
towards 10,000 draws are in ``studies/soak.json`` (``--out``). To repeat a failure:
``python -m studies.soak 1 --first SEED --only ID``.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import math
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from course.judge import Mismatch, compare, expected
from course.side_effects import watched
from course.task import Case, Close, Task, stem_of, stems, tasks_of
from grading.execution.expected import cases_of
from project.closure import closure, digest_of
from project.files import write_whole
from project.jax_options import share_context
from project.threads import ONE_THREAD

ROOT = Path(__file__).parents[1]
# How many draws one process judges: JAX needs a minute to start.
BLOCKS = {"references and wrong answers": 2500, "right answers": 100}
REFERENCE = "reference"
SECONDS = 5  # between two reports of a process
ALONE = ONE_THREAD | {
    "CUDA_VISIBLE_DEVICES": "",
    "JAX_PLATFORMS": "cpu",
    "JAX_COMPILATION_CACHE_DIR": str(ROOT / "_build" / ".jax"),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
}


def sources_of(stem: str) -> str:
    """Hash what a practical's verdicts depend on: its checks, its solutions, planted answers."""
    judging = "course.judge", f"course.checks.{stem}", f"solutions.{stem}"
    planted = f"right_answers.{stem}", f"wrong_answers.{stem}"
    tests = ROOT / "tests"
    ours = closure(ROOT, "", ROOT / "course", *judging)
    return digest_of(ROOT, ours | closure(tests, "", tests / "course", *planted))


def answers(task: Task, kind: str) -> Iterator[tuple[str, Any]]:
    """Yield the name of each answer of this kind to a task, and the answer."""
    stem = stem_of(task.id)
    folder = "right_answers"
    if kind != "right answers":
        folder, solutions = "wrong_answers", f"solutions.{stem}"
        yield REFERENCE, getattr(importlib.import_module(solutions), task.name)
        for number, mistake in enumerate(task.misconceptions, 1):
            yield f"misconception {number}: {mistake.hint}", mistake.answer
    planted = importlib.import_module(f"{folder}.{stem}").ANSWERS
    yield from planted.get(task.name, {}).items()


def refused(
    task: Task,
    answer: Any,
    case: Case,
    right: Mapping[str, Close],
    left: list[tuple[str, str]] | None = None,
) -> Any:
    """Say why an answer is refused on a case; nothing where it is right.

    Probes that yield their values are asked for no more of them than it takes. What its calls
    leave behind is added to ``left``; without that list, they are not watched.
    """
    values: dict[str, Any] = {}
    watching = nullcontext(answer) if left is None else watched(answer, left)
    try:
        with watching as observed:
            found = task.probe(observed, **case)
            for name, value in found.items() if isinstance(found, dict) else found:
                values[name] = value
                close = {name: right[name]} if name in right else {}
                if mismatch := compare([{name: value}], [close]):
                    return mismatch
        return compare([values], [right]) or left
    except Exception as error:
        return repr(error)


class Refusals:
    """What refused the answers to a task last, so that it is tried first.

    Most wrong answers are refused by the same case of each draw. One whose values are wrong for
    it, and which left nothing behind, is tried without watching its calls. In JAX it is also
    compiled: one whose compiled values are off by a hundred tolerances, more than rounding
    explains, is refused. All others are judged as the grader does, watched and uncompiled.
    """

    def __init__(self) -> None:
        self.cases: dict[tuple[str, str], int] = {}
        self.by_value: set[tuple[str, str]] = set()
        self.programs: dict[tuple[str, str], Callable | None] = {}

    def by_far(
        self, name: tuple[str, str], case: Case, right: Mapping[str, Close]
    ) -> bool:
        """Whether a compiled answer is wrong by far on a case."""
        program = self.programs.get(name)
        if program is None:
            return False
        far = {
            key: replace(close, rtol=100 * close.rtol, atol=100 * close.atol)
            for key, close in right.items()
        }
        try:
            mismatch = compare([program(case)], [far])
        except Exception:  # it cannot be compiled
            self.programs[name] = None
            return False
        return mismatch is not None and mismatch.kind != "nan"

    def add(
        self, task: Task, name: tuple[str, str], answer: Any, at: int, by_value: bool
    ) -> None:
        """Keep which case refused an answer, and whether its values alone did."""
        self.cases[name] = at
        (self.by_value.add if by_value else self.by_value.discard)(name)
        jax = sys.modules.get("jax")
        if jax is None or name in self.programs:
            return

        def values(case: Case) -> dict[str, Any]:
            with watched(answer, []) as observed:
                return dict(task.probe(observed, **case))

        self.programs[name] = jax.jit(values)


def judged(
    task: Task, kind: str, seed: int, refusals: Refusals
) -> tuple[int, list[list]]:
    """Judge the answers to a task on inputs that the grader draws with this seed.

    Args:
        task: the task.
        kind: of the answers: a key of ``BLOCKS``.
        seed: of the inputs.
        refusals: of earlier draws.

    Returns:
        The number of answers, and each wrong verdict: task, seed, answer and verdict.
    """
    cases = cases_of(task, seed)
    right, failed, count = expected(task, cases), [], 0
    inputs = pickle.dumps(cases)
    # The smallest inputs first: they take least time.
    order = sorted(range(len(cases)), key=lambda at: len(pickle.dumps(cases[at])))
    for label, answer in answers(task, kind):
        name, reason, count = (task.id, label), None, count + 1
        last = refusals.cases.get(name, order[0])
        is_right = kind == "right answers" or label == REFERENCE
        if not is_right and (
            refusals.by_far(name, cases[last], right[last])
            or (
                name in refusals.by_value
                and isinstance(
                    refused(task, answer, cases[last], right[last]), Mismatch
                )
            )
        ):
            continue
        # Up to the first refusal.
        for at in sorted(order, key=lambda number: number != last):
            left: list[tuple[str, str]] = []
            if reason := refused(task, answer, cases[at], right[at], left):
                by_value = isinstance(reason, Mismatch) and not left
                refusals.add(task, name, answer, at, by_value)
                break
        if is_right == bool(reason):
            verdict = f"case {at}: {reason}"[:300] if reason else "accepted"
            failed.append([task.id, seed, label, verdict])
    if pickle.dumps(cases) != inputs:
        raise RuntimeError(
            f"{task.id}, seed {seed}: an answer changed its inputs unwatched"
        )
    return count, failed


def work(kind: str, stem: str, only: str, seeds: range, until: float) -> None:
    """Judge draws up to a time; print numbers and new wrong verdicts every few seconds."""
    tasks = [task for id_, task in tasks_of(stem).items() if id_.startswith(only)]
    share_context()
    refusals = Refusals()
    total, failed, printed = 0, [], time.monotonic()
    for draws, seed in enumerate(seeds, 1):
        for task in tasks:
            count, found = judged(task, kind, seed, refusals)
            total, failed = total + count, failed + found
        if draws == 1:
            # Objects that exist by now stay: do not search them for garbage.
            gc.freeze()
        ends = seed == seeds[-1] or time.time() > until
        if ends or time.monotonic() > printed + SECONDS:
            print(json.dumps([draws, total, failed]), flush=True)
            failed, printed = [], time.monotonic()
        if ends:
            return


class Soak:
    """Draws and answers judged so far, by practical, kind and first seed; kept in a file."""

    def __init__(self, out: Path, first: int | None, only: str, until: float) -> None:
        sources = {stem: sources_of(stem) for stem in stems()}
        kept = json.loads(out.read_text("utf-8")) if out.exists() else {}
        was = kept.get("sources", {}) if kept.get("only") == only else {}
        same = {stem for stem in sources if sources[stem] == was.get(stem)}
        done = {
            n: v for n, v in kept.get("done", {}).items() if n.split(",")[0] in same
        }
        failed = [row for row in kept.get("failed", []) if stem_of(row[0]) in same]
        self.results = {
            "sources": sources,
            "only": only,
            "done": done,
            "failed": failed,
        }
        # Seeds depend on the sources, so that many draws are tried over time.
        self.first = {
            stem: int(text[:8], 16) if first is None else first
            for stem, text in sources.items()
        }
        self.out, self.only, self.until = out, only, until
        self.lock, self.written = threading.Lock(), time.monotonic()

    def run(self, kind: str, stem: str, seeds: range) -> bool:
        """Judge what is missing of a block, in its own process: one framework in each."""
        name = f"{stem}, {kind}, {seeds.start}"
        before = self.results["done"].get(name, [0, 0])
        seeds = seeds[before[0] :]
        if not seeds or time.time() > self.until:
            return True
        args = repr((kind, stem, self.only, seeds, self.until))
        code = f"import studies.soak as s; inf = s.math.inf; s.work(*{args})"
        paths = {"PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *sys.path])}
        with subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", code],
            env=os.environ | ALONE | paths,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            for line in process.stdout:
                self.add(name, before, *json.loads(line))
        return process.returncode == 0

    def add(self, name: str, before: list[int], draws: int, total: int, failed: list):
        """Add what a process printed; ``before`` counts what was judged before it."""
        for row in failed:
            print(*row, sep=" · ", flush=True)
        with self.lock:
            self.results["done"][name] = [before[0] + draws, before[1] + total]
            self.results["failed"] += failed
            if time.monotonic() > self.written + SECONDS:
                self.write()

    def write(self) -> None:
        """Write the file, and print how much is done."""
        self.written = time.monotonic()
        write_whole(self.out, json.dumps(self.results, indent=1) + "\n")
        done = np.sum([[0, 0], *self.results["done"].values()], axis=0)
        print(f"{done[1]:,} answers on {done[0]:,} draws", flush=True)

    def summary(self) -> Iterator[str]:
        """Say how many draws and answers were judged, by practical and kind."""
        done = sorted(self.results["done"].items())
        for what, rows in groupby(done, lambda row: row[0].rpartition(", ")[0]):
            draws, total = np.sum([numbers for _, numbers in rows], axis=0)
            yield f"{what}: {total:,} answers on {draws:,} draws"
        yield f"{len(self.results['failed'])} wrong verdicts"


def main(arguments: list[str] | None = None) -> int:
    """Judge the draws; return 1 if a verdict was wrong or a process ended with an error."""
    parser = argparse.ArgumentParser(description="judge known answers on many draws")
    parser.add_argument("draws", type=int, nargs="?", default=200)
    parser.add_argument(
        "--first", type=int, help="first seed (default: by the sources)"
    )
    parser.add_argument("--right", type=int, help="draws of right answers, if fewer")
    parser.add_argument("--only", default="", help="a task's id, or its beginning")
    parser.add_argument("--seconds", type=float, default=math.inf, help="then stop")
    parser.add_argument("--out", type=Path, help="where to keep the counts")
    options = parser.parse_args(arguments)
    # To look at one task does not end a long run.
    kept = ROOT / "_build" / ("soak-of-one.json" if options.only else "soak.json")
    chosen = [stem for stem in stems() if stem.startswith(stem_of(options.only))]
    # One practical after the other, because each may import a framework.
    ids = (id_ for stem in chosen for id_ in tasks_of(stem))
    if options.draws < 1 or not any(id_.startswith(options.only) for id_ in ids):
        parser.error(f"no draws, or no task that begins with {options.only!r}")
    if options.out and options.out.exists():
        kept_only = json.loads(options.out.read_text("utf-8")).get("only", "")
        if kept_only != options.only:
            parser.error(
                f"{options.out} has counts of other tasks: {kept_only or 'all'}"
            )
    until = time.time() + options.seconds
    soak = Soak(options.out or kept, options.first, options.only, until)
    counts = dict.fromkeys(BLOCKS, options.draws)
    counts["right answers"] = min(options.draws, options.right or options.draws)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [
            pool.submit(soak.run, kind, stem, range(first, last)[start : start + size])
            for kind, size in BLOCKS.items()
            for start in range(0, counts[kind], size)
            for stem in chosen
            for first in [soak.first[stem]]
            for last in [first + counts[kind]]
        ]
        try:
            ended = [job.result() for job in jobs]
        finally:
            soak.until = 0.0  # when interrupted, no other process starts
    soak.write()
    print(*soak.summary(), sep="\n")
    return int(bool(soak.results["failed"]) or not all(ended))


if __name__ == "__main__":
    sys.exit(main())
