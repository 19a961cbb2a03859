"""`load_mnist`: handwritten digits, with no network."""

import io
from pathlib import Path

import numpy as np

_PACKAGE = Path(__file__).parent
_INSTALLED = _PACKAGE / "data" / "mnist_sample.npz"
_CHECKOUT = _PACKAGE.parent / "data" / "mnist_sample.npz"


def load_mnist(source="sample"):
    """Load handwritten digits, as `keras.datasets.mnist.load_data()` does.

    Args:
        source: "sample" for the 5,000 digits in `data/`, no network needed; "full"
            for all 70,000, which Keras downloads once, into `~/.keras/datasets`, and
            checks; or the path of an `.npz` with x_train, y_train, x_test, y_test.

    Returns:
        `(x_train, y_train), (x_test, y_test)`, all uint8: images of shape
        (n, 28, 28), 0 for paper and 255 for ink, and labels 0 to 9 of shape (n,).
        The sample has n = 4,000 and 1,000, the full set 60,000 and 10,000.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is cut or damaged, or holds something else. The names,
            dtypes, shapes and lengths of the arrays are looked at, and the labels.

    Example:
        >>> (x_train, y_train), (x_test, y_test) = load_mnist()
        >>> x_train.shape, x_test.shape
        ((4000, 28, 28), (1000, 28, 28))

    Source: data/README.md is the data card.
    """
    if source == "full":
        from .tensorflow_start import tf  # only here, as it takes seconds

        return tf.keras.datasets.mnist.load_data()
    path, cure = Path(source), 'give "sample", "full" or the path of an .npz file'
    if source == "sample":
        path = _INSTALLED if _INSTALLED.is_file() else _CHECKOUT
        cure = "copy the project's folder data/ beside custom_ops, or install it anew"
    if not path.is_file():
        raise FileNotFoundError(f"load_mnist: there is no file {path}; {cure}")
    file = io.BytesIO(path.read_bytes())
    try:
        with np.lib.npyio.NpzFile(file, allow_pickle=False) as arrays:
            train = arrays["x_train"], arrays["y_train"]
            test = arrays["x_test"], arrays["y_test"]
        for x, y in (train, test):
            found = x.dtype, x.shape, y.dtype, y.shape
            if found != (np.uint8, (len(y), 28, 28), np.uint8, (len(y),)):
                raise ValueError("x is {} of shape {}, y {} of {}".format(*found))
            if y.max() > 9:
                raise ValueError(f"there is a label {y.max()}")
    except Exception as error:  # a damaged archive fails in a dozen ways
        raise ValueError(
            f"load_mnist: {path} is no whole .npz file of x_train, y_train, x_test and "
            f"y_test as uint8 ({error}); {cure}") from error
    return train, test
