"""Faults of the course that a run has found, kept for the reports until a check changes."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path

import msgspec

from project.files import write_whole

Kept = dict[str, tuple[str, list[str]]]
"""By lab: the hash of everything that its grades depend on, and sentences."""


def keep_faults(path: Path, lab: str, machinery: str, sentences: Iterable[str]) -> None:
    """Add sentences about a lab; those about another state of its checks are dropped."""
    kept = _read(path)
    before, old = kept.get(lab, ("", []))
    known = old if before == machinery else []
    new = [*dict.fromkeys([*known, *sentences])]
    if new or old:
        write_whole(path, json.dumps(kept | {lab: (machinery, new)}))


def read_faults(path: Path, labs: Iterable[str]) -> list[str]:
    """List the sentences about some labs."""
    kept = _read(path)
    return [text for lab in labs for text in kept.get(lab, ("", []))[1]]


def _read(path: Path) -> Kept:
    with contextlib.suppress(FileNotFoundError, ValueError, msgspec.ValidationError):
        return msgspec.json.decode(path.read_bytes(), type=Kept)
    return {}
