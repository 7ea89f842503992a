"""Practical 1: one compiled program against a loop over members and steps.

The loop is the plain way: a jitted step, called once for each member and step. Both do
the same work in one run of this script; what counts is their ratio. Run it on an idle
machine.
"""

from __future__ import annotations

import time
from functools import partial

import jax
import jax.numpy as jnp
import optax
from rich.console import Console
from rich.table import Table

from course import data
from solutions import deep_ensembles as ref


def spiral_loss(params, x, y):
    """Adversarial categorical NLL, a step of 1 % of the inputs' range."""
    return ref.adversarial_loss(ref.categorical_loss, params, x, y, 0.02)


def plain_loop(loss, params, x, y, steps, rate):
    """A jitted step in two Python loops; returns every member's last loss."""
    optimiser = optax.adam(optax.cosine_decay_schedule(rate, steps))

    @jax.jit
    def step(params, state, x, y):
        value, gradient = jax.value_and_grad(loss)(params, x, y)
        update, state = optimiser.update(gradient, state)
        return optax.apply_updates(params, update), state, value

    last = []
    for member in range(len(params[0][0])):
        own = jax.tree.map(lambda leaf, m=member: leaf[m], params)
        state = optimiser.init(own)
        for _ in range(steps):
            own, state, value = step(own, state, x, y)
            # A loop that reports its loss waits for it.
            last_value = float(value)
        last.append(last_value)
    return last


def timed(work):
    """Seconds that a piece of work takes."""
    start = time.perf_counter()
    jax.block_until_ready(work())
    return time.perf_counter() - start


def compare(loss, sizes, members, x, y, steps, rate, in_turn):
    """Seconds of the loop and of the compiled program, with compilation and without."""
    params = ref.init_ensemble(jax.random.key(0), sizes, members)
    ours = partial(
        ref.train_ensemble,
        loss,
        params,
        x,
        y,
        key=jax.random.key(1),
        steps=steps,
        rate=rate,
        in_turn=in_turn,
    )
    jax.clear_caches()
    loop = timed(lambda: plain_loop(loss, params, x, y, steps, rate))
    jax.clear_caches()
    cold = timed(ours)
    warm = min(timed(ours) for _ in range(3))
    return loop, cold, warm


def main() -> None:
    """Print both problems side by side."""
    cubic, spirals = data.cubic(seed=0), data.spirals(seed=0)
    problems = {
        "regression, 6 × 600 steps": (
            ref.gaussian_loss,
            (1, 10, 6, 30, 2),
            6,
            jnp.asarray(cubic.x / 2.31),
            jnp.asarray(cubic.y / cubic.y.std()),
            600,
            0.01,
            False,
        ),
        "spirals, 4 × 300 steps, adversarial": (
            spiral_loss,
            (2, 150, 150, 3),
            4,
            jnp.asarray(spirals.x),
            jax.nn.one_hot(spirals.y, 3),
            300,
            0.01,
            True,
        ),
    }
    table = Table(
        title="Deep ensembles: a loop of jitted steps over one compiled program"
    )
    for column in (
        "problem",
        "loop (s)",
        "ours (s)",
        "ratio",
        "ours warm (s)",
        "ratio warm",
    ):
        table.add_column(column, justify="left" if column == "problem" else "right")
    for name, arguments in problems.items():
        loop, cold, warm = compare(*arguments)
        table.add_row(
            name,
            f"{loop:.2f}",
            f"{cold:.2f}",
            f"{loop / cold:.1f}",
            f"{warm:.3f}",
            f"{loop / warm:.0f}",
        )
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
