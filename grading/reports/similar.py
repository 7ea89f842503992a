"""Similar submissions: groups of notebooks with passages in common, side by side.

It is a reason to look, never a grade. The passages of the release and of the reference
solutions do not count, and neither do those that many in the class have, because a task
suggests them. The limits were set by the right answers in the project's tests, which were
written to differ: of the answers to the tasks of a practical, no two share more than 4
fingerprints.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from grading.flags import flag
from grading.record import Code, Result
from grading.reports.groups import connected
from grading.reports.pages import percent, render
from grading.reports.roster import Roster, by_name
from grading.submissions.winnowing import Lines, every_hash, fingerprints, imports
from project.files import write_whole
from project.practicals import Lab

LEAST = 12  # fingerprints that two notebooks share, about 50 tokens
NEAR = 0.3  # share of the fingerprints of the one that has fewer
# A passage does not count if more students have it than either.
FEW, MANY = 4, 0.1  # students, share of the class
SHOWN = 100  # pairs on the page
NAMED = 5  # students that a flag names
HOLDERS = 20  # cells of a notebook that are looked at for one fingerprint
LONGEST = 6_000  # characters of a cell on the page


@dataclass(frozen=True)
class Passage:
    """A cell as lines, each with whether it is part of a passage that both have."""

    where: str
    lines: tuple[tuple[str, bool], ...]
    cut: bool


@dataclass(frozen=True)
class SimilarPair:
    """Two notebooks of one lab, and the cells that have passages in common."""

    lab: str
    one: Result
    two: Result
    share: float
    passages: tuple[tuple[Passage, Passage], ...]


@dataclass(frozen=True)
class SimilarGroup:
    """Notebooks of one lab that are connected by similar pairs, the most similar pair first.

    A row has cells that have passages in common, each with its student, in the order of the
    students; ``rest`` is the number of pairs that are not compared in the rows.
    """

    lab: str
    students: tuple[str, ...]
    pairs: tuple[SimilarPair, ...]
    rows: tuple[tuple[tuple[str, Passage], ...], ...]
    rest: int

    @property
    def share(self) -> float:
        """The share of its most similar pair."""
        return self.pairs[0].share


@dataclass(frozen=True)
class _Fingerprinted:
    """The fingerprints of a notebook that count: where each is, by cell."""

    result: Result
    cells: Mapping[str, Mapping[int, Sequence[Lines]]]

    @property
    def hashes(self) -> set[int]:
        return {hash_ for found in self.cells.values() for hash_ in found}


def similar(roster: Roster, labs: Iterable[Lab]) -> list[SimilarPair]:
    """Find the pairs of notebooks with much code in common, the most similar first.

    All notebooks of different students are compared, whether they count or not.
    """
    by_lab: dict[str, list[Result]] = defaultdict(list)
    for one in roster.results:
        by_lab[one.lab].append(one)
    pairs = [
        pair for lab in labs for pair in _pairs(lab, by_lab.get(lab.name, ())) if pair
    ]
    return sorted(
        pairs,
        key=lambda p: (-p.share, by_name(p.one.student), by_name(p.two.student), p.lab),
    )


def flagged(results: Iterable[Result], pairs: Iterable[SimilarPair]) -> list[Result]:
    """Add the flag ``similar`` to the notebooks of these pairs."""
    others: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for pair in pairs:
        said = f"{percent(pair.share)} of the smaller one"
        others[pair.one.key].append(f"{pair.two.student}: {said}")
        others[pair.two.key].append(f"{pair.one.student}: {said}")
    return [
        replace(
            result,
            flags=(*result.flags, flag("similar", detail=_named(others[result.key]))),
        )
        if result.key in others
        else result
        for result in results
    ]


def groups(pairs: Sequence[SimilarPair]) -> list[SimilarGroup]:
    """Join the pairs that have a notebook in common, the group with the most similar pair first.

    Args:
        pairs: the most similar first; the cells of only so many as a page can show are compared.
    """
    joined = connected((pair.one.key, pair.two.key) for pair in pairs)
    label = {key: number for number, keys in enumerate(joined) for key in keys}
    found: dict[int, list[int]] = defaultdict(list)
    for index, pair in enumerate(pairs):
        found[label[pair.one.key]].append(index)
    return [
        _group([pairs[n] for n in members], sum(n < SHOWN for n in members))
        for members in found.values()
    ]


def write_similar(
    pairs: Sequence[SimilarPair], out: Path, *, titles: Mapping[str, str] | None = None
) -> Path:
    """Write ``similar.html``."""
    page = render(
        "similar.html.j2", groups=groups(pairs), count=len(pairs), titles=titles or {}
    )
    write_whole(out / "similar.html", page)
    return out / "similar.html"


def _group(pairs: Sequence[SimilarPair], shown: int) -> SimilarGroup:
    """Group pairs; the cells of the first ``shown`` of them are compared."""
    students = sorted({one.student for pair in pairs for one in (pair.one, pair.two)})
    # A row is a set of cells of which each has passages in common with another.
    cells: dict[tuple, Passage] = {}
    links = []
    for pair in pairs[:shown]:
        for both in pair.passages:
            keys = []
            for result, passage in zip((pair.one, pair.two), both, strict=True):
                text = tuple(line for line, _ in passage.lines)
                key = result.student, passage.where, text
                cells[key] = _joined(cells.get(key, passage), passage)
                keys.append(key)
            links.append(tuple(keys))
    order = {key: index for index, key in enumerate(cells)}
    ordered = [
        sorted(row, key=lambda key: (key[0], order[key])) for row in connected(links)
    ]
    ordered.sort(key=lambda row: min(order[key] for key in row))
    return SimilarGroup(
        lab=pairs[0].lab,
        students=tuple(students),
        pairs=tuple(pairs),
        rows=tuple(tuple((key[0], cells[key]) for key in row) for row in ordered),
        rest=len(pairs) - shown,
    )


def _joined(one: Passage, two: Passage) -> Passage:
    """A cell with the lines marked that are marked in either."""
    lines = zip(one.lines, two.lines, strict=True)
    both = tuple((line, hit or other) for (line, hit), (_, other) in lines)
    return replace(one, lines=both)


def _named(others: Sequence[str]) -> str:
    more = [f"{len(others) - NAMED} more"] if len(others) > NAMED else []
    return "; ".join([*others[:NAMED], *more])


def _pairs(lab: Lab, results: Sequence[Result]) -> Iterable[SimilarPair]:
    if not any(result.code for result in results):
        return
    released = [c.source for c in lab.released().cells if c.cell_type == "code"]
    solutions = [one.shown() for one in lab.solutions().definitions.values()]
    imported = imports(released)
    ignored = every_hash([*released, *solutions], imported)
    marks = [_marks(result, imported, ignored) for result in results]
    holders: dict[int, list[int]] = defaultdict(list)
    for index, one in enumerate(marks):
        for hash_ in one.hashes:
            holders[hash_].append(index)
    students = [result.student for result in results]
    most = max(FEW, MANY * len(set(students)))
    rare = {
        hash_
        for hash_, found in holders.items()
        if len({students[index] for index in found}) <= most
    }
    count = Counter(
        (one, two)
        for hash_ in rare
        for one, two in combinations(holders[hash_], 2)
        if students[one] != students[two]
    )
    title = lab.title
    for (one, two), shared in sorted(count.items()):
        least = min(len(marks[one].hashes & rare), len(marks[two].hashes & rare))
        if shared >= LEAST and shared >= NEAR * least:
            passages = _passages(marks[one], marks[two], rare)
            share = shared / least
            yield SimilarPair(
                title, marks[one].result, marks[two].result, share, passages
            )


def _marks(
    result: Result, imported: Mapping[str, str], ignored: set[int]
) -> _Fingerprinted:
    known = {**imported, **imports(code.text for code in result.code)}
    cells = {
        code.where: {
            hash_: lines
            for hash_, lines in fingerprints(code.text, known).items()
            if hash_ not in ignored
        }
        for code in result.code
    }
    return _Fingerprinted(result, cells)


def _passages(one: _Fingerprinted, two: _Fingerprinted, rare: set[int]) -> tuple:
    """Each cell of the first notebook beside the cell of the second that is most like it."""
    holders: dict[int, list[Code]] = defaultdict(list)
    for code in two.result.code:
        for hash_ in two.cells[code.where].keys() & rare:
            if len(holders[hash_]) < HOLDERS:
                holders[hash_].append(code)
    found = []
    for code in one.result.code:
        shared = one.cells[code.where].keys() & holders.keys()
        near = Counter(other for hash_ in shared for other in holders[hash_])
        for other, _ in near.most_common(1):
            both = _both(one, two, code, other) & rare
            found.append((_passage(one, code, both), _passage(two, other, both)))
    return tuple(found)


def _both(
    one: _Fingerprinted, two: _Fingerprinted, code: Code, other: Code
) -> set[int]:
    return one.cells[code.where].keys() & two.cells[other.where].keys()


def _passage(marks: _Fingerprinted, code: Code, both: set[int]) -> Passage:
    hit = {
        line
        for hash_ in both
        for first, last in marks.cells[code.where][hash_]
        for line in range(first, last + 1)
    }
    text = code.text[:LONGEST]
    lines = tuple(
        (line, number in hit) for number, line in enumerate(text.split("\n"), start=1)
    )
    return Passage(code.where, lines, len(code.text) > LONGEST)
