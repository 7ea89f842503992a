"""Reading, verifying and refusing MNIST's files, and a short training run on the real ones."""

import gzip
import math
import os
import re
import struct
from pathlib import Path

import numpy as np
import pooch
import pytest
import torch
import torch.nn.functional as F

from course import data, idx
from studies import mnist
from studies.fused import FusedBayesianMLP

# The columns of a network's results, in the order of the page's rows.
KEYS = "accuracy", "NLL", "ECE", "test", "normal", "uniform", "fashion", "AUROC"
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


def test_a_cache_that_cannot_be_written_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv(idx.FOLDER_VARIABLE, "")  # as if it were not set
    (tmp_path / "known-unknowns").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(idx.DataUnavailable, match="put them in a folder") as failure:
        idx.fetch("mnist", idx.FILES[0])
    place = tmp_path / "known-unknowns" / "mnist"
    assert f"cannot be stored in {place}: [Errno 20] Not" in str(failure.value)


def test_a_folder_may_be_named_from_the_home_folder(monkeypatch, real):
    monkeypatch.setenv("HOME", str(real))
    assert idx.fetch("mnist", idx.FILES[1], folder="~").is_relative_to(real)


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
    images = data.mnist(seed=0, folder=real)
    model = FusedBayesianMLP(
        mnist.SIZES, prior_std=0.1, generator=torch.Generator().manual_seed(0)
    )
    epochs = 300 / (len(images.x) // 128)
    mnist.train(model, images, epochs=epochs, temperature=1.0, seed=1, device="cpu")
    x = torch.tensor(images.x_test[:2000])
    logs = mnist.log_probs(model, x, 5, generator=torch.Generator().manual_seed(2))
    probs = logs.exp().mean(0)
    targets = torch.tensor(images.y_test[:2000])
    assert (probs.argmax(-1) == targets).float().mean() > 0.9
    assert F.nll_loss(probs.log(), targets) < 0.2 * math.log(10)


@pytest.mark.parametrize("temperature", [1.0, 0.1])
def test_a_step_weighs_the_batch_and_its_share_of_the_kl(temperature):
    """Inputs are 0 and labels equal, so gradients of weights are those of the KL alone.

    Those of biases, which start at 0 without noise to speak of, are those of the labels.
    """
    n, prior_std = 10 * mnist.BATCH, 0.5
    images = data.Images(np.zeros((n, 3), np.float32), np.zeros(n, int), None, None, 1)
    generator = torch.Generator().manual_seed(0)
    model = FusedBayesianMLP(
        (3, 2), prior_std=prior_std, initial_rho=-9, generator=generator
    )
    mean, std = model.mu.detach().clone(), math.log1p(math.exp(-9))
    options = {"temperature": temperature, "seed": 1, "device": "cpu"}
    mnist.train(model, images, epochs=0.1, **options)
    share = temperature * mnist.BATCH / n
    expected = share * mean / prior_std**2
    expected[-2:] = mnist.BATCH * torch.tensor([-0.5, 0.5])
    torch.testing.assert_close(model.mu.grad, expected, rtol=1e-3, atol=1e-6)
    slope = share * (std / prior_std**2 - 1 / std) / (1 + math.exp(9))
    assert model.rho.grad[:-2].numpy() == pytest.approx(slope, rel=1e-4)


# --- the page -------------------------------------------------------------------------


def numbers_of(text):
    """Return the tables of a page: columns, by column the numbers of its rows."""
    found = []
    for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
        lines = [re.split(r" ?(?<!\\)\| ?", line)[1:-1] for line in table.splitlines()]
        titles, _, *rows = lines
        cells = {
            title: {row[0]: row[place] for row in rows}
            for place, title in enumerate(titles[1:], 1)
        }
        found.append(cells)
    return found


def value(cell):
    return float(cell.rstrip("%")) / (100 if cell.endswith("%") else 1)


def test_the_page_is_written_by_this_code_and_these_settings():
    text = mnist.PAGE.read_text("utf-8")
    scores, pruning = numbers_of(text)
    labels = dict(zip(list(scores["plain network"]), KEYS, strict=True))
    rows = {
        title: {labels[label]: value(cell) for label, cell in cells.items()}
        for title, cells in scores.items()
    }
    kept = {title: list(map(value, cells.values())) for title, cells in pruning.items()}
    date, machine = re.search(r"Computed on (\S+) on a (.*?):", text).groups()
    again = mnist.page(rows, kept, epochs=15, draws=100, machine=machine)
    assert re.sub(r"Computed on \S+", f"Computed on {date}", again) == text
    assert list(kept) == list(rows)[1:]


@pytest.mark.long
def test_a_short_run_orders_the_networks_as_the_page_does(real, monkeypatch, capsys):
    """After half an epoch, and by how much a network notices what is no digit."""
    monkeypatch.setenv(idx.FOLDER_VARIABLE, str(real))
    mnist.main(["--quick", "--device", "cpu"])
    shown = capsys.readouterr().out.partition("<!--")[2]
    for text in (mnist.PAGE.read_text("utf-8"), shown):
        scores, pruning = numbers_of(text)
        plain, warm, cold = (
            {label: value(cell) for label, cell in cells.items()}
            for cells in scores.values()
        )
        for what in ("U(0, 1) noise", "Fashion-MNIST"):
            what = f"entropy on {what}"
            assert plain[what] < cold[what] < warm[what]
        assert plain["AUROC"] < cold["AUROC"] < warm["AUROC"]
        for row, cells in zip((warm, cold), pruning.values(), strict=True):
            whole, *_, few, fewest = map(value, cells.values())
            assert row["accuracy"] == pytest.approx(whole, abs=0.005)
            assert row["accuracy"] > 0.9
            assert whole > few > fewest
