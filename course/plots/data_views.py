"""Figures with controls that show what a page has computed: data, networks, posteriors.

Every function returns what :func:`course.plots.live.live` returns. ``live.js`` has a view for
each, with the same formulas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from IPython.display import HTML
from matplotlib.axes import Axes
from scipy.special import expit, log_expit

from course.plots.live import Button, Radio, Slider, live
from course.plots.posteriors import probability_map
from course.plots.style import COLOURS
from course.plots.views import uniforms

BLUE, VERMILION, GREEN, SKY = (
    COLOURS[name] for name in ("blue", "vermilion", "green", "sky")
)


def ensemble_parts(
    grid: np.ndarray,
    means: np.ndarray,
    stds: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    *,
    name: str,
) -> HTML | None:
    """Show the first members of an ensemble, and the two parts of their mixture's variance.

    Args:
        grid: inputs, shape (G,).
        means: forecasts of M members, shape (M, G).
        stds: their standard deviations, shape (M, G).
        x: inputs of the training data, shape (N,).
        y: their targets, shape (N,).
        name: the figure's id.
    """
    grid, means, stds = (np.asarray(a, float) for a in (grid, means, stds))

    places = grid[:: (len(grid) - 1) // 20].tolist()
    end = 1.15 * max(np.abs(means).max(), np.abs(y).max())

    def draw(top: Axes, below: Axes, members: int, at: float) -> None:
        some, middle = means[:members], means[:members].mean(0)
        noise, apart = (stds[:members] ** 2).mean(0), some.var(0)
        std = np.sqrt(noise + apart)
        top.fill_between(
            grid, middle - 2 * std, middle + 2 * std, color=SKY, alpha=0.35
        )
        top.plot(grid, some.T, color=BLUE, lw=0.6)
        top.plot(grid, middle, color="black")
        top.plot(x, y, ".", color="black", ms=4)
        top.set(xlim=(grid[0], grid[-1]), ylim=(-end, end), ylabel="$y$")
        below.stackplot(grid, noise, apart, colors=[GREEN, BLUE], alpha=0.7)
        below.set(xlim=(grid[0], grid[-1]), xlabel="$x$", ylabel="variance")

    return live(
        "ensemble",
        draw,
        [
            Slider("members", "members", range(1, len(means) + 1), 5),
            Slider("at", "x to look at", places, places[-3]),
        ],
        {"grid": grid, "means": means, "stds": stds, "x": x, "y": y},
        name=name,
        label="Members of an ensemble, and the parts of their variance",
        alt="Above, the curves of five members and the band of their mixture, which widens "
        "outside the data. Below, the variance in two parts: the noise is small everywhere, "
        "the disagreement grows outside the data.",
        heights=[210, 150],
    )


def fit_laplace(x: np.ndarray, y: np.ndarray, variance: float) -> tuple:
    """Return the mode, the covariance and the log evidence of a logistic regression."""
    w = np.zeros(x.shape[1])
    for _ in range(30):
        p = expit(x @ w)
        precision = (x.T * (p * (1 - p))) @ x + np.eye(len(w)) / variance
        w = w + np.linalg.solve(precision, x.T @ (y - p) - w / variance)
    evidence = (
        log_expit((2 * y - 1) * (x @ w)).sum()
        - w @ w / (2 * variance)
        - len(w) / 2 * np.log(variance)
        - np.linalg.slogdet(precision)[1] / 2
    )
    return w, np.linalg.inv(precision), evidence


def prior_variance(x: np.ndarray, y: np.ndarray, *, name: str) -> HTML | None:
    """Show Laplace's forecast and log evidence of a logistic regression for a prior variance.

    Source: MacKay (1992), equation 10; Bishop (2006), section 4.4.1.

    Args:
        x: inputs, shape (N, 2).
        y: labels 0 or 1, shape (N,).
        name: the figure's id.
    """
    x, y = np.asarray(x, float), np.asarray(y, int)
    inputs = np.column_stack([x, np.ones(len(x))])
    variances = [float(f"{v:.2g}") for v in np.geomspace(1e-3, 1e3, 25)]
    axis = np.linspace(-8, 8, 41)

    def draw(plane: Axes, curve: Axes, variance: float) -> None:
        w, covariance, evidence = fit_laplace(inputs, y, variance)
        points = np.stack([*np.meshgrid(axis, axis), np.ones((41, 41))], -1)
        spread = np.einsum("...i,ij,...j->...", points, covariance, points)
        probs = expit(points @ w / np.sqrt(1 + np.pi / 8 * spread))
        probability_map(axis, axis, probs, data=(x, y), size=4, ax=plane)
        evidences = [fit_laplace(inputs, y, v)[2] for v in variances]
        curve.semilogx(variances, evidences, color=VERMILION)
        curve.plot(variance, evidence, "o", color=VERMILION)
        curve.set(xlabel="prior variance", ylabel="log evidence")

    return live(
        "laplace",
        draw,
        [Slider("variance", "prior variance", variances, variances[12])],
        {"x": x, "y": y, "axis": axis},
        name=name,
        label="The prior variance and the evidence",
        alt="Above, the map of Laplace's forecast over two clouds of points. Below, the log "
        "evidence against the prior variance: it rises steeply, has a maximum near 1 and "
        "falls slowly.",
        heights=[270, 150],
    )


def abstention(confidence: np.ndarray, wrong: np.ndarray, *, name: str) -> HTML | None:
    """Show coverage, risk and cost of answering only above a threshold of the confidence.

    Source: Chow (1970); El-Yaniv and Wiener (2010), section 2.

    Args:
        confidence: confidences, shape (N,).
        wrong: whether each answer is wrong, shape (N,).
        name: the figure's id.
    """
    confidence, wrong = np.asarray(confidence, float), np.asarray(wrong, int)
    thresholds = [round(0.02 * n, 2) for n in range(51)]

    def at(threshold: float, price: float) -> tuple[float, float, float]:
        answered = confidence >= threshold
        risk = wrong[answered].mean() if answered.any() else 0.0
        return answered.mean(), risk, np.where(answered, wrong, price).mean()

    def draw(left: Axes, right: Axes, threshold: float, price: float) -> None:
        count = np.arange(1, len(wrong) + 1)
        risks = np.cumsum(wrong[np.argsort(-confidence, kind="stable")]) / count
        coverage, risk, cost = at(threshold, price)
        left.plot(count / len(wrong), risks, color=BLUE)
        left.plot(coverage, risk, "o", color=BLUE)
        left.set(xlim=(0, 1), ylim=(0, None), xlabel="coverage", ylabel="risk")
        costs = [at(t, price)[2] for t in thresholds]
        right.plot(thresholds, costs, color=VERMILION)
        right.axvline(1 - price, color="black", ls="--")
        right.plot(threshold, cost, "o", color=VERMILION)
        right.set(
            xlim=(0, 1), ylim=(0, None), xlabel="threshold", ylabel="cost per case"
        )

    prices = [0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5]
    return live(
        "risk",
        draw,
        [
            Slider("threshold", "threshold", thresholds, 0.9),
            Slider("price", "price of abstaining", prices, 0.1),
        ],
        {"confidence": confidence, "wrong": wrong},
        name=name,
        label="Answer above a threshold",
        alt="Above, the risk rises with the coverage. Below, the cost per case against the "
        "threshold is lowest a little to the side of Chow's threshold.",
        heights=[180, 180],
    )


def posterior_maps(
    axis: np.ndarray,
    maps: Mapping[str, np.ndarray],
    draws: Mapping[str, np.ndarray],
    data: tuple[np.ndarray, np.ndarray],
    *,
    name: str,
) -> HTML | None:
    """Show the forecasts of several posteriors of a logistic regression, and draws from them.

    Args:
        axis: the grid's columns and rows, shape (G,).
        maps: probabilities of class 1 by method, shape (G, G); the first are exact.
        draws: weights and bias of each draw by method, shape (S, 3).
        data: inputs, shape (N, 2), and labels, shape (N,).
        name: the figure's id.
    """
    x, y = np.asarray(data[0], float), np.asarray(data[1], int)
    methods = list(maps)

    def draw_map(ax: Axes, method: int, draw: int) -> None:
        probs = np.asarray(maps[methods[method]])
        probability_map(axis, axis, probs, data=(x, y), size=4, ax=ax)
        for a, b, c in draws[methods[method]][:draw]:
            ax.plot(axis, -(c + a * axis) / b, color=VERMILION, lw=0.6)
        ax.set(xlim=(axis[0], axis[-1]), ylim=(axis[0], axis[-1]))

    return live(
        "posteriors",
        draw_map,
        [
            Radio("method", "posterior", methods),
            Button("draw", "Draw a boundary", counts=True),
            Button("reset", "Reset"),
        ],
        {
            "axis": axis,
            "maps": [np.round(maps[method], 4) for method in methods],
            "draws": [np.round(draws[method], 4) for method in methods],
            "x": np.round(x, 3),
            "y": y,
        },
        name=name,
        label="Posteriors of a logistic regression",
        alt="Two clouds of points and the map of the exact forecast, whose contours open "
        "away from the data.",
        heights=[300],
    )


def dropout_draws(
    networks: Mapping[float, Sequence[np.ndarray]],
    test: tuple[np.ndarray, np.ndarray],
    *,
    name: str,
    centre: tuple[float, float] = (0.5, 0.25),
) -> HTML | None:
    """Show the forecast of Monte Carlo dropout, and its NLL, for a rate and a number of draws.

    Source: Gal and Ghahramani (2016), sections 3 and 4.

    Args:
        networks: by dropout rate, the weights and biases of H hidden ReLUs, shapes (H, 2) and
            (H,), then those of the output, shapes (1, H) and (1,).
        test: inputs, shape (N, 2), and labels 0 or 1, shape (N,).
        name: the figure's id.
        centre: of the circle of radius 10 over which the confidence is averaged.
    """
    networks = {
        rate: [np.asarray(part, float) for part in parts]
        for rate, parts in networks.items()
    }
    x, y = np.asarray(test[0], float), np.asarray(test[1], int)
    xs, ys = np.linspace(-3, 4, 29), np.linspace(-3, 3.5, 27)
    most = 50

    def probabilities(
        rate: float, points: np.ndarray, factors: np.ndarray
    ) -> np.ndarray:
        """Return forecasts, shape (…, S), for factors of the hidden units, shape (S, H)."""
        first, shift, output, bias = networks[rate]
        hidden = np.maximum(points @ first.T + shift, 0)
        return expit(hidden @ (output * factors).T + bias)

    def nll(probs: np.ndarray) -> np.ndarray:
        right = np.abs(1 - y[:, None] - probs)
        return -np.log(np.maximum(right, 1e-12)).mean(0)

    def draw(plane: Axes, curve: Axes, rate: float, draws: int, again: int) -> None:
        points = np.stack(np.meshgrid(xs, ys), -1)
        units = len(networks[rate][1])
        keep = uniforms(most * units, again + 1).reshape(most, units) >= rate
        masks = keep / (1 - rate)
        probs = probabilities(rate, points, masks[:draws]).mean(-1)
        probability_map(xs, ys, probs, data=(x, y), size=6, ax=plane)
        counts = np.arange(1, most + 1)
        of_count = nll(np.cumsum(probabilities(rate, x, masks), 1) / counts)
        curve.semilogx(counts, of_count, color=VERMILION)
        curve.plot(draws, of_count[draws - 1], "o", color=VERMILION)
        off = nll(probabilities(rate, x, np.ones((1, units))))
        curve.axhline(off[0], color="black", ls="--", lw=1)
        curve.set(xlim=(1, most), xlabel="number of draws", ylabel="NLL")
        curve.set_xticks([1, 10, most], ["1", "10", str(most)])

    return live(
        "dropout",
        draw,
        [
            Slider("rate", "dropout rate p", list(networks), list(networks)[-1]),
            Slider("draws", "draws", [1, 2, 5, 10, 20, most], 5),
            Button("again", "Draw new masks", counts=True),
        ],
        {
            "xs": xs,
            "ys": ys,
            "x": np.round(x, 3),
            "y": y,
            "centre": centre,
            "hidden": [np.column_stack(parts[:2]) for parts in networks.values()],
            "output": [parts[2][0] for parts in networks.values()],
            "bias": [parts[3][0] for parts in networks.values()],
        },
        name=name,
        label="Dropout rate and number of draws",
        alt="Above, the map of the forecast over two moons, with angular contours. Below, the "
        "NLL against the number of draws: it falls at first and then stays level.",
        heights=[270, 150],
    )


def comparison(
    table: Mapping[str, Mapping[str, Sequence[Sequence[tuple[float, float]]]]],
    methods: Sequence[str],
    lower: Sequence[str],
    *,
    name: str,
    start: tuple[str, str] | None = None,
    axis_names: Mapping[str, Mapping[str, str]] | None = None,
) -> HTML | None:
    """Show methods in order of a metric on a data set, with intervals.

    Args:
        table: mean and half-width of the interval of each method, by metric, data set and
            severity of a shift; without shifts there is one severity.
        methods: the names of the methods.
        lower: the metrics of which less is better.
        name: the figure's id.
        start: the metric and the data set that are shown first; by default the second metric
            and the first set.
        axis_names: names of the axis by metric and data set, where they are not the metric's.
    """
    metrics, sets = list(table), list(next(iter(table.values())))
    severities = range(len(table[metrics[0]][sets[0]]))
    metric, data = start or (metrics[min(1, len(metrics) - 1)], sets[0])
    named = axis_names or {}
    names = [[named.get(m, {}).get(one, m) for one in sets] for m in metrics]
    controls: list[Radio | Slider] = [
        Radio("metric", "metric", metrics, metrics.index(metric)),
        Radio("data", "data", sets, sets.index(data)),
    ]
    if len(severities) > 1:
        controls.append(Slider("severity", "severity of the shift", severities, 0))

    def draw(ax: Axes, metric: int, data: int, severity: int = 0) -> None:
        rows = np.array(table[metrics[metric]][sets[data]][severity])
        better = "lower" if metrics[metric] in lower else "higher"
        order = np.argsort(rows[:, 0] * (1 if better == "lower" else -1))
        ax.errorbar(
            rows[order, 0],
            -np.arange(len(order)),
            xerr=rows[order, 1],
            fmt="o",
            color=BLUE,
        )
        ax.set_yticks(-np.arange(len(order)), [methods[at] for at in order])
        ax.set(xlabel=f"{names[metric][data]} ({better} is better)")

    return live(
        "comparison",
        draw,
        controls,
        {
            "methods": methods,
            "names": names,
            "lower": [metric in lower for metric in metrics],
            "table": [[table[metric][one] for one in sets] for metric in metrics],
        },
        name=name,
        label="Methods in order of a metric",
        alt="Dots with intervals, one row for each method, the best at the top.",
        heights=[300],
    )
