"""Tables of results as CSV, and when and where they were computed."""

from __future__ import annotations

import csv
import datetime
import io
import os
import platform
from collections.abc import Iterable, Sequence


def csv_text(columns: Sequence[str], rows: Iterable[dict], digits: int = 6) -> str:
    """Format rows as CSV, numbers with so many significant digits."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {
                k: f"{v:.{digits}g}" if isinstance(v, float) else v
                for k, v in row.items()
            }
        )
    return text.getvalue()


def computed() -> dict[str, str | int | None]:
    """Return the date, the number of cores and Python's version."""
    return {
        "computed": str(datetime.datetime.now(datetime.UTC).date()),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
