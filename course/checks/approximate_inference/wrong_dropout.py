"""Wrong dropout networks; most override the mask."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from course.checks.approximate_inference.concepts import SQUEEZED
from course.task import Misconception


class _Network(nn.Module):
    """Base of the wrong networks, each of which overrides the mask."""

    def __init__(self, input_size, hidden_size, p=0.5, *, generator):
        super().__init__()
        self.hidden, self.output, self.p = (
            nn.Linear(input_size, hidden_size),
            nn.Linear(hidden_size, 1),
            p,
        )

    def deterministic(self, x):
        return self.output(F.relu(self.hidden(x))).squeeze(-1)

    def mask(self, shape, generator):
        return (torch.rand(shape, generator=generator) >= self.p) / (1 - self.p)

    def forward(self, x, *, generator):
        hidden = F.relu(self.hidden(x))
        return self.output(hidden * self.mask(hidden.shape, generator)).squeeze(-1)


class _OffInEvaluation(_Network):
    def forward(self, x, *, generator):
        return (
            super().forward(x, generator=generator)
            if self.training
            else self.deterministic(x)
        )


class _NotRescaled(_Network):
    def mask(self, shape, generator):
        return (torch.rand(shape, generator=generator) >= self.p).float()


class _KeepsP(_Network):
    def mask(self, shape, generator):
        return (torch.rand(shape, generator=generator) < self.p) / self.p


class _Inverted(_Network):
    def mask(self, shape, generator):
        return (torch.rand(shape, generator=generator) < self.p) / (1 - self.p)


class _OverP(_Network):
    def mask(self, shape, generator):
        return (torch.rand(shape, generator=generator) >= self.p) / self.p


class _Normal(_Network):
    def mask(self, shape, generator):
        return (torch.randn(shape, generator=generator) >= self.p) / (1 - self.p)


class _Probabilities(_Network):
    def forward(self, x, *, generator):
        return torch.sigmoid(super().forward(x, generator=generator))


class _DividedLast(_Network):
    def forward(self, x, *, generator):
        hidden = F.relu(self.hidden(x))
        keep = torch.rand(hidden.shape, generator=generator) >= self.p
        return self.output(hidden * keep).squeeze(-1) / (1 - self.p)


class _OneMask(_Network):
    def mask(self, shape, generator):
        return super().mask((1, shape[1]), generator)


class _Unscaled(_Network):
    def mask(self, shape, generator):
        return (torch.rand(shape, generator=generator) >= self.p) * (1 - self.p)


class _WrongPlace(_Network):
    def forward(self, x, *, generator):
        return self.deterministic(x) * self.mask((len(x),), generator)


class _Forgetful(_Network):
    def mask(self, shape, generator):
        return F.dropout(torch.ones(shape), self.p)


class _Frozen(_Network):
    def mask(self, shape, generator):
        return super().mask(shape, torch.Generator().manual_seed(0))


class _NoGradient(_Network):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator).detach()


class _Column(_Network):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator)[:, None]


class _Never(_Network):
    def forward(self, x, *, generator):
        return self.deterministic(x)


class _TwiceRescaled(_Network):
    def mask(self, shape, generator):
        return super().mask(shape, generator) / (1 - self.p)


class _RootRescaled(_Network):
    def mask(self, shape, generator):
        return super().mask(shape, generator) * (1 - self.p) ** 0.5


class _Half(_Network):
    def mask(self, shape, generator):
        return 2.0 * (torch.rand(shape, generator=generator) >= 0.5)


class _HalfKept(_Network):
    def mask(self, shape, generator):
        return (torch.rand(shape, generator=generator) >= 0.5) / (1 - self.p)


class _WholeRows(_Network):
    def mask(self, shape, generator):
        return super().mask((shape[0], 1), generator)


class _Gaussian(_Network):
    def mask(self, shape, generator):
        spread = (self.p / (1 - self.p)) ** 0.5
        return 1 + spread * torch.randn(shape, generator=generator)


class _OnInputs(_Network):
    def forward(self, x, *, generator):
        return self.deterministic(x * self.mask(x.shape, generator))


class _OnInputsToo(_Network):
    def forward(self, x, *, generator):
        kept = x * self.mask(x.shape, generator)
        return super().forward(kept, generator=generator)


class _WithoutReLU(_Network):
    def forward(self, x, *, generator):
        hidden = self.hidden(x)
        return self.output(hidden * self.mask(hidden.shape, generator)).squeeze(-1)


class _WithoutBias(_Network):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator) - self.output.bias


class _OffInTraining(_Network):
    def forward(self, x, *, generator):
        if self.training:
            return self.deterministic(x)
        return super().forward(x, generator=generator)


class _Squeezed(_Network):
    def forward(self, x, *, generator):
        return super().forward(x, generator=generator).squeeze()


class _MaskAlone(_Network):
    def forward(self, x, *, generator):
        shape = (len(x), self.hidden.out_features)
        return self.output(self.mask(shape, generator)).squeeze(-1)


class _HiddenDetached(_Network):
    def forward(self, x, *, generator):
        hidden = F.relu(self.hidden(x)).detach()
        return self.output(hidden * self.mask(hidden.shape, generator)).squeeze(-1)


class _Counted(_Network):
    """Drops the same number of units in each row."""

    def mask(self, shape, generator):
        places = torch.rand(shape, generator=generator).argsort(1).argsort(1)
        return (places >= round(self.p * shape[1])) / (1 - self.p)


class _Soft(_Network):
    def mask(self, shape, generator):
        return torch.rand(shape, generator=generator) / (1 - self.p)


DROPOUT_NETWORKS = [
    Misconception(
        _OffInEvaluation,
        "you switch dropout off in eval(), as nn.Dropout does: all draws are then equal, and nothing is sampled.",
    ),
    Misconception(
        _NotRescaled,
        "you do not divide the units you keep by 1 − p: the logit shrinks on average.",
    ),
    Misconception(
        _KeepsP,
        "you keep a unit with probability p; p is the probability of dropping it.",
    ),
    Misconception(
        _Inverted,
        "you invert the mask: drop a unit where torch.rand gives less than p, and keep it elsewhere.",
    ),
    Misconception(
        _OverP,
        "you divide the units you keep by p. You keep them with probability 1 − p: divide by that.",
    ),
    Misconception(
        _Normal,
        "you draw the mask with torch.randn; compare p with uniform numbers, from torch.rand.",
    ),
    Misconception(
        _Probabilities,
        "you apply a sigmoid at the end. Return logits: negative_elbo takes logits.",
    ),
    Misconception(
        _DividedLast,
        "you divide by 1 − p after the output layer, which also divides the bias, to which no mask applies.",
    ),
    Misconception(
        _OneMask,
        "you use one mask for all data points. In training each needs its own, or the noise of the mask does not average out over the batch.",
    ),
    Misconception(
        _Unscaled,
        "you multiply the units you keep by 1 − p; divide by it.",
    ),
    Misconception(
        _WrongPlace,
        "you drop whole logits: the mask belongs on the hidden units.",
    ),
    Misconception(
        _Forgetful,
        "you do not use the generator (F.dropout uses the global one): the masks cannot be repeated.",
    ),
    Misconception(
        _Frozen,
        "you draw the masks with the same seed in every call, or use those of the first call again. Draw them anew in "
        "every call, from the generator that is passed in.",
    ),
    Misconception(
        _NoGradient,
        "you detach the logits, or compute them under no_grad: no gradient comes back, and training needs one.",
    ),
    Misconception(
        _Column,
        "you keep the last axis, of length 1: shape (N, 1) against labels of shape (N,) broadcasts to (N, N). "
        "Squeeze it.",
    ),
    Misconception(
        _Never,
        "you never drop a unit.",
    ),
    Misconception(
        _TwiceRescaled,
        "you divide the units you keep by 1 − p twice.",
    ),
    Misconception(
        _RootRescaled,
        "you divide the units you keep by the root of 1 − p: it is the mean that must stay, so divide by 1 − p.",
    ),
    Misconception(
        _Half,
        "you drop units with probability ½, whatever p is: use self.p.",
    ),
    Misconception(
        _HalfKept,
        "you drop units with probability ½, whatever p is: use self.p.",
    ),
    Misconception(
        _WholeRows,
        "you draw one number for all hidden units of a data point, which are then kept or dropped together: draw one for "
        "each unit.",
    ),
    Misconception(
        _Gaussian,
        "you multiply the units by Gaussian noise: a unit is either dropped or kept.",
    ),
    Misconception(
        _OnInputs,
        "you drop inputs: the mask belongs on the hidden units.",
    ),
    Misconception(
        _OnInputsToo,
        "you drop inputs as well: the mask belongs on the hidden units alone.",
    ),
    Misconception(
        _WithoutReLU,
        "you leave out the ReLU of the hidden layer.",
    ),
    Misconception(
        _WithoutBias,
        "you leave out the bias of the output layer.",
    ),
    Misconception(
        _OffInTraining,
        "you drop units in eval() alone: masks are needed in train() and in eval() alike.",
    ),
    Misconception(_Squeezed, SQUEEZED),
    Misconception(
        _MaskAlone,
        "you pass the mask to the output layer: multiply the hidden units by it first.",
    ),
    Misconception(
        _HiddenDetached,
        "you detach the hidden units, or compute them with .data or under no_grad: no gradient reaches the hidden "
        "layer.",
    ),
    Misconception(
        _Counted,
        "you drop the same number of units in every row: each unit is dropped with probability p, independently of the "
        "others.",
    ),
    Misconception(
        _Soft,
        "you multiply the units by the uniform numbers: compare those with p, which gives a mask of zeros and ones.",
    ),
]
