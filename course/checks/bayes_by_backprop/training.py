"""The KL's share in each minibatch, and the loss of a minibatch."""

from __future__ import annotations

import numpy as np
import scipy.special
import torch
import torch.nn.functional as F

from course.checks.bayes_by_backprop.tolerances import SINGLE
from course.checks.concepts_of_objectives import wrong_terms
from course.probing import gradients_of, leaves
from course.task import Close, Misconception, Task


def _weights_cases(rng):
    few, many = int(rng.integers(3, 9)), int(rng.integers(300, 600))
    return [
        {"batches": batches, "decreasing": decreasing}
        for batches in (few, many, 1)
        for decreasing in (0, 1)
    ]


def _weights_probe(answer, batches, decreasing):
    return {"shares": answer(batches, decreasing=bool(decreasing))}


def _weights_oracle(batches, decreasing):
    if decreasing:  # Python's integers do not overflow
        shares = [2 ** (batches - i) / (2**batches - 1) for i in range(1, batches + 1)]
    else:
        shares = [1 / batches] * batches
    return {
        "shares": Close(
            shares,
            rtol=2e-5,
            atol=1e-37,
            because="in single precision, numbers below about 1e-38 underflow, and an exponent of 87 "
            "is rounded by about 1e-5",
        )
    }


def _shares(of_i, uniform=lambda batches: 1 / batches, shape_of=lambda m: (m,)):
    def answer(batches, *, decreasing):
        if not decreasing:
            return torch.full(shape_of(batches), float(uniform(batches)))
        return of_i(torch.arange(1.0, batches + 1), batches)

    return answer


def _right_shares(i, m):
    return 0.5**i / (1 - 0.5**m)


KL_WEIGHTS = Task(
    name="kl_weights",
    points=2,
    cases=_weights_cases,
    probe=_weights_probe,
    oracle=_weights_oracle,
    misconceptions=[
        Misconception(
            _shares(lambda i, m: torch.ones(m), lambda m: 1.0),
            "you add the full KL to every minibatch: an epoch then counts it M times.",
        ),
        Misconception(
            _shares(lambda i, m: 0.5**i),
            "you divide by 2ᴹ: the shares then sum to 1 − 2⁻ᴹ, which is noticeable when M is small.",
        ),
        Misconception(
            _shares(lambda i, m: 0.5 ** (i - 1) / (1 - 0.5**m)),
            "you start i at 0: the shares then sum to 2.",
        ),
        Misconception(
            _shares(lambda i, m: 0.5 ** (m + 1 - i) / (1 - 0.5**m)),
            "you reverse the order. The first minibatch has the largest share, before the data have had much effect.",
        ),
        Misconception(
            _shares(lambda i, m: 2.0 ** (m - i) / (torch.tensor(2.0) ** m - 1)),
            "you compute 2ᴹ, which overflows: single precision ends at 2¹²⁸. Divide numerator and denominator by "
            "2ᴹ.",
        ),
        Misconception(
            _shares(_right_shares, lambda m: 1.0),
            "you give every minibatch a share of 1 if `decreasing` is False: an epoch then counts the KL M times.",
        ),
        Misconception(
            lambda m, *, decreasing: _shares(_right_shares)(
                m, decreasing=not decreasing
            ),
            "you mix up the two schemes: the shares are equal unless `decreasing` is True.",
        ),
        Misconception(
            lambda m, *, decreasing: _shares(_right_shares)(m, decreasing=False),
            "you give every minibatch the share 1/M, whatever `decreasing` is.",
        ),
        Misconception(
            lambda m, *, decreasing: _shares(_right_shares)(m, decreasing=True),
            "you halve the shares from minibatch to minibatch, whatever `decreasing` is.",
        ),
        Misconception(
            _shares(_right_shares, shape_of=lambda m: ()),
            "you return one number if `decreasing` is False; return a share for each of the M minibatches.",
        ),
        Misconception(
            _shares(lambda i, m: (m + 1 - i) / i.sum()),
            "you let the shares fall linearly; each is half of the one before.",
        ),
        Misconception(
            _shares(lambda i, m: torch.softmax(-i, 0)),
            "you let each share be 1/e of the one before; it is half of it.",
        ),
    ],
    hints=[
        "Both schemes sum to 1 over an epoch; check yours with .sum().",
        "Divide 2ᴹ⁻ⁱ and 2ᴹ − 1 by 2ᴹ: only negative powers of 2 remain.",
        "For M = 2, the decreasing shares are 2/3 and 1/3: each share is half of the one before, and all are scaled to sum to 1.",
    ],
)


def _loss_cases(rng):
    far = np.array([[900.0, 0, 0], [0, 0, 900.0], [0, 0, 0], [1, 2, 3]])
    return [
        {
            "logits": logits,
            "targets": rng.integers(0, logits.shape[1], len(logits)),
            "kl": float(rng.uniform(100, 1000)),
            "kl_share": float(rng.uniform(0.02, 0.2)),
        }
        for logits in (rng.normal(0, 3, (5, 4)), far, rng.normal(0, 3, (1, 2)))
    ]


def _loss_probe(answer, logits, targets, kl, kl_share):
    import torch

    logits, kl = leaves(logits, kl)
    loss = answer(logits, torch.tensor(targets), kl, kl_share)
    return {"loss": loss, **gradients_of(loss, logits=logits, kl=kl)}


def _loss_oracle(logits, targets, kl, kl_share):
    log_probs = scipy.special.log_softmax(logits, axis=-1)
    value = -log_probs[np.arange(len(targets)), targets].sum() + kl_share * kl
    to_logits = np.exp(log_probs) - np.eye(logits.shape[1])[targets]
    close = {"rtol": 1e-5, "because": SINGLE}
    return {
        "loss": Close(value, **close),
        "gradient_of_logits": Close(to_logits, atol=1e-5, **close),
        "gradient_of_kl": Close(kl_share, **close),
    }


def _nll(logits, targets, dim=-1):
    return -F.log_softmax(logits, dim=dim).gather(-1, targets[:, None])


MINIBATCH_LOSS = Task(
    name="minibatch_loss",
    points=2,
    cases=_loss_cases,
    probe=_loss_probe,
    oracle=_loss_oracle,
    misconceptions=[
        Misconception(
            lambda logits, targets, kl, kl_share: _nll(logits, targets).sum() + kl,
            "you add the full KL to every minibatch; add only its share.",
        ),
        Misconception(
            lambda logits, targets, kl, kl_share: (
                _nll(logits, targets).mean() + kl_share * kl
            ),
            "you average the NLL, but leave the KL as it is: the prior is then weighted B times too heavily.",
        ),
        Misconception(
            lambda logits, targets, kl, kl_share: (
                _nll(logits, targets, dim=0).sum() + kl_share * kl
            ),
            "you take the softmax over the data points (dim=0) instead of the classes (dim=-1).",
        ),
        Misconception(
            lambda logits, targets, kl, kl_share: (
                -logits.gather(-1, targets[:, None]).sum() + kl_share * kl
            ),
            "you treat the logits as log-probabilities: log_softmax is missing.",
        ),
        Misconception(
            lambda logits, targets, kl, kl_share: (
                _nll(logits, targets).sum() + kl_share * kl.item()
            ),
            "you turn the KL into a plain number (.item(), float() or .detach()): it then no longer affects µ and ρ.",
        ),
        Misconception(
            lambda logits, targets, kl, kl_share: (
                kl_share * _nll(logits, targets).sum() + kl
            ),
            "you multiply the NLL by the share; multiply the KL.",
        ),
        Misconception(
            lambda logits, targets, kl, kl_share: (
                kl_share * (_nll(logits, targets).sum() + kl)
            ),
            "you multiply the NLL by the share, too. The minibatch has its own NLL, which counts in full.",
        ),
        Misconception(
            lambda logits, targets, kl, kl_share: (
                _nll(logits, targets).sum() / kl_share + kl
            ),
            "you scale the NLL up to all data and add the full KL: an epoch then counts both once per minibatch.",
        ),
        Misconception(
            lambda logits, targets, kl, kl_share: (
                _nll(logits, targets).sum() + kl / kl_share
            ),
            "you divide the KL by its share; multiply it.",
        ),
        Misconception(
            lambda logits, targets, kl, kl_share: (
                _nll(logits, targets).mean() + kl_share * kl / len(targets)
            ),
            "you divide both terms by B. That is the loss per data point; the task asks for the sum.",
        ),
        Misconception(
            lambda logits, targets, kl, kl_share: (
                _nll(logits, targets).sum() + kl_share * kl / len(targets)
            ),
            "you divide the KL by B as well: its share accounts for the minibatch already.",
        ),
        Misconception(
            lambda logits, targets, kl, kl_share: (
                _nll(torch.softmax(logits, -1), targets).sum() + kl_share * kl
            ),
            "you take the softmax twice: cross_entropy and log_softmax want the logits themselves.",
        ),
        Misconception(
            lambda logits, targets, kl, kl_share: (
                kl_share * kl
                - torch.softmax(logits, -1).gather(-1, targets[:, None]).sum()
            ),
            "you leave out the logarithm of the probabilities.",
        ),
        *wrong_terms(
            lambda logits, targets, kl, kl_share: _nll(logits, targets).sum() + 0 * kl,
            lambda logits, targets, kl, kl_share: kl_share * kl + 0 * logits.sum(),
        ),
    ],
    hints=[
        "Take log_softmax over the classes, then pick the entry of each row's target.",
        "The loss is minus their sum, not their mean, plus kl_share times `kl`.",
    ],
)
