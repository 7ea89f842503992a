"""The results of the answers written without sight of the checks agree with the course."""

import json
import tomllib

from course.task import find, stems
from studies.mutants import ROOT

ROWS = json.loads((ROOT / "studies/blind_answers.json").read_text("utf-8"))
HARMLESS = tomllib.loads((ROOT / "studies/harmless_answers.toml").read_text("utf-8"))


def test_every_practical_has_a_row():
    names = [name.replace("-", "_") for name in ROWS["practicals"]]
    assert sorted(names) == stems()


def test_each_answer_that_still_passes_has_a_reason():
    missed = {
        name: row["wrong"] - row["caught_since"]
        for name, row in ROWS["practicals"].items()
    }
    listed = dict.fromkeys(missed, 0)
    for id_, reasons in HARMLESS.items():
        find(id_)
        assert all(reason.endswith(".") for reason in reasons.values())
        listed[id_.partition("/")[0]] += len(reasons)
    # Of earlier answers, the reasons stay.
    assert all(listed[name] >= number for name, number in missed.items())
