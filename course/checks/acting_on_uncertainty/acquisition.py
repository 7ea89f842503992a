"""BALD and diverse batches; oracles are mean KL divergences and a search over sorted candidates."""

from __future__ import annotations

import math

import numpy as np
import scipy.stats
from scipy.special import entr

from course.checks.acting_on_uncertainty.apart import drawn_apart
from course.checks.acting_on_uncertainty.tolerances import INDEX, INTEGERS, LOGARITHM
from course.checks.concepts_of_members import wrong_information
from course.probing import integers
from course.task import Close, Misconception, Task


def _draw_forecasts(rng):
    """Draw members that disagree; one forecast is certain, and one class is impossible for all.

    In the last case, all members are nearly certain, so that a constant in a logarithm shows.
    """
    cases = []
    for m, n, k in ((5, 4, 3), (3, 7, 2), (2, 1, 3), (1, 2, 5)):
        probs = rng.dirichlet(np.full(k, 0.8), (m, n))
        probs[0, 0] = np.eye(k)[rng.integers(k > 2, k)]
        if k > 2:
            probs[:, -1, 0] = 0
            probs[:, -1] /= probs[:, -1].sum(axis=-1, keepdims=True)
        cases.append({"probs": probs})
    rare = rng.permutation([1.0, 5.0]) * rng.uniform(1, 2) * 1e-7
    sure = np.stack([1 - rare, rare], axis=1)[:, None]
    return [*cases, {"probs": sure}]


def _total(probs):
    return entr(probs.mean(axis=0)).sum(axis=-1)


def _data(probs):
    return entr(probs).sum(axis=-1).mean(axis=0)


def _bare_entropy(probs):
    """Return nan where a probability is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.sum(probs * np.log(probs), axis=-1)


def _guarded_entropy(probs):
    return -np.sum(probs * np.log(probs + 1e-6), axis=-1)


BALD_MISTAKES = [
    *wrong_information(
        lambda probs: entr(probs).sum(-1), _bare_entropy, "scipy.special.entr"
    ),
    Misconception(
        lambda probs: _guarded_entropy(probs.mean(0)) - _guarded_entropy(probs).mean(0),
        "you add a small constant inside the logarithm, which hides how members disagree about rare classes. Use "
        "scipy.special.entr.",
    ),
]


def _bald_probe(answer, probs):
    import numpy as np

    return {"scores": answer(np.asarray(probs))}


def _bald_oracle(probs):
    """Average the KL divergences of the members from the mean forecast."""
    scores = [
        np.mean([scipy.stats.entropy(row, np.mean(rows, axis=0)) for row in rows])
        for rows in np.moveaxis(probs, 1, 0)
    ]
    close = {"rtol": 1e-6, "atol": 1e-6, "because": LOGARITHM}
    if np.max(scores) < 1e-5:
        close = {
            "rtol": 0.02,
            "because": "the difference of two small entropies loses digits",
        }
    return {"scores": Close(scores, **close)}


BALD_SCORES = Task(
    name="bald_scores",
    points=2,
    cases=lambda rng: drawn_apart(
        rng,
        _draw_forecasts,
        [
            lambda probs: _total(probs) - _data(probs),
            *(mistake.answer for mistake in BALD_MISTAKES),
        ],
    ),
    probe=_bald_probe,
    oracle=_bald_oracle,
    misconceptions=BALD_MISTAKES,
    hints=[
        "There are two averages over the members, on axis 0: one of probabilities, one of entropies.",
        "scipy.special.entr(p) is −p log p, and 0 where p is 0. Sum it over the classes, the last axis.",
        "In the first term, the mean over the members comes before `entr`; in the second one, it comes last.",
    ],
)


def _batch(
    *,
    near=lambda gaps, radius: min(gaps, default=math.inf) < radius,
    best_first=True,
    labelled_count=True,
    batch_counts=True,
    skipped_count=False,
    only_last=False,
    go_on=True,
    distance=math.dist,
    of=lambda scores, size: size,
):
    """Make a greedy batch, right by default.

    Args:
        near: whether a candidate with these distances is too near.
        best_first: whether candidates come in falling order of their scores.
        labelled_count: whether distances to labelled data points count.
        batch_counts: whether distances to the batch count.
        skipped_count: whether distances to skipped candidates count as well.
        only_last: whether only the distance to the last of the others counts.
        go_on: whether the search goes on after a candidate that is too near.
        distance: the distance between two points.
        of: how many candidates are looked at for the batch.
    """

    def answer(scores, features, labelled, radius, size):
        others = list(labelled) if labelled_count else []
        batch = []
        order = np.argsort(-scores if best_first else scores)
        for index in order[: of(scores, len(scores))]:
            if len(batch) == size:
                break
            counted = others[-1:] if only_last else others
            gaps = [distance(features[index], other) for other in counted]
            close = near(gaps, radius)
            if close and not go_on:
                break
            if not close:
                batch.append(index)
            if (not close and batch_counts) or (close and skipped_count):
                others.append(features[index])
        return np.array(batch, dtype=int)

    return answer


def _then_filtered(scores, features, labelled, radius, size):
    """Take the candidates with the highest scores, and then leave out those that are too near."""
    first = np.argsort(-scores)[:size]
    kept = _batch()(scores[first], features[first], labelled, radius, size)
    return first[kept]


def _highest(scores, features, labelled, radius, size):
    return np.argsort(-scores)[:size]


BATCH_MISTAKES = [
    Misconception(
        _highest,
        "you take the highest scores, whatever the distances.",
    ),
    Misconception(
        _batch(labelled_count=False),
        "you compare the candidates only with the batch. Data points that are labelled count as well.",
    ),
    Misconception(
        _batch(batch_counts=False),
        "you compare the candidates only with the labelled data points. The batch that you have so far counts as "
        "well.",
    ),
    Misconception(
        _batch(only_last=True),
        "you compare each candidate only with the last data point that was added. Compare it with all.",
    ),
    Misconception(
        _batch(near=lambda gaps, radius: min(gaps, default=math.inf) <= radius),
        "you skip candidates at a distance of exactly the radius. Only nearer ones are skipped.",
    ),
    Misconception(
        _batch(near=lambda gaps, radius: min(gaps, default=math.inf) ** 2 < radius),
        "you compare squared distances with the radius. Take the root, or square the radius.",
    ),
    Misconception(
        _batch(near=lambda gaps, radius: max(gaps, default=math.inf) < radius),
        "you look at the largest distance. A candidate is too near if one of the distances is smaller than the "
        "radius.",
    ),
    Misconception(
        _batch(go_on=False),
        "you stop at the first candidate that is too near. Skip it, and go on with the next.",
    ),
    Misconception(
        _then_filtered,
        "you cut the ranking to the size of the batch before you compare distances. A candidate that is skipped "
        "leaves its place to the next.",
    ),
    Misconception(
        _batch(skipped_count=True),
        "you also compare with candidates that were skipped. They are not in the batch.",
    ),
    Misconception(
        _batch(best_first=False),
        "you begin with the lowest scores: np.argsort sorts in rising order.",
    ),
    Misconception(
        lambda *case: np.sort(_batch()(*case)),
        "you return the indices in rising order. Return them in the order of their scores, highest first.",
    ),
    Misconception(
        lambda scores, *case: scores[_batch()(scores, *case)],
        "you return scores. Return the indices of the candidates.",
    ),
]


# Other batches, which the cases must tell apart as well: by mean distances, by the sum and the
# maximum over axes, of the size of the first case, and by rounded scores.
OTHERS = [
    _batch(near=lambda gaps, radius: sum(gaps) < radius * len(gaps)),
    _batch(distance=lambda one, other: np.abs(one - other).sum()),
    _batch(distance=lambda one, other: np.abs(one - other).max()),
    lambda *case: _batch()(*case[:-1], 5),
    lambda scores, *case: _batch()(np.round(scores, 6), *case),
]


def _grid(rng, n, d, width):
    """Draw points with whole coordinates, so that squared distances are exact."""
    return rng.integers(0, width, (n, d)).astype(float)


def _draw_candidates(rng):
    """Draw candidates on grids, without labelled ones, with fewer than asked for, and none fit.

    Scores of the second case are nearly equal, but not ties.
    """
    cases = []
    for n, d, labelled, width, radius, size in (
        (13, 2, 3, 10, int(rng.integers(2, 5)), 5),
        (11, 3, 2, 7, int(rng.integers(2, 5)), 4),
        (7, 2, 0, 8, int(rng.integers(4, 7)), 6),
        (1, 2, 3, 3, 9, 2),
        (5, 1, 2, 20, int(rng.integers(2, 4)), 1),
    ):
        cases.append(
            {
                "scores": rng.permutation(np.cumsum(rng.uniform(0.1, 0.5, n)))
                * (1e-9 if n == 11 else 1),
                "features": _grid(rng, n, d, width),
                "labelled": _grid(rng, labelled, d, width),
                "radius": float(radius),
                "size": size,
            }
        )
    return cases


def _batch_probe(answer, scores, features, labelled, radius, size):
    import numpy as np

    arrays = map(np.asarray, (scores, features, labelled))
    return integers("indices", answer(*arrays, radius, size))


def _batch_oracle(scores, features, labelled, radius, size):
    """Take the best candidate that is far enough from all others, until there is none."""
    taken, batch = labelled.tolist(), []
    while len(batch) < size:
        far = [
            index
            for index, point in enumerate(features.tolist())
            if index not in batch
            and all(
                sum((a - b) ** 2 for a, b in zip(point, other, strict=True))
                >= radius**2
                for other in taken
            )
        ]
        if not far:
            break
        best = max(far, key=scores.__getitem__)
        batch.append(best)
        taken.append(features[best].tolist())
    return {
        "indices": Close(batch, because=INDEX, integers=True),
        "integer_array": Close(1.0, because=INTEGERS),
    }


DIVERSE_BATCH = Task(
    name="diverse_batch",
    points=3,
    cases=lambda rng: drawn_apart(
        rng,
        _draw_candidates,
        [
            _batch(),
            *(mistake.answer for mistake in BATCH_MISTAKES),
            *OTHERS,
        ],
    ),
    probe=_batch_probe,
    oracle=_batch_oracle,
    misconceptions=BATCH_MISTAKES,
    hints=[
        "Go through the candidates in the order np.argsort(-scores), and keep a list of the features that count: "
        "the labelled ones, and those of the batch so far.",
        "np.linalg.norm(features[index] - other) is one distance. If any is smaller than the radius, go on with "
        "the next candidate (`continue`).",
        "Without labelled data points, the list is empty at first, so give `min` a default that is larger than any radius. Stop once the "
        "batch has its size, and return an array; dtype=int makes an empty one an array of integers, too.",
    ],
)
