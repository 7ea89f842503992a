"""The feedback as platforms return it to the students: a zip file for Moodle, a table for mail.

Moodle's *Upload multiple feedback files in a zip* splits the name of a folder at its first four
underscores: a name, the participant's number, ``assignfeedback`` and ``file``. It looks only at
the number, which it put into the names of the files that the instructor downloaded.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from grading.record import Result
from grading.reports.sheets import guarded, identity, table

NAME, TABLE = "moodle-feedback.zip", "pages.csv"
# The first time that a zip can hold: the same pages give the same bytes.
WHEN = (1980, 1, 1, 0, 0, 0)


Pages = Iterable[tuple[Result, PurePosixPath, str]]
"""The results, each with the path of its page below ``feedback`` and its content."""


def returned_in(out: Path) -> tuple[Path, Path]:
    """The places of the table and of the zip file in a folder of results."""
    return out / "feedback" / TABLE, out / NAME


def pages_csv(pages: Pages) -> str:
    """The table of the pages, for a program that sends each to its student."""
    rows = [
        [guarded(result.student), guarded(result.notebook), str(path)]
        for result, path, _ in pages
    ]
    return table([("student", "notebook", "page"), *rows], mark=True)


def moodle_zip(pages: Pages) -> bytes | None:
    """Return the zip file for Moodle; None if no student has a participant's number."""
    entries = {}
    for result, path, page in pages:
        if result.identifier.isascii() and result.identifier.isdecimal():
            who = identity(path.parts[0], result.identifier).name.replace("_", " ")
            folder = f"{who.strip()}_{result.identifier}_assignfeedback_file_"
            entries[f"{folder}/{path.name}"] = page
    if not entries:
        return None
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(entries):
            entry = zipfile.ZipInfo(name, WHEN)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, entries[name])
    return content.getvalue()
