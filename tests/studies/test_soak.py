"""The study that judges known answers on many draws: what it counts, and that it goes on."""

import json
from dataclasses import replace

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
    both = "references and wrong answers"
    rows = {
        "right answers": [
            ("the sum", total_of),
            ("the first", lambda x: x[0]),
        ],
        both: [
            ("reference", total_of),
            ("the sum", total_of),
            ("the first", lambda x: x[0]),
            ("changes its input", changes_its_input),
            ("raises", lambda x: x.no_such_method()),
        ],
    }
    wrong = {"right answers": "the first", both: "the sum"}
    said = {"right answers": "key='total'", both: "accepted"}
    monkeypatch.setattr(soak, "answers", lambda task, kind: rows[kind])
    refusals = soak.Refusals()
    for _ in range(2):  # the second time, the case that refused is tried first
        for kind, known in rows.items():
            count, ((*row, verdict),) = soak.judged(task, kind, 3, refusals)
            assert count == len(known)
            assert row == ["sums/total-of", 3, wrong[kind]]
            assert said[kind] in verdict
    refused = {"the first": 1, "changes its input": 0, "raises": 0}
    assert refusals.cases == {(task.id, name): case for name, case in refused.items()}


def test_a_reference_that_is_refused_is_reported(task, monkeypatch):
    row = "reference", lambda x: x[0]
    monkeypatch.setattr(soak, "answers", lambda task, kind: [row])
    kind = "references and wrong answers"
    assert soak.judged(task, kind, 3, soak.Refusals())[1][0][2] == "reference"


def test_calls_are_watched_unless_values_alone_refused_the_answer(task, monkeypatch):
    def too_large(x):
        return x.sum() + 1

    def too_large_and_in_place(x):
        x += 1
        return x.sum()

    def in_place_but_the_first_time(x):
        if seen:
            x += 1
        seen.append(x)
        return x.sum() + 1

    def raises_but_the_first_time(x):
        if called:
            raise ValueError("on purpose")
        called.append(x)
        return x.sum() + 1

    watched, seen, called = [], [], []

    def watching(answer, left):
        watched.append(answer)
        return course_watched(answer, left)

    course_watched = soak.watched
    monkeypatch.setattr(soak, "watched", watching)
    kind, refusals = "references and wrong answers", soak.Refusals()
    known = [
        too_large,
        too_large_and_in_place,
        changes_its_input,
        lambda x: x.no_such_method(),
        raises_but_the_first_time,
    ]
    rows = [(answer.__name__, answer) for answer in known]
    monkeypatch.setattr(soak, "answers", lambda task, kind: rows)
    # As if JAX, which other tests may have imported, could compile none of them.
    refusals.programs = dict.fromkeys((task.id, name) for name, _ in rows)
    for seed in (1, 2, 3):
        watched.clear()
        assert soak.judged(task, kind, seed, refusals) == (5, [])
        assert watched == (known if seed == 1 else known[1:])

    rows[:] = [("in place", in_place_but_the_first_time)]
    assert soak.judged(task, kind, 1, refusals) == (1, [])
    with pytest.raises(RuntimeError, match="seed 2: an answer changed its inputs"):
        soak.judged(task, kind, 2, refusals)


def test_a_probe_is_asked_for_no_more_than_refuses_an_answer(task):
    asked = []

    def one_by_one(answer, x):
        for name in ("total", "again"):
            asked.append(name)
            yield name, np.float64(answer(x))

    twice = replace(
        task,
        probe=one_by_one,
        oracle=lambda x: dict.fromkeys(("total", "again"), *task.oracle(x).values()),
    )
    (case, *_) = twice.cases(np.random.default_rng(1))
    right = twice.oracle(**case)
    assert not soak.refused(twice, total_of, case, right)
    assert asked == ["total", "again"]
    assert soak.refused(twice, lambda x: x[0] + 1, case, right).key == "total"
    assert asked == ["total", "again", "total"]
    extra = right | {"a third": Close(1.0, because="nothing else")}
    assert soak.refused(twice, total_of, case, extra).kind == "missing"


def test_compiled_answers_are_refused_only_if_they_are_wrong_by_far(task, monkeypatch):
    import jax
    import jax.numpy as jnp

    def of_jax(answer, x):
        return {"total": answer(jnp.asarray(x))}

    def off_by(by, by_when_compiled):
        def answer(x):
            compiled = isinstance(x, jax.core.Tracer)
            run[compiled] += 1
            return x.sum() + (by_when_compiled if compiled else by)

        return answer

    known = {
        "wrong by far": off_by(1.0, 1.0),
        "wrong by little": off_by(1e-2, 1e-2),
        "infinite when compiled": off_by(1.0, jnp.inf),
        "right but when compiled": off_by(0.0, 1e-2),
        "cannot be compiled": lambda x: np.float32(1.0 + float(off_by(0.0, 0.0)(x))),
    }
    eager_and_compiled = {
        "wrong by far": [1, 1],
        "wrong by little": [3, 1],
        "infinite when compiled": [3, 1],
        "right but when compiled": [6, 0],
        "cannot be compiled": [3, 1],
    }
    task = replace(
        task,
        probe=of_jax,
        cases=lambda rng: [{"x": rng.normal(size=3)} for _ in range(2)],
        oracle=lambda x: {"total": Close(x.sum(), atol=1e-3, because="rounding")},
    )
    for name, answer in known.items():
        run, refusals = [0, 0], soak.Refusals()
        monkeypatch.setattr(soak, "answers", lambda *_, row=(name, answer): [row])
        wrong = [
            soak.judged(task, "references and wrong answers", seed, refusals)[1]
            for seed in (1, 2, 3)
        ]
        assert [bool(rows) for rows in wrong] == [name.startswith("right")] * 3
        assert run == eager_and_compiled[name], name


def test_inputs_are_those_of_a_graded_run(task, drawn, monkeypatch):
    monkeypatch.setattr(soak, "answers", lambda task, kind: [])
    soak.judged(task, "right answers", 7, soak.Refusals())
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
    right, wrong = (
        f"{STEM}, {kind}, {int(results['sources'][STEM][:8], 16)}"
        for kind in ("right answers", "references and wrong answers")
    )
    some, many = results["done"][right][1], results["done"][wrong][1]
    assert results["done"] == {right: [1, some], wrong: [1, many]}
    assert many > 10 > some > 1
    said = f"acting_on_uncertainty, references and wrong answers: {many} answers"
    assert said in capsys.readouterr().out

    # The first draw is not judged again: what is noted of it stays. Of the right answers,
    # another draw is not asked for.
    results["done"][wrong] = [1, 100]
    results["failed"] = [[TASK, 1, "reference", "noted before"]]
    out.write_text(json.dumps(results), "utf-8")
    status, results = judge(2, "--right", "1")
    assert status == 1
    assert results["done"] == {right: [1, some], wrong: [2, 100 + many]}

    # What other sources change is judged again, and nothing else; a process that breaks off is
    # no success.
    results["done"]["warm_up, right answers, 5"] = [3, 4]
    results["sources"][STEM] = "others"
    out.write_text(json.dumps(results), "utf-8")
    monkeypatch.setattr(soak.sys, "executable", "/bin/false")
    status, results = judge(2)
    assert (status, results["failed"]) == (1, [])
    assert results["done"] == {"warm_up, right answers, 5": [3, 4]}


def test_a_practicals_counts_depend_on_its_checks_solutions_and_answers(monkeypatch):
    named = []
    monkeypatch.setattr(soak, "digest_of", lambda root, paths: named.extend(paths))
    soak.sources_of("warm_up")
    names = {path.relative_to(soak.ROOT).as_posix() for path in named}
    assert names >= {
        "course/checks/warm_up/linear_regression.py",
        "course/probing.py",
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
    for name in ("no-such-practical", "warm-up/no-such-task"):
        with pytest.raises(SystemExit):
            soak.main(["--only", name])
        assert f"no task that begins with '{name}'" in capsys.readouterr().err


def test_counts_of_other_tasks_are_not_overwritten(tmp_path, capsys):
    out = tmp_path / "kept.json"
    out.write_text('{"only": "", "done": {"warm_up, right answers, 1": [2, 3]}}')
    before = out.read_text("utf-8")
    with pytest.raises(SystemExit):
        soak.main(["--only", "warm-up/log-mean-exp", "--out", str(out)])
    assert "has counts of other tasks: all" in capsys.readouterr().err
    assert out.read_text("utf-8") == before
