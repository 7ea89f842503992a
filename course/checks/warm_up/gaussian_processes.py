"""Fourier features and Gaussian processes; oracles invert the covariance of all targets at once."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import scipy.stats

from course.checks.concepts_of_evidence import wrong_evidences
from course.checks.warm_up.linear_regression import TIGHT
from course.probing import value_and_gradients
from course.task import Close, Misconception, Task


def _fourier_cases(rng):
    cases = []
    for n, d in ((4, 3), (3, 1), (1, 4)):
        cases.append(
            {
                "x": rng.choice([-1, 1], n) * rng.uniform(0.5, 2, n),
                "frequencies": rng.choice([-1, 1], d) * rng.uniform(0.4, 1.6, d),
                "phases": rng.uniform(0.5, 2 * np.pi, d),
                "length_scale": float(rng.uniform(0.3, 0.7)),
            }
        )
    return cases


def _fourier_probe(answer, x, frequencies, phases, length_scale):
    import jax
    import jax.numpy as jnp

    def of_draws(frequencies, phases):
        return answer(jnp.asarray(x), frequencies, phases, length_scale)

    with jax.enable_x64(True):
        keys = ("features", "gradient_of_frequencies", "gradient_of_phases")
        return value_and_gradients(keys, of_draws, frequencies, phases)


def _fourier_oracle(x, frequencies, phases, length_scale):
    """The real part of a complex wave, and its derivatives."""
    height = np.sqrt(2 / len(frequencies))
    waves = height * np.exp(
        1j * (x[:, None] * frequencies[None] / length_scale + phases)
    )
    slopes = -waves.imag
    return {
        "features": Close(waves.real, **TIGHT),
        "gradient_of_frequencies": Close(x @ slopes / length_scale, **TIGHT),
        "gradient_of_phases": Close(slopes.sum(0), **TIGHT),
    }


def _cosines(x, frequencies, phases, factor=2.0, count=None):
    count = len(frequencies) if count is None else count
    return jnp.sqrt(factor / count) * jnp.cos(jnp.outer(x, frequencies) + phases)


FOURIER_FEATURES = Task(
    name="fourier_features",
    points=1,
    cases=_fourier_cases,
    probe=_fourier_probe,
    oracle=_fourier_oracle,
    misconceptions=[
        Misconception(
            lambda x, frequencies, phases, length_scale: _cosines(
                x, frequencies * length_scale, phases
            ),
            "you multiply the frequencies by the length scale; functions that vary slowly have low frequencies.",
        ),
        Misconception(
            lambda x, frequencies, phases, length_scale: _cosines(
                x, frequencies / length_scale**2, phases
            ),
            "you divide the frequencies by the square of the length scale.",
        ),
        Misconception(
            lambda x, frequencies, phases, length_scale: _cosines(
                x, frequencies / length_scale, phases, count=1
            ),
            "you leave out 1/√D: the variance of the function then grows with the number of features.",
        ),
        Misconception(
            lambda x, frequencies, phases, length_scale: _cosines(
                x, frequencies / length_scale, phases, factor=1.0
            ),
            "you leave out the 2: the mean of a squared cosine is one half.",
        ),
        Misconception(
            lambda x, frequencies, phases, length_scale: (
                _cosines(x, frequencies / length_scale, phases)
                * jnp.sqrt(2 / len(frequencies))
            ),
            "you leave out the root: features have the height √(2/D).",
        ),
        Misconception(
            lambda x, frequencies, phases, length_scale: _cosines(
                x, frequencies / length_scale, jnp.zeros_like(phases)
            ),
            "you leave out the phases: all features then have their maximum at 0, and functions are symmetric.",
        ),
        Misconception(
            lambda x, frequencies, phases, length_scale: _cosines(
                x, frequencies / length_scale, phases / length_scale
            ),
            "you divide the phases by the length scale as well; only the frequencies are scaled.",
        ),
        Misconception(
            lambda x, frequencies, phases, length_scale: _cosines(
                x, frequencies / length_scale, phases, count=len(x)
            ),
            "you divide by the number of data points; divide by D, the number of features.",
        ),
        Misconception(
            lambda x, frequencies, phases, length_scale: _cosines(
                x, frequencies / length_scale, phases - jnp.pi / 2
            ),
            "you take the sine; the features are cosines.",
        ),
        Misconception(
            lambda x, frequencies, phases, length_scale: (
                _cosines(x, frequencies / length_scale, phases).T
            ),
            "you return the features in rows; each row belongs to one data point.",
        ),
    ],
    hints=[
        "jnp.outer(x, …) has one row for each data point, and one column for each feature.",
        "Dividing x by ℓ, or the frequencies, is the same. The phases are added afterwards.",
    ],
)


def _gp_cases(rng):
    """Draw inputs that are well apart, so that the Gram matrix is well conditioned."""
    cases = []
    for n, new in ((4, 3), (2, 1), (1, 2)):
        x = 0.7 * rng.permutation(np.arange(n) - n / 2) + rng.uniform(0.05, 0.2, n)
        cases.append(
            {
                "x": x,
                "y": rng.choice([-1, 1], n) * rng.uniform(0.5, 2, n),
                "x_new": rng.choice([-1, 1], new) * rng.uniform(0.3, 2, new),
                "noise_std": float(rng.uniform(0.3, 0.6)),
                "amplitude": float(rng.uniform(1.5, 3)),
                "slope": float(rng.uniform(0.5, 1)),
            }
        )
    return cases


def _gp_probe(answer, x, y, x_new, noise_std, amplitude, slope):
    import jax
    import jax.numpy as jnp

    def kernel(a, b):
        near = jnp.exp(-((a[:, None] - b[None]) ** 2))
        return amplitude * near + slope * a[:, None] * b[None]

    with jax.enable_x64(True):
        x, y, x_new = map(jnp.asarray, (x, y, x_new))
        mean, variance = answer(kernel, x, y, x_new, noise_std)
        return {"mean": mean, "variance": variance}


def _gp_oracle(x, y, x_new, noise_std, amplitude, slope):
    """Invert the covariance of the data and one new target at a time."""
    found = []
    for new in x_new:
        at = np.append(x, new)
        gram = amplitude * np.exp(-((at[:, None] - at[None]) ** 2))
        gram += slope * np.outer(at, at) + noise_std**2 * np.eye(len(at))
        precision = np.linalg.inv(gram)
        found.append(
            (-precision[-1, :-1] @ y / precision[-1, -1], 1 / precision[-1, -1])
        )
    mean, variance = np.transpose(found)
    return {"mean": Close(mean, **TIGHT), "variance": Close(variance, **TIGHT)}


def _gp(kernel, x, y, x_new, inside, outside, prior=None):
    """A Gaussian process with these variances added to the Gram matrix and to the result."""
    gram, cross = kernel(x, x) + inside * jnp.eye(len(x)), kernel(x, x_new)
    solved = jnp.linalg.solve(gram, cross)
    prior = jnp.diag(kernel(x_new, x_new)) if prior is None else prior
    return solved.T @ y, outside + prior - jnp.sum(cross * solved, axis=0)


GP_PREDICTIVE = Task(
    name="gp_predictive",
    points=3,
    cases=_gp_cases,
    probe=_gp_probe,
    oracle=_gp_oracle,
    made_of="The check supplies the kernel: kernel(a, b) is amplitude · exp(−(a − b)²) + slope · ab.",
    misconceptions=[
        Misconception(
            lambda kernel, x, y, x_new, noise_std: _gp(
                kernel, x, y, x_new, noise_std**2, 0.0
            ),
            "you leave the noise out of the predictive variance: this is the variance of the function, not that of a new target.",
        ),
        Misconception(
            lambda kernel, x, y, x_new, noise_std: _gp(
                kernel, x, y, x_new, 0.0, noise_std**2
            ),
            "you leave the noise out of the Gram matrix: the mean then goes through every data point.",
        ),
        Misconception(
            lambda kernel, x, y, x_new, noise_std: _gp(
                kernel, x, y, x_new, noise_std, noise_std
            ),
            "you add the noise's standard deviation; add its square, the variance.",
        ),
        Misconception(
            lambda kernel, x, y, x_new, noise_std: _gp(
                kernel, x, y, x_new, noise_std, noise_std**2
            ),
            "you add the noise's standard deviation to the Gram matrix; add its square.",
        ),
        Misconception(
            lambda kernel, x, y, x_new, noise_std: _gp(
                kernel, x, y, x_new, noise_std**2, noise_std
            ),
            "you add the noise's standard deviation to the predictive variance; add its square.",
        ),
        Misconception(
            lambda kernel, x, y, x_new, noise_std: _gp(
                kernel, x, y, x_new, noise_std**2, noise_std**2, kernel(x, x)[0, 0]
            ),
            "you take the prior variance at a training input; it is the kernel at the new input and itself.",
        ),
        Misconception(
            lambda kernel, x, y, x_new, noise_std: _gp(
                kernel, x, y, x_new, noise_std**2, noise_std**2, 1.0
            ),
            "you take 1 for the prior variance; it is the kernel at the new input and itself.",
        ),
        Misconception(
            lambda kernel, x, y, x_new, noise_std: _gp(
                kernel,
                x,
                y,
                x_new,
                noise_std**2,
                noise_std**2,
                kernel(x_new, x_new)[0, 0],
            ),
            "you take the prior variance at the first new input for all of them: this kernel is not stationary.",
        ),
        Misconception(
            lambda kernel, x, y, x_new, noise_std: (
                (pair := _gp(kernel, x, y - y.mean(), x_new, *[noise_std**2] * 2))[0]
                + y.mean(),
                pair[1],
            ),
            "you subtract the mean of the targets first, and add it at the end: this process has mean 0.",
        ),
        Misconception(
            lambda kernel, x, y, x_new, noise_std: _gp(
                kernel, x, y, x_new, noise_std**2, noise_std**2, 0.0
            ),
            "you leave out the prior variance, from which the variance that the data explain is subtracted.",
        ),
        Misconception(
            lambda kernel, x, y, x_new, noise_std: (
                (pair := _gp(kernel, x, y, x_new, noise_std**2, noise_std**2))[0],
                jnp.sqrt(pair[1]),
            ),
            "you return the standard deviation; return the variance.",
        ),
        Misconception(
            lambda kernel, x, y, x_new, noise_std: (
                (pair := _gp(kernel, x, y, x_new, noise_std**2, noise_std**2))[0],
                2 * (noise_std**2 + jnp.diag(kernel(x_new, x_new))) - pair[1],
            ),
            "you add the variance that the data explain; subtract it.",
        ),
    ],
    hints=[
        "Training and new targets are jointly Gaussian; condition on the training targets.",
        "With A = K + τ²I and the column k of covariances with a new input: mean kᵀA⁻¹y, explained variance kᵀA⁻¹k.",
        "With A = LLᵀ, the explained variance is the squared norm of L⁻¹k. One call of the kernel gives all columns k.",
    ],
)


def _gram_cases(rng):
    """Draw Gram matrices; the first has such units of y that determinants underflow."""
    cases = []
    for n in (5, 3, 1):
        root = rng.uniform(-1, 1, (n, n))
        cases.append(
            {
                "gram": root @ root.T + np.diag(rng.uniform(0.3, 0.6, n)),
                "y": rng.choice([-1, 1], n) * rng.uniform(0.7, 2, n),
                "noise_std": float(rng.uniform(0.6, 0.8)),
            }
        )
    unit = 1e-40
    scales = {"gram": unit**2, "y": unit, "noise_std": unit}
    cases[0] = {name: scales[name] * value for name, value in cases[0].items()}
    return cases


def _gram_probe(answer, gram, y, noise_std):
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(True):
        value = answer(jnp.asarray(gram), jnp.asarray(y), noise_std)
        return {"log_evidence": value}


def _gram_oracle(gram, y, noise_std):
    covariance = gram + noise_std**2 * np.eye(len(y))
    right = scipy.stats.multivariate_normal.logpdf(y, np.zeros(len(y)), covariance)
    return {"log_evidence": Close(right, **TIGHT)}


def _log_normal(y, gram, of_fit, of_log_det):
    """log N(y | 0, C), with these variances added to the diagonals of the two terms."""
    fit = y @ jnp.linalg.solve(gram + of_fit * jnp.eye(len(y)), y)
    log_det = jnp.linalg.slogdet(gram + of_log_det * jnp.eye(len(y)))[1]
    return -0.5 * (fit + log_det + len(y) * np.log(2 * np.pi))


GP_LOG_EVIDENCE = Task(
    name="gp_log_evidence",
    points=2,
    cases=_gram_cases,
    probe=_gram_probe,
    oracle=_gram_oracle,
    misconceptions=[
        Misconception(
            lambda gram, y, noise_std: _log_normal(y, gram, noise_std**2, 1e-6),
            "you left forgetful_log_evidence as it is: in one of its two terms, the noise variance is missing.",
        ),
        Misconception(
            lambda gram, y, noise_std: _log_normal(y, gram, 1e-6, noise_std**2),
            "you have the noise variance in the log-determinant, but not in the quadratic term.",
        ),
        Misconception(
            lambda gram, y, noise_std: _log_normal(y, gram, 1e-6, 1e-6),
            "you have the noise variance in neither term: this is the evidence of targets without noise.",
        ),
        Misconception(
            lambda gram, y, noise_std: _log_normal(y, gram, noise_std**2, noise_std),
            "you add the noise's standard deviation in the log-determinant; add its square.",
        ),
        Misconception(
            lambda gram, y, noise_std: _log_normal(
                y, gram, noise_std**2, 2 * noise_std**2
            ),
            "you add the noise variance twice in the log-determinant.",
        ),
        *wrong_evidences(
            lambda noise, gram, y, noise_std: gram + noise * jnp.eye(len(y)),
            noise_at=2,
        ),
    ],
    hints=[
        "Which matrix is the covariance of the targets? It must be the same one in both terms.",
        "The second Cholesky factor is that of another matrix: 1e-6 is there for stability, and is no noise.",
    ],
)
