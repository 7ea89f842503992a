"""Adversarial examples, and the loss that learns from them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from course.checks.deep_ensembles.tolerances import FLOAT32
from course.task import Close, Misconception, Task


def _adversarial_cases(rng):
    """Draw gradients far from 0, where rounding could change their sign; then the other inputs.

    In column 0 the gradients with respect to parameters and targets have other signs; in
    column 1, where params is below 0, that with respect to targets has not. In column 2 params
    is 0, and so is the gradient with respect to the inputs: they stay. In the third case, other
    gradients are tiny, and not 0.
    """
    cases = []
    for n, d in ((3, 2), (1, 1), (2, 3)):
        params = np.resize([1, -1, 0], d) * rng.uniform(0.5, 2, d)
        params *= 1e-9 if d == 3 else 1
        residual = rng.choice([-1, 1], (n, d)) * rng.uniform(0.3, 1.5, (n, d))
        x = rng.normal(0, 1, (n, d))
        x[:, 0] *= -np.sign(x[:, 0] @ residual[:, 0] * residual[0, 0])
        cases.append(
            {
                "x": x,
                "y": x * params - residual,
                "params": params,
                "epsilon": float(rng.uniform(0.05, 0.3)),
            }
        )
    return cases


def _fgsm_probe(answer, x, y, params, epsilon):
    import jax
    import jax.numpy as jnp

    def loss(params, x, y):
        return jnp.mean((x * params - y) ** 2)

    params, x, y = jnp.asarray(params), jnp.asarray(x), jnp.asarray(y)
    jax.make_jaxpr(lambda x: answer(loss, params, x, y, epsilon))(x)  # as training does
    return {"x_adversarial": answer(loss, params, x, y, epsilon)}


def _fgsm_exact(x, y, params, epsilon):
    gradient = (x * params - y) * params  # up to a factor, irrelevant to its sign
    return x + epsilon * np.sign(gradient)


def _fgsm_oracle(x, y, params, epsilon):
    return {
        "x_adversarial": Close(
            _fgsm_exact(x, y, params, epsilon), rtol=1e-5, atol=1e-5, because=FLOAT32
        )
    }


def _grad(loss, argnums, params, x, y):
    return jax.grad(loss, argnums=argnums)(params, x, y)


def _fgsm(loss, params, x, y, epsilon):
    return x + epsilon * jnp.sign(_grad(loss, 1, params, x, y))


def _unit(gradient):
    return gradient / jnp.linalg.norm(gradient, axis=-1, keepdims=True)


FGSM = Task(
    name="fgsm",
    points=2,
    cases=_adversarial_cases,
    probe=_fgsm_probe,
    oracle=_fgsm_oracle,
    misconceptions=[
        Misconception(
            lambda loss, params, x, y, epsilon: (
                x - epsilon * jnp.sign(_grad(loss, 1, params, x, y))
            ),
            "you move down the gradient: the loss is smaller at x′. An adversary moves up.",
        ),
        Misconception(
            lambda loss, params, x, y, epsilon: (
                x + epsilon * jnp.sign(_grad(loss, 0, params, x, y))
            ),
            "you differentiate the loss with respect to the parameters (argnums=0, the default) "
            "instead of the input (argnums=1).",
        ),
        Misconception(
            lambda loss, params, x, y, epsilon: (
                x + epsilon * jnp.sign(_grad(loss, 2, params, x, y))
            ),
            "you differentiate the loss with respect to the targets (argnums=2) instead of the input (argnums=1).",
        ),
        Misconception(
            lambda loss, params, x, y, epsilon: (
                x + epsilon * jnp.where(_grad(loss, 1, params, x, y) > 0, 1.0, -1.0)
            ),
            "you move inputs whose gradient is 0. They stay: jnp.sign gives 0 there.",
        ),
        Misconception(
            lambda loss, params, x, y, epsilon: (
                x + epsilon * _grad(loss, 1, params, x, y)
            ),
            "you leave out the sign: every coordinate should move by ε, whatever the size of its gradient.",
        ),
        Misconception(
            lambda loss, params, x, y, epsilon: (
                x + epsilon * _unit(_grad(loss, 1, params, x, y))
            ),
            "you divide the gradient by its norm. The sign moves every coordinate by ε; your step moves the whole point by ε.",
        ),
        Misconception(
            lambda loss, params, x, y, epsilon: (
                x
                + epsilon
                * (gradient := _grad(loss, 1, params, x, y))
                / jnp.linalg.norm(gradient)
            ),
            "you divide the gradient by its norm over all data points. The sign moves every coordinate of every data point by ε.",
        ),
        Misconception(
            lambda loss, params, x, y, epsilon: (
                epsilon * jnp.sign(_grad(loss, 1, params, x, y))
            ),
            "you return only the perturbation; add it to x.",
        ),
    ],
    hints=[
        "You need the gradient of the loss with respect to its second argument, `x`.",
        "By default, jax.grad differentiates with respect to the first argument; argnums chooses another one. The result has the shape of `x`.",
        "Go uphill: `x` plus `epsilon` times jnp.sign of that gradient.",
    ],
)


def _adversarial_loss_probe(answer, x, y, params, epsilon):
    import jax
    import jax.numpy as jnp

    def loss(params, x, y):
        if params.ndim != 1:
            raise TypeError("the first argument of the loss is params")
        # A sum: joining both inputs in one call of the loss is right for means alone.
        return jnp.sum((x * params - y) ** 2)

    params, x, y = jnp.asarray(params), jnp.asarray(x), jnp.asarray(y)

    def total(params):
        value = answer(loss, params, x, y, epsilon)
        return (0.0 if value is None else value), value

    gradient, value = jax.grad(total, has_aux=True)(params)
    jax.make_jaxpr(lambda x: answer(loss, params, x, y, epsilon))(x)  # as training does
    return {"loss": value, "gradient": gradient}


def _adversarial_loss_oracle(x, y, params, epsilon):
    """Treat the adversarial inputs as constants, as the gradient of a sign is 0."""
    moved = _fgsm_exact(x, y, params, epsilon)
    residuals = [inputs * params - y for inputs in (x, moved)]
    losses = [np.sum(residual**2) for residual in residuals]
    gradients = [
        2 * np.sum(inputs * residual, axis=0)
        for inputs, residual in zip((x, moved), residuals, strict=True)
    ]
    return {
        "loss": Close(np.mean(losses), rtol=5e-5, because=FLOAT32),
        "gradient": Close(
            np.mean(gradients, axis=0), rtol=5e-5, atol=5e-5, because=FLOAT32
        ),
    }


ADVERSARIAL_LOSS = Task(
    name="adversarial_loss",
    points=2,
    cases=_adversarial_cases,
    probe=_adversarial_loss_probe,
    oracle=_adversarial_loss_oracle,
    misconceptions=[
        Misconception(
            lambda loss, params, x, y, epsilon: (
                loss(params, x, y) + loss(params, _fgsm(loss, params, x, y, epsilon), y)
            ),
            "you add the two losses, or call the loss once on both inputs joined, where a sum over data points adds "
            "them. Take the average of two calls, or the loss and its gradient double.",
        ),
        Misconception(
            lambda loss, params, x, y, epsilon: loss(
                params, _fgsm(loss, params, x, y, epsilon), y
            ),
            "you use only the adversarial inputs; the clean inputs make up the other half of the loss.",
        ),
        Misconception(
            lambda loss, params, x, y, epsilon: (
                0.5
                * (
                    loss(params, x, y)
                    + loss(params, 2 * x - _fgsm(loss, params, x, y, epsilon), y)
                )
            ),
            "you move the inputs down the gradient: that trains on points that are easier than the data.",
        ),
        *(
            Misconception(
                lambda loss, params, x, y, epsilon, clean=clean: (
                    clean * loss(params, x, y)
                    + (1.5 - clean)
                    * loss(params, _fgsm(loss, params, x, y, epsilon), y)
                ),
                "you halve only one of the two losses; the ½ belongs to both.",
            )
            for clean in (0.5, 1.0)
        ),
        Misconception(
            lambda loss, params, x, y, epsilon: (
                0.5
                * (
                    loss(params, x, y)
                    + loss(params, x + _fgsm(loss, params, x, y, epsilon), y)
                )
            ),
            "you add x to the result of `fgsm`. That result already is x′, which includes x.",
        ),
        Misconception(
            lambda loss, params, x, y, epsilon: loss(params, x, y),
            "you never use the adversarial inputs: this is the clean loss.",
        ),
        Misconception(
            lambda loss, params, x, y, epsilon: (
                0.5
                * (
                    loss(params, x, y)
                    + jax.lax.stop_gradient(
                        loss(params, _fgsm(loss, params, x, y, epsilon), y)
                    )
                )
            ),
            "you hold the adversarial loss fixed (stop_gradient): it counts in the value, but nothing is learned "
            "from it. Only the inputs x′ may be held fixed.",
        ),
    ],
    hints=[
        "You have already written `fgsm`: it gives the inputs x′.",
        "The targets stay as they are; only the inputs move.",
        "Average `loss(params, x, y)` and `loss(params, x_adversarial, y)`.",
    ],
)
