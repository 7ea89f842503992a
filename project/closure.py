"""The files that a source depends on: its imports, their imports, and data files.

Page outputs and grades are cached under a hash of these files, and a release bundle contains
them. Dependencies are read from the syntax tree; nothing is imported:

- imports, at any level of nesting, of modules below the project's folder;
- strings that are the full name of such a module, as in ``python -m NAME``;
- strings that name a file beside the source or, if they contain a slash, a file or a folder
  relative to the source or to the project's folder. A folder stands for the data files
  directly in it.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

MODULE = re.compile(r"[a-z_]\w*(\.[a-z_]\w*)+", re.IGNORECASE)
NAME = re.compile(r"[\w./ -]*[\w/-]", re.ASCII)
LONG = 200  # characters; longer strings are not taken for names


def closure(root: Path, source: str, place: Path, *more: str) -> frozenset[Path]:
    """Find the files below the project's folder that a source depends on.

    Args:
        root: the project's folder.
        source: a module, or the code cells of a notebook.
        place: the file that contains it.
        more: full names of modules that it also needs but does not visibly import.

    Raises:
        SyntaxError: the source, or a module, does not parse.
    """
    root = root.resolve()
    found: set[Path] = set()
    waiting = [
        *_of_source(root, source, place),
        *(_module(root, name) for name in more),
    ]
    while waiting:
        path = waiting.pop()
        if path is None or path in found:
            continue
        found.add(path)
        if path.suffix == ".py":
            # Importing a module imports its packages first.
            waiting += (folder / "__init__.py" for folder in _packages(root, path))
            waiting += _of_file(root, path, path.stat().st_mtime_ns)
    return frozenset(found)


def digest_of(root: Path, paths: Iterable[Path]) -> str:
    """Hash the names and contents of files below the project's folder."""
    root, code = root.resolve(), hashlib.sha256()
    for path in sorted(path.resolve() for path in paths):
        content = hashlib.sha256(path.read_bytes()).digest()
        code.update(str(path.relative_to(root)).encode() + b"\0" + content)
    return code.hexdigest()


@lru_cache(maxsize=64)
def _of_source(root: Path, source: str, place: Path) -> tuple[Path, ...]:
    return tuple(_named(root, source, place))


@lru_cache(maxsize=4096)
def _of_file(root: Path, path: Path, changed: int) -> tuple[Path, ...]:
    return tuple(_named(root, path.read_text(encoding="utf-8"), path))


def _named(root: Path, source: str, place: Path) -> Iterator[Path]:
    package = place.parent.relative_to(root).parts
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        match node:
            case ast.Import(names=aliases):
                names = [alias.name for alias in aliases]
            case ast.ImportFrom(module=module, names=aliases, level=level):
                above = package[: len(package) - level + 1] if level else ()
                base = ".".join([*above, *([module] if module else [])])
                names = [base, *(f"{base}.{alias.name}" for alias in aliases)]
            case ast.Constant(value=str(text)) if len(text) <= LONG:
                if MODULE.fullmatch(text):
                    names = [text]
                yield from _files(root, text, place)
        for name in names:
            if (path := _module(root, name)) is not None:
                yield path


def _files(root: Path, text: str, place: Path) -> Iterator[Path]:
    if not NAME.fullmatch(text):
        return
    for folder in [place.parent, root] if "/" in text else [place.parent]:
        path = folder / text
        # Most strings name nothing, and to resolve a path takes longest.
        if not path.exists() or not (path := path.resolve()).is_relative_to(root):
            continue
        if path.is_file():
            yield path
        elif path.is_dir() and "/" in text and path != root:
            yield from (
                one for one in path.iterdir() if one.is_file() and one.suffix != ".py"
            )


def _module(root: Path, name: str) -> Path | None:
    path = root.joinpath(*name.split("."))
    for file in (path / "__init__.py", path.with_suffix(".py")):
        if name and file.is_file():
            return file
    return None


def _packages(root: Path, path: Path) -> Iterator[Path]:
    """Yield the packages that contain a module, innermost first."""
    for folder in path.parents:
        if folder == root or not (folder / "__init__.py").is_file():
            return
        yield folder
