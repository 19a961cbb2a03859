"""Compiles the op, and notes which TensorFlow the library fits."""

from importlib.metadata import packages_distributions, version
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

NAME = "segment_logsumexp"
FOLDER = Path("src", NAME)
INSTALLED_AS = packages_distributions()["tensorflow"][0]  # or tensorflow-cpu
VERSION = version(INSTALLED_AS)
(FOLDER / "built_with.py").write_text(f'TENSORFLOW = "{VERSION}"\n')


class BuildOp(build_ext):
    def build_extension(self, ext):
        import tensorflow as tf  # here, as only this step needs it

        self.force = True  # an old library may fit another TensorFlow
        flags = tf.sysconfig.get_compile_flags()
        ext.extra_compile_args = [*flags, "-O3", "-g0", "-w"]  # -w: its headers warn
        ext.extra_link_args = tf.sysconfig.get_link_flags()
        super().build_extension(ext)


setup(
    ext_modules=[Extension(f"{NAME}.ops", [f"{FOLDER}/{NAME}.cc"], language="c++")],
    cmdclass={"build_ext": BuildOp},
    install_requires=[f"{INSTALLED_AS} == {VERSION}"],
)
