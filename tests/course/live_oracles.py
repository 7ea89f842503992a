"""The numbers that the figures with controls show, computed with NumPy and SciPy.

Every oracle takes the figure's data and the values of its controls.
"""

import numpy as np
from scipy import integrate, optimize, special, stats


def mulberry32(n, seed):
    """The generator in integers of any size, as its author defines it."""
    numbers = []
    for _ in range(n):
        seed = (seed + 0x6D2B79F5) % 2**32
        t = ((seed ^ (seed >> 15)) * (seed | 1)) % 2**32
        t ^= (t + (t ^ (t >> 7)) * (t | 61)) % 2**32
        numbers.append(((t ^ (t >> 14)) + 0.5) / 2**32)
    return np.array(numbers)


def gp(data, state):
    points = np.array(data["points"], float)
    points[-1] = state["x"], state["y"]
    grid = np.linspace(-3.2, 3.2, 121)

    def kernel(a, b):
        return np.exp(-(np.subtract.outer(a, b) ** 2) / 2 / state["length"] ** 2)

    x, y = points.T
    prior = kernel(x, x) + state["noise"] ** 2 * np.eye(len(x))
    inverse = np.linalg.inv(prior)
    variance = 1 - np.einsum("ij,jk,ik->i", kernel(grid, x), inverse, kernel(grid, x))
    return {
        "means": kernel(grid, x) @ inverse @ y,
        "stds": np.sqrt(variance.clip(0)),
        "evidence": stats.multivariate_normal(np.zeros(len(x)), prior).logpdf(y),
        "points": points,
    }


def scores(data, state):
    truth, forecast = (np.array([state[name], 1 - state[name]]) for name in "qp")
    best = {"log": truth, "brier": truth, "linear": np.eye(2)[truth.argmax()]}

    def expected(rule, p):
        if rule == "log":
            return -stats.entropy(truth) - stats.entropy(truth, p)
        if rule == "brier":
            return -truth @ ((p - np.eye(2)) ** 2).sum(1)
        return truth @ p

    shown = {}
    for rule, p in best.items():
        shown[rule] = expected(rule, forecast)
        shown[f"{rule}Lost"] = expected(rule, p) - shown[rule]
        shown[f"{rule}Best"] = p[0]
    if state["q"] == 0.5:  # every forecast is the best linear one
        del shown["linearBest"]
    return shown


def kl(data, state):
    p = np.array([[1, state["rho"]], [state["rho"], 1]])
    q = state["s"] ** 2 * np.eye(2)

    def divergence(a, b):
        ratio = np.linalg.solve(b, a)
        return (np.trace(ratio) - 2 - np.linalg.slogdet(ratio)[1]) / 2

    narrow = np.diag(np.linalg.inv(p)) ** -0.5
    return {"qp": divergence(q, p), "pq": divergence(p, q), "narrow": narrow[0]}


def reliability(data, state):
    n, bins, power = state["n"], state["bins"], 1 / state["temperature"]
    drawn = mulberry32(2 * n, state["again"] + 1)
    p = 0.5 + drawn[:n] / 2

    def forecast(p):
        return p**power / (p**power + (1 - p) ** power)

    confidence = forecast(p)
    count, edges = np.histogram(confidence, bins, (0, 1))
    sums = np.histogram(confidence, edges, weights=confidence)[0]
    right = np.histogram(confidence, edges, weights=(drawn[n:] < p).astype(float))[0]
    gap, _ = integrate.quad(
        lambda p: 2 * abs(p - forecast(p)), 0.5, 1, epsabs=1e-10, limit=500
    )
    return {
        "count": count,
        "right": right,
        "confidence": sums,
        "ece": np.abs(right - sums).sum() / n,
        "truth": gap,
    }


def conformal(data, state):
    n, alpha = state["n"], state["alpha"]
    rank = int(np.ceil(np.round((n + 1) * (1 - alpha), 9)))
    drawn = mulberry32(200 * n, state["again"] + 1).reshape(200, n)
    shown = {"rank": rank, "mean": min(rank / (n + 1), 1)}
    if rank > n:
        return shown | {"coverages": np.ones(200), "density": np.zeros(201), "below": 0}
    law = stats.beta(rank, n + 1 - rank)
    coverages = np.partition(drawn, rank - 1, 1)[:, rank - 1]
    low = max(0, 1 - alpha - 4.5 * (alpha * (1 - alpha) / n) ** 0.5)
    return shown | {
        "coverages": coverages,
        "density": law.pdf(np.linspace(low + 1e-4, 1 - 1e-4, 201)),
        "below": law.cdf(1 - alpha),
        "seen": (coverages < 1 - alpha).mean(),
    }


def gradients(data, state):
    mu, sigma, n = state["mu"], state["sigma"], state["n"]
    u = mulberry32(4000, 1)
    radius, angle = np.sqrt(-2 * np.log(u)), 2 * np.pi * u
    noise = radius[:n] * np.cos(angle[2000 : 2000 + n])
    w = mu + sigma * noise
    x, weights = np.polynomial.hermite_e.hermegauss(20)  # exact for these polynomials
    weights = weights / weights.sum()

    def std(of):
        return np.sqrt(weights @ of(x) ** 2 - (weights @ of(x)) ** 2)

    return {
        "truth": 2 * (mu - 1),
        "pathwise": np.mean(2 * (w - 1)),
        "score": np.mean((w - 1) ** 2 * noise / sigma),
        "pathwiseStd": std(lambda e: 2 * (mu + sigma * e - 1)),
        "scoreStd": std(lambda e: (mu + sigma * e - 1) ** 2 * e / sigma),
    }


def planar(data, state):
    w, u = (np.array([state[f"{name}1"], state[f"{name}2"]]) for name in "wu")
    axis = np.linspace(-3, 3, 25)
    z = np.stack(np.meshgrid(axis, axis), -1)
    middles = np.stack(np.meshgrid(axis[:-1] + 0.125, axis[:-1] + 0.125), -1)
    slope = 1 / np.cosh(middles @ w + state["b"]) ** 2
    jacobians = np.eye(2) + slope[..., None, None] * np.outer(u, w)
    return {
        "inner": w @ u,
        "dets": np.linalg.det(jacobians).ravel(),
        "moved": z + u * np.tanh(z @ w + state["b"])[..., None],
    }


def ensemble(data, state):
    means, stds = (np.array(data[key])[: state["members"]] for key in ("means", "stds"))
    second = (means**2 + stds**2).mean(0)  # the moments of the mixture
    noise = (stds**2).mean(0)
    return {
        "middle": means.mean(0),
        "noise": noise,
        "apart": second - means.mean(0) ** 2 - noise,
    }


def laplace(data, state):
    x, y, variance = np.array(data["x"]), np.array(data["y"]), state["variance"]
    x = np.column_stack([x, np.ones(len(x))])
    prior = stats.multivariate_normal(np.zeros(3), variance * np.eye(3))

    def loss(w):
        return -prior.logpdf(w) - special.log_expit((2 * y - 1) * (x @ w)).sum()

    def slope(w):
        return w / variance - x.T @ (y - special.expit(x @ w))

    def curvature(w):
        p = special.expit(x @ w)
        return x.T @ np.diag(p * (1 - p)) @ x + np.eye(3) / variance

    found = optimize.minimize(
        loss, np.zeros(3), jac=slope, hess=curvature, method="trust-exact", tol=1e-11
    )
    covariance = np.linalg.inv(curvature(found.x))
    axis = np.array(data["axis"])
    points = np.stack([*np.meshgrid(axis, axis), np.ones((len(axis), len(axis)))], -1)
    std = np.sqrt(((points @ covariance) * points).sum(-1))
    return {
        "w": found.x,
        "evidence": -found.fun + np.linalg.slogdet(2 * np.pi * covariance)[1] / 2,
        "probs": special.expit(
            points @ found.x / np.hypot(1, np.sqrt(np.pi / 8) * std)
        ),
    }


def risk(data, state):
    confidence, wrong = np.array(data["confidence"]), np.array(data["wrong"])
    price = state["price"]

    def cost(threshold):
        return np.mean(np.where(confidence >= threshold, wrong, price))

    answered = wrong[confidence >= state["threshold"]]
    costs = {t: cost(t) for t in data["controls"]["threshold"]}
    return {
        "coverage": len(answered) / len(wrong),
        "risk": answered.mean() if len(answered) else 0,
        "cost": cost(state["threshold"]),
        "chow": cost(1 - price),
        "least": min(costs.values()),
    }


def posteriors(data, state):
    maps = np.array(data["maps"])
    a, b, c = np.array(data["draws"][state["method"]])[: state["draw"]].T
    ends = np.array(data["axis"])[[0, -1]]
    shown = {"gap": np.abs(maps[state["method"]] - maps[0]).mean()}
    if state["draw"]:
        shown["boundaries"] = np.stack([-(c + a * end) / b for end in ends], 1)
    return shown


def dropout(data, state):
    rate, draws = state["rate"], state["draws"]
    at = data["controls"]["rate"].index(rate)
    first, output, bias = (
        np.array(data[key][at]) for key in ("hidden", "output", "bias")
    )
    units = len(output)
    u = mulberry32(50 * units, state["again"] + 1).reshape(50, units)
    angle = 2 * np.pi * np.arange(200) / 200
    circle = [0.5, 0.25] + 10 * np.stack([np.cos(angle), np.sin(angle)], -1)
    grid = np.stack(np.meshgrid(data["xs"], data["ys"]), -1)

    def logits(points, factors):
        """One row for each draw: every hidden unit is multiplied by its factor."""
        ones = np.ones((*np.shape(points)[:-1], 1))
        hidden = np.concatenate([points, ones], -1) @ first.T
        parts = hidden.clip(0)[None] * factors.reshape(
            -1, *[1] * (ones.ndim - 1), units
        )
        return parts @ output + bias

    masks, off = (u >= rate) / (1 - rate), np.ones((1, units))
    sign = 2 * np.array(data["y"]) - 1

    def nll(factors):
        logs = special.log_expit(sign * logits(data["x"], factors))
        return -np.mean(special.logsumexp(logs, axis=0) - np.log(len(factors)))

    def confidence(factors):
        p = special.expit(logits(circle, factors)).mean(0)
        return np.maximum(p, 1 - p).mean()

    return {
        "probs": special.expit(logits(grid, masks[:draws])).mean(0),
        "nll": [nll(masks[:count]) for count in range(1, 51)],
        "offNll": nll(off),
        "far": confidence(masks[:draws]),
        "offFar": confidence(off),
    }


def comparison(data, state):
    rows = np.array(data["table"][state["metric"]][state["data"]][state["severity"]])
    order = rows[:, 0].argsort()
    order = order if data["lower"][state["metric"]] else order[::-1]
    low, high = np.array([[1, -1], [1, 1]]) @ rows[order].T
    level = sum(np.maximum(low[0], low[1:]) <= np.minimum(high[0], high[1:]))
    return {"order": order, "lows": low, "highs": high, "level": level}
