"""Compiles lambert_w.cc, and notes which TensorFlow the library fits."""

from importlib.metadata import version
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

TENSORFLOW = version("tensorflow")
Path("lambert_w/built_with.py").write_text(f'TENSORFLOW = "{TENSORFLOW}"\n')


class BuildOp(build_ext):
    def build_extension(self, ext):
        import tensorflow as tf  # here, as only this step needs it

        self.force = True  # an old library may fit another TensorFlow
        flags = tf.sysconfig.get_compile_flags()
        ext.extra_compile_args = [*flags, "-O3", "-g0", "-w"]  # -w: its headers warn
        ext.extra_link_args = tf.sysconfig.get_link_flags()
        super().build_extension(ext)


setup(
    ext_modules=[
        Extension("lambert_w.ops", ["lambert_w/lambert_w.cc"], language="c++")
    ],
    cmdclass={"build_ext": BuildOp},
    install_requires=[f"tensorflow == {TENSORFLOW}"],
)
