"""Fetch, verify and read the original files of MNIST and Fashion-MNIST.

A file is taken from a folder that the user names (by an argument or the environment
variable KNOWN_UNKNOWNS_DATA), or else downloaded once into a cache. In both cases its MD5
checksum must be the published one.
"""

from __future__ import annotations

import errno
import gzip
import os
import struct
from pathlib import Path

import numpy as np

FOLDER_VARIABLE = "KNOWN_UNKNOWNS_DATA"
# Errors of the disk, not of a mirror.
UNWRITABLE = errno.EEXIST, errno.ENOTDIR, errno.EROFS, errno.ENOSPC, errno.EDQUOT
FILES = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")
TEST_FILES = ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")

# Checksums published with torchvision and in Fashion-MNIST's README; mirrors, preferred first.
PUBLISHED = {
    "mnist": (
        {
            "train-images-idx3-ubyte.gz": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
            "train-labels-idx1-ubyte.gz": "d53e105ee54ea40749a09fcbcd1e9432",
            "t10k-images-idx3-ubyte.gz": "9fb629c4189551a2d022fa330f9573f3",
            "t10k-labels-idx1-ubyte.gz": "ec29112dd5afa0611ce80d1b7f02629c",
        },
        (
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            "https://storage.googleapis.com/cvdf-datasets/mnist/",
            "http://yann.lecun.com/exdb/mnist/",
        ),
    ),
    "fashion-mnist": (
        {
            "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
            "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
            "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
            "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
        },
        (
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
        ),
    ),
}


class DataUnavailable(OSError):
    """A data set could be neither found nor downloaded; the message says what to do."""


def fetch(
    name: str,
    file: str,
    *,
    folder: str | Path | None = None,
    published: dict[str, tuple[dict[str, str], tuple[str, ...]]] = PUBLISHED,
) -> Path:
    """Return the path of a verified copy of one original file, downloading it if needed.

    Args:
        name: ``mnist`` or ``fashion-mnist``, or another name in ``published``.
        file: the name of one of its files.
        folder: contains the files, directly or in a folder named after the data set. By
            default the environment variable's value, or else the cache.
        published: by name, the files' checksums and the mirrors.

    Raises:
        DataUnavailable: the folder has no such file with the published checksum, or no mirror
            provides one.
    """
    import pooch  # imported late: its progress bar warns if Jupyter has no widgets

    checksums, mirrors = published[name]
    folder = folder or os.environ.get(FOLDER_VARIABLE)
    if folder:
        given = Path(folder).expanduser()
        for path in (given / name / file, given / file):
            if (
                path.is_file()
                and pooch.file_hash(str(path), alg="md5") == checksums[file]
            ):
                return path
        raise DataUnavailable(
            f"{folder} holds no {file} of {name} with the published checksum."
        )
    cache = pooch.os_cache("known-unknowns") / name
    remedy = f"If you have the original files, put them in a folder, and name it: {FOLDER_VARIABLE}=that/folder, or folder='that/folder'."
    reasons = []
    for mirror in mirrors:
        try:
            path = pooch.retrieve(
                mirror + file,
                f"md5:{checksums[file]}",
                fname=file,
                path=cache,
                progressbar=True,
            )
            return Path(path)
        except (
            OSError,
            ValueError,
        ) as error:  # the mirror is unreachable, or its file not the published one
            of_disk = getattr(error, "errno", None) in UNWRITABLE
            if of_disk or isinstance(error, PermissionError):
                raise DataUnavailable(
                    f"{file} of {name} cannot be stored in {cache}: {error}. "
                    f"Mend that. {remedy}"
                ) from None
            reasons.append(f"{mirror}: {type(error).__name__}")
    raise DataUnavailable(
        f"{file} of {name} could not be downloaded ({'; '.join(reasons)}). {remedy}"
    )


def read(path: Path) -> np.ndarray:
    """Read the array in a gzipped IDX file of unsigned bytes.

    Raises:
        ValueError: it is not an IDX file of unsigned bytes.
    """
    with gzip.open(path) as file:
        content = file.read()
    zeros, kind, axes = struct.unpack_from(">HBB", content)
    if zeros != 0 or kind != 8:
        raise ValueError(f"{path.name} is no IDX file of bytes.")
    shape = struct.unpack_from(f">{axes}I", content, 4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)


def images(
    name: str, files: tuple[str, str], folder: str | Path | None
) -> tuple[np.ndarray, np.ndarray]:
    """Read pixels between 0 and 1, shape (N, 784), and labels, shape (N,)."""
    pixels, labels = (read(fetch(name, file, folder=folder)) for file in files)
    return pixels.reshape(len(pixels), -1).astype(np.float32) / 255, labels.astype(
        np.int64
    )
