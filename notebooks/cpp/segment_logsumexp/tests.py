"""Tests of the installed package: python -m pytest tests.py"""

import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf
from segment_logsumexp import SegmentLogsumexp, segment_logsumexp

X = np.log([1.0, 3.0, 5.0, 7.0])
IDS = np.int32([2, 0, 2, 2])  # unsorted, and nothing in segment 1
FRIEND = """
import sys
import numpy as np
import tensorflow as tf
import segment_logsumexp

x, ids = tf.Variable(np.log([1.0, 3.0])), tf.constant([0, 0])
with tf.GradientTape() as tape:
    y = tf.saved_model.load(sys.argv[1]).call(x, ids)
print(tape.gradient(y, x).numpy())
"""


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values(dtype):
    y = segment_logsumexp(X.astype(dtype), IDS, segments=3)
    np.testing.assert_allclose(np.exp(y), [3, 0, 13], rtol=1e-6)


def test_a_million_numbers():
    rng = np.random.default_rng(0)
    x, ids = rng.normal(size=1_000_000), rng.integers(0, 1000, 1_000_000, np.int32)
    sums = np.bincount(ids, np.exp(x), 1000)
    np.testing.assert_allclose(segment_logsumexp(x, ids, 1000), np.log(sums))


def test_gradient():
    def members_only(x):  # a difference of -inf and -inf would be nan
        return tf.gather(segment_logsumexp(x, IDS, segments=3), [0, 2])

    [analytic], [numeric] = tf.test.compute_gradient(members_only, [X])
    np.testing.assert_allclose(analytic, numeric, atol=1e-6)


def test_static_shape():
    specs = tf.TensorSpec([None], tf.float64), tf.TensorSpec([None], tf.int32)
    function = tf.function(lambda x, ids: segment_logsumexp(x, ids, segments=3))
    assert function.get_concrete_function(*specs).output_shapes == [3]


@pytest.mark.parametrize("ids", [[0, 1, 2, 3], [0, 1, 2, -1], [0, 1]])
def test_wrong_ids_are_refused(ids):
    with pytest.raises(tf.errors.InvalidArgumentError, match="ids"):
        segment_logsumexp(X, np.int32(ids), segments=3)


def test_layer_is_saved_and_loaded(tmp_path):
    x, ids = keras.Input([]), keras.Input([], dtype="int32")
    layer = SegmentLogsumexp(segments=3)  # give each attribute a non-default value
    model = keras.Model([x, ids], layer(x, ids))
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded([X, IDS]), model([X, IDS]))


def test_saved_model_has_its_gradient_in_a_new_process(tmp_path):
    model = tf.Module()
    specs = tf.TensorSpec([None], tf.float64), tf.TensorSpec([None], tf.int32)
    model.call = tf.function(lambda x, ids: segment_logsumexp(x, ids, 1), specs)
    tf.saved_model.save(model, tmp_path)
    friend = [sys.executable, "-c", FRIEND, tmp_path]
    dx = subprocess.run(friend, check=True, stdout=subprocess.PIPE, text=True).stdout
    assert dx.strip() == "[0.25 0.75]"
