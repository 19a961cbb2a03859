"""`load_mnist`: handwritten digits, with no network."""

import hashlib
import io
import os
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from .places import user_cache

_DATA = Path(__file__).parents[1] / "data"  # in a checkout
_INSTALLED = Path(__file__).parent / "data"  # in an installed package
_MNIST_ORIGIN = (
    "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz"
)
# SHA-256 of the bytes of each array; data/README.md tells where they come from.
_MNIST_SUMS = {
    "sample": {
        "x_train": "a00c545805d610289c81b54ed4f8d00998b585e79ce516f5520b2ad9ec35f35e",
        "y_train": "2454644dc8344224d6f67836ba9cd36589541fa10109d13777216089654b7259",
        "x_test": "f3893c75d816024037a060d11b8e68c6872c779fd2ccd502b2dc3156843b0a31",
        "y_test": "9d40edd71021004e9caa75a0f756b8dd4f321ea9975a0ac9d32b5d7cbd0aaf04",
    },
    "full": {
        "x_train": "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757",
        "y_train": "1feba77c54802fa5339a11837ea4b2866434b83314ec45192930f1df69120c13",
        "x_test": "6d87418db22cc8025d05968bec9bd5c3932904b23485740db143a061a2c9d161",
        "y_test": "ddeff807876a9661a1110d45c266c86239a3a1b7d37da0c3716a7a683c852ff5",
    },
}


def load_mnist(source="sample"):
    """Load handwritten digits, as `keras.datasets.mnist.load_data()` does.

    Args:
        source: "sample" for the 5,000 digits in `data/`, no network needed;
            "full" for all 70,000, which the first call downloads into `data/` (an
            installed package: into `custom-ops-in-jupyter` of the user's cache);
            or the path of an `.npz` with arrays x_train, y_train, x_test, y_test.

    Returns:
        `(x_train, y_train), (x_test, y_test)`, all uint8: images of shape
        (n, 28, 28), 0 for paper and 255 for ink, and labels 0 to 9 of shape (n,).
        The sample has n = 4,000 and 1,000, the full set 60,000 and 10,000.

    Raises:
        OSError: the file cannot be read (FileNotFoundError: there is none), or the
            full set cannot be downloaded or written; nothing is left then.
        ValueError: the file is cut, damaged, or holds something else. The arrays
            of both sets are checked against their SHA-256 sums on every load.

    Example:
        >>> (x_train, y_train), (x_test, y_test) = load_mnist()
        >>> x_train.shape, x_test.shape
        ((4000, 28, 28), (1000, 28, 28))

    Source: data/README.md is the data card, with licences and sums.
    """
    installed = _INSTALLED.is_dir()
    if source == "sample":
        folder, cure = _DATA, "restore it: git checkout -- data/mnist_sample.npz"
        if installed:
            folder, cure = _INSTALLED, "install the package anew"
        return _read_mnist(folder / "mnist_sample.npz", cure, _MNIST_SUMS["sample"])
    if source == "full":
        folder = user_cache("custom-ops-in-jupyter") if installed else _DATA
        path = folder / "mnist.npz"
        if not path.exists():
            _download_mnist(path)
        return _read_mnist(path, "delete it, and the next call downloads it anew",
                           _MNIST_SUMS["full"])
    if isinstance(source, (str, os.PathLike)) and Path(source).suffix == ".npz":
        return _read_mnist(Path(source), "give another file")
    raise ValueError(
        f'load_mnist: source must be "sample", "full" or the path of an .npz file, '
        f"got {source!r}"
    )


def _read_mnist(path, cure, sums=None, name=None):
    """The arrays of the file, every one of them checked."""
    try:
        file = io.BytesIO(path.read_bytes())
    except OSError as error:
        raise type(error)(f"{path} cannot be read: {error.strerror}; {cure}") from error
    try:
        arrays = _npz_arrays(file)
        _check_mnist(arrays, sums or {})
    except Exception as error:  # a damaged archive fails in a dozen ways
        raise ValueError(f"{name or path} cannot be used: {error}; {cure}") from error
    return ((arrays["x_train"], arrays["y_train"]),
            (arrays["x_test"], arrays["y_test"]))


def _npz_arrays(file):
    """The four arrays of an open .npz; pickled objects are never run."""
    if not zipfile.is_zipfile(file):
        raise ValueError("it is no .npz file, or its end is missing")
    file.seek(0)
    with np.load(file, allow_pickle=False) as archive:
        names = _MNIST_SUMS["full"]
        missing = [name for name in names if name not in archive.files]
        if missing:
            raise ValueError(f"it has no array {', '.join(missing)}")
        # asarray: a member that is no array comes as bytes
        return {name: np.asarray(archive[name]) for name in names}


def _check_mnist(arrays, sums):
    """Raise a ValueError that names the first array that is not as it must be."""
    for name, array in arrays.items():
        one, shape = ((28, 28), "(n, 28, 28)") if name[0] == "x" else ((), "(n,)")
        if array.dtype != np.uint8 or not array.ndim or array.shape[1:] != one:
            raise ValueError(
                f"{name} is {array.dtype} of shape {array.shape}, expected uint8 of "
                f"shape {shape}"
            )
        found = hashlib.sha256(array.tobytes()).hexdigest()
        if found != sums.get(name, found):
            raise ValueError(
                f"{name} has the SHA-256 sum {found}, expected {sums[name]}"
            )
    for part in ("train", "test"):
        images, labels = arrays[f"x_{part}"], arrays[f"y_{part}"]
        if len(images) != len(labels):
            raise ValueError(
                f"x_{part} has {len(images)} images, but y_{part} has {len(labels)} "
                "labels"
            )
        if not len(labels) or labels.max() > 9:
            raise ValueError(f"y_{part} is empty or has labels above 9")


def _download_mnist(path):
    """Fetch the full set under a temporary name; rename it once it is checked.

    Each process fetches a copy of its own, so that two at once do no harm.
    """
    import keras  # only here: it is slow to load

    cure = ("check the network, or put a mnist.npz that you have into "
            f"{path.parent}; the sample needs neither")
    talks = keras.config.is_interactive_logging_enabled()
    keras.config.disable_interactive_logging()  # the progress bar, in this thread only
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".mnist-", dir=path.parent) as folder:
            fetched = Path(keras.utils.get_file(
                "mnist.npz", _MNIST_ORIGIN, cache_dir=folder, cache_subdir=""))
            _read_mnist(fetched, cure, _MNIST_SUMS["full"],
                        name=f"what {_MNIST_ORIGIN} sent")
            os.replace(fetched, path)
    except ValueError:
        raise
    except Exception as error:  # Keras raises a bare Exception when a fetch fails
        raise OSError(
            f"{path} could not be downloaded from {_MNIST_ORIGIN}: {error}; {cure}"
        ) from error
    finally:
        if talks:
            keras.config.enable_interactive_logging()
