"""The package of lesson 12: built, installed, imported elsewhere, with no network."""

import shutil
import textwrap
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from notebook_plugin import COMPILERS
from wheels import build, install, run

ROOT = Path(__file__).resolve().parents[1]
NAME = "segment_logsumexp"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not any(map(shutil.which, COMPILERS)),
        reason="a wheel with C++ needs a compiler",
    ),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("pip", reason="pip builds the wheel")
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT / "notebooks" / "cpp" / NAME, folder / "source")
    return build(folder / "source", folder)


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    return install(wheel, tmp_path_factory.mktemp("elsewhere"))


def test_the_wheel_holds_the_library_and_names_its_tensorflow(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
        [about] = [name for name in archive.namelist() if name.endswith("/METADATA")]
        needed = archive.read(about).decode()
    assert "py3-none-any" not in wheel.name
    [library] = [name for name in names if name.endswith(".so")]
    python = [f"{NAME}/__init__.py", f"{NAME}/built_with.py"]
    assert sorted(names) == sorted([*python, library])
    lines = [line for line in needed.splitlines() if line.startswith("Requires-Dist")]
    assert [line.replace(" ", "") for line in lines] == [
        f"Requires-Dist:tensorflow=={version('tensorflow')}"
    ]


def test_its_own_tests_pass_where_it_is_installed(installed):
    python, own = installed
    tests = ROOT / "notebooks" / "cpp" / NAME / "tests.py"
    said = run(python, "-m", "pytest", "-q", tests, cwd=own)
    assert "10 passed" in said


def test_ends_of_the_range_and_both_formats_of_models(installed):
    """Infinite and nan inputs, no inputs, two processes: one saves, one loads."""
    python, own = installed
    save = f"""
        import keras, numpy as np, tensorflow as tf
        from {NAME} import SegmentLogsumexp, {NAME}

        ends = np.array([np.nan, np.inf, -np.inf, 1, np.inf, 800])
        y = {NAME}(ends, [0, 1, 2, 3, 3, 5], segments=6)
        assert np.array_equal(y, [np.nan, np.inf, -np.inf, np.inf, -np.inf, 800],
                              equal_nan=True)
        with tf.GradientTape() as tape:
            x = tf.constant([np.inf, 1, -np.inf, -np.inf, -np.inf, -np.inf, 1])
            tape.watch(x)
            y = {NAME}(x, [0, 0, 0, 1, 1, 2, 2], segments=3)
        dx = [np.nan, 0, 0, np.nan, np.nan, 0, 1]
        assert np.array_equal(tape.gradient(y, x), dx, equal_nan=True)
        assert np.all({NAME}(ends[:0], [], 2) == [-np.inf] * 2)
        specs = [tf.TensorSpec([None], tf.float64), tf.TensorSpec([None], tf.int32)]
        model = tf.Module()
        model.call = tf.function(lambda x, ids: {NAME}(x, ids, 3), specs)
        tf.saved_model.save(model, "saved_model")
        x, ids = keras.Input([]), keras.Input([], dtype="int32")
        keras.Model([x, ids], SegmentLogsumexp(3)(x, ids)).save("model.keras")
    """
    load = f"""
        import keras, numpy as np, tensorflow as tf
        import {NAME}

        x, ids = tf.math.log([[1.0, 3, 5]])[0], tf.constant([2, 2, 0])
        saved = tf.saved_model.load("saved_model").call(tf.cast(x, "float64"), ids)
        model = keras.saving.load_model("model.keras")
        for y in saved, model([x, ids]):
            np.testing.assert_allclose(np.exp(y), [5, 0, 4], rtol=1e-6)
        many = np.zeros(100, "float32"), np.arange(100, dtype="int32") % 3
        assert model(many).shape == [3]  # and a batch of 32 offers gives 3, too
        assert model.predict(many, verbose=0).shape == (12,)
        model.compile(jit_compile=True)
        assert not model.jit_compile
        try:
            tf.function(lambda: {NAME}.{NAME}(x, ids, 3), jit_compile=True)()
            raise AssertionError("XLA compiled an op that it does not know")
        except tf.errors.InvalidArgumentError as error:
            assert "Detected unsupported operations" in str(error)
    """
    for code in save, load:
        run(python, "-I", "-c", textwrap.dedent(code), cwd=own)


def test_another_tensorflow_is_refused_in_words(installed):
    python, own = installed
    code = """
        import sys, types
        sys.modules["keras"] = types.ModuleType("keras")
        sys.modules["tensorflow"] = types.SimpleNamespace(__version__="2.0.1")
        try:
            import segment_logsumexp
        except ImportError as error:
            print(error)
    """
    said = run(python, "-I", "-c", textwrap.dedent(code), cwd=own)
    assert f"built with TensorFlow {version('tensorflow')} " in said
    assert "2.0.1 is installed" in said and f"rebuild {NAME}" in said
