"""The results of the answers written without sight of the checks agree with the course."""

import json
import tomllib

from course.task import find, stems
from studies.mutants import ROOT

ROWS = json.loads((ROOT / "studies/blind_answers.json").read_text("utf-8"))
HARMLESS = tomllib.loads((ROOT / "studies/harmless_answers.toml").read_text("utf-8"))


def test_every_practical_has_a_row():
    names = [name.replace("-", "_") for name in ROWS["practicals"]]
    assert sorted(names) == list(stems())


def test_each_answer_that_may_pass_has_a_reason():
    for id_, reasons in HARMLESS.items():
        find(id_)
        assert all(reason.endswith(".") for reason in reasons.values())


def test_the_counts_are_parts_of_one_another():
    for row in ROWS["practicals"].values():
        assert row["wrong"] >= row["caught"] >= row["told"] >= row["named"]
        assert row["named"] >= row["false"]
        assert row["right"] >= row["refused"]


def test_the_last_set_is_large_and_its_goals_are_reached():
    total = {
        what: sum(row[what] for row in ROWS["practicals"].values())
        for what in ROWS["practicals"]["warm-up"]
    }
    assert total["wrong"] >= 400
    assert total["right"] >= 120
    assert total["caught"] >= 0.995 * total["wrong"]
    assert total["named"] >= 0.4 * total["caught"]
    assert total["told"] >= 0.85 * total["caught"]
