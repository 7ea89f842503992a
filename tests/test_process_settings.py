"""A test that leaves a setting of the process changed is noticed."""

import os

import jax
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from process_settings import settings

from course import feedback


@pytest.mark.parametrize(
    ("name", "change"),
    [
        (
            "matplotlib.rcParams",
            lambda: plt.rcParams.update({"axes.grid": not plt.rcParams["axes.grid"]}),
        ),
        ("numpy.errstate", lambda: np.seterr(all="raise")),
        ("torch's dtype", lambda: torch.set_default_dtype(torch.float64)),
        ("torch's gradients", lambda: torch.set_grad_enabled(False)),
        ("jax's precision", lambda: jax.config.update("jax_enable_x64", True)),
        ("the folder", lambda: os.chdir("/")),
        ("course.feedback.ADVICE", lambda: feedback.ADVICE.update(planted="")),
    ],
)
def test_a_changed_setting_is_noticed(name, change):
    before, errors, folder = settings(), np.geterr(), os.getcwd()
    with plt.rc_context():
        try:
            change()
            after = settings()
        finally:
            np.seterr(**errors)
            torch.set_default_dtype(before["torch's dtype"])
            torch.set_grad_enabled(True)
            jax.config.update("jax_enable_x64", before["jax's precision"])
            os.chdir(folder)
            feedback.ADVICE.pop("planted", None)
    assert [one for one in before if before[one] != after[one]] == [name]
