"""The files of a study that goes on where it was stopped: ``results.csv``, ``settings.json``."""

from __future__ import annotations

import csv
import datetime
import io
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from project.files import write_whole


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
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for row in results:
        writer.writerow(
            {
                k: f"{v:.{digits}g}" if isinstance(v, float) else v
                for k, v in row.items()
            }
        )
    about = {
        "computed": str(datetime.datetime.now(datetime.UTC).date()),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "settings": settings,
    }
    write_whole(folder / "settings.json", json.dumps(about, indent=1) + "\n")
    write_whole(folder / "results.csv", text.getvalue())
