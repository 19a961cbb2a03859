"""load_mnist: whole data or a clear error, and never anything in between."""

import hashlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from utils import load_mnist

ROOT = Path(__file__).resolve().parents[1]
NAMES = ["x_train", "y_train", "x_test", "y_test"]
IMAGES, LABELS = np.zeros((3, 28, 28), np.uint8), np.array([0, 9, 1], np.uint8)
OWN = dict(zip(NAMES, [IMAGES, LABELS, IMAGES[:2], LABELS[:2]], strict=True))


class Bomb:
    def __reduce__(self):  # what is run where it is unpickled
        return sys.exit, ("unpickled",)


def test_the_sample_is_that_of_the_data_card():
    (x_train, y_train), (x_test, y_test) = load_mnist()
    card = (ROOT / "data" / "README.md").read_text("utf-8")
    rows = re.findall(r"\| (\w+) \| (\(.*?\)) \| (\w+) \| (\w{64}) \|", card)
    assert rows == [
        (name, str(a.shape), a.dtype.name, hashlib.sha256(a.tobytes()).hexdigest())
        for name, a in zip(NAMES, (x_train, y_train, x_test, y_test), strict=True)
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"x_train": None},
        {"x_train": IMAGES / 255},
        {"y_train": LABELS[:2]},
        {"y_test": np.array([3, 10], np.uint8)},
        {"x_test": np.array([Bomb()])},
    ],
)
def test_a_file_of_ones_own_is_whole_or_refused(tmp_path, change):
    file = tmp_path / "own.npz"
    np.savez(file, **OWN)
    (x_train, y_train), (x_test, y_test) = load_mnist(file)
    assert x_train.shape == (3, 28, 28) and y_train.tolist() == [0, 9, 1]
    assert x_test.shape == (2, 28, 28) and y_test.tolist() == [0, 9]
    np.savez(file, **{n: a for n, a in {**OWN, **change}.items() if a is not None})
    with pytest.raises(ValueError, match="own.npz is no whole .npz file of x_train"):
        load_mnist(file)


def test_damaged_files_are_refused(tmp_path):
    file = tmp_path / "own.npz"
    np.savez_compressed(file, **OWN)
    whole = file.read_bytes()
    flipped = whole[:100] + bytes([whole[100] ^ 1]) + whole[101:]
    for damaged in (b"", b"text", whole[:-30], flipped):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match="own.npz is no whole .npz file"):
            load_mnist(file)


def test_a_missing_file_is_named_with_a_remedy():
    with pytest.raises(FileNotFoundError, match='no file own.npz; give "sample", "ful'):
        load_mnist("own.npz")
