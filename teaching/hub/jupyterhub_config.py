"""A hub for trying out a class on one machine, which only that machine can reach.

    mkdir hub && cd hub
    npm install --prefix . configurable-http-proxy@5
    python ../teaching/hand_out.py lessons
    jupyterhub --config ../teaching/hub/jupyterhub_config.py

Then open http://127.0.0.1:8000 and log in with any name and the password that the
hub printed. What it writes (homes of the students, its database, its cookie secret)
lies in the folder where it was started. All students run as the one user who
started it, so that they can read each other's files: for a real class take The
Littlest JupyterHub, and from here the lines under "For TensorFlow".
"""

import atexit
import os
import secrets
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path.cwd()
LESSONS = HERE / "lessons"  # what hand_out.py wrote
SOCKETS = Path(tempfile.mkdtemp(prefix="hub-", dir="/tmp"))  # their paths are short
atexit.register(shutil.rmtree, SOCKETS, ignore_errors=True)
PASSWORD = os.environ.get("CLASS_PASSWORD") or secrets.token_urlsafe(6)


def find_proxy():
    """The proxy is a program for Node.js, which pip does not install."""
    name = "configurable-http-proxy"
    places = [HERE, *HERE.parents]
    path = os.pathsep.join(str(place / "node_modules" / ".bin") for place in places)
    if found := shutil.which(name) or shutil.which(name, path=path):
        return found
    raise SystemExit(
        f"{name} is not installed. With Node.js: npm install --prefix . {name}@5"
    )


def give_lessons(spawner):
    """Copy the lessons into a home that has none; a student's work stays."""
    home = HERE / "homes" / spawner.user.name
    if not (home / "lessons").exists():
        shutil.copytree(LESSONS, home / "lessons")


if not LESSONS.is_dir():
    raise SystemExit(f"no {LESSONS}: python …/teaching/hand_out.py {LESSONS}")

c = get_config()  # noqa: F821

# Who may come in, and from where
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = PASSWORD
c.Authenticator.allow_all = True
print(f"The students' password: {PASSWORD}", flush=True)
c.ConfigurableHTTPProxy.command = [find_proxy()]

# Each student gets a server, a process of this user, and a home
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = str(HERE / "homes" / "{username}")
c.Spawner.cmd = [sys.executable, "-m", "jupyterhub.singleuser"]
c.Spawner.notebook_dir = "~/lessons"
c.Spawner.pre_spawn_hook = give_lessons
# A class logs in within a minute. Servers then start a few at a time, and whoever
# has to wait is let wait.
c.JupyterHub.concurrent_spawn_limit = 4 * os.cpu_count()
c.Spawner.start_timeout = c.Spawner.http_timeout = 300

# Twenty kernels that start in the same second take ports from each other ("Address
# already in use"), and a kernel that lost its port does not recover. Sockets in
# files, a folder for each student, cannot collide.
c.Spawner.args = ["--KernelManager.transport=ipc"]

# For TensorFlow: forty students on eight cores are not helped by eight threads each
c.Spawner.environment = {
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "2",  # an op in Python takes one; what it calls, another
    "OMP_NUM_THREADS": "1",  # NumPy's own threads
    "OPENBLAS_NUM_THREADS": "1",
    "JUPYTER_RUNTIME_DIR": lambda spawner: str(SOCKETS / spawner.user.name),
}
# A kernel with TensorFlow keeps its memory until it ends: an idle one ends after half
# an hour, though its page is open, and an idle server after an hour.
c.Spawner.args += [
    "--MappingKernelManager.cull_idle_timeout=1800",
    "--MappingKernelManager.cull_interval=300",
    "--MappingKernelManager.cull_connected=True",
]
if hasattr(os, "geteuid") and os.geteuid() == 0:  # as in most containers
    c.Spawner.args += ["--allow-root"]
c.JupyterHub.services = [
    {
        "name": "idle-culler",
        "command": [sys.executable, "-m", "jupyterhub_idle_culler", "--timeout=3600"],
    }
]
c.JupyterHub.load_roles = [
    {
        "name": "idle-culler",
        "services": ["idle-culler"],
        "scopes": [
            "list:users",
            "read:users:activity",
            "read:servers",
            "delete:servers",
        ],
    }
]
