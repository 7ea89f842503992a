"""Notebooks assembled for grading, with reference answers, and the values of their probes."""

import json
from functools import cache
from pathlib import Path

import IPython.display
import numpy as np
import pytest
from labs import COURSE, LABS

from course.task import stems, tasks_of
from grading.execution.probe import probe_source
from grading.execution.values import VALUES
from grading.submissions.answers import Answer, Answers

ROOT = Path(__file__).parents[2]
STEMS = stems()
NAMES = [lab.name for lab in LABS]
TASKS = [task for stem in STEMS for task in tasks_of(stem).values()]
each_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
each_practical = pytest.mark.parametrize("stem", STEMS)
each_name = pytest.mark.parametrize("name", NAMES)  # of a lab
NOBODY = Answers({}, {})


def released(name):
    """Return the exercise of a lab; of a practical, that of its first lab."""
    return COURSE.labs(name)[0].released()


def tasks_in(name):
    """Return the tasks of a lab, or of all labs of a practical, in order, by id."""
    tasks = tasks_of(COURSE.labs(name)[0].stem)
    return {id_: tasks[id_] for id_ in order(name)}


def reference(name):
    """Return the reference solutions of a lab or of a practical, by task."""
    module = COURSE.labs(name)[0].solutions()
    tasks = tasks_in(name).values()
    return {task.id: module.definitions[task.name].shown() for task in tasks}


def drawn(name, seed=7):
    return {
        id_: task.cases(np.random.default_rng(seed))
        for id_, task in tasks_in(name).items()
    }


def probes(name, seed=7):
    tasks = tasks_in(name)
    return {id_: probe_source(tasks[id_], c) for id_, c in drawn(name, seed).items()}


def answers(sources, **rest):
    tasks = {id_: Answer(id_, source) for id_, source in sources.items()}
    return Answers(tasks, {}, **rest)


def run(notebook, monkeypatch):
    """Run a notebook's cells in one namespace; return what its probes display, by task."""
    shown = {}

    def publish(data):
        payload = json.loads(json.dumps(data[VALUES], allow_nan=False))
        shown[payload["task"]] = payload

    monkeypatch.setattr(IPython.display, "publish_display_data", publish)
    namespace = {"__name__": "__main__"}
    for cell in notebook.cells:
        exec(cell.source, namespace)
    return shown


def probed(task, answer, monkeypatch, cases):
    """Return what the probe of one task displays for an answer."""
    shown = []
    monkeypatch.setattr(IPython.display, "publish_display_data", shown.append)
    exec(probe_source(task, cases), {task.name: answer})
    (data,) = shown
    return json.loads(json.dumps(data[VALUES], allow_nan=False))


@cache  # it reads the exercises
def order(name):
    """Return the ids of the tasks of a lab, or of all labs of a practical, in order."""
    return tuple(task for lab in COURSE.labs(name) for task in lab.tasks())
