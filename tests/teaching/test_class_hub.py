"""The example of a hub works as it stands: a student logs in, and has the lessons."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

pytest.importorskip(
    "jupyterhub",
    reason="JupyterHub is not installed: pip install -r teaching/requirements.txt",
)
pytestmark = pytest.mark.teaching

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "jupyterhub", "--config"]
COMMAND += [str(ROOT / "teaching" / "hub" / "jupyterhub_config.py")]
PROXY = "configurable-http-proxy"
NODE = os.pathsep.join([str(ROOT / "hub/node_modules/.bin"), os.environ["PATH"]])
HUB = "http://127.0.0.1:8000"  # as in the configuration
SECONDS = 180  # that a server may take to start


@pytest.fixture
def hub(tmp_path):
    """The password and the folder of a hub that was started as the page says."""
    hand_out = [sys.executable, str(ROOT / "teaching" / "hand_out.py"), "lessons", "01"]
    subprocess.run(hand_out, cwd=tmp_path, check=True)
    log = tmp_path / "hub.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            COMMAND,
            cwd=tmp_path,
            env=os.environ | {"PATH": NODE},
            stdout=file,
            stderr=file,
        )
    try:
        until(lambda: requests.get(f"{HUB}/hub/login", timeout=5).ok)
        yield re.search("password: (.*)", log.read_text())[1], tmp_path
    finally:
        process.terminate()  # it stops its servers
        process.wait(60)


def until(happens):
    end = time.monotonic() + SECONDS
    while True:
        try:
            if happens():
                return
        except requests.ConnectionError:
            pass
        assert time.monotonic() < end, happens
        time.sleep(1)


def log_in(name, password):
    web = requests.Session()
    form = {"_xsrf": web.get(f"{HUB}/hub/login").cookies["_xsrf"]}
    form |= {"username": name, "password": password}
    web.post(f"{HUB}/hub/login", data=form)
    return web, "jupyterhub-session-id" in web.cookies


@pytest.mark.skipif(
    not shutil.which(PROXY, path=NODE),
    reason=f"{PROXY} is not installed: see teaching/README.md",
)
def test_a_student_logs_in_and_runs_a_kernel_beside_the_lessons(hub):
    password, folder = hub
    assert not log_in("anna", password + "x")[1]
    web, entered = log_in("anna", password)
    assert entered
    server = f"{HUB}/user/anna"
    until(lambda: web.get(f"{HUB}/hub/spawn").url.startswith(server))
    found = web.get(f"{server}/api/contents").json()["content"]
    assert "01_learn_identity_matrix.ipynb" in {each["name"] for each in found}
    assert (folder / "homes" / "anna" / "lessons" / "utils.py").exists()
    token = next(
        c.value for c in web.cookies if (c.name, c.path) == ("_xsrf", "/user/anna/")
    )
    kernel = web.post(f"{server}/api/kernels", headers={"X-XSRFToken": token}).json()
    state = f"{server}/api/kernels/{kernel['id']}"
    until(lambda: web.get(state).json()["execution_state"] in ("idle", "starting"))


def test_without_lessons_the_configuration_says_what_to_do(tmp_path):
    done = subprocess.run(COMMAND, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0
    assert "hand_out.py" in done.stdout + done.stderr
