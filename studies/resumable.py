"""Studies that go on where they were stopped, with ``results.csv`` and ``settings.json``."""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from course.idx import DataUnavailable
from project.files import write_whole
from studies.tables import computed, csv_text


def read(folder: Path, settings: dict) -> list[dict]:
    """Read the results so far: none, if there is no file.

    Raises:
        SystemExit: they were computed with other settings.
    """
    path = folder / "results.csv"
    if not path.exists():
        return []
    kept = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    if kept["settings"] != json.loads(json.dumps(settings)):  # tuples become lists
        sys.exit(
            f"{path} was computed with other settings or libraries (see settings.json): "
            "move both files away, or write elsewhere with --out."
        )
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(
    folder: Path,
    columns: Sequence[str],
    results: list[dict],
    settings: dict,
    digits: int = 6,
) -> None:
    """Write the table of results and the settings, each file whole or not at all."""
    about = computed() | {"settings": settings}
    write_whole(folder / "settings.json", json.dumps(about, indent=1) + "\n")
    write_whole(folder / "results.csv", csv_text(columns, results, digits))


def run(
    arguments: list[str] | None,
    rows_of: Callable[[str, int], Iterable[dict]],
    *,
    title: str,
    folder: Path,
    sets: Iterable[str],
    count: int,
    columns: Sequence[str],
    settings: dict,
    digits: int = 6,
) -> None:
    """Compute the cells that are missing, all sets in turn, and write after each.

    A cell is a set and a number, in the first two columns. A set whose files are unavailable
    is skipped, with a message.

    Args:
        arguments: those of the command line.
        rows_of: computes the rows of a cell.
        title: what the command does.
        folder: where to write by default.
        sets: the sets, in the order of the table.
        count: how many cells a set has.
        columns: of the table.
        settings: what determines the results.
        digits: significant digits of the results.

    Raises:
        SystemExit: an argument is refused; the results so far were computed with other
            settings; or no set is available.
    """
    sets, unit = list(sets), columns[1]
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--out", type=Path, default=folder, help="where to write")
    parser.add_argument(
        f"--{unit}s", type=int, default=count, dest="count", help="the first so many"
    )
    parser.add_argument("--sets", nargs="+", default=sets, choices=sets)
    options = parser.parse_args(arguments)
    if not 1 <= options.count <= count:
        parser.error(f"--{unit}s is from 1 to {count}")
    results = read(options.out, settings)
    done = {(row["set"], int(row[unit])) for row in results}
    wanted = [(name, i) for i in range(options.count) for name in options.sets]
    missing = [cell for cell in wanted if cell not in done]
    unavailable, computed, start = set(), 0, time.perf_counter()
    while missing:
        name, number = missing[0]
        try:
            results += list(rows_of(name, number))
        except DataUnavailable as error:
            print(f"{name} is skipped: {error}", file=sys.stderr)
            unavailable.add(name)
            wanted, missing = (
                [cell for cell in cells if cell[0] != name]
                for cells in (wanted, missing)
            )
            continue
        results.sort(key=lambda row: (sets.index(row["set"]), int(row[unit])))
        write(options.out, columns, results, settings, digits)
        missing, computed = missing[1:], computed + 1
        left = (time.perf_counter() - start) / computed * len(missing) / 60
        print(
            f"{name}, {unit} {number}: {len(wanted) - len(missing)} of {len(wanted)} done, "
            f"about {left:.0f} minutes left",
            flush=True,
        )
    if unavailable == set(options.sets):
        sys.exit("No set is available.")
