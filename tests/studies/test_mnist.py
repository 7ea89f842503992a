"""Reading, verifying and refusing MNIST's files, and a short training run on the real ones."""

import gzip
import math
import os
import struct
from pathlib import Path

import numpy as np
import pooch
import pytest
import torch
import torch.nn.functional as F

from course import data, idx

FOLDER = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def real():
    """The folder of the original files."""
    if not (FOLDER / "mnist").is_dir():
        reason = "the original MNIST files are not in ../shared/data"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return FOLDER


def write(path, array):
    header = struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(
        f">{array.ndim}I", *array.shape
    )
    path.write_bytes(gzip.compress(header + array.tobytes(), mtime=0))


def test_an_idx_file_is_read_as_it_was_written(tmp_path):
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    write(tmp_path / "a.gz", array)
    np.testing.assert_array_equal(idx.read(tmp_path / "a.gz"), array)
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"\x00\x00\x0d\x01\x00\x00\x00\x00"))
    with pytest.raises(ValueError, match="no IDX file"):
        idx.read(tmp_path / "b.gz")


def test_a_file_that_is_not_the_published_one_is_refused(tmp_path):
    write(tmp_path / idx.FILES[0], np.zeros((1, 2, 2), np.uint8))
    with pytest.raises(idx.DataUnavailable, match="published checksum"):
        idx.fetch("mnist", idx.FILES[0], folder=tmp_path)


def test_without_a_network_the_message_says_what_to_do(monkeypatch, tmp_path):
    tried = []

    def offline(url, known_hash, **settings):
        tried.append(url)
        assert known_hash.startswith("md5:")
        raise ConnectionError("no route to host")

    monkeypatch.delenv(idx.FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr(pooch, "retrieve", offline)
    with pytest.raises(idx.DataUnavailable, match="put them in a folder") as failure:
        data.mnist(seed=0)
    assert len(tried) == 3  # all mirrors
    assert "ConnectionError" in str(failure.value)


def test_the_next_mirror_is_tried_when_one_fails(monkeypatch, tmp_path):
    wanted = tmp_path / idx.FILES[1]

    def second_works(url, known_hash, **settings):
        if "ossci" in url:
            raise ValueError("the hash does not match")
        return str(wanted)

    monkeypatch.delenv(idx.FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr(pooch, "retrieve", second_works)
    assert idx.fetch("mnist", idx.FILES[1]) == wanted


def test_digits_are_bundled_and_split_by_seed():
    one, again, other = data.digits(seed=0), data.digits(seed=0), data.digits(seed=1)
    np.testing.assert_array_equal(one.x, again.x)
    assert not np.array_equal(one.x, other.x)
    assert one.x.shape == (1297, 64)
    assert one.x_test.shape == (500, 64)
    assert one.x.min() == 0.0
    assert one.x.max() == 1.0
    assert len(data.digits(n=100, seed=0).x) == 100


def test_odd_images_are_colour_images():
    images = data.odd_images(seed=0)
    assert len(images) == 7
    for image in images.values():
        assert image.shape == (64, 64, 3)
        assert 0 <= image.min() < image.max() <= 1


def test_the_real_files_have_the_published_shapes(real, monkeypatch):
    images = data.mnist(n=1000, seed=0, folder=real)
    assert images.x.shape == (1000, 784)
    assert images.x_test.shape == (10_000, 784)
    assert images.x.min() == 0.0
    assert images.x.max() == 1.0
    assert sorted(np.unique(images.y)) == list(range(10))
    monkeypatch.setenv(idx.FOLDER_VARIABLE, str(real))
    assert data.fashion_mnist(n=50, seed=0).x.shape == (50, 784)


def test_bayes_by_backprop_learns_the_real_digits(real):
    """After 300 steps, accuracy and NLL are far better than chance."""
    from studies.fused import FusedBayesianMLP
    from studies.mnist import SIZES, log_probs, train

    images = data.mnist(seed=0, folder=real)
    model = FusedBayesianMLP(
        SIZES, prior_std=0.1, generator=torch.Generator().manual_seed(0)
    )
    epochs = 300 / (len(images.x) // 128)
    train(model, images, epochs=epochs, temperature=1.0, seed=1, device="cpu")
    x = torch.tensor(images.x_test[:2000])
    logs = log_probs(model, x, 5, generator=torch.Generator().manual_seed(2))
    probs = logs.exp().mean(0)
    targets = torch.tensor(images.y_test[:2000])
    assert (probs.argmax(-1) == targets).float().mean() > 0.9
    assert F.nll_loss(probs.log(), targets) < 0.2 * math.log(10)
