"""Figures with controls that need no trained model: what they show is a formula.

Every function returns what :func:`course.plots.live.live` returns. ``live.js`` has a view of the
same name, with the same formulas.
"""

from __future__ import annotations

import math

import numpy as np
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from scipy.special import expit, logit

from course.plots.live import Button, Slider, live
from course.plots.style import COLOURS

BLUE, VERMILION, GREEN, ORANGE, SKY = (
    COLOURS[name] for name in ("blue", "vermilion", "green", "orange", "sky")
)
SETS = 200  # calibration sets
AGAIN = Button("again", "Draw new data", counts=True)


def steps(low: float, high: float, step: float) -> list[float]:
    """Return the numbers from ``low`` to ``high``, both included, without rounding errors."""
    return [
        round(low + step * n, 6) + 0.0 for n in range(round((high - low) / step) + 1)
    ]


def uniforms(n: int, seed: int) -> np.ndarray:
    """Return n numbers in (0, 1) of the generator mulberry32, as ``live.js`` does."""
    state = seed + 0x6D2B79F5 * np.arange(1, n + 1, dtype=np.uint64)
    a = state.astype(np.uint32)
    t = (a ^ (a >> 15)) * (a | np.uint32(1))
    t ^= t + (t ^ (t >> 7)) * (t | np.uint32(61))
    return ((t ^ (t >> 14)).astype(float) + 0.5) / 2**32


def gaussian_process(x: np.ndarray, y: np.ndarray, *, name: str) -> HTML | None:
    """Show the posterior of a Gaussian process, whose data points the reader moves and adds.

    Its kernel is exp(−(x − x′)² / 2ℓ²). Source: Rasmussen and Williams (2006), algorithm 2.1.

    Args:
        x: inputs, shape (N,), multiples of 0.1 in (−3.2, 3.2).
        y: targets, shape (N,), multiples of 0.1 in (−3, 3).
        name: the figure's id.
    """

    def draw(ax: Axes, length: float, noise: float, **_) -> None:
        def kernel(a, b):
            return np.exp(-((a[:, None] - b) ** 2) / (2 * length**2))

        grid = np.linspace(-3.2, 3.2, 121)
        weights = np.linalg.solve(
            kernel(x, x) + noise**2 * np.eye(len(x)), kernel(x, grid)
        )
        mean = y @ weights
        variance = np.maximum(1 - (kernel(x, grid) * weights).sum(0), 0)
        for extra, colour in ((noise**2, SKY), (0, BLUE)):
            std = np.sqrt(variance + extra)
            band = (mean - 2 * std, mean + 2 * std)
            ax.fill_between(grid, *band, color=colour, alpha=0.3, lw=0)
        ax.plot(grid, mean, color=BLUE)
        ax.plot(x, y, "o", color="black", ms=4)
        ax.set(xlim=(-3.2, 3.2), ylim=(-3, 3), xlabel="$x$", ylabel="$y$")

    controls = [
        Slider(
            "length", "length scale", [*steps(0.1, 1, 0.1), *steps(1.2, 3, 0.2)], 0.6
        ),
        Slider("noise", "noise std", [0.02, *steps(0.05, 1, 0.05)], 0.1),
        Slider("x", "orange point: x", steps(-3.2, 3.2, 0.1), float(x[-1])),
        Slider("y", "orange point: y", steps(-3, 3, 0.1), float(y[-1])),
        Button("add", "Add point"),
        Button("remove", "Remove"),
        Button("reset", "Reset"),
    ]
    return live(
        "gp",
        draw,
        controls,
        {"points": np.stack([x, y], 1)},
        name=name,
        label="A posterior over curves",
        alt="A curve through data points in two groups, with a band that is narrow at the "
        "points and wide between and beyond them.",
        heights=[170],
    )


def proper_scores(*, name: str) -> HTML | None:
    """Show the expected log, Brier and linear score of a forecast, against its value."""

    def draw(ax: Axes, q: float, p: float) -> None:
        grid = np.linspace(0.005, 0.995, 199)
        scores = {
            "log": (BLUE, "-", lambda f: q * np.log(f) + (1 - q) * np.log1p(-f)),
            "Brier": (GREEN, "--", lambda f: -2 * (q * (1 - f) ** 2 + (1 - q) * f**2)),
            "linear": (VERMILION, "-.", lambda f: q * f + (1 - q) * (1 - f)),
        }
        for rule, (colour, line, score) in scores.items():
            ax.plot(grid, score(grid), color=colour, ls=line, label=rule)
            ax.plot(p, score(p), "o", color=colour)
        ax.axvline(q, color="black", lw=1, ls=":", label="chance of rain")
        ax.set(
            ylim=(-2.6, 1),
            xlabel="forecast probability of rain",
            ylabel="expected score",
        )
        ax.legend(loc="lower center")

    probabilities = [0.01, *steps(0.05, 0.95, 0.05), 0.99]
    return live(
        "scores",
        draw,
        [
            Slider("q", "chance of rain", probabilities, 0.7),
            Slider("p", "forecast", probabilities, 0.9),
        ],
        {},
        name=name,
        label="The expected score of a forecast",
        alt="Three curves of expected score against the forecast probability. The log score "
        "and the Brier score peak at the chance of rain, 0.7. The linear score rises in a "
        "straight line to a forecast of 1.",
        heights=[260],
    )


def two_divergences(*, name: str) -> HTML | None:
    """Show both divergences between a correlated Gaussian and one with independent parts.

    The correlated one has unit variances; the other has one standard deviation for both parts.
    Source: Bishop (2006), section 10.1.2.
    """

    def draw(plane: Axes, curves: Axes, rho: float, s: float) -> None:
        turn = np.linspace(0, 2 * np.pi, 121)
        circle = np.stack([np.cos(turn), np.sin(turn)])
        shape = np.array([[1, 0], [rho, math.sqrt(1 - rho**2)]])
        for radius in (1, 2):
            plane.plot(*radius * shape @ circle, color="black")
            plane.plot(*radius * s * circle, color=VERMILION)
        plane.set(xlim=(-3, 3), ylim=(-3, 3), aspect="equal")
        plane.set(xlabel="first weight", ylabel="second weight")
        grid, log_det = np.linspace(0.1, 1.5, 141), math.log(1 - rho**2)

        def both(s):
            qp = s**2 / (1 - rho**2) - 1 + log_det / 2 - 2 * np.log(s)
            return qp, 1 / s**2 - 1 + 2 * np.log(s) - log_det / 2

        labels = ("KL(q‖p)", "KL(p‖q)")
        for values, at, colour, label in zip(
            both(grid), both(s), (BLUE, GREEN), labels, strict=True
        ):
            curves.plot(grid, values, color=colour, label=label)
            curves.plot(s, at, "o", color=colour)
        curves.set(
            xlim=(0, 1.5), ylim=(0, 4), xlabel="standard deviation of q", ylabel="nats"
        )
        curves.legend(loc="upper center")

    return live(
        "kl",
        draw,
        [
            Slider("rho", "correlation of p", [*steps(0, 0.95, 0.05), 0.99], 0.9),
            Slider("s", "std of q", steps(0.1, 1.5, 0.02), 0.7),
            Button("qp", "Minimise KL(q‖p)"),
            Button("pq", "Minimise KL(p‖q)"),
        ],
        {},
        name=name,
        label="Two directions of the divergence",
        alt="Above, the ellipses of a correlated Gaussian p and the circles of a Gaussian q. "
        "Below, the two divergences against the standard deviation of q: one is least at a "
        "small one, where q lies inside p, the other at 1.",
        heights=[210, 180],
    )


def reliability(*, name: str) -> HTML | None:
    """Show the reliability diagram of a classifier whose true calibration error is known.

    It is right with probability p, uniform on (½, 1), and forecasts σ(logit(p) / T).
    """

    def draw(ax: Axes, temperature: float, bins: int, n: int, again: int) -> None:
        drawn = uniforms(2 * n, again + 1)
        p = (1 + drawn[:n]) / 2
        confidence, right = expit(logit(p) / temperature), drawn[n:] < p
        place = np.minimum((confidence * bins).astype(int), bins - 1)
        count, *sums = (
            np.bincount(place, weights, bins) for weights in (None, confidence, right)
        )
        full = np.flatnonzero(count)
        c, a = (total[full] / count[full] for total in sums)
        style = {"width": 1 / bins, "align": "edge", "ec": "white"}
        ax.bar(full / bins, a, color=BLUE, alpha=0.5, **style)
        colours = np.where(c > a, VERMILION, GREEN)
        ax.bar(full / bins, c - a, bottom=a, color=colours, alpha=0.5, **style)
        ax.plot([0, 1], [0, 1], "--", color="black")
        ax.set(xlim=(0.5, 1), ylim=(0, 1), xlabel="confidence", ylabel="accuracy")
        ece = np.abs(c - a) @ count[full] / n
        ax.set_title(f"estimated ECE {ece:.3f}")

    return live(
        "reliability",
        draw,
        [
            Slider(
                "temperature",
                "temperature",
                [*steps(0.25, 1, 0.05), *steps(1.2, 4, 0.2)],
                1,
            ),
            Slider("bins", "bins on (0, 1)", [2, 4, 6, 10, 15, 20, 30, 50], 15),
            Slider("n", "data points", [50, 100, 200, 500, 1000, 2000, 5000], 200),
            AGAIN,
        ],
        {},
        name=name,
        label="A reliability diagram",
        alt="Bars of the accuracy in bins of the confidence. They scatter around the diagonal, "
        "and the gaps to it add up to an error although the model is calibrated.",
        heights=[240],
    )


def conformal_coverage(*, name: str) -> HTML | None:
    """Show the coverage of 200 calibration sets, and its exact law.

    Source: Vovk (2012), proposition 2a.
    """

    def draw(ax: Axes, alpha: float, n: int, again: int) -> None:
        from scipy.stats import beta  # takes half a second

        rank = math.ceil((n + 1) * (1 - alpha) - 1e-9)
        low = max(0, 1 - alpha - 4.5 * math.sqrt(alpha * (1 - alpha) / n))
        drawn = np.sort(uniforms(SETS * n, again + 1).reshape(SETS, n))
        coverage = drawn[:, rank - 1] if rank <= n else np.ones(SETS)
        style = {"color": BLUE, "alpha": 0.4, "density": True}
        ax.hist(coverage, np.linspace(low, 1, 41), **style)
        grid = np.linspace(low, 1, 201)
        if rank <= n:
            ax.plot(grid, beta(rank, n + 1 - rank).pdf(grid), color=BLUE)
        ax.axvline(1 - alpha, color="black", ls="--")
        ax.set(xlim=(low, 1), xlabel="coverage", ylabel="density")

    return live(
        "conformal",
        draw,
        [
            Slider("alpha", "α", [0.01, 0.02, *steps(0.05, 0.5, 0.05)], 0.1),
            Slider("n", "calibration data", [9, 19, 30, 50, 100, 200, 500], 50),
            AGAIN,
        ],
        {},
        name=name,
        label="The law of the coverage",
        alt="A histogram of the coverage of 200 calibration sets, around 0.9, and the smooth "
        "curve of its exact law, which it follows.",
        heights=[230],
    )


def gradient_estimators(*, name: str) -> HTML | None:
    """Show running means of two estimators of the gradient of E[(w − 1)²] for w ~ N(µ, σ²).

    Source: Mohamed et al. (2020), sections 4 and 5.
    """

    def draw(ax: Axes, mu: float, sigma: float, n: int) -> None:
        u = uniforms(4000, 1)
        noise = np.sqrt(-2 * np.log(u[:n])) * np.cos(2 * np.pi * u[2000 : 2000 + n])
        w, c, counts = mu + sigma * noise, mu - 1, np.arange(1, n + 1)
        variances = (c**4 / sigma**2 + 14 * c**2 + 15 * sigma**2, 4 * sigma**2)
        samples = ((w - 1) ** 2 * noise / sigma, 2 * (w - 1))
        for each, variance, colour, label in zip(
            samples,
            variances,
            (VERMILION, BLUE),
            ("score function", "pathwise"),
            strict=True,
        ):
            half = 2 * np.sqrt(variance / counts)
            ax.fill_between(counts, 2 * c - half, 2 * c + half, color=colour, alpha=0.2)
            ax.plot(counts, np.cumsum(each) / counts, color=colour, label=label)
        half = 1.5 * math.sqrt(variances[0] / 5)
        ax.axhline(2 * c, color="black", ls="--")
        ax.set(
            xscale="log",
            xlim=(1, max(n, 2)),
            ylim=(2 * c - half, 2 * c + half),
            xlabel="number of samples",
            ylabel="gradient",
        )
        ax.legend(loc="lower right")

    return live(
        "gradients",
        draw,
        [
            Slider("mu", "mean µ", steps(-2, 3, 0.25), 0),
            Slider("sigma", "std σ", steps(0.1, 2, 0.1), 0.5),
            Slider("n", "samples", [1, 10, 30, 100, 300, 1000, 2000], 300),
        ],
        {},
        name=name,
        label="Two estimators of a gradient",
        alt="Running means of two estimators against the number of samples. The pathwise "
        "one is near the exact gradient after a few samples, the score function's takes "
        "hundreds.",
        heights=[240],
    )


def planar_flow(*, name: str) -> HTML | None:
    """Show the grid that a planar flow bends, with its log-determinant as colour.

    Source: Rezende and Mohamed (2015), equation 10.
    """

    def draw(ax: Axes, w1: float, w2: float, u1: float, u2: float, b: float) -> None:
        x, y = np.meshgrid(np.linspace(-3, 3, 25), np.linspace(-3, 3, 25))
        t = np.tanh(w1 * x + w2 * y + b)
        det = 1 + (w1 * u1 + w2 * u2) * (1 - t**2)
        logs = np.where(det > 0, np.log(np.maximum(np.abs(det), 1e-3)), np.nan)
        colours = LinearSegmentedColormap.from_list("", [ORANGE, "white", BLUE])
        colours = colours.with_extremes(bad=GREEN)
        ax.pcolormesh(
            x + u1 * t,
            y + u2 * t,
            np.ma.masked_invalid(logs),
            cmap=colours,
            vmin=-1.5,
            vmax=1.5,
            shading="gouraud",
            rasterized=True,
        )
        for move in (lambda a: a, np.transpose):
            lines = (move(x + u1 * t), move(y + u2 * t))
            ax.plot(*lines, color="black", lw=0.3, rasterized=True)
        ax.set(
            xlim=(-5, 5), ylim=(-5, 5), aspect="equal", xlabel="$z_1$", ylabel="$z_2$"
        )

    parts = steps(-3, 3, 0.25)
    return live(
        "planar",
        draw,
        [
            Slider("w1", "w₁", parts, 1),
            Slider("w2", "w₂", parts, 0.5),
            Slider("u1", "u₁", parts, 1.5),
            Slider("u2", "u₂", parts, 0),
            Slider("b", "b", parts, 0),
            Button("reset", "Reset"),
        ],
        {},
        name=name,
        label="A planar flow",
        alt="A square grid that has been stretched along one line, where its cells are wide.",
        heights=[300],
    )
