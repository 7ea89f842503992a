"""The cheapest action, abstention and the value of information; oracles sum exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.special import entr

from course.checks.acting_on_uncertainty.apart import (
    HAIR,
    binary_probs,
    drawn_apart,
)
from course.checks.acting_on_uncertainty.tolerances import DOUBLE, INDEX, INTEGERS
from course.checks.acting_on_uncertainty.wrong_actions import ACTION_MISTAKES
from course.probing import integers
from course.task import Close, Misconception, Task


def _answers(right, misconceptions):
    return [right, *(mistake.answer for mistake in misconceptions)]


def _whole(name, values):
    """Return the right integers, and that they must be integers."""
    return {
        name: Close(values, because=INDEX, integers=True),
        "integer_array": Close(1.0, because=INTEGERS),
    }


def _expected_costs(probs, cost):
    """Return the expected cost of each action for each data point, as fractions."""
    return [
        [
            sum(
                Fraction(p) * Fraction(c)
                for p, c in zip(row.tolist(), column.tolist(), strict=True)
            )
            for column in cost.T
        ]
        for row in probs
    ]


def _cheapest(probs, cost):
    return np.argmin(probs @ cost, axis=1)


def _of_the_first(probs, cost):
    return np.full(len(probs), _cheapest(probs, cost)[0])


def _turned(answer):
    """Take a square matrix of costs for one whose rows are actions."""
    return lambda probs, cost: answer(
        probs, cost.T if len(cost) == len(cost.T) else cost
    )


def _roughly(probs, cost):
    return np.argmin((probs @ cost).astype(np.float32), axis=1)


def _draw_actions(rng):
    """Draw costs and probabilities whose sums of products are exact.

    In the first case, the last action costs as much as another one, which is the best for the
    first data point. In the square one, the first action costs the first data point more than
    the best one, by a hair. Costs below 8 are exact in half precision, so rounding loses the hair.
    In the last, of two classes and two actions, each action is wrong in the class of its number.
    """
    cases = []
    for n, k, a in ((11, 3, 5), (9, 4, 7), (5, 2, 3), (1, 3, 1), (4, 3, 3)):
        probs = binary_probs(rng, n, k)
        cost = rng.integers(0, 8 if k == a else 16, (k, a)).astype(float)
        if not cases:
            best = _cheapest(probs[:1], cost[:, :-1])
            cost[:, -1] = cost[:, best[0]]
        if k == a:
            cost = np.roll(cost, -1 - _cheapest(probs[:1], cost)[0], axis=1)
            cost[:, 0] = cost[:, -1] + HAIR
        cases.append({"probs": probs, "cost": cost})
    wrong, right = rng.integers(8, 16, 2), rng.integers(0, 8, 2)
    cost = np.array([[wrong[0], right[0]], [right[1], wrong[1]]], float)
    return [*cases, {"probs": binary_probs(rng, 6, 2), "cost": cost}]


def _actions_probe(answer, probs, cost):
    import numpy as np

    return integers("actions", answer(np.asarray(probs), np.asarray(cost)))


def _actions_oracle(probs, cost):
    rows = _expected_costs(probs, cost)
    return _whole("actions", [row.index(min(row)) for row in rows])


BAYES_ACTIONS = Task(
    name="bayes_actions",
    points=1,
    cases=lambda rng: drawn_apart(
        rng,
        _draw_actions,
        [
            *_answers(_cheapest, ACTION_MISTAKES),
            _of_the_first,
            _turned(_cheapest),
            _roughly,
        ],
    ),
    probe=_actions_probe,
    oracle=_actions_oracle,
    misconceptions=ACTION_MISTAKES,
    hints=[
        "What does one action cost on average, if the class is drawn from the probabilities?",
        "The rows of `cost` are classes, as the columns of `probs` are: `probs @ cost` has the shape (N, A).",
        "np.argmin(…, axis=1) gives the index of the smallest number in each row, the first if there are several.",
    ],
)


def _chow(costs_more, abstention=lambda probs: -1, label=lambda probs: probs.argmax(1)):
    def answer(probs, price):
        return np.where(costs_more(probs, price), abstention(probs), label(probs))

    return answer


def _unsure(probs, price):
    return 1 - probs.max(axis=1) > price


def _at_one_half(probs, price):
    return _chow(_unsure)(probs, 0.5)


def _margin(probs):
    first, second = np.sort(probs, axis=1)[:, :-3:-1].T
    return first - second


LABEL_MISTAKES = [
    Misconception(
        _chow(lambda probs, price: np.zeros(len(probs), bool)),
        "you never abstain. Where 1 − p of the most probable label is larger than the price, return −1.",
    ),
    Misconception(
        _chow(lambda probs, price: 1 - probs.max(axis=1) < price),
        "you abstain on the wrong side: an error is least probable where the most probable label has the largest "
        "probability.",
    ),
    Misconception(
        _chow(lambda probs, price: ~_unsure(probs, price)),
        "you abstain where the label costs no more than an abstention, and give a label elsewhere: swap the two.",
    ),
    Misconception(
        _chow(lambda probs, price: probs.max(axis=1) > price),
        "you abstain where the largest probability p is above the price. Abstain where 1 − p is above it.",
    ),
    Misconception(
        _chow(lambda probs, price: probs.max(axis=1) < price),
        "you compare the probability of the label with the price. Giving a label costs 1 − p on average.",
    ),
    Misconception(
        _chow(lambda probs, price: 1 - probs.max(axis=1) >= price),
        "you abstain where both cost the same. Return a label there.",
    ),
    Misconception(
        _chow(lambda probs, price: _margin(probs) < price),
        "you compare the difference of the two largest probabilities with the price. The expected cost of an error "
        "depends on the largest alone.",
    ),
    Misconception(
        _chow(lambda probs, price: entr(probs).sum(axis=1) > price),
        "you compare the entropy with the price. The expected cost of the label is 1 − p.",
    ),
    Misconception(
        _chow(_unsure, abstention=lambda probs: probs.shape[1]),
        "you mark an abstention with K, as a class of its own. Mark it with −1.",
    ),
    Misconception(
        _chow(_unsure, label=lambda probs: probs.max(axis=1)),
        "you return the largest probability. Return the label that has it: argmax in place of `max`.",
    ),
]


def _draw_labels(rng):
    """Draw prices; the first row of the first case costs as much as an abstention, exactly.

    In the next two, it costs a hair more and a hair less.
    """
    above = {9: 0.0, 7: HAIR, 5: -HAIR}
    cases = []
    for n, k in ((9, 4), (7, 3), (5, 2), (1, 3)):
        probs = binary_probs(rng, n, k)
        price = int(rng.integers(10, 160)) / 256
        if n in above:
            price = float(1 - probs[0].max() - above[n])
        cases.append({"probs": probs, "price": price})
    return cases


def _labels_probe(answer, probs, price):
    import numpy as np

    return integers("labels", answer(np.asarray(probs), price))


def _labels_oracle(probs, price):
    """Compare the cost of an abstention with that of each label, label by label."""
    labels = []
    for row in probs:
        costs = [1 - Fraction(p) for p in row.tolist()]
        best = min(range(len(costs)), key=costs.__getitem__)
        labels.append(-1 if Fraction(price) < costs[best] else best)
    return _whole("labels", labels)


CHOW_LABELS = Task(
    name="chow_labels",
    points=2,
    cases=lambda rng: drawn_apart(
        rng, _draw_labels, [*_answers(_chow(_unsure), LABEL_MISTAKES), _at_one_half]
    ),
    probe=_labels_probe,
    oracle=_labels_oracle,
    misconceptions=LABEL_MISTAKES,
    hints=[
        "Any label is wrong with a probability of 1 minus its own. Which label makes this smallest, and how small?",
        "You abstain where 1 − max p is larger than the price.",
        "np.where(abstains, -1, probs.argmax(axis=1)) puts both together.",
    ],
)


def _now(probs, cost):
    return (probs @ cost).min(axis=1)


def _informed(probs, cost):
    return probs @ cost.min(axis=1)


def _saving(probs, cost):
    return _now(probs, cost) - _informed(probs, cost)


def _of_most_probable(probs, cost):
    """Return the expected cost of the action that is best for the most probable class."""
    actions = np.argmin(cost[probs.argmax(axis=1)], axis=1)
    return (probs @ cost)[np.arange(len(probs)), actions]


INFORMATION_MISTAKES = [
    Misconception(
        lambda probs, cost: -_saving(probs, cost),
        "you subtract the other way round. Information saves cost, so the expected cost without it is the larger "
        "one.",
    ),
    Misconception(
        _informed,
        "you return the expected cost with the information. The saving is the expected cost without it, minus this.",
    ),
    Misconception(
        _now,
        "you return the expected cost without the information. Subtract the expected cost with it.",
    ),
    Misconception(
        lambda probs, cost: _of_most_probable(probs, cost) - _informed(probs, cost),
        "you act on the most probable class where the class is not known. The best action then is the one with the "
        "least expected cost.",
    ),
    Misconception(
        lambda probs, cost: _now(probs, cost) - cost[probs.argmax(axis=1)].min(axis=1),
        "you assume that the most probable class is the one revealed. Average over all classes, each with its "
        "probability.",
    ),
    Misconception(
        lambda probs, cost: _now(probs, cost) - cost.min(axis=1).mean(),
        "you give all classes the same weight once they are known. Weight them by their probabilities.",
    ),
    Misconception(
        lambda probs, cost: (probs @ cost).max(axis=1) - _informed(probs, cost),
        "you compare with the action that has the largest expected cost. Without the information you would take "
        "the best one, too.",
    ),
    Misconception(
        lambda probs, cost: entr(probs).sum(axis=1),
        "you return the entropy. Information is worth what it saves, which depends on the costs.",
    ),
]


def _draw_information(rng):
    """Draw costs of any size, and one action alone, for which information is worth nothing."""
    return [
        {
            "probs": rng.dirichlet(np.ones(k), n),
            "cost": rng.uniform(0, 10, (k, a)),
        }
        for n, k, a in (
            (7, 3, 4),
            (5, 4, 3),
            (3, 2, 5),
            (1, 3, 2),
            (2, 3, 1),
            (2, 3, 3),
        )
    ]


def _information_probe(answer, probs, cost):
    import numpy as np

    return {"saving": answer(np.asarray(probs), np.asarray(cost))}


def _information_oracle(probs, cost):
    """Sum over classes by how much the action taken now costs more than the best one there."""
    savings = []
    for row, costs in zip(probs, _expected_costs(probs, cost), strict=True):
        action = costs.index(min(costs))
        regret = cost[:, action] - np.min(cost, axis=1)
        savings.append(sum(p * r for p, r in zip(row, regret, strict=True)))
    return {"saving": Close(savings, rtol=1e-9, atol=1e-9, because=DOUBLE)}


VALUE_OF_INFORMATION = Task(
    name="value_of_information",
    points=2,
    cases=lambda rng: drawn_apart(
        rng,
        _draw_information,
        [*_answers(_saving, INFORMATION_MISTAKES), _turned(_saving)],
    ),
    probe=_information_probe,
    oracle=_information_oracle,
    misconceptions=INFORMATION_MISTAKES,
    hints=[
        "Without the information you take one action for all classes. With it you may take another one in each class.",
        "In class k, the best action costs cost[k].min(). How probable is class k?",
        "Both terms are a product with `probs` and a minimum over the actions. Without the information, the minimum comes last; with it, first.",
    ],
)
