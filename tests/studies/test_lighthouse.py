"""`make lighthouse` serves the book as web servers do, and shows which scores are too low."""

import gzip
import io
import re
from urllib.request import urlopen

import pytest
from rich.console import Console

from studies.lighthouse import LONGEST_TASK, WEIGHT, measured, serve, settled, table


@pytest.fixture
def address(tmp_path):
    (tmp_path / "page.html").write_text("<p>ä</p>" * 100, "utf-8")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    server = serve(tmp_path)
    yield "http://{}:{}".format(*server.server_address)
    server.shutdown()
    server.server_close()


def test_text_is_served_compressed_and_pictures_as_they_are(address):
    with urlopen(f"{address}/page.html") as answer:
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
        assert answer.headers["Content-Encoding"] == "gzip"
        body = answer.read()
    assert gzip.decompress(body).decode() == "<p>ä</p>" * 100
    assert len(body) < 100
    with urlopen(f"{address}/picture.png") as answer:
        assert answer.headers["Content-Encoding"] is None
        assert answer.read() == b"\x89PNG"


def test_a_report_is_read_and_what_is_too_bad_is_marked():
    def report(performance, *tasks):
        items = [{"duration": task} for task in tasks]
        return {
            "categories": {"performance": {"title": "Speed", "score": performance}},
            "audits": {
                "long-tasks": {"details": {"items": items}} if items else {},
                "total-byte-weight": {"numericValue": 123_456},
            },
        }

    found = {
        ("index", "desktop"): measured(report(1.0)),
        ("index", "phone"): measured(report(0.94, 60.2, 30)),
        ("lab", "phone"): measured(report(0.95, 70, 501)),
        ("lab", "desktop"): measured(report(0.95, 500, 80)),
    }
    assert found["index", "phone"] == {"Speed": 94, LONGEST_TASK: 60, WEIGHT: 123}
    console = Console(file=io.StringIO(), record=True, force_terminal=True, width=80)
    console.print(table(found))
    lines = console.export_text(styles=True).splitlines()
    red = [re.findall(r"\x1b\[31m(\d+)", line) for line in lines]
    assert [one for one in red if one] == [["94"], ["501"]]


def test_of_a_page_that_misses_a_limit_the_median_of_five_runs_counts():
    def runs(*scores):
        return iter([{"Performance": score} for score in scores])

    assert settled(runs(95, 0)) == {"Performance": 95}
    assert settled(runs(93, 97, 94, 96, 96, 0)) == {"Performance": 96}
    assert settled(runs(93, 97, 94, 94, 96, 100)) == {"Performance": 94}
