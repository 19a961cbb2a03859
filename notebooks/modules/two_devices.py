"""Gives TensorFlow two devices on the CPU of this computer: for lesson 14.

Import this before utils. TensorFlow takes devices only until the first op runs, and
utils runs one.
"""

import os

# As utils does: the same digits on every processor, no greetings.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
saved = os.dup(2)
with open(os.devnull, "w") as nowhere:
    os.dup2(nowhere.fileno(), 2)
try:
    import tensorflow as tf

    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0],
        [tf.config.LogicalDeviceConfiguration()] * 2,
    )
    tf.config.list_logical_devices()  # starts them
    tf.get_logger().setLevel("WARNING")  # else each sum over the workers is reported
finally:
    os.dup2(saved, 2)
    os.close(saved)
