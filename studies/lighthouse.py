"""Judge every page of the built book with Lighthouse, as on a desktop and on a phone.

    make lighthouse

serves ``_build/html`` on the loopback, compressed as web servers do, and prints a table: the
scores, the longest time for which a page does not answer (its longest task, on the phone with
a processor four times as slow), and the kilobytes that it loads. It ends with 1 if a score is
below 95 or a task longer than half a second. Times vary from run to run: a page that misses
a limit is judged four more times, and the median counts, as Lighthouse advises. It needs
Chromium and a quarter of an hour on a machine that does nothing else. ``make test-long`` judges
two pages, which each commit draws, and asks for the other scores only.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from statistics import median_low

from rich.console import Console
from rich.progress import track
from rich.table import Table

from studies.chromium import executable
from studies.pdf import BUILT, ROOT, pages

LIGHTHOUSE = ROOT / "_build" / "lighthouse" / "node_modules" / ".bin" / "lighthouse"
LEAST, LONGEST = 95, 500  # scores; milliseconds
RUNS = 5  # of a page that misses a limit
SPEED, LONGEST_TASK, WEIGHT = "Performance", "longest task, ms", "kB"
SCREENS = {"desktop": ["--preset=desktop"], "phone": []}
PACKED = ("text/", "application/json", "application/javascript", "image/svg+xml")


@cache
def packed(path: str) -> bytes:
    """Return a file's contents, compressed."""
    return gzip.compress(Path(path).read_bytes())


class Compressing(SimpleHTTPRequestHandler):
    """Serve a folder; compress text, which browsers unpack."""

    def do_GET(self) -> None:
        """Answer a request."""
        path = self.translate_path(self.path)
        kind = self.guess_type(path)
        if not os.path.isfile(path) or not kind.startswith(PACKED):
            super().do_GET()
            return
        body = packed(path)
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args) -> None:
        """Say nothing."""


def serve(folder: Path) -> ThreadingHTTPServer:
    """Serve a folder on a free port of the loopback, until ``shutdown`` is called."""
    handler = partial(Compressing, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def judge(address: str, options: list[str]) -> dict[str, int]:
    """Return a page's scores by category, of 100 each, its longest task and its weight.

    Raises:
        RuntimeError: if Lighthouse fails; with what it printed.
    """
    flags = "--chrome-flags=--headless=new --no-sandbox"
    command = [str(LIGHTHOUSE), address, "--output=json", "--quiet", flags, *options]
    environment = os.environ | {"CHROME_PATH": executable() or ""}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=300
    )
    if done.returncode:
        raise RuntimeError(f"Lighthouse could not judge {address}:\n{done.stderr}")
    return measured(json.loads(done.stdout))


def measured(report: dict) -> dict[str, int]:
    """Return what a report of Lighthouse says about a page."""
    scores = {
        one["title"]: round(100 * one["score"]) for one in report["categories"].values()
    }
    audits = report["audits"]
    tasks = audits["long-tasks"].get("details", {}).get("items", [])
    return scores | {
        LONGEST_TASK: round(max((one["duration"] for one in tasks), default=0)),
        WEIGHT: round(audits["total-byte-weight"]["numericValue"] / 1000),
    }


def too_bad(name: str, value: int) -> bool:
    """Is a score too low, or a task too long?"""
    if name == WEIGHT:  # a test of the book has its limits
        return False
    return value > LONGEST if name == LONGEST_TASK else value < LEAST


def settled(runs: Iterator[dict[str, int]]) -> dict[str, int]:
    """Return what a page's first run found or, if it misses a limit, the medians of five runs."""
    first = next(runs)
    if not any(too_bad(*one) for one in first.items()):
        return first
    rows = [first, *islice(runs, RUNS - 1)]
    return {name: median_low(row[name] for row in rows) for name in first}


def table(found: dict[tuple[str, str], dict[str, int]]) -> Table:
    """Set out what was found, a row for each page and screen; what is too bad is red."""
    shown = Table("page", "screen", *next(iter(found.values())))
    for column in shown.columns:
        column.overflow = "fold"
    for (page, screen), row in found.items():
        cells = (f"[red]{n}[/]" if too_bad(k, n) else str(n) for k, n in row.items())
        shown.add_row(Path(page).name, screen, *cells)
    return shown


def judged(
    folder: Path,
    names: list[str],
    settle: Callable = next,
    screens: Iterable[str] = tuple(SCREENS),
) -> dict[tuple[str, str], dict[str, int]]:
    """Judge pages of a built book on screens; ``settle`` makes one result of a page's runs."""
    server = serve(folder)
    address = "http://{}:{}".format(*server.server_address)
    asked = [(page, screen) for page in names for screen in screens]

    def runs(page: str, screen: str) -> Iterator[dict[str, int]]:
        while True:
            yield judge(f"{address}/{page}.html", SCREENS[screen])

    try:
        return {at: settle(runs(*at)) for at in track(asked, "judging", transient=True)}
    finally:
        server.shutdown()
        server.server_close()


def main() -> None:
    """Judge the book."""
    if not (BUILT / "index.html").exists():
        sys.exit(f"{BUILT} is not there: run `make book` first.")
    found = judged(BUILT, pages(ROOT), settled)
    Console().print(table(found))
    sys.exit(any(too_bad(*one) for row in found.values() for one in row.items()))


if __name__ == "__main__":
    main()
