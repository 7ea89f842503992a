"""`make lighthouse` serves the book as web servers do, and shows which scores are too low."""

import gzip
import io
from urllib.request import urlopen

import pytest
from rich.console import Console

from studies.lighthouse import serve, table


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


def test_scores_that_are_too_low_are_marked():
    scores = {
        ("index", "desktop"): {"Performance": 100, "SEO": 95},
        ("index", "phone"): {"Performance": 94, "SEO": 100},
    }
    console = Console(file=io.StringIO(), record=True, force_terminal=True, width=80)
    console.print(table(scores))
    red = [
        line
        for line in console.export_text(styles=True).splitlines()
        if "\x1b[31m" in line
    ]
    assert len(red) == 1
    assert "phone" in red[0]
