"""Generated results of a class as the grader returns them, some with hostile strings."""

import hashlib
import random
import re

from course.task import tasks_of
from grading.record import Flag, Result, Verdict, Written

SCRIPT = "<script>window.hacked = (window.hacked || 0) + 1</script>"
IMAGE = "<img src=x onerror='window.hacked = (window.hacked || 0) + 1'>"
REMOTE = "![spy](https://spy.example/pixel.png) [click](javascript:window.hacked=1)"
NAMES = """Ada Lovelace_1000001|noether|Zoë Kravitz|o'brien|s2719004
hopper@example.org|ramanujan|curie|turing|gauss|germain|fisher|neyman|wald|blackwell|rao
cox|box|tukey|kolmogorov|doob|ito|levy|feller|markov|jeffreys|de-finetti|savage"""
HOSTILE = (
    '=HYPERLINK("https://spy.example";"click")',
    "+1;=cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1+1",
    SCRIPT,
    f'"><{IMAGE[1:]}',
    "../../etc/passwd",
    "con",
    "anna",
    "Anna",
    "🦊 and 🐍",
    "'t Hooft",
    "\udcff\udcfe not UTF-8",
    "x" * 300,
    "\u202egpj.exe",
)
ANSWERS = (
    "Both lower the NLL: from 1.42 to 1.21 with ensembles, and to **1.30** with adversarial "
    "training alone. The band covers 66 % of the data. Gains flatten beyond $M = 5$.",
    "The logits grow linearly along rays, so $\\mathbf{x}^\\top\\Sigma\\mathbf{x}$ does "
    "too.\n\n- far out: 0.99\n- near: 0.61",
    "# LOUD\n\nBecause the model is **uncertain**.",
    "I think it is because of the prior, but I am not sure.",
    f"{SCRIPT}\n\n{IMAGE}\n\n{REMOTE}\n\n<iframe src='https://spy.example'></iframe>",
    "*Write your answer here.*",
    "",
)
QUESTIONS = {
    "deep_ensembles": (
        "virtual-labels",
        "regression-ingredients",
        "overconfident",
        "where-uncertain",
        "adversarial-spirals",
        "survey",
    ),
    "bayes_by_backprop": ("between-the-data", "is-doubt-enough", "survey"),
}
REASONS = (
    "On mean = [0.3, 1.2], std = 0.5: expected 1.083, got 0.942.",
    "It returns an array of shape (3, 1), and (3,) is wanted.",
    "ZeroDivisionError: division by zero.",
    "It returns None.",
)


def number_of(student):
    """Return the platform's number of a student: five or more digits at the end of the name."""
    match = re.search(r"_(\d{5,})$", student)
    return match[1] if match else ""


def everybody(count, *, hostile=True):
    """List names for a class of this size; the hostile ones come after 24 usual ones."""
    usual = NAMES.replace("\n", "|").split("|")
    names = usual[:24] + list(HOSTILE if hostile else ()) + usual[24:]
    return (names + [f"student{k:03d}" for k in range(count)])[:count]


def difficulty(task):
    """Return a task's difficulty, the same in every class; most tasks are easy."""
    return 0.3 + 2.4 * random.Random(task.id).random() ** 3


def verdict(rng, task, ability):
    """Draw a task's verdict; the first misconception of each task is the most common."""
    seconds = rng.uniform(0.05, 0.9)
    if rng.random() < ability ** difficulty(task):
        return Verdict(task.id, task.points, "right", seconds=seconds)
    if rng.random() < 0.12:
        return Verdict(
            task.id, task.points, rng.choice(["not-attempted", "not-reached"])
        )
    reason = rng.choice(REASONS)
    if rng.random() < 0.75 and task.misconceptions:
        number = min(int(rng.expovariate(1.6)), len(task.misconceptions) - 1)
        hint, key = task.misconceptions[number].hint, f"{task.id}#{number}"
        return Verdict(task.id, task.points, "wrong", 1, REASONS[0], hint, key, seconds)
    return Verdict(task.id, task.points, "wrong", 1, reason, seconds=seconds)


def notebook(rng, student, stem, ability, hostile):
    """Draw the result of one student's notebook of one practical."""
    prefix = stem.replace("_", "-")
    name = f"01-{prefix}.ipynb"
    if rng.random() < 0.2:
        name = f"=my {IMAGE} copy (2).ipynb" if hostile else f"01-{prefix} (2).ipynb"
    answers = ANSWERS if hostile else [text for text in ANSWERS if SCRIPT not in text]
    flags = ()
    if rng.random() < 0.08:
        where = f"{prefix}--gaussian-nll--check"
        flags = (
            Flag(
                "check-edited", where, f"A check was edited{f' by {SCRIPT}' * hostile}."
            ),
        )
    return Result(
        student=student,
        practical=stem,
        notebook=name,
        digest=hashlib.sha256(repr((student, stem)).encode()).hexdigest(),
        identifier=number_of(student),
        verdicts=tuple(verdict(rng, task, ability) for task in tasks_of(stem).values()),
        written=tuple(
            Written(f"{prefix}/{question}", 3, rng.choice(answers))
            for question in QUESTIONS.get(stem, ())
        ),
        flags=flags,
        seconds=rng.uniform(2, 9),
    )


def classroom(count=40, stems=("deep_ensembles",), seed=0, *, hostile=True):
    """Draw the results of a class: most answers are right, a few notebooks not gradable."""
    rng = random.Random(seed)
    results = []
    for student in everybody(count, hostile=hostile):
        ability = rng.betavariate(4, 1.6)
        for stem in stems:
            if stem != stems[0] and rng.random() < 0.15:
                continue
            result = notebook(rng, student, stem, ability, hostile)
            if rng.random() < 0.05:
                result = Result(
                    student,
                    stem if rng.random() < 0.5 else "",
                    result.notebook,
                    result.digest,
                    result.identifier,
                    graded=False,
                    problem=f"The file is no notebook{f': it begins with {IMAGE}' * hostile}.",
                    seconds=0.1,
                )
            results.append(result)
    rng.shuffle(results)
    return results
