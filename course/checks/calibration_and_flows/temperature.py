"""Temperature scaling; the oracle searches for the minimum."""

from __future__ import annotations

import numpy as np
import scipy.optimize
import scipy.special
import torch

from course.checks.calibration_and_flows.tolerances import SEARCH
from course.task import Close, Misconception, Task


def _labels(rng, logits):
    probs = scipy.special.softmax(logits, axis=1)
    return np.array([rng.choice(len(p), p=p) for p in probs])


def _temperature_cases(rng):
    """Draw an overconfident and an underconfident model.

    The first is wrong where it is most confident. That affects the NLL strongly but the Brier
    score hardly, so the temperatures that minimise the two are far apart. The third is so sure
    that a search up to T = 10 ends too early. The last case has two data points, the fewest that
    have such a temperature.

    Scaling the logits makes the temperature the one drawn, whatever the labels; in the first
    case, it is larger in the end, because labels are made wrong afterwards.
    """
    cases = []
    for temperature, n, k in (
        (rng.uniform(2, 3), 301, 3),
        (rng.uniform(0.4, 0.6), 250, 4),
        (rng.uniform(15, 18), 200, 2),
    ):
        logits = rng.normal(0, 2.5, (n, k))
        labels = _labels(rng, logits)
        logits *= temperature / _search(_nll, logits, labels)
        cases.append({"logits": logits, "labels": labels})
    logits, labels = cases[0]["logits"], cases[0]["labels"]
    surest = np.argsort(np.ptp(logits, axis=1))[-15:]
    labels[surest] = logits[surest].argmin(1)
    logits, labels = _pair(rng)
    return [*cases, {"logits": logits, "labels": labels}]


def _pair(rng):
    """Draw two data points, the surer of which is classified rightly."""
    gaps = rng.uniform(2, 3), rng.uniform(0.5, 1)
    order = rng.permutation(2)
    return np.stack([gaps, np.zeros(2)], 1)[order], np.array([0, 1])[order]


def _temperature_probe(answer, logits, labels):
    import torch

    temperature = answer(torch.as_tensor(logits.copy()), torch.as_tensor(labels))
    detached = not getattr(temperature, "requires_grad", False)
    return {"temperature": temperature, "detached": float(detached)}


def _search(score, logits, labels):
    """Find the temperature that minimises a score, in log T and double precision."""
    result = scipy.optimize.minimize_scalar(
        lambda log_t: score(
            scipy.special.log_softmax(logits / np.exp(log_t), axis=1), labels
        ),
        bounds=(-4, 4),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return np.exp(result.x)


def _nll(log_probs, labels):
    return -log_probs[np.arange(len(labels)), labels].mean()


def _squares(log_probs, labels):
    return ((np.exp(log_probs) - np.eye(log_probs.shape[1])[labels]) ** 2).sum(1).mean()


def _temperature_oracle(logits, labels):
    return {
        "temperature": Close(_search(_nll, logits, labels), rtol=1e-3, because=SEARCH),
        "detached": Close(1.0, because="it is used as a plain number"),
    }


def _fitted(score=_nll, then=lambda t: t):
    return lambda logits, labels: torch.as_tensor(
        then(_search(score, logits.numpy(), labels.numpy()))
    )


FIT_TEMPERATURE = Task(
    name="fit_temperature",
    points=3,
    cases=_temperature_cases,
    probe=_temperature_probe,
    oracle=_temperature_oracle,
    misconceptions=[
        Misconception(
            _fitted(then=lambda t: 1 / t),
            "you multiply the logits by T. Divide them by T, so that T above 1 makes a model less sure.",
        ),
        Misconception(_fitted(then=np.log), "you return log T, not T."),
        Misconception(
            _fitted(then=np.sqrt),
            "you divide the logits by T². Divide them by T.",
        ),
        Misconception(
            _fitted(_squares),
            "you minimise the Brier score; the task asks for the NLL.",
        ),
        Misconception(
            _fitted(then=lambda t: max(t, 1.0)),
            "you do not let T fall below 1, as the T of an underconfident model does.",
        ),
    ],
    hints=[
        "Minimise cross_entropy(logits / temperature, labels), from torch.nn.functional.",
        "T must stay positive: optimise log_temperature, and use log_temperature.exp().",
        "torch.optim.LBFGS wants a closure: zero_grad, loss, backward, return loss. Return the temperature itself, not its logarithm, and detach it.",
    ],
)


def _calibrated_cases(rng):
    def scored(n, k, spread):
        logits = rng.normal(0, 2.5, (n, k))
        return (logits * spread, _labels(rng, logits)) if n > 2 else _pair(rng)

    cases = []
    for trained, held_out, n, k, low, high in (
        (300, 301, 4, 3, 2, 3),
        (150, 160, 3, 4, 0.4, 0.6),  # underconfident
        (2, 2, 1, 2, 2, 3),
    ):
        sets = {
            "training": scored(trained, k, 1.0),
            "held_out": scored(held_out, k, rng.uniform(low, high)),
        }
        case = {f"{name}_logits": logits for name, (logits, _) in sets.items()}
        case |= {f"{name}_labels": labels for name, (_, labels) in sets.items()}
        # So far apart in the first case that an answer may not clip them.
        logits = rng.normal(0, 4, (n, k)) + 50 * (n == 4) * rng.choice([-1, 1], (n, 1))
        cases.append(case | {"logits": logits})
    return cases


def _calibrated_probe(
    answer, training_logits, training_labels, held_out_logits, held_out_labels, logits
):
    from typing import NamedTuple

    import torch

    class Scored(NamedTuple):
        logits: object
        labels: object

    training = Scored(
        torch.as_tensor(training_logits.copy()), torch.as_tensor(training_labels)
    )
    held_out = Scored(
        torch.as_tensor(held_out_logits.copy()), torch.as_tensor(held_out_labels)
    )
    probs = answer(training, held_out, torch.as_tensor(logits.copy()))
    temperature = probs
    if isinstance(probs, torch.Tensor) and probs.shape == logits.shape:
        most, least = logits[0].argmax(), logits[0].argmin()
        # Of the first row: a ratio of probabilities shows by what its logits were divided.
        gap = torch.log(probs[0, most].abs()) - torch.log(probs[0, least].abs())
        temperature = (logits[0, most] - logits[0, least]) / gap
    return {"probs": probs, "temperature_in_the_first_row": temperature}


def _calibrated_oracle(
    training_logits, training_labels, held_out_logits, held_out_labels, logits
):
    temperature = _search(_nll, held_out_logits, held_out_labels)
    probs = scipy.special.softmax(logits / temperature, axis=1)
    return {
        "probs": Close(probs, atol=1e-3, because=SEARCH),
        "temperature_in_the_first_row": Close(temperature, rtol=2e-3, because=SEARCH),
    }


def _pooled(training, held_out):
    return tuple(torch.cat(pair) for pair in zip(training, held_out, strict=True))


CALIBRATED_PROBS = Task(
    name="calibrated_probs",
    points=1,
    cases=_calibrated_cases,
    probe=_calibrated_probe,
    oracle=_calibrated_oracle,
    misconceptions=[
        Misconception(
            lambda training, held_out, logits: (logits / _fitted()(*training)).softmax(
                1
            ),
            "you fit the temperature on training data. The model has already been fitted to these data, so they say too little about its errors on other data.",
        ),
        Misconception(
            lambda training, held_out, logits: (
                logits / _fitted()(*_pooled(training, held_out))
            ).softmax(1),
            "you fit the temperature on training and held-out data together.",
        ),
        Misconception(
            lambda training, held_out, logits: (logits * _fitted()(*held_out)).softmax(
                1
            ),
            "you multiply the logits by the temperature; divide by it.",
        ),
        Misconception(
            lambda training, held_out, logits: logits.softmax(1) / _fitted()(*held_out),
            "you divide the probabilities by the temperature, so that they no longer sum to 1. Divide the logits.",
        ),
        Misconception(
            lambda training, held_out, logits: logits / _fitted()(*held_out),
            "you return the scaled logits: a softmax over the classes turns them into probabilities.",
        ),
        Misconception(
            lambda training, held_out, logits: logits.softmax(1),
            "you do not use the temperature.",
        ),
        Misconception(
            lambda training, held_out, logits: (
                logits / _fitted()(*held_out) ** 2
            ).softmax(1),
            "you divide by the temperature twice.",
        ),
        Misconception(
            lambda training, held_out, logits: (
                (logits / _fitted()(*held_out)).softmax(1).softmax(1)
            ),
            "you take the softmax twice.",
        ),
        Misconception(
            lambda training, held_out, logits: (logits / _fitted()(*held_out)).softmax(
                0
            ),
            "you take the softmax over the data points (dim=0) instead of the classes (dim=-1).",
        ),
        Misconception(
            lambda training, held_out, logits: (
                logits / _fitted()(*held_out)
            ).log_softmax(1),
            "you return log-probabilities; the task asks for probabilities.",
        ),
        Misconception(
            lambda training, held_out, logits: (
                held_out.logits / _fitted()(*held_out)
            ).softmax(1),
            "you return the probabilities of the held-out data; the task asks for those of the new data.",
        ),
        Misconception(
            lambda training, held_out, logits: (
                logits / _fitted(then=lambda t: max(t, 1.0))(*held_out)
            ).softmax(1),
            "you do not let T fall below 1, as the T of an underconfident model does.",
        ),
        Misconception(
            lambda training, held_out, logits: (
                logits / ((_fitted()(*held_out) + _fitted()(*training)) / 2)
            ).softmax(1),
            "you average the temperatures of training and held-out data.",
        ),
    ],
    hints=[
        "fit_temperature wants logits and labels of data that the model was not trained on.",
        "Divide the new logits by the temperature, then softmax over the classes.",
    ],
)
