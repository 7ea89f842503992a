"""Read the cells of a submitted notebook, which may be any JSON whatsoever."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from grading.submissions.sources import quietly

MAX_BYTES = 20_000_000
SURROGATE = re.compile("[\ud800-\udfff]")


class NotGradable(Exception):
    """A submission cannot be graded; ``reason`` says why, in one sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class SubmittedCell:
    """A cell as submitted, with fields of the types that they should have.

    ``other_id`` is the id that Google Colab keeps in the metadata.
    """

    kind: str
    id: str
    other_id: str
    role: str
    task: str
    grade_id: str
    tags: tuple[str, ...]
    source: str


def load(data: bytes) -> dict[str, Any]:
    """The JSON object in a notebook's file.

    Raises:
        NotGradable: the file contains none, or is too large.
    """
    if len(data) > MAX_BYTES:
        raise NotGradable(f"The file is larger than {MAX_BYTES // 10**6} MB.")
    if not data.strip():
        raise NotGradable("The file is empty.")
    try:
        notebook = quietly(json.loads, data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise NotGradable("The file is not text in UTF-8.") from None
    except json.JSONDecodeError as error:
        raise NotGradable(
            f"The file is not valid JSON from line {error.lineno} on: it may be cut off."
        ) from None
    except (RecursionError, ValueError, MemoryError):
        raise NotGradable(
            "The file is JSON that is nested too deeply, or has too long a number."
        ) from None
    if not isinstance(notebook, dict):
        raise NotGradable("The file is JSON, but not a notebook.")
    return notebook


def cells_of(
    notebook: dict[str, Any], flag: Callable[[str], None]
) -> Iterator[SubmittedCell]:
    """Yield the cells of a notebook of any version, except malformed ones.

    Args:
        notebook: as ``load`` returns it.
        flag: called with the code of the flag for every oddity.

    Raises:
        NotGradable: it has no cells.
    """
    cells = notebook.get("cells")
    if cells is None and isinstance(notebook.get("worksheets"), list):  # version 3
        sheets = [s for s in notebook["worksheets"] if isinstance(s, dict)]
        parts = [s["cells"] for s in sheets if isinstance(s.get("cells"), list)]
        cells = [cell for part in parts for cell in part]
    if not isinstance(cells, list):
        raise NotGradable("The file is JSON, but has no list of cells.")
    if not any(isinstance(cell, dict) for cell in cells):
        raise NotGradable("The notebook has no cells.")
    for cell in cells:
        source = _source(cell) if isinstance(cell, dict) else None
        if source is None:
            flag("malformed-cell")
            continue
        if SURROGATE.search(source):
            flag("bad-characters")
            pairs = source.encode("utf-16", "surrogatepass")
            source = pairs.decode("utf-16", "replace")
        metadata = mapping(cell, "metadata")
        role, task = course_of(metadata)
        tags = metadata.get("tags")
        tags = tags if isinstance(tags, list) else []
        yield SubmittedCell(
            "code" if cell.get("cell_type") == "code" else "markdown",
            text(cell.get("id")),
            text(metadata.get("id")),
            role,
            task,
            text(mapping(metadata, "nbgrader").get("grade_id")),
            tuple(tag for tag in tags if isinstance(tag, str)),
            source.replace("\r\n", "\n").replace("\r", "\n"),
        )


def course_of(metadata: Mapping[str, Any]) -> tuple[str, str]:
    """The role and the task in a cell's metadata."""
    course = mapping(metadata, "course")
    return text(course.get("role")), text(course.get("task"))


def mapping(parent: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The value of a key if it is a JSON object; otherwise an empty one."""
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def text(value: Any) -> str:
    """The value if it is a string; otherwise an empty one."""
    return value if isinstance(value, str) else ""


def _source(cell: dict[str, Any]) -> str | None:
    source = cell.get("source", cell.get("input"))
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    return source if isinstance(source, str) else None
