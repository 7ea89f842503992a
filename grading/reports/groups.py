"""Groups of what is alike: two are in one group if links lead from one to the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from itertools import chain
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def connected(links: Iterable[tuple[T, T]], also: Iterable[T] = ()) -> list[list[T]]:
    """Group what these links join, and what there is ``also``.

    Groups and members are in the order in which they are first named, ``also`` before all.
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = list(links)
    number = {one: n for n, one in enumerate(dict.fromkeys(chain(also, *links)))}
    ends = [[number[link[side]] for link in links] for side in (0, 1)]
    graph = coo_array((np.ones(len(links)), ends), shape=(len(number), len(number)))
    groups: dict[int, list[T]] = defaultdict(list)
    _, labels = connected_components(graph, directed=False)
    for one, label in zip(number, labels.tolist(), strict=True):
        groups[label].append(one)
    return list(groups.values())
