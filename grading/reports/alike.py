"""Group the answers to a question that have the same text, or nearly the same.

They are read once and marked alike. Capitals and white space make no difference. Two texts are
nearly the same if they share most of their pairs of neighbouring words; what differs is shown,
since a single word such as *not* can turn an answer round.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from grading.record import Written
from grading.reports.groups import connected

LONG = 60  # characters; shorter texts are similar by chance
NEAR = 0.6  # share of the pairs of words, of those in either text
WORDS = 4_000  # of a text that are compared
COMPARED = 400  # words; what differs in a longer text is not listed
LISTED, CUT = 6, 80  # differences, and characters of each


@dataclass(frozen=True)
class Variant:
    """A text, and the answers that have it, each with its student.

    ``changes`` are the passages that the group's first text has and this one does not, each
    with what this one has in its place; either may be empty.
    """

    answers: tuple[tuple[str, Written], ...]
    changes: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The text as the first student wrote it."""
        return self.answers[0][1].text

    @property
    def students(self) -> list[str]:
        """The students who have it."""
        return [student for student, _ in self.answers]


def grouped(given: Iterable[tuple[str, Written]]) -> list[tuple[Variant, ...]]:
    """Group the answers to one question: each group has one text, or several alike.

    Groups, texts and students are in the order of the answers.
    """
    texts: dict[str, list[tuple[str, Written]]] = {}
    for student, answer in given:
        texts.setdefault(plain(answer.text), []).append((student, answer))
    found = []
    for group in _near(list(texts)):
        first = group[0]
        found.append(
            tuple(
                Variant(tuple(texts[text]), _changes(first, text) if n else ())
                for n, text in enumerate(group)
            )
        )
    return found


def plain(text: str) -> str:
    """A text without capitals, and with single blanks."""
    return " ".join(text.casefold().split())


def version_of(text: str) -> str:
    """Return eight letters that identify a text, but for capitals and white space.

    There are no digits, which a spreadsheet may take for a number such as 1e23.
    """
    digits = hashlib.sha256(plain(text).encode("utf-8", "backslashreplace")).hexdigest()
    return "".join(chr(ord("a") + int(digit, 16)) for digit in digits[:8])


def has_changed(answer: Written) -> bool | None:
    """Whether an answer has changed since it was marked; None if that is not known."""
    if answer.marks is None or answer.version is None:
        return None
    return answer.version != version_of(answer.text)


def _near(texts: Sequence[str]) -> list[list[str]]:
    """Group texts; a text is nearly the same as at least one other of its group.

    Only texts that share one of their rarest pairs of words are compared: two sets whose
    Jaccard index is at least NEAR cannot differ in all of these.
    """
    pairs = [_pairs(text) if len(text) >= LONG else frozenset() for text in texts]
    count = Counter(pair for found in pairs for pair in found)
    links = []
    holders: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, found in enumerate(pairs):
        rare = sorted(found, key=lambda pair: (count[pair], pair))
        rare = rare[: len(found) - math.ceil(NEAR * len(found)) + 1]
        for other in {other for pair in rare for other in holders[pair]}:
            both = len(found & pairs[other])
            if both >= NEAR * (len(found) + len(pairs[other]) - both):
                links.append((other, index))
        for pair in rare:
            holders[pair].append(index)
    groups = connected(links, also=range(len(texts)))
    return [[texts[index] for index in group] for group in groups]


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    words = text.split()[:WORDS]
    return frozenset(pairwise(words))


def _changes(one: str, two: str) -> tuple[tuple[str, str], ...]:
    before, after = one.split(), two.split()
    if max(len(before), len(after)) > COMPARED:
        return ()
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    found = [
        (_cut(before[a:b]), _cut(after[c:d]))
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    ]
    return tuple(found[:LISTED])


def _cut(words: Sequence[str]) -> str:
    text = " ".join(words)
    return text if len(text) <= CUT else f"{text[:CUT]} …"
