"""The study that judges known answers on many draws: what it counts, and that it goes on."""

import json

import numpy as np
import pytest

from course.task import Close, Task
from grading.execution.expected import key_of
from studies import soak

STEM = "acting_on_uncertainty"
TASK = "acting-on-uncertainty/conformal-quantile"


def total_of(x):
    return x.sum()


def changes_its_input(x):
    x *= 2
    return x.sum() / 2


def probe(answer, x):
    return {"total": np.float64(answer(x))}


@pytest.fixture
def drawn():
    return []


@pytest.fixture
def task(drawn):
    def cases(rng):
        drawn.append([{"x": rng.normal(size=size)} for size in (1, 3)])
        return drawn[-1]

    return Task(
        "total_of",
        1,
        cases,
        probe,
        lambda x: {"total": Close(x.sum(), atol=1e-9, because="rounding")},
        id="sums/total-of",
    )


def test_both_kinds_of_wrong_verdicts_are_reported(task, monkeypatch):
    rows = [
        ("the sum", total_of, True),
        ("the sum, taken for wrong", total_of, False),
        ("the first", lambda x: x[0], False),
        ("the first, taken for right", lambda x: x[0], True),
        ("changes its input", changes_its_input, False),
        ("raises", lambda x: x.no_such_method(), False),
    ]
    monkeypatch.setattr(soak, "answers", lambda task, kind: rows)
    count, failed = soak.judged(task, "known answers", 3)
    assert count == len(rows)
    assert [row[:3] for row in failed] == [
        ["sums/total-of", 3, "the sum, taken for wrong"],
        ["sums/total-of", 3, "the first, taken for right"],
    ]
    assert failed[0][3] == "accepted"
    assert "case=0, key='total'" in failed[1][3]


def test_inputs_are_those_of_a_graded_run(task, drawn, monkeypatch):
    monkeypatch.setattr(soak, "answers", lambda task, kind: [])
    soak.judged(task, "references", 7)
    key_of(task, 7)
    ours, graders = drawn
    for one, other in zip(ours, graders, strict=True):
        np.testing.assert_array_equal(one["x"], other["x"])


def test_it_goes_on_where_it_was_stopped(tmp_path, capsys, monkeypatch):
    out = tmp_path / "soak.json"

    def judge(draws, *options):
        status = soak.main([str(draws), "--only", TASK, "--out", str(out), *options])
        return status, json.loads(out.read_text("utf-8"))

    status, results = judge(1)
    assert (status, results["failed"]) == (0, [])
    reference, known = (
        f"{STEM}, {kind}, {int(results['sources'][STEM][:8], 16)}"
        for kind in ("references", "known answers")
    )
    one, many = results["done"][known]
    assert results["done"] == {reference: [1, 1], known: [1, many]}
    assert one == 1
    assert many > 10
    assert "acting_on_uncertainty, references: 1 answers" in capsys.readouterr().out

    # The first draw is not judged again: what is noted of it stays. Of the known answers,
    # another draw is not asked for.
    results["done"][reference] = [1, 100]
    results["failed"] = [[TASK, 1, "reference", "noted before"]]
    out.write_text(json.dumps(results), "utf-8")
    status, results = judge(2, "--known", "1")
    assert status == 1
    assert results["done"] == {reference: [2, 101], known: [1, many]}

    # What other sources change is judged again, and nothing else; a process that breaks off is
    # no success.
    results["done"]["warm_up, references, 5"] = [3, 4]
    results["sources"][STEM] = "others"
    out.write_text(json.dumps(results), "utf-8")
    monkeypatch.setattr(soak.sys, "executable", "/bin/false")
    status, results = judge(2)
    assert (status, results["failed"]) == (1, [])
    assert results["done"] == {"warm_up, references, 5": [3, 4]}


def test_a_practicals_counts_depend_on_its_checks_solutions_and_answers(monkeypatch):
    named = []
    monkeypatch.setattr(soak, "digest_of", lambda root, paths: named.extend(paths))
    soak.sources_of("warm_up")
    names = {path.relative_to(soak.ROOT).as_posix() for path in named}
    assert names >= {
        "course/checks/warm_up/linear_regression.py",
        "course/checks/probing.py",
        "course/judge.py",
        "course/task.py",
        "solutions/warm_up/linear_regression.py",
        "tests/right_answers/warm_up.py",
        "tests/wrong_answers/warm_up.py",
    }
    assert not any(name.startswith(("book", "grading", "studies")) for name in names)
    assert not any("bayes_by_backprop" in name for name in names)


def test_it_stops_in_time(tmp_path):
    out = tmp_path / "soak.json"
    assert soak.main(["2", "--seconds", "0", "--out", str(out)]) == 0
    assert json.loads(out.read_text("utf-8"))["done"] == {}


def test_an_unknown_id_is_refused(capsys):
    with pytest.raises(SystemExit):
        soak.main(["--only", "no-such-practical"])
    assert (
        "no practical that begins with 'no-such-practical'" in capsys.readouterr().err
    )
