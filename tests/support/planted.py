"""Judge planted answers: ``ANSWERS`` of ``{right,wrong}_answers/<stem>.py``, by task and label."""

from collections.abc import Iterable
from functools import cache

from frameworks import framework_of, said
from seeds import first_seed

from course.task import stem_of, stems, tasks_of

IMPORTS = """
import importlib, json, sys
import numpy as np
from course.judge import answered, compare, expected
from course.task import stem_of, tasks_of
from project.jax_options import share_context

seed, *ids = int(sys.argv[1]), *sys.argv[2:]
practicals = {
    stem: {
        folder: importlib.import_module(f"{folder}.{stem}").ANSWERS
        for folder in ("right_answers", "wrong_answers")
    }
    for stem in dict.fromkeys(map(stem_of, ids))
}
tasks = {id_: task for stem in practicals for id_, task in tasks_of(stem).items()}
share_context()
"""
JUDGE = """
for stem, folders in practicals.items():
    names = {task.name for task in tasks_of(stem).values()}
    for folder, answers in folders.items():
        strays = answers.keys() - names
        assert not strays, f"{folder}: {strays} are no tasks of {stem}"
found = []
for id_ in ids:
    task = tasks[id_]
    cases = task.cases(np.random.default_rng(seed))
    right = expected(task, cases)
    for folder, answers in practicals[stem_of(id_)].items():
        for label, answer in answers.get(task.name, {}).items():
            compared = (
                compare(answered(task, answer, [case]), [closes])
                for case, closes in zip(cases, right, strict=True)
            )
            try:
                mismatch = next(filter(None, compared), None)
                verdict = f"{mismatch.kind}: {mismatch.key}" if mismatch else "right"
            except Exception as error:
                verdict = f"raised {type(error).__name__}: {error}"
            found.append([folder, id_, label, seed, verdict])
print(json.dumps(found))
"""
EVERY_TASK = [id_ for stem in stems() for id_ in tasks_of(stem)]


def rows_of(
    task_id: str, folder: str, ids: Iterable[str]
) -> list[tuple[str, int, str]]:
    """Return label, seed and verdict of each planted answer to a task.

    ``ids`` are all tasks that will be asked for: those of a framework are judged at once.
    """
    framework = framework_of(stem_of(task_id))
    together = [id_ for id_ in ids if framework_of(stem_of(id_)) == framework]
    return [
        row[2:] for row in judged(*sorted(together)) if row[:2] == (folder, task_id)
    ]


@cache
def judged(*ids: str) -> list[tuple[str, str, str, int, str]]:
    """Judge every planted answer to these tasks: list folder, task, label, seed and verdict.

    A verdict is ``right``, the first mismatch, or ``raised …``.
    """
    return [tuple(row) for row in said(IMPORTS, JUDGE, str(first_seed()), *ids)]
