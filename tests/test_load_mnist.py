"""load_mnist: whole data or a clear error, and never anything in between."""

import functools
import hashlib
import http.server
import io
import os
import re
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

import other_process
from custom_ops import mnist
from utils import load_mnist

ROOT = Path(mnist.__file__).parents[1]
WHOLE = ROOT.parent / "shared" / "data" / "mnist.npz"
needs_whole = pytest.mark.skipif(
    not WHOLE.exists(), reason="the whole of MNIST is not at ../shared/data/mnist.npz"
)
NAMES = ["x_train", "y_train", "x_test", "y_test"]


def digits(n=3):
    rng = np.random.default_rng(0)
    return {
        "x_train": rng.integers(0, 256, (n, 28, 28), np.uint8),
        "y_train": rng.integers(0, 10, n, np.uint8),
        "x_test": rng.integers(0, 256, (2, 28, 28), np.uint8),
        "y_test": rng.integers(0, 10, 2, np.uint8),
    }


def sums(arrays):
    return {n: hashlib.sha256(a.tobytes()).hexdigest() for n, a in arrays.items()}


@pytest.fixture
def small_full(tmp_path, monkeypatch):
    """A made-up full set, served from a folder to an empty data folder."""
    served, data = tmp_path / "served", tmp_path / "data"
    served.mkdir()
    data.mkdir()
    np.savez_compressed(served / "mnist.npz", **digits())
    monkeypatch.setattr(mnist, "_DATA", data)
    monkeypatch.setattr(mnist, "_MNIST_ORIGIN", (served / "mnist.npz").as_uri())
    monkeypatch.setitem(mnist._MNIST_SUMS, "full", sums(digits()))
    return served / "mnist.npz", data


def test_sample_is_as_promised():
    (x_train, y_train), (x_test, y_test) = load_mnist()
    assert x_train.shape == (4000, 28, 28) and x_test.shape == (1000, 28, 28)
    assert {a.dtype for a in (x_train, y_train, x_test, y_test)} == {np.dtype("uint8")}
    assert np.bincount(y_train).tolist() == [400] * 10
    assert np.bincount(y_test).tolist() == [100] * 10
    assert (ROOT / "data" / "mnist_sample.npz").stat().st_size <= 1_000_000


@needs_whole
def test_every_sample_is_a_digit_of_mnist_with_its_label():
    with np.load(WHOLE) as whole:
        labels = {
            image.tobytes(): label
            for image, label in zip(whole["x_train"], whole["y_train"], strict=True)
        }
    (x_train, y_train), (x_test, y_test) = load_mnist()
    images = [image.tobytes() for image in (*x_train, *x_test)]
    assert [labels.get(image) for image in images] == [*y_train, *y_test]
    assert len(set(images)) == 5000


def test_data_card_has_the_sums_that_are_checked():
    card = (ROOT / "data" / "README.md").read_text("utf-8")
    rows = re.findall(r"\| (\w+) \| \(.*?\) \| uint8 \| (\w{64}) \|", card)
    assert rows == [
        (name, mnist._MNIST_SUMS[source][name])
        for source in ("sample", "full")
        for name in NAMES
    ]


@needs_whole
def test_whole_of_mnist_passes_as_the_full_set(monkeypatch, tmp_path):
    monkeypatch.setattr(mnist, "_DATA", tmp_path)
    monkeypatch.setattr(mnist, "_MNIST_ORIGIN", WHOLE.as_uri())
    (x_train, _), (x_test, _) = load_mnist("full")
    assert len(x_train) == 60_000 and len(x_test) == 10_000
    assert [file.name for file in tmp_path.iterdir()] == ["mnist.npz"]


def test_full_set_is_downloaded_once(small_full, capfd):
    origin, data = small_full
    first = load_mnist("full")
    origin.unlink()
    second = load_mnist("full")
    for a, b in zip(
        np.concatenate(first[0], axis=None),
        np.concatenate(second[0], axis=None),
        strict=True,
    ):
        assert a == b
    assert [file.name for file in data.iterdir()] == ["mnist.npz"]
    assert capfd.readouterr().out == ""


def test_full_set_comes_over_http_too(small_full, monkeypatch):
    origin, _ = small_full

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    handler = functools.partial(Handler, directory=origin.parent)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        url = f"http://127.0.0.1:{server.server_port}/mnist.npz"
        monkeypatch.setattr(mnist, "_MNIST_ORIGIN", url)
        try:
            (x_train, _), _ = load_mnist("full")
        finally:
            server.shutdown()
    assert (x_train == digits()["x_train"]).all()


def test_no_network_leaves_nothing_and_a_later_call_works(small_full, monkeypatch):
    _, data = small_full
    with monkeypatch.context() as closed:
        closed.setattr(mnist, "_MNIST_ORIGIN", "http://127.0.0.1:9/mnist.npz")
        with pytest.raises(OSError, match="could not be downloaded from http://127"):
            load_mnist("full")
    assert not list(data.iterdir())
    assert len(load_mnist("full")[0][0]) == 3


def test_unwritable_folder_and_a_later_call(small_full, monkeypatch):
    _, data = small_full
    data.rmdir()
    data.write_text("a file, which not even root can write into as a folder")
    with pytest.raises(OSError, match="mnist.npz could not be downloaded.*the sample"):
        load_mnist("full")
    data.unlink()
    data.mkdir()
    assert len(load_mnist("full")[0][0]) == 3


def test_what_is_downloaded_is_checked(small_full):
    origin, data = small_full
    np.savez_compressed(origin, **{**digits(), "x_test": digits()["x_test"] ^ 1})
    with pytest.raises(ValueError, match="mnist.npz sent cannot be used: x_test has"):
        load_mnist("full")
    assert not list(data.iterdir())


@pytest.mark.parametrize("damage", ["cut", "other digits", "bit"])
def test_what_was_downloaded_is_checked_on_every_load(small_full, damage):
    _, data = small_full
    load_mnist("full")
    file = data / "mnist.npz"
    content = file.read_bytes()
    if damage == "cut":
        file.write_bytes(content[: len(content) // 2])
    elif damage == "bit":
        middle = len(content) // 2
        flipped = bytes([content[middle] ^ 1])
        file.write_bytes(content[:middle] + flipped + content[middle + 1 :])
    else:
        np.savez_compressed(file, **digits(4))
    with pytest.raises(ValueError, match="mnist.npz cannot be used: .*delete it"):
        load_mnist("full")
    file.unlink()
    assert len(load_mnist("full")[0][0]) == 3


def test_a_flipped_bit_is_noticed_or_harmless(small_full):
    """In every byte of the zip's directory, and in some of what comes before."""
    _, data = small_full
    load_mnist("full")
    file = data / "mnist.npz"
    content = file.read_bytes()
    directory = content.index(b"PK\1\2")
    for place in (*range(0, directory, 50), *range(directory, len(content))):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        file.write_bytes(damaged)
        try:
            (x_train, y_train), (x_test, y_test) = load_mnist("full")
        except ValueError as error:
            assert "mnist.npz cannot be used: " in str(error)
        else:
            got = dict(zip(NAMES, (x_train, y_train, x_test, y_test), strict=True))
            assert sums(got) == sums(digits())


def test_download_is_silent_without_taking_stdout_from_other_threads(
    small_full, monkeypatch, capfd
):
    import keras  # after utils, which sets up TensorFlow

    get_file, before, during = keras.utils.get_file, sys.stdout, []

    def watched(*args, **kwargs):
        during.append(sys.stdout)
        return get_file(*args, **kwargs)

    monkeypatch.setattr(keras.utils, "get_file", watched)
    load_mnist("full")
    assert during == [before] and sys.stdout is before
    assert capfd.readouterr() == ("", "")
    assert keras.config.is_interactive_logging_enabled()


def test_data_folder_is_made_where_there_is_none(small_full):
    _, data = small_full
    data.rmdir()
    assert len(load_mnist("full")[0][0]) == 3


def test_damaged_sample_says_how_to_restore_it(monkeypatch, tmp_path):
    monkeypatch.setattr(mnist, "_DATA", tmp_path)
    with pytest.raises(FileNotFoundError, match="git checkout"):
        load_mnist()
    np.savez_compressed(tmp_path / "mnist_sample.npz", **digits())
    with pytest.raises(ValueError, match="SHA-256 sum .*git checkout"):
        load_mnist()


@pytest.mark.slow
def test_two_processes_at_once_both_get_whole_data(small_full):
    origin, data = small_full
    other = other_process.OtherProcess(
        f"""
        import pathlib
        from custom_ops import mnist
        mnist._DATA = pathlib.Path({str(data)!r})
        mnist._MNIST_ORIGIN = {origin.as_uri()!r}
        mnist._MNIST_SUMS["full"] = {sums(digits())!r}
        connection.send("ready")
        connection.recv()
        print(mnist.load_mnist("full")[0][0].sum())
        """
    )
    assert other.hear() == "ready"
    other.say("go")
    ours = load_mnist("full")[0][0].sum()
    assert [int(other.printed()), ours] == [digits()["x_train"].sum()] * 2
    assert [file.name for file in data.iterdir()] == ["mnist.npz"]


def test_file_of_ones_own(tmp_path):
    path = tmp_path / "own.npz"
    np.savez(path, **digits())
    for source in (path, str(path)):
        (x_train, y_train), (x_test, y_test) = load_mnist(source)
        for name, array in zip(NAMES, (x_train, y_train, x_test, y_test), strict=True):
            assert (array == digits()[name]).all()


class Bomb:
    def __reduce__(self):
        return os.abort, ()


@pytest.mark.parametrize(
    "change, complaint",
    [
        ({"x_train": None}, "it has no array x_train"),
        ({"x_train": digits()["x_train"] / 255}, r"x_train is float64.*expected uint8"),
        ({"x_train": digits()["x_train"][:, :27]}, r"\(3, 27, 28\).*\(n, 28, 28\)"),
        ({"y_train": np.uint8(3)}, r"y_train is uint8 of shape \(\)"),
        ({"y_train": digits(4)["y_train"]}, "3 images, but y_train has 4"),
        ({"y_test": np.array([3, 10], np.uint8)}, "labels above 9"),
        ({"x_test": np.array([Bomb()])}, "allow_pickle=False"),
    ],
)
def test_foreign_arrays_are_refused(tmp_path, change, complaint):
    arrays = {n: a for n, a in {**digits(), **change}.items() if a is not None}
    np.savez(tmp_path / "own.npz", **arrays)
    with pytest.raises(ValueError, match=f"own.npz cannot be used: .*{complaint}"):
        load_mnist(tmp_path / "own.npz")


def npy():
    file = io.BytesIO()
    np.save(file, digits()["x_train"])
    return file.getvalue()


@pytest.mark.parametrize("content", [b"", b"not a zip", npy()])
def test_foreign_files_are_refused(tmp_path, content):
    (tmp_path / "own.npz").write_bytes(content)
    with pytest.raises(ValueError, match="own.npz cannot be used: it is no .npz file"):
        load_mnist(tmp_path / "own.npz")


@pytest.mark.parametrize("member", ["x_train", "x_train.npy"])
def test_members_that_are_no_arrays_are_refused(tmp_path, member):
    arrays = digits()
    del arrays["x_train"]
    np.savez(tmp_path / "own.npz", **arrays)
    with zipfile.ZipFile(tmp_path / "own.npz", "a") as archive:
        archive.writestr(member, "text")
    with pytest.raises(ValueError, match="own.npz cannot be used: x_train is"):
        load_mnist(tmp_path / "own.npz")


def test_header_that_promises_too_much_is_refused(tmp_path):
    np.savez(tmp_path / "own.npz", x_test=0, y_train=0, y_test=0)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "|u1", "fortran_order": False, "shape": (10**15, 28, 28)}
    )
    with zipfile.ZipFile(tmp_path / "own.npz", "a") as archive:
        archive.writestr("x_train.npy", header.getvalue())
    with pytest.raises(ValueError, match="own.npz cannot be used: "):
        load_mnist(tmp_path / "own.npz")


def test_folder_is_refused(tmp_path):
    (tmp_path / "own.npz").mkdir()
    with pytest.raises(OSError, match="own.npz cannot be read: .*give another file"):
        load_mnist(tmp_path / "own.npz")


@pytest.mark.parametrize("source", ["samples", None, 3, "mnist.gz"])
def test_unknown_sources_are_refused(source):
    with pytest.raises(ValueError, match=re.escape(f"got {source!r}")):
        load_mnist(source)
