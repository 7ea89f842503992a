"""MIMO: mixing of inputs, loss, and prediction."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

from course.checks.concepts_of_members import wrong_log_mixtures
from course.checks.which_method.tolerances import COUNTED, FLOAT32, SIX_ERRORS
from course.probing import value_and_gradients
from course.task import Close, Misconception, Task

DRAWS = 500


def _inputs_cases(rng):
    """Draw repetitions that round up, round down, and 0; targets of two shapes; a single row."""
    cases = []
    for members, repetition, rows, d, shape in (
        (3, 0.3, 13, 2, (13, 2)),
        (2, 0.5, 13, 1, 13),  # 6.5 is rounded to the even 6
        (2, 0.0, 12, 3, 12),
        (1, 0.0, 1, 1, 1),
    ):
        x = rng.normal(0, 1, (rows, d))
        # The first and the last row are extreme, so that leaving them in place is noticed.
        x[:, 0] = np.sort(x[:, 0]) + np.linspace(-3, 3, rows)
        cases.append(
            {
                "x": x,
                "targets": rng.normal(0, 1, shape),
                "members": members,
                "repetition": repetition,
                "seed": int(rng.integers(1, 1_000_000)),
            }
        )
    return cases


def _inputs_probe(answer, x, targets, members, repetition, seed):
    import jax
    import jax.numpy as jnp
    import numpy as np

    @jax.vmap
    def draw(key):  # traced, as in training
        return answer(
            jnp.asarray(x), jnp.asarray(targets), members, repetition, key=key
        )

    keys = jax.random.split(jax.random.key(seed), 500)
    result = draw(keys)
    if result is None:
        yield "inputs", None
        return
    inputs, chosen = (np.asarray(part) for part in result)
    if inputs.shape[1:] != (len(x), members, x.shape[1]) or (
        chosen.shape[1:] != (len(x), members, *targets.shape[1:])
    ):
        yield "inputs", inputs[0]
        yield "targets", chosen[0]
        return
    gaps = inputs - x[:, None], chosen - targets[:, None]
    shuffled = [np.abs(gap).max() < 1e-5 for gap in gaps] != [False, True]
    yield "targets_shuffled", float(shuffled)
    rows = np.abs(inputs[0, :, :, None, 0] - x[:, 0]).argmin(axis=2)
    one, other = np.triu_indices(members, 1)  # all pairs of members
    same = (inputs[:, :, one] == inputs[:, :, other]).all(3).sum(1).astype(float)
    yield "inputs", np.sort(inputs[0], axis=0)
    own = targets[rows] if shuffled else targets[:, None]
    yield "targets", np.abs(chosen[0] - own)
    yield "same row", same.mean(0)
    yield "spread of same rows", same.var(0)
    yield "fewest same rows", np.minimum(same.min(0), round(repetition * len(x)))
    yield "first row", inputs[:, 0, 0, 0].mean()
    yield "last row", inputs[:, -1, 0, 0].mean()
    yield "reproducible", np.abs(np.asarray(draw(keys)[0]) - inputs).max()


def _inputs_oracle(x, targets, members, repetition, seed):
    shared = round(repetition * len(x))
    copies = np.repeat(np.asarray(x)[:, None], members, axis=1)
    pairs = np.ones(members * (members - 1) // 2)
    # Two random orders of the same rows agree in one place on average, with variance 1
    # and, for at least four rows, fourth central moment 4: the variance's variance is 3.
    error = 6 / DRAWS**0.5
    spot = {"rtol": 1e-5, "atol": float(x[:, 0].std()) * error, "because": SIX_ERRORS}
    exact = {"atol": 1e-6, "because": COUNTED}
    return {
        "inputs": Close(np.sort(copies, axis=0), rtol=1e-6, **exact),
        "targets": Close(np.zeros((len(x), members, *targets.shape[1:])), **exact),
        "targets_shuffled": Close(1.0, because=COUNTED),
        "reproducible": Close(0.0, **exact),
        "same row": Close((shared + 1) * pairs, atol=error, because=SIX_ERRORS),
        "spread of same rows": Close(pairs, atol=3**0.5 * error, because=SIX_ERRORS),
        "fewest same rows": Close(shared * pairs, **exact),
        "first row": Close(x[:, 0].mean(), **spot),
        "last row": Close(x[:, 0].mean(), **spot),
    }


def _mixed(n, members, repetition, key, *, main=None, same=False):
    """Mix rows as in the paper, (N, M), or with a mistake."""
    first, *own = jax.random.split(key, members + 1)
    rows = jax.random.permutation(first, n) if main is None else main
    own = [own[0]] * members if same else own
    cut = n - round(repetition * n)
    front = [jax.random.permutation(one, rows[:cut]) for one in own]
    back = jnp.stack([rows[cut:]] * members, axis=1)
    return jnp.concatenate([jnp.stack(front, axis=1), back])


def _with_rows(rows_of, targets_of=lambda rows: rows):
    def answer(x, targets, members, repetition, *, key):
        rows = rows_of(len(x), members, repetition, key)
        return x[rows], targets[targets_of(rows)]

    return answer


MIMO_INPUTS = Task(
    name="mimo_inputs",
    points=3,
    cases=_inputs_cases,
    probe=_inputs_probe,
    oracle=_inputs_oracle,
    misconceptions=[
        Misconception(
            _with_rows(lambda n, m, r, key: _mixed(n, m, r, key, same=True)),
            "you give all members the same order, so they see the same data point in every row: "
            "nothing makes them differ. Give each permutation its own key.",
        ),
        Misconception(
            _with_rows(lambda n, m, r, key: jnp.stack([jnp.arange(n)] * m, axis=1)),
            "you put the same data point into every slot, in the original order. That is how MIMO "
            "predicts; in training, each member needs its own order.",
        ),
        Misconception(
            _with_rows(
                _mixed,
                lambda rows: jnp.stack([jnp.arange(len(rows))] * rows.shape[1], 1),
            ),
            "you shuffle the inputs but not the targets.",
        ),
        Misconception(
            _with_rows(_mixed, lambda rows: jnp.repeat(rows[:, :1], rows.shape[1], 1)),
            "you give all heads the first member's targets. Each head has to learn the targets of its own inputs.",
        ),
        Misconception(
            _with_rows(lambda n, m, r, key: jax.random.randint(key, (n, m), 0, n)),
            "you draw data points with replacement, so in each pass a member misses about a third of them.",
        ),
        Misconception(
            _with_rows(lambda n, m, r, key: _mixed(n, m, 0.0, key)),
            "you ignore `repetition`: no row repeats its data point.",
        ),
        Misconception(
            _with_rows(lambda n, m, r, key: _mixed(n, m, 1 - r, key)),
            "you treat `repetition` as the share of mixed rows; it is the share of repeated rows.",
        ),
        Misconception(
            _with_rows(lambda n, m, r, key: _mixed(n, m, int(r * n) / n, key)),
            "you truncate the number of repeated rows with `int`; it should be `round(repetition * N)`.",
        ),
        Misconception(
            _with_rows(lambda n, m, r, key: _mixed(n, m, int(r * n + 0.5) / n, key)),
            "you round 6.5 repeated rows up, as `int` of the other rows' number does. Python's `round` gives 6.",
        ),
        Misconception(
            _with_rows(lambda n, m, r, key: _mixed(n, m, r if r * n > 0.5 else 1, key)),
            "you repeat all rows when `repetition` is 0, because the slice `[:-0]` is empty. Cut at `N - round(repetition * N)`.",
        ),
        Misconception(
            _with_rows(lambda n, m, r, key: _mixed(n, m, r, key, main=jnp.arange(n))),
            "you repeat the same data points every time: the last ones. Draw them anew each time: shuffle all rows once before you mix them.",
        ),
    ],
    hints=[
        "One permutation of all rows decides which data points are repeated: the last ones in it.",
        "Each member then shuffles the first N − round(repetition * N) rows with its own key.",
        "Stack the members' orders along axis 1, to get the shape (N, M). Then index x and the targets with them.",
    ],
)


def _loss_cases(rng):
    """Draw cases; in the last, the probability of a label is 0 in single precision."""
    cases = []
    for n, m, k in ((5, 4, 3), (1, 1, 2), (3, 2, 4)):
        labels = rng.integers(0, k, (n, m))
        labels[0] = np.arange(m) % k  # the heads' targets are different classes
        cases.append(
            {"logits": rng.normal(0, 2, (n, m, k)), "targets": np.eye(k)[labels]}
        )
    cases[-1]["logits"] *= 150
    cases[-1]["logits"][0, 0, 0] -= 3000
    return cases


def _loss_probe(answer, logits, targets):
    return value_and_gradients(("loss", "gradient"), answer, logits, targets)


def _loss_oracle(logits, targets):
    log_probs = scipy.special.log_softmax(logits, axis=-1)
    value = -(targets * log_probs).sum((1, 2)).mean()
    gradient = (np.exp(log_probs) - targets) / len(logits)
    return {
        "loss": Close(value, rtol=5e-5, atol=1e-6, because=FLOAT32),
        "gradient": Close(gradient, rtol=5e-5, atol=2e-5, because=FLOAT32),
    }


def _averaged(logits):
    log_probs = jax.nn.log_softmax(logits, axis=-1)
    return jax.nn.logsumexp(log_probs, axis=1) - jnp.log(logits.shape[1])


def _nll(logits, targets):
    return -(targets * jax.nn.log_softmax(logits, axis=-1)).sum(-1)


MIMO_LOSS = Task(
    name="mimo_loss",
    points=2,
    cases=_loss_cases,
    probe=_loss_probe,
    oracle=_loss_oracle,
    misconceptions=[
        Misconception(
            lambda logits, targets: _nll(logits, targets).mean(),
            "you average over the heads: the loss is M times too small, and any weight decay is M "
            "times too strong. Sum the losses of the heads.",
        ),
        Misconception(
            lambda logits, targets: _nll(logits, targets).sum(),
            "you sum over the rows, too; take their mean instead.",
        ),
        Misconception(
            lambda logits, targets: -jax.nn.log_softmax(logits).mean(2).sum(1).mean(),
            "you ignore the targets, so all classes count equally.",
        ),
        Misconception(
            lambda logits, targets: (
                _nll(logits, jnp.repeat(targets[:, :1], targets.shape[1], 1))
                .sum(1)
                .mean()
            ),
            "you score every head on the first input's label. Each head has its own label.",
        ),
        Misconception(
            lambda logits, targets: (
                _nll(logits.mean(1, keepdims=True), targets).sum(1).mean()
            ),
            "you average the heads' logits first, so no head learns which input is its own.",
        ),
        Misconception(
            lambda logits, targets: (
                -(targets * _averaged(logits)[:, None]).sum((1, 2)).mean()
            ),
            "you average the heads' probabilities first. In training, each head is scored on its own label.",
        ),
        Misconception(
            lambda logits, targets: (
                -(targets * jax.nn.log_softmax(logits, axis=1)).sum((1, 2)).mean()
            ),
            "you take the softmax over the heads; take it over the classes, axis −1.",
        ),
        Misconception(
            lambda logits, targets: (
                -(targets * jnp.log(jax.nn.softmax(logits, axis=-1))).sum((1, 2)).mean()
            ),
            "your probabilities underflow to 0 before you take their logarithm. "
            "jax.nn.log_softmax stays in log space.",
        ),
    ],
    hints=[
        "jax.nn.log_softmax over the classes gives log pₘ for every row and head.",
        "targets · log p, summed over the classes, picks out the log-probability of the label. Sum over the heads, too.",
        "Then take the mean over the rows, and flip the sign.",
    ],
)


def _forecast_cases(rng):
    """Draw networks; in the last case exp(logit) of a class is 0 in single precision."""
    cases = [
        {
            "x": rng.normal(0, 1, (n, d)),
            "weights": rng.normal(0, 2, (m, d, m, k)),  # (slot, input, head, class)
            "bias": np.zeros((m, k)),
        }
        for n, d, m, k in ((5, 2, 3, 4), (1, 1, 1, 2), (2, 3, 2, 5))
    ]
    cases[-1]["bias"][:, -1] = cases[-1]["bias"][0, 0] = -300.0
    return cases


def _forecast_probe(answer, x, weights, bias):
    import jax.numpy as jnp

    weights, bias = jnp.asarray(weights), jnp.asarray(bias)

    def network(inputs):  # (N, M, D) → (N, M, K), linear in all inputs of a row at once
        slots, dimensions, *outputs = weights.shape
        matrix = weights.reshape(slots * dimensions, -1)
        logits = inputs.reshape(len(inputs), -1) @ matrix
        return logits.reshape(len(inputs), *outputs) + bias

    return {"log_probs": answer(network, jnp.asarray(x), len(weights))}


def _forecast_oracle(x, weights, bias):
    x, weights = (np.asarray(a, np.float32).astype(float) for a in (x, weights))
    logits = np.einsum("nd,mdjk->njk", x, weights) + bias
    log_probs = scipy.special.log_softmax(logits, axis=-1)
    value = scipy.special.logsumexp(log_probs, axis=1) - np.log(len(weights))
    return {"log_probs": Close(value, rtol=5e-5, atol=1e-4, because=FLOAT32)}


def _tiled(x, members):
    return jnp.repeat(x[:, None], members, axis=1)


def _wrongly_tiled(x, members):
    return jnp.tile(x, (members, 1)).reshape(len(x), members, -1)


def _first_slot(x, members):
    return _tiled(x, members).at[:, 1:].set(0.0)


MIMO_LOG_PROBS = Task(
    name="mimo_log_probs",
    points=2,
    cases=_forecast_cases,
    probe=_forecast_probe,
    oracle=_forecast_oracle,
    misconceptions=[
        Misconception(
            lambda network, x, members: jax.nn.log_softmax(
                network(_tiled(x, members)).mean(1), axis=-1
            ),
            "you average the logits or log-probabilities. The heads' forecasts form a mixture: average their probabilities.",
        ),
        Misconception(
            lambda network, x, members: jax.nn.log_softmax(
                network(_tiled(x, members)), axis=-1
            ).mean(1),
            "you average log-probabilities, which gives a geometric mean of the probabilities; it does not sum to one.",
        ),
        Misconception(
            lambda network, x, members: jax.nn.log_softmax(
                network(_tiled(x, members))[:, 0], axis=-1
            ),
            "you use only one head; the other heads have learned something, too.",
        ),
        Misconception(
            lambda network, x, members: _averaged(network(_wrongly_tiled(x, members))),
            "you put different data points into a row: jnp.tile, or jnp.repeat along a new axis 0, stacks whole batches. "
            "Every slot of row n should hold xₙ: repeat `x[:, None]` along axis 1.",
        ),
        Misconception(
            lambda network, x, members: _averaged(network(_first_slot(x, members))),
            "you fill only the first slot, but every head reads its own slot.",
        ),
        Misconception(
            lambda network, x, members: (
                _averaged(network(_tiled(x, members))) + jnp.log(members)
            ),
            "you forget 1/M, so the probabilities of the classes sum to M.",
        ),
        Misconception(
            lambda network, x, members: jnp.log(
                jax.nn.softmax(network(_tiled(x, members)), axis=-1).mean(1)
            ),
            "your probabilities underflow to 0 before you take their logarithm. Stay in log "
            "space: logsumexp over the heads, minus log M.",
        ),
        Misconception(
            lambda network, x, members: jnp.exp(_averaged(network(_tiled(x, members)))),
            "you return probabilities instead of their logarithms.",
        ),
        *wrong_log_mixtures(
            lambda of_logits: (
                lambda network, x, members: of_logits(
                    network(_tiled(x, members)).swapaxes(0, 1)
                )
            ),
            *(jax.nn.log_softmax, jax.nn.logsumexp, jnp.log),
        ),
    ],
    hints=[
        "Every slot gets the same x: jnp.repeat(x[:, jnp.newaxis], members, axis=1) has the shape (N, M, D).",
        "For each head's log-probabilities, take log_softmax over the classes, the last axis.",
        "Then take logsumexp over the heads, axis 1, and subtract jnp.log(members).",
    ],
)
