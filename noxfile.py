"""The tests with the lowest and the highest packages, on each Python that is here.

    .venv/bin/pip install nox && .venv/bin/nox

A Python that is not installed is skipped, and the table at the end says so. What
will break next, the newest TensorFlow tells, which requirements.txt may not allow:

    .venv/bin/nox --session newest
"""

import nox

nox.options.default_venv_backend = "venv"
nox.options.error_on_missing_interpreters = False
nox.options.sessions = ["tests"]


@nox.session(python=["3.11", "3.12", "3.13"])
@nox.parametrize("packages", ["lowest", "highest"])
def tests(session, packages):
    lowest = ["--constraint", "tests/lowest.txt"] if packages == "lowest" else []
    session.install("--requirement", "requirements.txt", *lowest)
    run_tests(session)


@nox.session
def newest(session):
    session.install("--requirement", "requirements.txt")
    session.install("--upgrade", "tensorflow", "tensorboard")
    run_tests(session)


def run_tests(session):
    session.run("pytest", *session.posargs)
    session.run("pytest", "-m", "slow", "tests", *session.posargs)
