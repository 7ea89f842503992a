"""Generators of random numbers."""

import torch


def seeded(seed):
    return torch.Generator().manual_seed(seed)
