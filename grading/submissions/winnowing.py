"""Fingerprints of code by winnowing, for finding passages that two notebooks share.

Schleimer, Wilkerson and Aiken, Winnowing: local algorithms for document fingerprinting, SIGMOD
2003. Every run of ``NOISE + WINDOW - 1`` tokens that two cells share gives them a common
fingerprint, and runs of fewer than ``NOISE`` tokens give none. The tokens are those of
``tokens``: names, comments and layout make no difference. The library for this, copydetect,
counts all names as equal, those of NumPy's functions too, so that short formulas look alike.
"""

from __future__ import annotations

import ast
import zlib
from collections.abc import Iterable, Iterator, Mapping

from grading.submissions.forms import parsed
from grading.submissions.tokens import numbered, origins

NOISE, WINDOW = 16, 5  # tokens; runs in a window, of which one is chosen

Lines = tuple[int, int]


def fingerprints(source: str, imported: Mapping[str, str]) -> dict[int, list[Lines]]:
    """Choose the fingerprints of a cell, each with the first and last lines where it occurs.

    Args:
        source: a cell; one that does not compile has none.
        imported: see ``imports``.
    """
    hashes = list(_hashes(source, imported))
    found: dict[int, list[Lines]] = {}
    last = -1
    for start in range(max(len(hashes) - WINDOW + 1, min(len(hashes), 1))):
        window = range(start, min(start + WINDOW, len(hashes)))
        # Of equal hashes the last one: neighbouring windows then choose the same one.
        chosen = min(window, key=lambda place: (hashes[place][0], -place))
        if chosen != last:
            hash_, lines = hashes[chosen]
            found.setdefault(hash_, []).append(lines)
            last = chosen
    return found


def every_hash(sources: Iterable[str], imported: Mapping[str, str]) -> set[int]:
    """All hashes of some cells, of which their fingerprints are a part."""
    return {hash_ for text in sources for hash_, _ in _hashes(text, imported)}


def imports(sources: Iterable[str]) -> dict[str, str]:
    """The names that cells import from modules, with their original names."""
    trees = [tree for source in sources if (tree := parsed(source)) is not None]
    return origins(node for tree in trees for node in ast.walk(tree))


def _hashes(source: str, imported: Mapping[str, str]) -> Iterator[tuple[int, Lines]]:
    tree = parsed(source)
    if tree is None:
        return
    tokens = numbered(tree, imported)
    for start in range(len(tokens) - NOISE + 1):
        run = tokens[start : start + NOISE]
        text = "\0".join(token for token, _ in run)
        lines = [line for _, line in run]
        yield (
            zlib.crc32(text.encode("utf-8", "replace")),
            (min(lines), max(lines)),
        )
