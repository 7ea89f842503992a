"""A test that leaves a setting of the process changed is noticed; each test uses one thread."""

import os
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from process_settings import settings
from threadpoolctl import threadpool_info

from course import exceptions


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
        ("course.exceptions.ADVICE", lambda: exceptions.ADVICE.update(planted="")),
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
            exceptions.ADVICE.pop("planted", None)
    assert [one for one in before if before[one] != after[one]] == [name]


def test_libraries_were_told_to_use_one_thread_before_they_were_imported():
    """However pytest is started: more would change last digits, and slow each other down."""
    pools = {pool["filepath"]: pool["num_threads"] for pool in threadpool_info()}
    assert len(pools) >= 2  # of NumPy and of PyTorch
    assert set(pools.values()) == {1}


def test_jax_was_told_so_too():
    """By a variable that XLA reads, but does not document."""
    jnp.ones(3).block_until_ready()
    threads = Path("/proc/self/task").glob("*/comm")
    assert [path.read_text().strip() for path in threads].count("tf_XLAEigen") == 1
