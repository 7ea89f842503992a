"""A step of Adam; the oracle is optax."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import optax

from course.task import Close, Misconception, Task


def _adam_cases(rng):
    # Gradients as small as 1e-6 reveal the position of ε in the formula, large ones a clip.
    return [
        {
            "gradients": size * rng.normal(1, 2, shape),
            "rate": float(rng.uniform(0.01, 0.2)),
        }
        for size, shape in ((1, (5, 3)), (1e-6, (4, 2)), (100, (3, 2)), (1, (1, 1)))
    ]


def _adam_probe(answer, gradients, rate):
    from typing import NamedTuple

    import jax.numpy as jnp

    class State(NamedTuple):
        first: object
        second: object

    zeros, updates = jnp.zeros(gradients.shape[1:]), []
    state = State(zeros, zeros)
    for step, gradient in enumerate(gradients):
        update, state = answer(jnp.asarray(gradient), state, step, rate)
        named = hasattr(state, "first") and hasattr(state, "second")
        state = State(*state)
        updates.append(update)
    return {"updates": jnp.stack(updates), "fields": float(named)}


def _adam_oracle(gradients, rate):
    optimiser, updates = optax.adam(rate), []
    state = optimiser.init(np.zeros(gradients.shape[1:]))
    for gradient in gradients:
        update, state = optimiser.update(gradient, state)
        updates.append(update)
    return {
        "updates": Close(
            updates,
            rtol=2e-4,
            atol=1e-7,
            because="1 − β₂ᵗ is a small difference in single precision",
        ),
        "fields": Close(1.0, because="AdamState has the fields first and second"),
    }


def _adam(first_correction, second_correction):
    def answer(gradient, state, step, rate):
        first = 0.9 * state.first + 0.1 * gradient
        second = 0.999 * state.second + 0.001 * gradient**2
        first_hat, second_hat = (
            first / first_correction(step),
            second / second_correction(step),
        )
        update = -rate * first_hat / (jnp.sqrt(second_hat) + 1e-8)
        return update, state._replace(first=first, second=second)

    return answer


def _adam_with_epsilon_inside(gradient, state, step, rate):
    first = 0.9 * state.first + 0.1 * gradient
    second = 0.999 * state.second + 0.001 * gradient**2
    first_hat = first / (1 - 0.9 ** (step + 1))
    second_hat = second / (1 - 0.999 ** (step + 1))
    update = -rate * first_hat / jnp.sqrt(second_hat + 1e-8)
    return update, state._replace(first=first, second=second)


def _adam_with_epsilon_before_the_correction(gradient, state, step, rate):
    first = 0.9 * state.first + 0.1 * gradient
    second = 0.999 * state.second + 0.001 * gradient**2
    factor = (1 - 0.999 ** (step + 1)) ** 0.5 / (1 - 0.9 ** (step + 1))
    update = -rate * factor * first / (jnp.sqrt(second) + 1e-8)
    return update, state._replace(first=first, second=second)


def _adam_with_a_tuple(*step):
    right = _adam(lambda t: 1 - 0.9 ** (t + 1), lambda t: 1 - 0.999 ** (t + 1))
    update, state = right(*step)
    return update, tuple(state)


def _adam_that_stores_corrected(gradient, state, step, rate):
    first = (0.9 * state.first + 0.1 * gradient) / (1 - 0.9 ** (step + 1))
    second = (0.999 * state.second + 0.001 * gradient**2) / (1 - 0.999 ** (step + 1))
    update = -rate * first / (jnp.sqrt(second) + 1e-8)
    return update, state._replace(first=first, second=second)


ADAM_STEP = Task(
    name="adam_step",
    points=2,
    cases=_adam_cases,
    probe=_adam_probe,
    oracle=_adam_oracle,
    misconceptions=[
        Misconception(
            _adam(lambda t: 1 - 0.9, lambda t: 1 - 0.999),
            "you use the first step's bias correction in every step: it should depend on the step number.",
        ),
        Misconception(
            _adam(lambda t: 1.0, lambda t: 1.0),
            "you leave out the bias correction: the running means start at zero, so the first ones are too small.",
        ),
        Misconception(
            _adam(lambda t: 1 - 0.9 ** (t + 1), lambda t: 1.0),
            "you correct the first running mean alone: the mean of the squares starts at zero, too.",
        ),
        Misconception(
            _adam(lambda t: 1.0, lambda t: 1 - 0.999 ** (t + 1)),
            "you correct the mean of the squares alone: the first running mean starts at zero, too.",
        ),
        Misconception(
            _adam(lambda t: 0.9 ** (t + 1) - 1, lambda t: 1 - 0.999 ** (t + 1)),
            "you flip the sign: that step climbs. Return what is added to the parameter, −rate times the ratio.",
        ),
        Misconception(
            _adam(lambda t: 1 - 0.9 ** (t + 2), lambda t: 1 - 0.999 ** (t + 2)),
            "you count one step too many: after the first gradient, at step 0, the exponent is 1.",
        ),
        Misconception(
            _adam(lambda t: 1 - 0.9**t, lambda t: 1 - 0.999**t),
            "you take the step number as the exponent: at step 0 this divides by 1 − β⁰ = 0. "
            "The exponent is the number of gradients seen so far, which is 1 at step 0.",
        ),
        Misconception(
            _adam_with_epsilon_inside,
            "you add ε under the root; in algorithm 1 of the paper on Adam, it is outside.",
        ),
        Misconception(
            _adam(lambda t: 1 - 0.9 ** (t + 1), lambda t: 1 - 0.999),
            "you fix only the first of the two corrections: the one for the squared gradients has the same bug.",
        ),
        Misconception(
            _adam(lambda t: 1 - 0.9, lambda t: 1 - 0.999 ** (t + 1)),
            "you fix only the second of the two corrections: the one for the gradients has the same bug.",
        ),
        Misconception(
            _adam_with_epsilon_before_the_correction,
            "you add ε to the root of the mean of the squares before you correct this mean. Correct it, take the root, "
            "then add ε.",
        ),
        Misconception(
            _adam_that_stores_corrected,
            "you keep the corrected means in the state. The next step corrects them again: keep the "
            "uncorrected running means.",
        ),
        Misconception(
            _adam_with_a_tuple,
            "you return the new state as a plain tuple. The next step reads state.first and "
            "state.second: return AdamState(first, second).",
        ),
    ],
    hints=[
        "Compare every line with algorithm 1 of the paper on Adam. Which of its symbols is missing?",
        "After t gradients, the weights in a running mean that starts at zero add up to only 1 − βᵗ.",
        "Divide by 1 − 0.9ᵗ, where t is the number of gradients seen so far, and likewise for 0.999.",
    ],
)
