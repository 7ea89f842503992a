"""Read the book's bibliography."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pybtex.database import BibliographyData, parse_file
from pybtex.exceptions import PybtexError

from project.errors import CourseError


def references(root: Path) -> BibliographyData:
    """Return the entries of ``book/references.bib``; none if there is no such file.

    Raises:
        CourseError: it is no BibTeX.
    """
    path = root / "book" / "references.bib"
    if not path.exists():
        return BibliographyData()
    return _parsed(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _parsed(path: Path, changed: int) -> BibliographyData:
    try:
        return parse_file(str(path))
    except PybtexError as error:
        line = getattr(error, "lineno", None)
        problem = f"It is no BibTeX: {error}."
        raise CourseError(path, line, problem, "Mend the entry.") from None
