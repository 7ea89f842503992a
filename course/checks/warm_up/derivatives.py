"""Hessians, shapes and gradients; oracles are closed forms in double precision."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from course.checks.warm_up.tolerances import FLOAT32
from course.probing import value_and_gradients
from course.task import Close, Misconception, Task


def _curvature_cases(rng):
    """Draw rates above and below 1, positive inputs (no entry near 0), counts far above the rates.

    The logarithms of the last two cases' rates are far from 0: an answer may not clip them.
    """
    cases = []
    for sign, n, d, largest in (
        (-1, 5, 2, None),
        (1, 4, 3, None),
        (1, 1, 1, None),
        (1, 3, 2, 50),
        (-1, 2, 1, 50),
    ):
        x = rng.uniform(0.3, 0.7, (n, d))
        x[np.arange(n), np.arange(n) % d] += rng.uniform(0.7, 1, n)
        w = sign * rng.uniform(0.2, 0.8, d)
        if largest:  # rates that are alike: the Hessian has an inverse in float32, too
            x *= largest / (x @ np.abs(w))[:, None] * rng.uniform(0.97, 1, (n, 1))
        rate = np.exp(x @ w)
        y = np.ceil(2 * rate + 1)  # so that no answer is rounding errors of rate - y
        cases.append({"w": w, "x": x, "y": y})
    return cases


def _curvature_probe(answer, w, x, y):
    import jax.numpy as jnp

    return {"hessian": answer(jnp.asarray(w), jnp.asarray(x), jnp.asarray(y))}


def _curvature_oracle(w, x, y):
    hessian = sum(np.exp(w @ row) * np.outer(row, row) for row in x)
    # x·w is near ±50 in two cases; the relative error of exp(x·w) is the error of x·w.
    return {"hessian": Close(hessian, rtol=5e-5, because=FLOAT32)}


def _weighted(x, weight):
    return (x * weight[:, None]).T @ x


CURVATURE = Task(
    name="curvature",
    points=2,
    cases=_curvature_cases,
    probe=_curvature_probe,
    oracle=_curvature_oracle,
    misconceptions=[
        Misconception(
            lambda w, x, y: _weighted(x, jnp.exp(x @ w)) / len(x),
            "you differentiate the mean over the data points. The NLL is a sum, and so is its "
            "Hessian: this one is N times too small.",
        ),
        Misconception(
            lambda w, x, y: -_weighted(x, jnp.exp(x @ w)),
            "you flip the sign: that is the Hessian of log p; return that of −log p.",
        ),
        Misconception(
            lambda w, x, y: _weighted(x, (jnp.exp(x @ w) - y) ** 2),
            "you sum products of first derivatives, one for each data point. They agree with the "
            "second derivatives on average if the model is true, but not on these data.",
        ),
        Misconception(
            lambda w, x, y: jnp.diag(jnp.diag(_weighted(x, jnp.exp(x @ w)))),
            "you keep only the diagonal: the mixed derivatives are not zero.",
        ),
        Misconception(
            lambda w, x, y: x.T @ x,
            "you weight all data points equally; the weight is the second derivative exp(w·x).",
        ),
        Misconception(
            lambda w, x, y: _weighted(x, y),
            "you weight the data points by their counts; the weight is the second derivative exp(w·x).",
        ),
        Misconception(
            lambda w, x, y: jnp.linalg.inv(_weighted(x, jnp.exp(x @ w))),
            "you invert the Hessian. That would be a covariance; return the Hessian itself.",
        ),
    ],
    hints=[
        "Differentiate exp(w·x) − y w·x once with respect to w: (exp(w·x) − y) x. Now differentiate once more.",
        "y drops out. Every data point contributes exp(w·x) times the outer product of x with itself.",
        "jax.hessian(poisson_nll)(w, x, y) does the same: it differentiates with respect to the first argument.",
    ],
)


def _squared_errors_cases(rng):
    """Draw errors that are far from 0 and from one another, and not integers.

    In one case, targets are near 1,000, where expanded squares lose their digits.
    """
    cases = []
    for size, near in ((4, 0), (5, 1000), (1, 0)):
        y = near + rng.permutation(np.arange(size)) + rng.uniform(-0.2, 0.2, size)
        error = rng.choice([-1, 1], size) * rng.uniform(1.2, 3, size)
        cases.append({"prediction": (y + error)[:, None], "y": y})
    return cases


def _squared_errors_probe(answer, prediction, y):
    return value_and_gradients(("errors", "gradient"), answer, prediction, y)


def _squared_errors_oracle(prediction, y):
    # As the answer sees them: near 1000, single precision has steps of 6e-5.
    prediction, y = (np.float32(each).astype(float) for each in (prediction, y))
    right = [(row[0] - target) ** 2 for row, target in zip(prediction, y, strict=True)]
    return {
        "errors": Close(right, rtol=2e-5, atol=2e-5, because=FLOAT32),
        "gradient": Close(2 * (prediction - y[:, None]), rtol=2e-5, because=FLOAT32),
    }


SQUARED_ERRORS = Task(
    name="squared_errors",
    points=1,
    cases=_squared_errors_cases,
    probe=_squared_errors_probe,
    oracle=_squared_errors_oracle,
    misconceptions=[
        Misconception(
            lambda prediction, y: (prediction - y) ** 2,
            "you subtract shapes (N, 1) and (N,): broadcasting gives shape (N, N), every "
            "prediction minus every target.",
        ),
        Misconception(
            lambda prediction, y: jnp.mean((prediction - y) ** 2, axis=1),
            "you subtract shapes (N, 1) and (N,), which gives (N, N), and average over the "
            "targets: every prediction is compared with every target.",
        ),
        Misconception(
            lambda prediction, y: jnp.mean((prediction - y) ** 2, axis=0),
            "you subtract shapes (N, 1) and (N,), which gives (N, N), and average over the "
            "predictions: every target is compared with every prediction.",
        ),
        Misconception(
            lambda prediction, y: (prediction - y[:, None]) ** 2,
            "you leave the result in shape (N, 1): combined with an array of shape (N,), it "
            "broadcasts to (N, N).",
        ),
        Misconception(
            lambda prediction, y: jnp.mean((prediction[:, 0] - y) ** 2),
            "you take the mean. Return one number for each data point; the mean is taken later.",
        ),
        Misconception(
            lambda prediction, y: 0.5 * (prediction[:, 0] - y) ** 2,
            "you return half of the squared error; there is no ½ here.",
        ),
        Misconception(
            lambda prediction, y: (
                prediction[:, 0] ** 2 - 2 * prediction[:, 0] * y + y**2
            ),
            "you expand the square: at targets near 1,000, the difference of such large terms is lost to rounding in "
            "single precision. Subtract first, then square.",
        ),
        Misconception(
            lambda prediction, y: jnp.abs(prediction[:, 0] - y),
            "you return the absolute error; square it.",
        ),
        Misconception(
            lambda prediction, y: (jnp.squeeze(prediction) - jnp.squeeze(y)) ** 2,
            "you call `squeeze` without an axis, which removes the axis of the data as well if there is a single data point.",
        ),
    ],
    hints=[
        "Print the shape of `prediction - y`.",
        "prediction[:, 0] has the shape (N,).",
    ],
)


def _gradient_cases(rng):
    """Draw residuals r of both signs, far from 0 and from those of the other data points.

    The loss has a factor that an answer can only find out by calling it.
    """
    cases = []
    for size, d in ((3, 2), (4, 3), (1, 1)):
        params = rng.choice([-1, 1], d) * rng.uniform(0.5, 1.5, d)
        x = rng.choice([-1, 1], (size, d)) * rng.uniform(0.3, 1.5, (size, d))
        residual = rng.permutation(np.resize([-1, 1], size)) * rng.uniform(1, 2, size)
        case = {"params": params, "x": x, "y": x @ params - residual}
        cases.append(case | {"factor": float(rng.uniform(1.5, 3))})
    return cases


def _gradient_probe(answer, params, x, y, factor):
    import jax.numpy as jnp

    def loss(params, x, y):
        return factor / 2 * jnp.sum((x @ params - y) ** 2)

    by_params, by_x = answer(loss, jnp.asarray(params), jnp.asarray(x), jnp.asarray(y))
    return {"by_params": by_params, "by_x": by_x}


def _gradient_oracle(params, x, y, factor):
    slope = factor * (x @ params - y)[:, None]
    return {
        "by_params": Close(slope * x, rtol=5e-5, atol=1e-5, because=FLOAT32),
        "by_x": Close(slope * params, rtol=5e-5, atol=1e-5, because=FLOAT32),
    }


def _mapped(loss, argnums=(0, 1), in_axes=(None, 0, 0)):
    return jax.vmap(jax.grad(loss, argnums=argnums), in_axes=in_axes)


PER_EXAMPLE_GRADIENTS = Task(
    name="per_example_gradients",
    points=2,
    cases=_gradient_cases,
    probe=_gradient_probe,
    oracle=_gradient_oracle,
    made_of="The check supplies the loss: loss(params, x, y) is factor / 2 · (x @ params − y)².",
    misconceptions=[
        Misconception(
            lambda loss, params, x, y: _mapped(loss, argnums=(1, 0))(params, x, y),
            "you swap the two gradients. argnums counts the arguments of the loss from 0: "
            "parameters are 0, inputs 1.",
        ),
        Misconception(
            lambda loss, params, x, y: _mapped(loss, in_axes=(None, 0, None))(
                params, x, y
            ),
            "you map over the inputs alone with in_axes: every input is compared with all targets.",
        ),
        Misconception(
            lambda loss, params, x, y: _mapped(loss, argnums=(0, 2))(params, x, y),
            "you take the second gradient with respect to the targets (argnums=2); the inputs are argument 1.",
        ),
        Misconception(
            lambda loss, params, x, y: tuple(
                gradient / len(x) for gradient in _mapped(loss)(params, x, y)
            ),
            "you divide the gradients by N. That belongs to the mean of the losses; here every "
            "data point has its own loss.",
        ),
        Misconception(
            lambda loss, params, x, y: jax.grad(
                lambda params, x: jnp.mean(
                    jax.vmap(loss, in_axes=(None, 0, 0))(params, x, y)
                ),
                argnums=(0, 1),
            )(params, x),
            "you differentiate the mean of the losses: the parameters then have one gradient for "
            "all data points. Differentiate first, then map.",
        ),
        Misconception(
            lambda loss, params, x, y: jax.grad(
                lambda params, x: jnp.sum(
                    jax.vmap(loss, in_axes=(None, 0, 0))(params, x, y)
                ),
                argnums=(0, 1),
            )(params, x),
            "you differentiate the sum of the losses: the parameters then have one gradient for "
            "all data points. Differentiate first, then map.",
        ),
    ],
    hints=[
        "Work in two steps: write a function that gives both gradients for one data point, then map it over the data.",
        "With a tuple as argnums, jax.grad returns a tuple of gradients.",
        "jax.vmap takes in_axes, a tuple with an entry for each argument: 0 for x and for y. The parameters are shared, so they have no axis to map over.",
    ],
)


def _rounded_cases(rng):
    """Draw numbers away from integers, and halves, which ``jnp.round`` makes even.

    In the first case, rounding moves the smallest number, which is negative, down, and the
    largest, which is positive, up: truncation does neither. The last case has halves alone:
    each of the rules up, down, to 0 and away from 0 is wrong for one of them. The numbers of
    the case before it are too large for an integer of 64 bits.
    """
    cases = []
    for n in (4, 3, 1):
        whole = rng.permutation([-3, -1, 0, 2])[:n] + rng.integers(0, 2, n)
        sides = rng.permutation(np.resize([-1, 1], n))  # both signs occur
        if n == 4:
            sides[whole.argmin()], sides[whole.argmax()] = 1, -1
        offset = sides * rng.uniform(0.1, 0.4, n)
        upstream = rng.choice([-1, 1], n) * rng.uniform(0.5, 2, n)
        cases.append({"x": whole + offset, "upstream": upstream})
    halves = rng.permutation([-1.5, -0.5, 0.5, 1.5]) + 2 * rng.integers(-1, 2)
    large = 2.0**70 * rng.permutation([-1, 1]) * rng.integers(100, 1000, 2)
    return [
        *cases,
        {"x": large, "upstream": rng.uniform(0.5, 2, 2)},
        {"x": halves, "upstream": rng.uniform(0.5, 2, 4)},
    ]


def _rounded_probe(answer, x, upstream):
    import jax
    import jax.numpy as jnp

    x, upstream = jnp.asarray(x), jnp.asarray(upstream)
    gradient = jax.grad(lambda x: jnp.sum(upstream * answer(x)))(x)
    return {"value": answer(x), "gradient": gradient}


def _rounded_oracle(x, upstream):
    return {
        "value": Close(np.round(x), atol=1e-5, because=FLOAT32),
        "gradient": Close(upstream, rtol=1e-6, because=FLOAT32),
    }


_stop = jax.lax.stop_gradient

ROUNDED = Task(
    name="rounded",
    points=2,
    cases=_rounded_cases,
    probe=_rounded_probe,
    oracle=_rounded_oracle,
    misconceptions=[
        Misconception(
            lambda x: jnp.round(x),
            "no gradient flows: the derivative of rounding is 0 wherever it exists, and so is "
            "that of anything inside stop_gradient.",
        ),
        Misconception(
            lambda x: x + _stop(jnp.round(x).astype(int).astype(x.dtype) - x),
            "you convert to integers of 32 bits, which end at about 2,000,000,000: jnp.round returns floats.",
        ),
        Misconception(
            lambda x: x,
            "you do not round: the gradient is right, but the value is not.",
        ),
        Misconception(
            lambda x: jnp.round(x) + _stop(x - jnp.round(x)),
            "you swap value and gradient: the value is that of x, and the gradient is that of rounding, which is 0.",
        ),
        Misconception(
            lambda x: _stop(x) + (jnp.round(x) - x),
            "you stop the gradient of the wrong x: the value is right, but the gradient is −1, so training would raise the loss.",
        ),
        Misconception(
            lambda x: x + _stop(jnp.floor(x) - x),
            "you round down, not to the nearest whole number.",
        ),
        Misconception(
            lambda x: x + _stop(jnp.floor(x + 0.5) - x),
            "you round halves up. jnp.round takes the even neighbour: 0.5 becomes 0.",
        ),
        Misconception(
            lambda x: x + _stop(jnp.trunc(x + 0.5) - x),
            "you add ½ and drop the decimals. For negative numbers that is not the nearest whole number: −2.3 becomes −1.",
        ),
    ],
    hints=[
        "You want something whose value is `jnp.round(x)` and whose derivative is that of x. Start from x.",
        "jax.lax.stop_gradient(a) has the value of a, but its derivative is 0.",
        "Add the difference `jnp.round(x) - x` to x, with its gradient stopped.",
    ],
)
