"""The mean and the spread from a network's two outputs."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special

from course.checks.deep_ensembles.tolerances import FLOAT32
from course.task import Close, Misconception, Task


def _heads_cases(rng):
    """Draw ordinary outputs, vanishing spreads, and one that overflows, by order of magnitude."""
    return [
        {"outputs": rng.normal(0, 2, (3, 2))},
        {"outputs": np.column_stack([rng.normal(0, 1, 2), [-60.0, -14.0]])},
        {"outputs": np.column_stack([rng.normal(0, 1, 1), [95.0]])},
    ]


def _heads_probe(answer, outputs):
    import jax
    import jax.numpy as jnp

    outputs = jnp.asarray(outputs)

    def total(outputs):
        mean, spread = answer(outputs) or (None, None)
        if mean is None or spread is None:
            return 0.0, (mean, spread)
        return jnp.sum(mean) + jnp.sum(spread), (mean, spread)

    gradient, (mean, spread) = jax.grad(total, has_aux=True)(outputs)
    jax.make_jaxpr(answer)(outputs)  # training compiles it
    return {"mean": mean, "spread": spread, "gradient_of_outputs": gradient}


def _heads_oracle(outputs):
    slope = scipy.special.expit(outputs[:, 1])
    because = "single precision, and 10% of MIN_SPREAD = 1e-6"
    return {
        "mean": Close(outputs[:, 0], rtol=1e-6, because=FLOAT32),
        "spread": Close(
            np.logaddexp(0, outputs[:, 1]) + 1e-6, rtol=1e-5, atol=1e-7, because=because
        ),
        "gradient_of_outputs": Close(
            np.column_stack([np.ones(len(slope)), slope]),
            rtol=5e-5,
            atol=5e-7,
            because=FLOAT32,
        ),
    }


HEADS = Task(
    name="heads",
    points=1,
    cases=_heads_cases,
    probe=_heads_probe,
    oracle=_heads_oracle,
    misconceptions=[
        Misconception(
            lambda outputs: (outputs[:, 0], jnp.log(1 + jnp.exp(outputs[:, 1])) + 1e-6),
            "you write softplus as log(1 + exp(ρ)): this overflows once ρ reaches 89. jax.nn.softplus does not.",
        ),
        Misconception(
            lambda outputs: (outputs[:, 0], jax.nn.softplus(outputs[:, 1])),
            "you do not add MIN_SPREAD to softplus(ρ), or add it to ρ: at ρ = −60 the spread all but vanishes, and the loss overflows.",
        ),
        Misconception(
            lambda outputs: (outputs[:, 1], jax.nn.softplus(outputs[:, 0]) + 1e-6),
            "you swap the columns: the first is the mean µ, the second ρ.",
        ),
        Misconception(
            lambda outputs: (jax.nn.softplus(outputs[:, 1]) + 1e-6, outputs[:, 0]),
            "you swap the two results: the mean comes first.",
        ),
        Misconception(
            lambda outputs: (
                outputs[:, 0],
                jnp.maximum(jax.nn.softplus(outputs[:, 1]), 1e-6),
            ),
            "you take the larger of softplus(ρ) and MIN_SPREAD; take their sum.",
        ),
        Misconception(
            lambda outputs: (outputs[0], jax.nn.softplus(outputs[1]) + 1e-6),
            "you take rows for columns: a row holds both outputs of one data point. The means are `outputs[:, 0]`.",
        ),
        Misconception(
            lambda outputs: (outputs[:, 0], jnp.exp(outputs[:, 1]) + 1e-6),
            "you use exp instead of softplus.",
        ),
        Misconception(
            lambda outputs: (
                outputs[:, 0],
                jnp.sqrt(jax.nn.softplus(outputs[:, 1])) + 1e-6,
            ),
            "you take softplus for the variance: in this course it is the spread itself.",
        ),
        Misconception(
            lambda outputs: (
                outputs[:, 0],
                jax.lax.stop_gradient(jax.nn.softplus(outputs[:, 1]) + 1e-6),
            ),
            "you hold the spread fixed (stop_gradient): its value is right, but it is never learned.",
        ),
    ],
    hints=[
        "Column 0 is already the mean; column 1 must be made positive.",
        "jax.nn.softplus makes it positive; MIN_SPREAD is added to that.",
    ],
)
