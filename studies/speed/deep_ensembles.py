"""Speed of practical 1: one compiled program against a loop over members and steps.

The loop is a common implementation: the network is written for one input and mapped over
the batch, the adversarial loss computes the clean loss twice, and a jitted step is called
once for each member and step. On the spirals the loop also shuffles the data before every
step and logs the mixture's accuracy and NLL after every epoch. Our program does not
shuffle, because that has no effect on a full batch, and logs every tenth step. The second
row of the spirals leaves out shuffling and logging on both sides, to compare the programs
alone.

All times are measured in one run of this script; only their ratios are meaningful. Run it
on an idle machine.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import optax
from jax.scipy.special import logsumexp
from rich.console import Console
from rich.table import Table

from course import data
from solutions import deep_ensembles as ref

DECAY = 1e-4
EPSILON = 0.02  # an adversarial step on the spirals: 1% of the inputs' range
LOG_EVERY = 10  # steps between two entries of our log


# --- The loop --------------------------------------------------------------------------


@jax.jit
def predict_one(params, x):
    """Compute the outputs of a network for a single input."""
    for weight, bias in params[:-1]:
        x = jax.nn.relu(jnp.dot(x, weight) + bias)
    weight, bias = params[-1]
    return jnp.dot(x, weight) + bias


predict = jax.vmap(predict_one, in_axes=(None, 0))


def plain_gaussian(params, x, y):
    """Compute the mean Gaussian NLL."""
    outputs = predict(params, x)
    mean, std = outputs[:, 0], jax.nn.softplus(outputs[:, 1]) + 1e-6
    return jnp.mean(
        0.5 * jnp.log(2 * jnp.pi) + jnp.log(std) + 0.5 * ((y - mean) / std) ** 2
    )


def plain_categorical(params, x, y):
    """Compute the mean categorical NLL."""
    logits = predict(params, x)
    return -jnp.mean(
        jnp.sum(y * (logits - logsumexp(logits, axis=1, keepdims=True)), 1)
    )


def plain_adversarial(params, x, y):
    """Average the NLL of clean and adversarial inputs, and add weight decay."""
    _, direction = jax.value_and_grad(plain_categorical, argnums=1)(params, x, y)
    clean = plain_categorical(params, x, y)
    moved = plain_categorical(params, x + EPSILON * jnp.sign(direction), y)
    decay = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(params))
    return (clean + moved) / 2 + DECAY / 2 * decay


def plain_loop(workload, params, log):
    """Call a jitted step in two Python loops; with ``log``, shuffle the data and keep a log."""
    optimiser = optax.adam(optax.cosine_decay_schedule(workload.rate, workload.steps))

    @jax.jit
    def update(params, state, x, y):
        value, gradient = jax.value_and_grad(workload.plain)(params, x, y)
        change, state = optimiser.update(gradient, state)
        return optax.apply_updates(params, change), state, value

    members = [
        jax.tree.map(lambda leaf, m=m: leaf[m], params)
        for m in range(len(params[0][0]))
    ]
    states = [optimiser.init(own) for own in members]
    x, y, key, history, losses = workload.x, workload.y, jax.random.key(2), [], []
    for _ in range(workload.steps):
        for m, own in enumerate(members):
            if log:
                key, seed = jax.random.split(key)
                order = jax.random.permutation(seed, jnp.arange(len(x)))
                x, y = jnp.take(workload.x, order, 0), jnp.take(workload.y, order, 0)
            members[m], states[m], value = update(own, states[m], x, y)
            losses.append(value)
        if log:
            probs = jnp.mean(
                jnp.array(
                    [jax.nn.softmax(predict(own, workload.x)) for own in members]
                ),
                axis=0,
            )
            labels = jnp.argmax(workload.y, axis=1)
            history.append(
                (
                    float(jnp.mean(jnp.argmax(probs, axis=1) == labels)),
                    float(-jnp.mean(jnp.log(probs[jnp.arange(len(x)), labels]))),
                )
            )
    return losses, history


# --- Ours ------------------------------------------------------------------------------


@jax.jit
def mixture_scores(history, x, y):
    """Compute accuracy and NLL of the mixture at every recorded step."""

    def scores(params):
        log_probs = ref.ensemble_log_probs(jax.vmap(ref.mlp, (0, None))(params, x))
        hits = jnp.argmax(log_probs, axis=1) == jnp.argmax(y, axis=1)
        return jnp.mean(hits), -jnp.mean(jnp.sum(y * log_probs, axis=1))

    return jax.lax.map(scores, jax.tree.map(lambda leaf: leaf.swapaxes(0, 1), history))


def our_program(workload, params, log):
    """Train in one compiled program; with ``log``, log every tenth step."""
    fit = ref.train_ensemble(
        workload.loss,
        params,
        workload.x,
        workload.y,
        key=jax.random.key(1),
        steps=workload.steps,
        rate=workload.rate,
        every=LOG_EVERY if log else None,
        in_turn=workload.in_turn,
    )
    history = mixture_scores(fit.history, workload.x, workload.y) if log else None
    return fit.params, history


# --- Side by side ----------------------------------------------------------------------


@dataclass
class Workload:
    """Data, network and training of one comparison."""

    loss: ref.Loss
    plain: ref.Loss
    sizes: tuple[int, ...]
    members: int
    x: jax.Array
    y: jax.Array
    steps: int
    in_turn: bool
    rate: float = 0.01


def timed(work):
    """Return the seconds that a function takes."""
    start = time.perf_counter()
    jax.block_until_ready(work())
    return time.perf_counter() - start


def compare(workload, log):
    """Return the seconds of loop and program with compilation, and of the program without."""
    params = ref.init_ensemble(jax.random.key(0), workload.sizes, workload.members)
    both = [partial(work, workload, params, log) for work in (plain_loop, our_program)]
    cold = []
    for work in both:
        jax.clear_caches()
        cold.append(timed(work))
    return *cold, min(timed(both[1]) for _ in range(3))


def main() -> None:
    """Print every comparison as soon as it is measured, then the table."""
    cubic, spirals = data.cubic(seed=0), data.spirals(seed=0)
    regression = Workload(
        loss=ref.gaussian_loss,
        plain=plain_gaussian,
        sizes=(1, 10, 6, 30, 2),
        members=6,
        x=jnp.asarray(cubic.x / 2.31),
        y=jnp.asarray(cubic.y / cubic.y.std()),
        steps=600,
        in_turn=False,
    )

    def clean(params, x, y):
        return ref.categorical_loss(params, x, y) + ref.weight_decay(params, DECAY)

    classification = Workload(
        loss=ref.quick_adversarial_loss(clean, EPSILON),
        plain=plain_adversarial,
        sizes=(2, 150, 150, 3),
        members=4,
        x=jnp.asarray(spirals.x),
        y=jax.nn.one_hot(spirals.y, 3),
        steps=300,
        in_turn=True,
    )
    console = Console(width=110)
    table = Table(
        title="Deep ensembles: a loop of jitted steps over one compiled program"
    )
    for column in ("problem", "loop (s)", "ours (s)", "ratio", "warm (s)", "ratio"):
        table.add_column(column, justify="left" if column == "problem" else "right")
    for name, workload, log in (
        ("regression, 6 × 600 steps", regression, False),
        ("spirals, 4 × 300 steps, adversarial", classification, True),
        ("  the same without shuffling and log", classification, False),
    ):
        loop, cold, warm = compare(workload, log)
        console.print(
            f"{name}: loop {loop:.2f} s, ours {cold:.2f} s, warm {warm:.3f} s"
        )
        table.add_row(
            name,
            f"{loop:.2f}",
            f"{cold:.2f}",
            f"{loop / cold:.1f}",
            f"{warm:.3f}",
            f"{loop / warm:.1f}",
        )
    console.print(table)


if __name__ == "__main__":
    main()
