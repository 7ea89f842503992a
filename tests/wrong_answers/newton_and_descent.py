"""Practical 2, the tasks that take steps to the mode."""

import torch

from solutions import approximate_inference as right


def mode_without_prior_in_hessian(x, y, prior_variance, steps=30):
    w = torch.zeros(x.shape[1], dtype=x.dtype)
    for _ in range(steps):
        p = torch.sigmoid(x @ w)
        gradient = x.T @ (p - y) + w / prior_variance
        # Nothing holds this Hessian away from a singular one: ``solve`` would raise at times.
        w = w - torch.linalg.pinv((x.T * (p * (1 - p))) @ x) @ gradient
    return w


def mode_of(taken=lambda steps: steps, at=lambda w: w, rate=1.0):
    """Newton's method, spoilt."""

    def answer(x, y, prior_variance, steps=30):
        w = torch.zeros(x.shape[1], dtype=x.dtype)
        for _ in range(taken(steps)):
            gradient = x.T @ (torch.sigmoid(x @ w) - y) + w / prior_variance
            hessian = right.logistic_hessian(at(w), x, prior_variance)
            w = w - rate * torch.linalg.solve(hessian, gradient)
        return w

    return answer


def mode_by_lbfgs(x, y, prior_variance, steps=30):
    w = torch.zeros(x.shape[1], dtype=x.dtype, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [w],
        max_iter=200,
        tolerance_grad=1e-9,
        tolerance_change=1e-14,
        line_search_fn="strong_wolfe",
    )

    def closure():
        optimiser.zero_grad()
        loss = right.negative_log_joint(w, x, y, prior_variance)
        loss.backward()
        return loss

    optimiser.step(closure)
    return w.detach()


def descent_of(steps):
    def answer(w, x, y, prior_variance, *, steps=steps, rate, taken=steps):
        return right.gradient_descent(w, x, y, prior_variance, steps=taken, rate=rate)

    return answer


def descent_with_graph(w, x, y, prior_variance, *, steps, rate):
    w = w.clone().requires_grad_()
    path = [w]
    for _ in range(steps):
        loss = right.negative_log_joint(w, x, y, prior_variance) / len(x)
        w = w - rate * torch.autograd.grad(loss, w, create_graph=True)[0]
        path.append(w)
    return torch.stack(path)


def descent_until_small(w, x, y, prior_variance, *, steps, rate):
    path = [w]
    for _ in range(steps):
        gradient = x.T @ (torch.sigmoid(x @ w) - y) + w / prior_variance
        gradient = gradient / len(x)
        if gradient.norm() < 1e-3:
            break
        w = w - rate * gradient
        path.append(w)
    return torch.stack(path)


def clipped_descent(largest):
    def answer(w, x, y, prior_variance, *, steps, rate):
        path = [w]
        for _ in range(steps):
            gradient = x.T @ (torch.sigmoid(x @ w) - y) + w / prior_variance
            gradient = gradient / len(x)
            gradient = gradient * (largest / gradient.norm()).clamp(max=1.0)
            w = w - rate * gradient
            path.append(w)
        return torch.stack(path)

    return answer


ANSWERS = {
    "gradient_descent": {
        "a graph that stays": descent_with_graph,
        "always 4 steps": descent_of(4),
        "no steps where gradients are small": descent_until_small,
        "gradients clipped at 1": clipped_descent(1.0),
        "gradients clipped at 10": clipped_descent(10.0),
        "a list": lambda *case, **o: right.gradient_descent(*case, **o).tolist(),
    },
    "find_mode": {
        "no prior in the Hessian": mode_without_prior_in_hessian,
        "half steps": mode_of(rate=0.5),
        "always 30 steps": mode_of(taken=lambda steps: 30),
        "the Hessian at w = 0": mode_of(at=torch.zeros_like),
        "another optimiser": mode_by_lbfgs,
    },
}
